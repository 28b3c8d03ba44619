// What waits behind a shut endpoint is kept: for a time, up to a number, and never dropped without
// a word. When the endpoint opens it goes in the order in which it came, and not all at once.
#include <algorithm>

#include "base/assert.h"
#include "base/json.h"
#include "base/sometimes.h"
#include "core/message/messages.h"
#include "core/timer/timers.h"
#include "core/webhook/gate_name.h"
#include "core/webhook/json.h"
#include "core/webhook/operational.h"
#include "core/webhook/options.h"
#include "core/webhook/webhooks.h"

HK_SOMETIMES_DECLARE(hold_overflowed)
HK_SOMETIMES_DECLARE(hold_nearly_full)
HK_SOMETIMES_DECLARE(hold_looked_at)
HK_SOMETIMES_DECLARE(endpoint_opened_with_held)
HK_SOMETIMES_DECLARE(ramp_begun)
HK_SOMETIMES_DECLARE(ramp_grows)
HK_SOMETIMES_DECLARE(ramp_ended)
HK_SOMETIMES_DECLARE(held_skipped)

namespace hk::core::webhook {

namespace {

constexpr std::uint32_t ramp_from = 50;        // a second
constexpr std::uint32_t ramp_until = 100'000;  // a second: no limit any more
constexpr Millis ramp_step{1000};
constexpr std::size_t overflow_at_once = 8;  // of a hold that was made smaller
constexpr std::size_t lanes_looked_at = 64;

/// How often what is held is looked at: its time is kept to that.
Millis look_every(const Delivery& options) {
  constexpr int parts = 32;
  return std::clamp<Millis>(options.hold.ttl / parts, Millis{1000}, std::chrono::hours{1});
}

bool is_power_of_ten(std::uint64_t count) {
  while (count >= 10 && count % 10 == 0) {
    count /= 10;
  }
  return count == 1;
}

}  // namespace

// ---- room ----

/// Before one more comes to an endpoint that is shut.
void Webhooks::make_room(const Endpoint& endpoint, const Delivery& options,
                         const WebhookPart& part) {
  if (!is_shut(endpoint) || is_companion(part)) {
    return;
  }
  const auto& hold = options.hold;
  const auto is_over = [&](std::uint64_t count_max, std::uint64_t bytes_max) {
    const Health& health = look_at(endpoint.tenant, endpoint.number);
    return health.waiting + 1 > count_max || health.waiting_bytes + part.bytes > bytes_max;
  };
  constexpr std::uint64_t nearly = 10;  // percent before it is full
  constexpr std::uint64_t all = 100;
  if (is_over(hold.messages_max - hold.messages_max * nearly / all,
              hold.bytes_max - hold.bytes_max * nearly / all) &&
      !look_at(endpoint.tenant, endpoint.number).hold_announced) {
    HK_SOMETIMES(hold_nearly_full);
    change_health(endpoint.tenant, endpoint.number).hold_announced = true;
    tell_of_hold(endpoint, "overflow");
  }
  for (std::size_t left = overflow_at_once; left > 0 && is_over(hold.messages_max, hold.bytes_max);
       --left) {
    const Live* const oldest = oldest_held(endpoint);
    if (oldest == nullptr) {
      return;  // it comes into memory soon
    }
    HK_SOMETIMES(hold_overflowed);
    messages_.cancel_delivery(oldest->seq, CancelReason::hold_overflow);
    if (is_power_of_ten(++change_health(endpoint.tenant, endpoint.number).hold_canceled)) {
      tell_of_hold(endpoint, "overflow");
    }
  }
}

/// As far as it is in memory. Null: nothing is.
const Live* Webhooks::oldest_held(const Endpoint& endpoint) {
  const Gate* const gate = scheduler_.find_flow_gate(
      endpoint.tenant, gate_name(GateOf::endpoint, endpoint.application, endpoint.number));
  if (gate == nullptr) {
    return nullptr;
  }
  const Live* oldest = nullptr;
  std::size_t looks = 0;
  for (const Lane* const lane : gate->parked) {
    if (++looks > lanes_looked_at) {
      break;
    }
    if (!lane->window.empty()) {
      const Live* const head = lane->window.begin()->second;
      if (oldest == nullptr || head->seq < oldest->seq) {
        oldest = head;
      }
    }
  }
  return oldest;
}

// ---- time ----

/// In whole steps, so that who asks twice is answered once.
void Webhooks::watch_hold(const Endpoint& endpoint, const Delivery& options) {
  const Millis step = look_every(options);
  const std::int64_t next = batch_.now().time_since_epoch() / step + 1;
  timers_.set(Moment{step * next}, Timer::Kind::webhook_hold, endpoint.tenant,
              gate_name(GateOf::endpoint, endpoint.application, endpoint.number));
}

void Webhooks::on_hold_timer(TenantId tenant, const GateName& name) {
  const auto known = this->known(tenant, name.application);
  const auto endpoint = known == nullptr ? nullptr : known->endpoint(name.endpoint);
  if (endpoint == nullptr || !is_shut(*endpoint) || look_at(tenant, name.endpoint).waiting == 0) {
    return;
  }
  HK_SOMETIMES(hold_looked_at);
  const Delivery options = effective(*endpoint, settings(tenant));
  begin_sweep({.tenant = tenant,
               .endpoint = name.endpoint,
               .application = name.application,
               .up_to = context_.progress.last_message(),
               .reason = CancelReason::hold_expired,
               .due_before = batch_.now() - options.hold.ttl});
  watch_hold(*endpoint, options);
}

/// What had been held for too long is cancelled.
void Webhooks::hold_swept(const SweepRun& run) {
  const auto& [tenant, endpoint_number, application] =
      std::tie(run.sweep.tenant, run.sweep.endpoint, run.sweep.application);
  const auto known = this->known(tenant, application);
  const auto endpoint = known == nullptr ? nullptr : known->endpoint(endpoint_number);
  if (endpoint == nullptr || !is_shut(*endpoint)) {
    return;
  }
  constexpr int part = 10;  // of its time before which somebody is told
  const Delivery options = effective(*endpoint, settings(tenant));
  const Millis ahead = std::max(options.hold.ttl / part, 2 * look_every(options));
  Health& health = change_health(tenant, endpoint_number);
  const bool ends_soon =
      run.oldest != never && run.oldest + options.hold.ttl - ahead <= batch_.now();
  const bool is_news = ends_soon && !health.hold_announced;
  health.hold_announced = health.hold_announced || ends_soon;
  health.hold_canceled += run.canceled;
  if (is_news || run.canceled > 0) {
    tell_of_hold(*endpoint, "expiring");
  }
}

void Webhooks::tell_of_hold(const Endpoint& endpoint, const char* reason) {
  if (endpoint.application == operational) {
    return;
  }
  const auto known = this->known(endpoint.tenant, endpoint.application);
  HK_ASSERT(known != nullptr);
  const Health& health = look_at(endpoint.tenant, endpoint.number);
  std::string data;
  JsonWriter json(data);
  json.begin_object();
  write_endpoint(json, known->application, endpoint);
  json.field("held", health.waiting);
  json.field("heldBytes", health.waiting_bytes);
  json.field("canceled", health.hold_canceled);
  json.field("reason", reason);
  json.end_object();
  tell(endpoint.tenant, operational_event::endpoint_hold, data);
}

// ---- shut and open ----

void Webhooks::endpoint_changed(const Endpoint& before, const Endpoint& after) {
  const TenantId tenant = after.tenant;
  const Delivery options = effective(after, settings(tenant));
  const bool enabled =
      before.disabled != Endpoint::Disabled::no && after.disabled == Endpoint::Disabled::no;
  const bool has_circuit = look_at(tenant, after.number).circuit_for > Millis{0};
  if (enabled || (has_circuit && !options.circuit)) {
    clear_failures(change_health(tenant, after.number));
  }
  const std::uint64_t waiting = look_at(tenant, after.number).waiting;
  if (is_shut(before) && !is_shut(after)) {
    opened(after, options);
  } else if (!is_shut(before) && is_shut(after)) {
    if (look_at(tenant, after.number).ramp != 0) {
      change_health(tenant, after.number).ramp = 0;
    }
    if (waiting > 0) {
      watch_hold(after, options);
    }
  }
  set_gates(tenant, after.application, after.number);
}

void Webhooks::opened(const Endpoint& endpoint, const Delivery& options) {
  const Health& seen = look_at(endpoint.tenant, endpoint.number);
  if (seen.hold_announced || seen.hold_canceled != 0) {
    Health& health = change_health(endpoint.tenant, endpoint.number);
    health.hold_announced = false;
    health.hold_canceled = 0;
  }
  if (seen.waiting == 0) {
    return;
  }
  HK_SOMETIMES(endpoint_opened_with_held);
  const bool grows = options.resume_rate == 0 && endpoint.rate == 0;
  const std::uint32_t rate = grows ? ramp_from : options.resume_rate;
  if (rate == 0 || seen.waiting <= rate) {
    return;
  }
  HK_SOMETIMES(ramp_begun);
  change_health(endpoint.tenant, endpoint.number).ramp = rate;
  if (grows) {
    timers_.set(batch_.now() + ramp_step, Timer::Kind::webhook_ramp, endpoint.tenant,
                gate_name(GateOf::endpoint, endpoint.application, endpoint.number));
  }
}

void Webhooks::on_ramp_timer(TenantId tenant, const GateName& name) {
  const auto known = this->known(tenant, name.application);
  const auto endpoint = known == nullptr ? nullptr : known->endpoint(name.endpoint);
  const Health& seen = look_at(tenant, name.endpoint);
  if (endpoint == nullptr || is_shut(*endpoint) || seen.ramp == 0 ||
      effective(*endpoint, settings(tenant)).resume_rate != 0) {
    return;
  }
  const std::uint32_t faster = seen.ramp + seen.ramp / 2;
  if (faster > ramp_until || seen.waiting < faster) {
    end_ramp(tenant, name.application, name.endpoint);
    return;
  }
  HK_SOMETIMES(ramp_grows);
  change_health(tenant, name.endpoint).ramp = faster;
  set_gates(tenant, name.application, name.endpoint);
  timers_.set(batch_.now() + ramp_step, Timer::Kind::webhook_ramp, tenant,
              gate_name(GateOf::endpoint, name.application, name.endpoint));
}

void Webhooks::end_ramp(TenantId tenant, Number application, Number endpoint) {
  HK_SOMETIMES(ramp_ended);
  change_health(tenant, endpoint).ramp = 0;
  set_gates(tenant, application, endpoint);
}

/// Those that are in use follow at once, the others when something next waits for them.
void Webhooks::settings_changed(TenantId tenant) {
  for (const auto& [key, kept] : known_) {
    if (key.first != tenant) {
      continue;
    }
    for (const auto& endpoint : kept.known->endpoints) {
      set_gates(tenant, key.second, endpoint->number);
    }
  }
}

void Webhooks::application_changed(const Application& application) {
  set_application_gate(application.tenant, application.number);
}

Reply Webhooks::decide(const PauseEndpoint& command) {
  const auto found = find(command.tenant, command.application_ref, command.endpoint_ref);
  if (!found) {
    return found.error();
  }
  if (!found->endpoint->paused) {
    Endpoint paused = *found->endpoint;
    paused.paused = true;
    paused.updated_at = batch_.now();
    put(paused);
    endpoint_changed(*found->endpoint, paused);
  }
  return DeliveriesChanged{};
}

/// With its answer nothing of what is skipped can go any more: the gate is shut until all of it is
/// cancelled.
Reply Webhooks::decide(const ResumeEndpoint& command) {
  const auto found = find(command.tenant, command.application_ref, command.endpoint_ref);
  if (!found) {
    return found.error();
  }
  const Endpoint& endpoint = *found->endpoint;
  const std::uint64_t waiting = look_at(command.tenant, endpoint.number).waiting;
  clear_failures(change_health(command.tenant, endpoint.number));
  if (command.skip && waiting > 0) {
    HK_SOMETIMES(held_skipped);
    begin_sweep({.tenant = command.tenant,
                 .endpoint = endpoint.number,
                 .application = endpoint.application,
                 .up_to = context_.progress.last_message(),
                 .reason = CancelReason::skipped});
  }
  if (!command.skip && waiting > 0 && effective(endpoint, settings(command.tenant)).halt) {
    begin_sweep({.tenant = command.tenant,
                 .endpoint = endpoint.number,
                 .application = endpoint.application,
                 .up_to = context_.progress.last_message(),
                 .reason = CancelReason::none});
  }
  Endpoint resumed = endpoint;
  resumed.paused = false;
  if (endpoint.paused) {
    resumed.updated_at = batch_.now();
    put(resumed);
  }
  endpoint_changed(endpoint, resumed);
  return DeliveriesChanged{.count = command.skip || !is_shut(resumed) ? waiting : 0};
}

Reply Webhooks::decide(const CancelWaiting& command) {
  const auto found = find(command.tenant, command.application_ref, command.endpoint_ref);
  if (!found) {
    return found.error();
  }
  const std::uint64_t waiting = look_at(command.tenant, found->endpoint->number).waiting;
  if (waiting > 0) {
    begin_sweep({.tenant = command.tenant,
                 .endpoint = found->endpoint->number,
                 .application = found->endpoint->application,
                 .up_to = context_.progress.last_message(),
                 .reason = CancelReason::canceled,
                 .event_type = command.event_type,
                 .channel = command.channel,
                 .tag = command.tag});
    set_gates(command.tenant, found->endpoint->application, found->endpoint->number);
  }
  return DeliveriesChanged{.count = waiting};
}

void Webhooks::on_timer(const Timer& timer) {
  if (timer.kind == Timer::Kind::webhook_token) {
    on_token_timer(timer.tenant, timer.key);
    return;
  }
  const auto name = read_gate_name(timer.key);
  HK_ASSERT(name.has_value());
  if (timer.kind == Timer::Kind::webhook_hold) {
    on_hold_timer(timer.tenant, *name);
  } else {
    HK_ASSERT(timer.kind == Timer::Kind::webhook_ramp);
    on_ramp_timer(timer.tenant, *name);
  }
}

}  // namespace hk::core::webhook
