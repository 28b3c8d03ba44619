/// Timers as they are stored. Numbers of enums are on disk: never change or reuse one.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "core/message.h"

namespace hk::core {

/// A moment at which a component has something to do that is no message's due time. What it is
/// about is the component's: it knows what it meant by the key.
struct Timer {
  enum class Kind : std::uint32_t { idempotency_key = 1, ledger_expiry = 2, ledger_checkpoint = 3 };

  Moment due{};
  Kind kind{};
  TenantId tenant{};
  std::string key{};
  friend bool operator==(const Timer&, const Timer&) = default;
};
inline std::tuple<const Moment&, std::uint32_t, const TenantId&, const std::string&> key_of(
    const Timer& timer) {
  return {timer.due, static_cast<std::uint32_t>(timer.kind), timer.tenant, timer.key};
}

}  // namespace hk::core
