// What the server tells a tenant about the deliveries of its webhooks, in the batch of its cause.
// Events about the deliveries of such events there are none.
#include "core/webhook/operational.h"
#include "base/date.h"
#include "base/json.h"
#include "base/sometimes.h"
#include "core/fresh_trace.h"
#include "core/webhook/id.h"
#include "core/webhook/json.h"
#include "core/webhook/replay.h"
#include "core/webhook/webhooks.h"

HK_SOMETIMES_DECLARE(operational_event_told)
HK_SOMETIMES_DECLARE(operational_event_of_a_message)

namespace hk::core::webhook {

namespace {

void text_or_null_field(JsonWriter& json, std::string_view name, std::string_view text) {
  json.key(name);
  text.empty() ? json.null() : json.string(text);
}

}  // namespace

void Webhooks::tell(TenantId tenant, std::string_view type, std::string_view data) {
  Endpoints to;
  const auto hidden = known(tenant, operational);
  for (const auto& endpoint : hidden->endpoints) {
    if (matches(*endpoint, type, {})) {
      to.push_back(endpoint);
    }
  }
  if (to.empty()) {
    return;
  }
  HK_SOMETIMES(operational_event_told);
  Event event{
      .tenant = tenant, .event_type = std::string(type), .trace = fresh_trace(context_.rng)};
  JsonWriter json(event.payload);
  json.begin_object();
  json.field("type", type);
  json.key("data");
  json.whole(data);
  json.end_object();
  publish(std::move(event), operational, to);
}

void Webhooks::tell_of_message(const Message& delivery, const Known& known,
                               const Endpoint& endpoint, const Attempt& attempt,
                               std::string_view type) {
  const WebhookPart& part = *delivery.webhook;
  if (part.application == operational) {
    return;
  }
  const auto event = batch_.get<Event>({delivery.tenant, part.application, part.event});
  if (!event) {
    return;
  }
  HK_SOMETIMES(operational_event_of_a_message);
  std::string data;
  JsonWriter json(data);
  json.begin_object();
  write_endpoint(json, known.application, endpoint);
  json.field("msgId", id_of(*event));
  text_or_null_field(json, "msgEventId", event->event_id);
  json.key("lastAttempt");
  json.begin_object();
  json.field("id", id_of(AttemptPlace{attempt.ended_at, delivery.id.seq, attempt.fence.attempt}));
  json.field("responseStatusCode", attempt.response_status);
  json.field("timestamp", rfc3339(attempt.started_at));
  json.end_object();
  json.end_object();
  tell(delivery.tenant, type, data);
}

void Webhooks::tell_of_failing(const Known& known, const Endpoint& endpoint, std::uint32_t percent,
                               std::optional<Moment> disable_at) {
  if (endpoint.application == operational) {
    return;
  }
  std::string data;
  JsonWriter json(data);
  json.begin_object();
  write_endpoint(json, known.application, endpoint);
  json.field("failSince", rfc3339(look_at(endpoint.tenant, endpoint.number).failing_since));
  json.field("trigger", "automatic");
  json.field("reason", "failing");
  json.field("percent", percent);
  text_or_null_field(json, "disableAt", disable_at ? rfc3339(*disable_at) : std::string{});
  json.end_object();
  tell(endpoint.tenant, operational_event::endpoint_failing, data);
}

}  // namespace hk::core::webhook
