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
  enum class Kind : std::uint32_t {
    idempotency_key = 1,
    ledger_expiry = 2,
    ledger_checkpoint = 3,
    ledger_rollup = 4,
    webhook_hold = 10,
    webhook_ramp = 11,
    webhook_token = 12,
    source_upkeep = 20,
    source_sweep = 21,
  };

  Moment due{};
  Kind kind{};
  TenantId tenant{};
  std::string key{};
  friend bool operator==(const Timer&, const Timer&) = default;
};
/// Is there a kind of that number? Without a default: the compiler asks for a new one here.
constexpr bool is_timer_kind(std::uint32_t number) {
  switch (static_cast<Timer::Kind>(number)) {
    case Timer::Kind::idempotency_key:
    case Timer::Kind::ledger_expiry:
    case Timer::Kind::ledger_checkpoint:
    case Timer::Kind::ledger_rollup:
    case Timer::Kind::webhook_hold:
    case Timer::Kind::webhook_ramp:
    case Timer::Kind::webhook_token:
    case Timer::Kind::source_upkeep:
    case Timer::Kind::source_sweep: return true;
  }
  return false;
}
inline std::tuple<const Moment&, std::uint32_t, const TenantId&, const std::string&> key_of(
    const Timer& timer) {
  return {timer.due, static_cast<std::uint32_t>(timer.kind), timer.tenant, timer.key};
}

}  // namespace hk::core
