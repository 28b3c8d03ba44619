// The gates of an endpoint are as its records say. They are there as long as something waits behind
// them, so whoever changes a record tells them, and a lane that is made asks for them.
#include <algorithm>

#include "base/assert.h"
#include "base/date.h"
#include "base/sometimes.h"
#include "core/message/inspect.h"
#include "core/webhook/gate_name.h"
#include "core/webhook/options.h"
#include "core/webhook/webhooks.h"

HK_SOMETIMES_DECLARE(webhook_gate_shut_when_its_lane_is_made)
HK_SOMETIMES_DECLARE(webhook_rate_window_remembered)

namespace hk::core::webhook {

namespace {

/// A bucket of a tenth of a second's worth, at least one: two windows that touch hold as many.
void set_rate(Gate& gate, std::uint32_t rate) {
  constexpr std::uint32_t windows_per_second = 20;
  constexpr std::uint32_t second = 1000;
  if (rate == 0) {
    gate.rate = 0;
    return;
  }
  gate.rate = std::max(rate / windows_per_second, 1U);
  gate.period = Millis{(std::uint64_t{second} * gate.rate + rate - 1) / rate};
}

/// 0 = no limit.
std::uint32_t lower_of(std::uint32_t one, std::uint32_t other) {
  return one == 0 || other == 0 ? std::max(one, other) : std::min(one, other);
}

void use_window(Gate& gate, const Health& health) {
  if (gate.window_start == Moment{} && health.window_start != Moment{}) {
    HK_SOMETIMES(webhook_rate_window_remembered);
    gate.window_start = health.window_start;
    gate.window_count = health.window_count;
  }
}

}  // namespace

void Webhooks::lane_made(Lane& lane) {
  const auto name = read_gate_name(gate_of(lane.key));
  HK_ASSERT(name.has_value());
  const TenantId tenant = lane.key.tenant;
  lane.background = name->of == GateOf::replay;
  for (Gate* const own : lane.gates) {
    own->orphan = true;  // no record of its own stands behind it
  }
  const auto add = [&](GateOf of, Number endpoint) {
    Gate& gate = scheduler_.flow_gate(tenant, gate_name(of, name->application, endpoint));
    gate.orphan = true;
    Scheduler::add_gate(lane, gate);
  };
  if (name->of != GateOf::endpoint || lane.ordered()) {
    add(GateOf::endpoint, name->endpoint);
  }
  if (name->of != GateOf::manual) {
    add(GateOf::circuit, name->endpoint);
  }
  add(GateOf::application, 0);
  set_gates(tenant, name->application, name->endpoint);
  set_application_gate(tenant, name->application);
}

void Webhooks::set_gates(TenantId tenant, Number application, Number number) {
  Gate* const gate =
      scheduler_.find_flow_gate(tenant, gate_name(GateOf::endpoint, application, number));
  if (gate == nullptr) {
    return;  // nothing waits there
  }
  const auto known = this->known(tenant, application);
  const auto endpoint = known == nullptr ? nullptr : known->endpoint(number);
  if (endpoint == nullptr) {
    gate->sweeping = true;  // for good: what waits is being cancelled
    return;
  }
  const Delivery options = effective(*endpoint, settings(tenant));
  const Health& health = look_at(tenant, number);
  const auto slowed = slowed_.find({tenant, number});
  gate->paused = is_shut(*endpoint);
  gate->sweeping = is_swept(tenant, number);
  gate->parallelism =
      slowed == slowed_.end() ? options.parallelism : std::min(slowed->second, options.parallelism);
  set_rate(*gate, lower_of(endpoint->rate, health.ramp));
  use_window(*gate, health);
  gate->shut_until = health.by_circuit ? Moment{} : health.shut_until;
  if (gate->paused) {
    HK_SOMETIMES(webhook_gate_shut_when_its_lane_is_made);
  }
  scheduler_.gate_changed(*gate, batch_.now());
  if (Gate* const circuit =
          scheduler_.find_flow_gate(tenant, gate_name(GateOf::circuit, application, number))) {
    circuit->shut_until = health.by_circuit ? health.shut_until : Moment{};
    circuit->parallelism = health.circuit_for > Millis{0} ? 1 : 0;  // one probe at a time
    scheduler_.gate_changed(*circuit, batch_.now());
  }
}

Millis Webhooks::attempt_not_made(const Message& delivery) {
  constexpr Millis rest{5'000};
  const WebhookPart& part = *delivery.webhook;
  // Not of the endpoint's health, and not stored: a restart may have mended it.
  if (Gate* const gate = scheduler_.find_flow_gate(
          delivery.tenant, gate_name(GateOf::endpoint, part.application, part.endpoint))) {
    gate->shut_until = std::max(gate->shut_until, batch_.now() + rest);
    scheduler_.gate_changed(*gate, batch_.now());
  }
  return rest;
}

void Webhooks::set_application_gate(TenantId tenant, Number application) {
  Gate* const gate = scheduler_.find_flow_gate(tenant, gate_name(GateOf::application, application));
  const auto known = gate == nullptr ? nullptr : this->known(tenant, application);
  if (known == nullptr) {
    return;  // nothing waits there, or what does is being cancelled
  }
  set_rate(*gate, known->application.rate);
  use_window(*gate, look_at(tenant, application));
  scheduler_.gate_changed(*gate, batch_.now());
}

/// The window of a rate must be durable before the start that it counts: a restart must not grant
/// it again.
void Webhooks::note_windows(const Lane& lane) {
  for (const Gate* const gate : lane.gates) {
    if (gate->rate == 0) {
      continue;
    }
    if (const auto name = read_gate_name(gate->name)) {
      Health& health = change_health(
          lane.key.tenant, name->of == GateOf::application ? name->application : name->endpoint);
      health.window_start = gate->window_start;
      health.window_count = gate->window_count;
    }
  }
}

void Webhooks::explain(const Message& delivery, const Lane& lane, std::vector<Hold>& holds) {
  const Moment now = batch_.now();
  const WebhookPart& part = *delivery.webhook;
  const auto known = this->known(delivery.tenant, part.application);
  const auto endpoint = known == nullptr ? nullptr : known->endpoint(part.endpoint);
  const auto hold = [&](const char* gate, std::string detail, std::optional<Moment> opens = {}) {
    holds.push_back({gate, std::move(detail), opens});
  };
  for (const Gate* const gate : lane.gates) {
    const auto name = read_gate_name(gate->name);
    if (!name) {
      explain_gate(*gate, now, holds);
      continue;
    }
    if (gate->kind == Gate::Kind::queue) {
      continue;  // its order is told of elsewhere
    }
    switch (name->of) {
      case GateOf::endpoint: {
        if (endpoint == nullptr) {
          hold("endpoint_deleted", "what waited for it is being cancelled");
          break;
        }
        if (gate->sweeping) {
          hold("endpoint_canceling", "what waited before is being cancelled");
        }
        if (endpoint->disabled != Endpoint::Disabled::no) {
          hold("endpoint_disabled", endpoint->disabled == Endpoint::Disabled::manual
                                        ? "by its owner"
                                    : endpoint->disabled == Endpoint::Disabled::gone
                                        ? "it answered 410 Gone"
                                        : "its attempts have failed for too long");
        }
        if (endpoint->paused) {
          hold("endpoint_paused", "");
        }
        if (endpoint->secrets.empty()) {
          hold("no_signing_key", "the endpoint has no secret to sign with");
        }
        if (gate->shut_until > now && look_at(delivery.tenant, part.endpoint).shut_until <= now) {
          hold("attempt_not_made", "this server could not make an attempt: its log says why",
               gate->shut_until);
        } else if (gate->shut_until > now) {
          hold("endpoint_throttled", "its last answer asked to wait (Retry-After)",
               gate->shut_until);
        }
        if (!gate->rate_free(now)) {
          hold("endpoint_rate", "its rate is used up", gate->window_start + gate->period);
        }
        if (!gate->slot_free()) {
          hold("endpoint_parallelism", std::to_string(gate->in_use) + " of " +
                                           std::to_string(gate->parallelism) + " in flight");
        }
        break;
      }
      case GateOf::circuit:
        if (gate->shut_until > now) {
          hold("endpoint_circuit", "too many attempts in a row have failed", gate->shut_until);
        } else if (!gate->slot_free()) {
          hold("endpoint_circuit", "an attempt is under way to see whether it works again");
        }
        break;
      case GateOf::application:
        if (!gate->rate_free(now)) {
          hold("application_rate", "the rate of its application is used up",
               gate->window_start + gate->period);
        }
        break;
      case GateOf::replay:
      case GateOf::manual: break;
    }
  }
}

}  // namespace hk::core::webhook
