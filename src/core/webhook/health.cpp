// How an endpoint fares: its circuit, its disabling, and what it is spared. Everything that decides
// is stored, so that a restart neither forgets nor hastens it.
#include <algorithm>

#include "base/assert.h"
#include "base/sometimes.h"
#include "core/webhook/gate_name.h"
#include "core/webhook/json.h"
#include "core/webhook/operational.h"
#include "core/webhook/options.h"
#include "core/webhook/webhooks.h"

HK_SOMETIMES_DECLARE(circuit_opened)
HK_SOMETIMES_DECLARE(circuit_probe_failed)
HK_SOMETIMES_DECLARE(circuit_closed)
HK_SOMETIMES_DECLARE(endpoint_shut_as_asked)
HK_SOMETIMES_DECLARE(endpoint_slowed_down)
HK_SOMETIMES_DECLARE(endpoint_speeds_up)
HK_SOMETIMES_DECLARE(endpoint_disabled_as_failing)
HK_SOMETIMES_DECLARE(endpoint_disabled_as_gone)
HK_SOMETIMES_DECLARE(endpoint_failing_warned)

namespace hk::core::webhook {

namespace {

/// Of endpoints that are sent less at once than they may be: beyond it all go at full speed again.
constexpr std::size_t slowed_max = 10'000;

/// 0 = it does not come nearer.
std::uint32_t percent_of_way(Millis passed, Millis whole) {
  constexpr std::int64_t all = 100;
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(
      passed.count() * all / std::max<std::int64_t>(whole.count(), 1), 0, all));
}

}  // namespace

/// A success clears all but the time for which its endpoint asked to be spared: other attempts were
/// on their way when it did.
void Webhooks::became_healthy(const Endpoint& endpoint) {
  const TenantId tenant = endpoint.tenant;
  const Health& seen = look_at(tenant, endpoint.number);
  bool gates = false;
  if (seen.failures != 0 || seen.shut_until != Moment{}) {
    if (seen.circuit_for > Millis{0}) {
      HK_SOMETIMES(circuit_closed);
    }
    gates = seen.circuit_for > Millis{0};
    const bool still_shut = !seen.by_circuit && seen.shut_until > batch_.now();
    const Moment until = still_shut ? seen.shut_until : Moment{};
    Health& health = change_health(tenant, endpoint.number);
    clear_failures(health);
    health.shut_until = until;
  }
  if (const auto slowed = slowed_.find({tenant, endpoint.number}); slowed != slowed_.end()) {
    HK_SOMETIMES(endpoint_speeds_up);
    gates = true;
    if (++slowed->second >= effective(endpoint, settings(tenant)).parallelism) {
      slowed_.erase(slowed);
    }
  }
  if (gates) {
    set_gates(tenant, endpoint.application, endpoint.number);
  }
}

void Webhooks::clear_failures(Health& health) {
  health.failing_since = Moment{};
  health.failures = 0;
  health.warned = 0;
  health.circuit_for = Millis{0};
  health.shut_until = Moment{};
  health.by_circuit = false;
}

void Webhooks::count_failure(const Known& known, const Endpoint& endpoint, const Delivery& options,
                             const WebhookPart& part, const Attempt& attempt,
                             const Outcome& outcome) {
  constexpr int too_many = 429;
  constexpr int bad = 502;
  constexpr int not_now = 503;
  constexpr int too_late = 504;
  constexpr int is_gone = 410;
  const int status = attempt.response_status;
  Health& health = change_health(endpoint.tenant, endpoint.number);
  const bool is_probe = health.circuit_for > Millis{0} && attempt.started_at >= health.shut_until;
  bool gates = false;
  if (outcome.retry_after && (status == too_many || status == not_now)) {
    HK_SOMETIMES(endpoint_shut_as_asked);
    const Moment until = batch_.now() + std::min(*outcome.retry_after, options.retry_after_max);
    health.shut_until = std::max(health.shut_until, until);
    gates = true;
  }
  if (!outcome.retry_after && (status == too_many || status == bad || status == too_late)) {
    slow_down(endpoint, options);
    gates = true;
  }
  if (!is_by_hand(part)) {
    if (health.failures == 0) {
      health.failing_since = attempt.ended_at;
    }
    ++health.failures;
    gates = move_circuit(health, options, is_probe) || gates;
  }
  if (gates) {
    set_gates(endpoint.tenant, endpoint.application, endpoint.number);
  }
  if (status == is_gone) {
    HK_SOMETIMES(endpoint_disabled_as_gone);
    disable(known, endpoint, Endpoint::Disabled::gone);
  } else if (!is_by_hand(part)) {
    judge(known, endpoint, options);
  }
}

