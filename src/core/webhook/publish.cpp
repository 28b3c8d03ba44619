// An event, its deliveries to all endpoints that it matches, and what it is known by are one batch.
#include <algorithm>

#include "base/assert.h"
#include "base/sometimes.h"
#include "core/message/messages.h"
#include "core/tenant/tenants.h"
#include "core/webhook/gate_name.h"
#include "core/webhook/id.h"
#include "core/webhook/options.h"
#include "core/webhook/replay.h"
#include "core/webhook/webhooks.h"

HK_SOMETIMES_DECLARE(event_published_to_nobody)
HK_SOMETIMES_DECLARE(event_published_to_several)
HK_SOMETIMES_DECLARE(event_published_to_a_disabled_endpoint)
HK_SOMETIMES_DECLARE(event_id_repeated)
HK_SOMETIMES_DECLARE(delivery_kept_in_order)
HK_SOMETIMES_DECLARE(event_made_its_application)

namespace hk::core::webhook {

namespace {

/// A disabled endpoint matches unless it asks not to.
bool gets(const Endpoint& endpoint, const Event& event, const Settings& settings) {
  return matches(endpoint, event.event_type, event.channels) &&
         (endpoint.disabled == Endpoint::Disabled::no ||
          effective(endpoint, settings).hold.enabled);
}

}  // namespace

bool Webhooks::is_shut(const Endpoint& endpoint) {
  return endpoint.disabled != Endpoint::Disabled::no || endpoint.paused || endpoint.secrets.empty();
}

/// Checks in this order: tenant, application, payload, event type, eventId, the only endpoint, and
/// what is wrong with an application that would be made.
Reply Webhooks::decide(PublishEvent command) {
  Event& event = command.event;
  const TenantId tenant = event.tenant;
  if (!tenants_.contains(tenant)) {
    return fail(ErrorKind::not_found, "no such tenant");
  }
  auto known =
      command.application_ref.empty() ? nullptr : this->known(tenant, command.application_ref);
  if (known == nullptr && !command.application) {
    return Refused{Refused::Why::application_not_found};
  }
  const Settings& settings = this->settings(tenant);
  if (event.payload.size() > settings.payload_bytes_max) {
    return Refused{Refused::Why::payload_too_large, std::to_string(settings.payload_bytes_max)};
  }
  if (settings.known_types_only) {
    const auto type = batch_.get<EventType>({tenant, event.event_type});
    if (!type || type->archived) {
      return Refused{Refused::Why::event_type_unknown, event.event_type};
    }
  }
  if (known != nullptr && !event.event_id.empty() &&
      named(tenant, Name::Kind::event_id, known->application.number, event.event_id)) {
    HK_SOMETIMES(event_id_repeated);
    return Refused{Refused::Why::event_id_taken, event.event_id};
  }
  std::shared_ptr<const Endpoint> only;
  if (!command.only_endpoint_ref.empty()) {
    only = known == nullptr ? nullptr : known->endpoint(command.only_endpoint_ref);
    if (only == nullptr) {
      return Refused{Refused::Why::endpoint_not_found};
    }
    if (only->disabled != Endpoint::Disabled::no) {
      return Refused{Refused::Why::endpoint_disabled};
    }
  }
  if (known == nullptr) {
    auto made = make_application(tenant, std::move(*command.application));
    if (!made) {
      return std::move(made.error());
    }
    HK_SOMETIMES(event_made_its_application);
    known = *std::move(made);
  }
  Endpoints to;
  if (only != nullptr) {
    to.push_back(only);
  } else {
    std::ranges::copy_if(known->endpoints, std::back_inserter(to),
                         [&](const auto& one) { return gets(*one, event, settings); });
  }
  return EventStored{publish(std::move(event), known->application.number, to)};
}

std::shared_ptr<const Event> Webhooks::publish(Event event, Number application,
                                               const Endpoints& to) {
  if (to.empty()) {
    HK_SOMETIMES(event_published_to_nobody);
  } else if (to.size() > 1) {
    HK_SOMETIMES(event_published_to_several);
  }
  event.application = application;
  event.made = made_now();
  event.number = context_.progress.next_number();
  const Moment kept_until = batch_.now() + limits_.retention_webhooks;
  event.payload_expires_at = event.payload_expires_at == Moment{}
                                 ? kept_until
                                 : std::min(event.payload_expires_at, kept_until);
  event.addressed.clear();
  event.addressed.reserve(to.size());
  for (const auto& endpoint : to) {
    if (endpoint->disabled != Endpoint::Disabled::no) {
      HK_SOMETIMES(event_published_to_a_disabled_endpoint);
    }
    event.addressed.push_back({endpoint->number, deliver(event, *endpoint, {}).seq});
  }
  if (!event.event_id.empty()) {
    rename(event.tenant, Name::Kind::event_id, application, event.number, {}, event.event_id);
  }
  if (event.payload_expires_at < kept_until) {
    batch_.expire_event(event.payload_expires_at, event.tenant, application, event.number);
  }
  batch_.expire_event(kept_until, event.tenant, application, event.number);
  auto stored = std::make_shared<const Event>(std::move(event));
  batch_.put(Put<Event>{stored});
  return stored;
}

/// REQUIRES: `part` says which generation it is and why; the rest is set here.
MessageId Webhooks::deliver(const Event& event, const Endpoint& endpoint, WebhookPart part) {
  const Delivery options = effective(endpoint, settings(event.tenant));
  part.application = event.application;
  part.endpoint = endpoint.number;
  part.event = event.number;
  part.bytes = event.payload.size();
  const bool by_hand = is_by_hand(part);
  make_room(endpoint, options, part);

  auto message = std::make_shared<Message>();
  message->tenant = event.tenant;
  message->host = endpoint.host;
  message->retry = {.retries_max = 0, .delay = TableDelay{}};  // its endpoint has the schedule
  message->timeout = options.timeout;
  message->trace = event.trace;
  if (!by_hand) {
    const Moment from = part.generation == 0 ? event.deliver_at : Moment{};
    const Millis first_wait =
        options.delays.empty() ? Millis{0} : jittered(options.delays.front(), options.jitter);
    message->not_before = std::max(from, batch_.now()) + first_wait;
  }
  std::string group =
      by_hand ? std::string{} : order_group(options.order, event.channels, event.tags);
  if (group.empty()) {
    const GateOf lane = by_hand            ? GateOf::manual
                        : part.replay != 0 ? GateOf::replay
                                           : GateOf::endpoint;
    message->flow_key = gate_name(lane, event.application, endpoint.number);
  } else {
    HK_SOMETIMES(delivery_kept_in_order);
    message->queue = gate_name(GateOf::endpoint, event.application, endpoint.number);
    message->group = std::move(group);
  }
  message->webhook = part;
  const MessageId id = messages_.accept(std::move(message));
  if (is_companion(part)) {
    return id;
  }
  batch_.put(
      Put<DeliveryRow>{{event.tenant, endpoint.number, event.number, part.generation, id.seq}});
  Health& health = change_health(event.tenant, endpoint.number);
  ++health.waiting;
  health.waiting_bytes += part.bytes;
  ++change_stats(event.tenant, endpoint.number, batch_.now()).created;
  if (is_shut(endpoint) && health.waiting == 1) {
    watch_hold(endpoint, options);
  }
  return id;
}

std::optional<Event> Webhooks::find_event(TenantId tenant, Number application,
                                          std::string_view ref) {
  if (const auto number = number_in(ref, event_prefix)) {
    auto event = batch_.get<Event>({tenant, application, *number});
    return event && id_of(*event) == ref ? std::move(event) : std::nullopt;
  }
  const auto number = named(tenant, Name::Kind::event_id, application, ref);
  return number ? batch_.get<Event>({tenant, application, *number}) : std::nullopt;
}

}  // namespace hk::core::webhook
