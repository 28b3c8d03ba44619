/// How refusals of the ledger are told: the one table of their codes, statuses and members. Pure,
/// any thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "core/ledger/commands.h"
#include "edge/http/message.h"

namespace hk::api::ledger {

int status_of(core::ledger::Code code);
/// "insufficient_funds", "exists_with_different_entries" …
std::string code_of(const core::ledger::Refusal& refusal);

/// `code`, `detail` and what belongs to the code: of a result within a batch, of a problem.
void write_refusal_members(JsonWriter& json, const core::ledger::Refusal& refusal);
/// Of those only what belongs to the code.
void write_own_members(JsonWriter& json, const core::ledger::Refusal& refusal);
/// Problem details with those members; `more` adds others.
http::Response problem_of(const core::ledger::Refusal& refusal, std::string_view request_id,
                          const std::function<void(JsonWriter&)>& more = {});

/// 403: `force` is for who has the grant.
core::ledger::Refusal not_granted();
/// 400 `invalid`; `member`: what is wrong, "" the whole.
core::ledger::Refusal invalid(std::string_view member, std::string_view right);

}  // namespace hk::api::ledger