/// True: it is open now, and was not, or longer.
bool Webhooks::move_circuit(Health& health, const Delivery& options, bool is_probe) {
  if (!options.circuit || health.failures < options.circuit->failures) {
    return false;
  }
  if (health.circuit_for == Millis{0}) {
    HK_SOMETIMES(circuit_opened);
    health.circuit_for = options.circuit->open;
  } else if (is_probe) {
    HK_SOMETIMES(circuit_probe_failed);
    health.circuit_for = std::min(health.circuit_for * 2, options.circuit->open_max);
  } else {
    return false;  // it was on its way when the circuit opened
  }
  health.by_circuit = true;
  health.shut_until = std::max(health.shut_until, batch_.now() + health.circuit_for);
  return true;
}

/// Half as much at once; each success adds one.
void Webhooks::slow_down(const Endpoint& endpoint, const Delivery& options) {
  HK_SOMETIMES(endpoint_slowed_down);
  if (slowed_.size() >= slowed_max) {
    slowed_.clear();
  }
  const auto [slowed, fresh] =
      slowed_.try_emplace({endpoint.tenant, endpoint.number}, options.parallelism);
  slowed->second = std::max(slowed->second / 2, 1U);
}

/// Is it to be disabled, or is somebody to be warned?
void Webhooks::judge(const Known& known, const Endpoint& endpoint, const Delivery& options) {
  if (!options.disable || endpoint.disabled != Endpoint::Disabled::no) {
    return;
  }
  constexpr std::uint32_t all = 100;
  const Delivery::Disable& rule = *options.disable;
  const Health& health = look_at(endpoint.tenant, endpoint.number);
  const Millis failing_for = batch_.now() - health.failing_since;
  const bool for_long = failing_for >= rule.after && health.failures >= rule.attempts_min;
  const bool too_often = rule.failures != 0 && health.failures >= rule.failures;
  if (for_long || too_often) {
    HK_SOMETIMES(endpoint_disabled_as_failing);
    disable(known, endpoint, Endpoint::Disabled::failing);
    return;
  }
  const std::uint32_t by_time = percent_of_way(failing_for, rule.after);
  const std::uint32_t by_count =
      rule.failures == 0 ? 0 : std::min(health.failures * all / rule.failures, all);
  std::uint32_t reached = 0;
  for (const std::uint32_t percent : rule.warn_at) {
    if (percent <= std::max(by_time, by_count)) {
      reached = std::max(reached, percent);
    }
  }
  if (reached <= health.warned) {
    return;
  }
  HK_SOMETIMES(endpoint_failing_warned);
  change_health(endpoint.tenant, endpoint.number).warned = reached;
  tell_of_failing(
      known, endpoint, reached,
      by_time >= by_count ? std::optional(health.failing_since + rule.after) : std::nullopt);
}

void Webhooks::disable(const Known& known, const Endpoint& endpoint, Endpoint::Disabled why) {
  if (endpoint.disabled != Endpoint::Disabled::no) {
    return;
  }
  Endpoint disabled = endpoint;
  disabled.disabled = why;
  disabled.updated_at = batch_.now();
  put(disabled);
  if (endpoint.application != operational) {
    tell(endpoint.tenant, operational_event::endpoint_disabled,
         disabled_data(known.application, disabled,
                       look_at(endpoint.tenant, endpoint.number).failing_since));
  }
  endpoint_changed(endpoint, disabled);
}

}  // namespace hk::core::webhook
