/// `hikyaku outbox …`: the relay in a process of its own, and what a person does with an outbox
/// table. Each function prints for people, or JSON, and gives the exit code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "outbox/operator.h"
#include "outbox/schema.h"
#include "outbox/settings.h"

namespace hk::cli {

int outbox_run(const outbox::Settings& settings);
int outbox_init(const outbox::Settings& settings, const outbox::InitOptions& options);
int outbox_status(const outbox::Settings& settings, bool json);
int outbox_list(const outbox::Settings& settings, const outbox::ListQuery& query, bool json);
/// `row` is an id, or an idempotency key after `key:`.
int outbox_show(const outbox::Settings& settings, const std::string& row, bool payload, bool json);

enum class RowChange : std::uint8_t { requeue, release, abort };
int outbox_change(const outbox::Settings& settings, RowChange change,
                  const outbox::Selection& selection, const std::string& message, bool json);
int outbox_drop_slot(const outbox::Settings& settings);

}  // namespace hk::cli
