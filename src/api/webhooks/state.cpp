// Pausing and resuming an endpoint, and how it stands.
#include <algorithm>
#include <utility>

#include "api/svix/render.h"
#include "api/webhooks/handlers.h"
#include "api/webhooks/plan.h"
#include "api/webhooks/reading.h"
#include "base/date.h"
#include "core/webhook/options.h"

namespace hk::api::webhooks {

namespace {

using webhook::Endpoint;

std::string_view reason_of(Endpoint::Disabled disabled) {
  switch (disabled) {
    case Endpoint::Disabled::no: return "";
    case Endpoint::Disabled::manual: return "manual";
    case Endpoint::Disabled::failing: return "failing";
    case Endpoint::Disabled::gone: return "gone";
  }
  std::unreachable();
}

std::optional<Moment> moment_or_none(Moment moment) {
  return moment == Moment{} ? std::nullopt : std::optional(moment);
}

/// When the oldest delivery that waits was published, if it is found among the first ones.
std::optional<Moment> oldest_waiting(const svix::Reading& reading, const Endpoint& endpoint,
                                     std::size_t looked_at_max) {
  std::optional<webhook::Number> after;
  constexpr std::size_t at_once = 100;
  for (std::size_t looked_at = 0; looked_at < looked_at_max; looked_at += at_once) {
    const auto rows = webhook::list_deliveries(reading.reader(), reading.tenant, endpoint.number,
                                               {}, after, core::Order::ascending, at_once);
    for (const webhook::DeliveryRow& row : rows) {
      const auto delivery = webhook::state_of(reading.reader(), row);
      if (delivery && !core::is_final(delivery->state.status)) {
        return delivery->message->created_at;
      }
    }
    if (rows.size() < at_once) {
      break;
    }
    after = rows.back().event;
  }
  return std::nullopt;
}

void write_circuit(JsonWriter& json, const webhook::Health& health, Moment now) {
  const bool open = health.by_circuit && health.shut_until > now;
  const bool closed = health.circuit_for == Millis{0};
  json.key("circuit");
  json.begin_object();
  json.field("state", open ? "open" : closed ? "closed" : "half-open");
  svix::time_or_null(json, "until", open ? std::optional(health.shut_until) : std::nullopt);
  json.end_object();
}

void write_gate(JsonWriter& json, std::string_view name, std::optional<Moment> opens) {
  json.begin_object();
  json.field("gate", name);
  svix::time_or_null(json, "opens", opens);
  json.end_object();
}

void write_gates(JsonWriter& json, const Endpoint& endpoint, const webhook::Health& health,
                 Moment now) {
  json.key("gates");
  json.begin_array();
  if (endpoint.disabled != Endpoint::Disabled::no) {
    write_gate(json, "disabled", {});
  }
  if (endpoint.paused) {
    write_gate(json, "paused", {});
  }
  if (health.shut_until > now) {
    write_gate(json, health.by_circuit ? "circuit" : "retry-after", health.shut_until);
  }
  json.end_array();
}

/// `running` is known in memory alone.
http::Response state_response(const svix::Reading& reading, const Endpoint& endpoint,
                              std::uint64_t running, std::size_t looked_at_max) {
  const webhook::Health health =
      webhook::health_of(reading.reader(), reading.tenant, endpoint.number);
  const bool held = endpoint.paused || endpoint.disabled != Endpoint::Disabled::no;
  return svix::object_response(200, [&](JsonWriter& json) {
    json.field("disabled", endpoint.disabled != Endpoint::Disabled::no);
    svix::text_or_null(json, "disabledReason", reason_of(endpoint.disabled));
    json.field("paused", endpoint.paused);
    svix::time_or_null(json, "failingSince", moment_or_none(health.failing_since));
    json.field("consecutiveFailures", health.failures);
    write_circuit(json, health, reading.now);
    json.key("held");
    json.begin_object();
    json.field("messages", held ? health.waiting : 0);
    json.field("bytes", held ? health.waiting_bytes : 0);
    svix::time_or_null(json, "oldest",
                       held && health.waiting > 0 ? oldest_waiting(reading, endpoint, looked_at_max)
                                                  : std::nullopt);
    json.end_object();
    json.field("waiting", health.waiting - std::min(health.waiting, running));
    json.field("inFlight", running);
    const bool throttled = !health.by_circuit && health.shut_until > reading.now;
    svix::time_or_null(json, "throttledUntil",
                       throttled ? std::optional(health.shut_until) : std::nullopt);
    write_gates(json, endpoint, health, reading.now);
  });
}

}  // namespace

void get_state(const Services& services, Call& call) {
  const svix::Reading reading(services, call);
  const auto endpoint = find_endpoint_of(reading, call);
  if (!endpoint) {
    call.answer.refuse(404, "there is no such endpoint");
    return;
  }
  webhook::InspectEndpoint question{reading.tenant, call.param, call.more_params.front()};
  call.batcher.submit(
      std::move(question), [&services, reading, endpoint = *endpoint,
                            answer = std::move(call.answer)](const core::Reply& reply) mutable {
        answering(answer, [&] {
          const auto* const found = reply ? reply->get_if<webhook::EndpointInspected>() : nullptr;
          answer(state_response(reading, endpoint, found == nullptr ? 0 : found->running,
                                services.options.scanned_per_listing_max));
        });
      });
}

Write pause(const Services& /*services*/, Call& call) {
  return plan(webhook::PauseEndpoint{call.tenant->id, call.param, call.more_params.front()},
              [](const core::Reply& /*reply*/) { return svix::no_content(); });
}

Write resume(const Services& /*services*/, Call& call) {
  svix::FieldErrors errors;
  svix::Input in(call.request.body, errors, svix::Input::Empty::object);
  const std::string mode = in.text("mode").value_or("deliver");
  if (mode != "deliver" && mode != "skip") {
    in.refuse("mode", "must be deliver or skip");
  }
  if (errors.any()) {
    return wrong_fields(errors, call.answer.request_id());
  }
  const bool skip = mode == "skip";
  return plan(webhook::ResumeEndpoint{call.tenant->id, call.param, call.more_params.front(), skip},
              [skip](const core::Reply& reply) {
                return svix::object_response(200, [&](JsonWriter& json) {
                  json.field(skip ? "canceled" : "released",
                             answer_of<webhook::DeliveriesChanged>(reply).count);
                });
              });
}

}  // namespace hk::api::webhooks
