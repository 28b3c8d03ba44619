/// Receipt handles of pulled messages as clients see them. A handle says by itself which
/// queue and which receive it belongs to, and is known to be ours by its MAC: "never issued" can be
/// told from "over", also after a restart. Pure, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/secret.h"
#include "core/message.h"
#include "core/pull/receipt.h"

namespace hk::api::sqs {

/// How long a receive may hide a message.
inline constexpr std::int64_t visibility_seconds_max = 43'200;

std::string to_handle(const Secret& key, core::TenantId tenant, std::string_view queue,
                      const core::Receipt& receipt);
/// Which message it says it is of; whether that is true parse_handle() knows. nullopt: none.
std::optional<core::MessageId> claimed_by_handle(std::string_view handle);
/// nullopt: not one of ours, or of another queue.
std::optional<core::Receipt> parse_handle(const Secret& key, core::TenantId tenant,
                                          std::string_view queue, std::string_view handle);

}  // namespace hk::api::sqs
