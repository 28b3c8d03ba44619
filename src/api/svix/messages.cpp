// /api/v1/app/{app}/msg: what is sent to the endpoints of an application.
#include <algorithm>
#include <charconv>
#include <utility>

#include "api/qstash/publish.h"
#include "api/svix/fields.h"
#include "api/svix/filter.h"
#include "api/svix/handlers.h"
#include "api/svix/page.h"
#include "api/svix/plan.h"
#include "api/svix/reading.h"
#include "api/svix/render.h"
#include "api/svix/rules.h"
#include "base/ascii.h"
#include "observe/metrics.h"

namespace hk::api::svix {

namespace {

constexpr std::size_t event_channels_max = 10;
constexpr std::size_t event_tags_max = 5;
constexpr std::chrono::days deliver_ahead_max{365};
constexpr std::int64_t retention_days_max = 90;
constexpr std::int64_t retention_hours_max = 2160;
constexpr std::size_t body_over_payload_max = std::size_t{64} * 1024;
constexpr std::size_t payload_default_max = std::size_t{1024} * 1024;
constexpr std::size_t expunged_at_once_max = 1000;

/// A body that is far too large is not looked into.
bool is_too_large(const Services& services, const Call& call) {
  const std::size_t size = call.request.body.size();
  if (size <= payload_default_max + body_over_payload_max) {
    return false;
  }
  const core::TenantId tenant = call.tenant->id;
  const auto settings = webhook::settings_of(*services.submitter.durable_view(tenant), tenant);
  return size > std::max<std::size_t>(settings.payload_bytes_max, payload_default_max) +
                    body_over_payload_max;
}

/// `payload`, or its alias; "" = wrong.
std::string read_payload(Input& in) {
  const std::string_view name = in.given("payload") || !in.given("data") ? "payload" : "data";
  const auto raw = in.raw(name);
  if (!raw || !raw->starts_with('{')) {
    in.refuse("payload", raw || in.given(name) ? "Payload must be an object." : "must be given");
    return {};
  }
  return std::string(*raw);
}

/// What stands beside the payload: another text to be sent, headers, and what is only kept.
void read_params(Input& in, webhook::Event& event) {
  auto params = in.object("transformationsParams");
  if (!params) {
    return;
  }
  if (auto raw = params->text("rawPayload")) {
    event.shown = std::exchange(event.payload, std::move(*raw));
  }
  for (core::Header& one : read_headers(*params, "headers", true)) {
    if (equals_ignoring_case(one.name, "content-type")) {
      event.content_type = std::move(one.value);
    } else {
      event.headers.push_back(std::move(one));
    }
  }
  std::string others;
  JsonWriter json(others);
  json.begin_object();
  const std::size_t empty = others.size();
  for (const Input::Member& one : params->members()) {
    if (one.name != "rawPayload" && one.name != "headers") {
      json.key(one.name);
      json.whole(one.value);
    }
  }
  const bool any = others.size() > empty;
  json.end_object();
  if (any) {
    event.other = std::move(others);
  }
}

void read_deliver_at(Input& in, webhook::Event& event, Moment now) {
  const auto at = in.time("deliverAt");
  if (!at) {
    return;
  }
  if (*at < now || *at > now + deliver_ahead_max) {
    in.refuse("deliverAt", "must be a time from now to a year ahead");
    return;
  }
  event.deliver_at = *at;
}

void read_retention(Input& in, webhook::Event& event, Moment now) {
  const auto days = in.integer("payloadRetentionPeriod", 1, retention_days_max);
  const auto hours = in.integer("payloadRetentionHours", 1, retention_hours_max);
  if (in.raw("payloadRetentionPeriod") && in.raw("payloadRetentionHours")) {
    in.refuse("payloadRetentionHours", "must not be given beside payloadRetentionPeriod");
  }
  if (hours || days) {  // otherwise it is kept as long as its message
    event.payload_expires_at = now + std::chrono::hours{hours ? *hours : 24 * *days};
  }
}

/// How the application of the path is made, if it is not there.
std::optional<webhook::ApplicationFields> read_missing_application(const Services& services,
                                                                   const Call& call, Input& in) {
  if (!in.raw("application") || Reading(services, call).application) {
    return std::nullopt;
  }
  return read_inner_application(in, call.param);
}

webhook::Event read_event(Call& call, Input& in, Moment now) {
  webhook::Event event;
  event.tenant = call.tenant->id;
  event.event_type = in.required_text("eventType", check_name);
  event.payload = read_payload(in);
  event.event_id = in.text("eventId", check_event_id).value_or("");
  event.channels = in.texts("channels", {check_channel, 1, event_channels_max})
                       .value_or(std::vector<std::string>{});
  event.tags =
      in.texts("tags", {check_tag, 0, event_tags_max}).value_or(std::vector<std::string>{});
  read_deliver_at(in, event, now);
  read_retention(in, event, now);
  read_params(in, event);
  event.trace = qstash::read_trace(call.request, call.batcher.rng());
  return event;
}

http::Response message_response(int status, const webhook::Event& event, bool with_content,
                                Moment now) {
  http::Response response;
  response.status = status;
  JsonWriter json(response.body);
  write_message(json, event, with_content, now);
  return response;
}

std::string reference_of(const webhook::Event& event) {
  return std::to_string(event.application) + '/' + std::to_string(event.number);
}

std::optional<std::string> refused_now(const Services& services) {
  return services.options.refuse_publishes ? services.options.refuse_publishes() : std::nullopt;
}

}  // namespace

Write create_message(const Services& services, Call& call) {
  if (auto why = refused_now(services)) {
    services.metrics.publish_refused("closed");
    return Error{ErrorKind::unavailable, std::move(*why)};
  }
  if (is_too_large(services, call)) {
    return error_response(413, "The body is too large: a payload may have 1 MiB.");
  }
  FieldErrors errors;
  Query query(call.request.query(), errors);
  const bool with_content = query.boolean("with_content", true);
  const Moment now = services.now();
  Input in(call.request.body, errors);
  webhook::PublishEvent command{.application_ref = call.param};
  if (!errors.any()) {  // otherwise all fields seem to be missing
    command.event = read_event(call, in, now);
    command.application = read_missing_application(services, call, in);
  }
  if (errors.any()) {
    return command.application ? errors.response() : wrong_of_application(services, call, errors);
  }
  Planned planned = plan<webhook::EventStored>(
      std::move(command), [with_content](const webhook::EventStored& stored) {
        return message_response(202, *stored.event, with_content, stored.event->made.at);
      });
  planned.done = [&services](int status) { services.metrics.webhook_event(status < 300); };
  planned.refer = [](const core::Reply& reply) {
    const auto* const stored = reply->get_if<webhook::EventStored>();
    return stored == nullptr ? std::string() : reference_of(*stored->event);
  };
  return planned;
}

http::Response show_message(const Services& services, core::TenantId tenant,
                            std::string_view reference) {
  const std::size_t slash = reference.find('/');
  webhook::Number application = 0;
  webhook::Number event = 0;
  std::from_chars(reference.data(), reference.data() + std::min(slash, reference.size()),
                  application);
  if (slash != std::string_view::npos) {
    std::from_chars(reference.data() + slash + 1, reference.data() + reference.size(), event);
  }
  const auto found =
      services.submitter.durable_view(tenant)->get<webhook::Event>({tenant, application, event});
  return found ? message_response(202, *found, true, services.now()) : not_found();
}

void list_messages(const Services& services, Call& call) {
  const Reading reading(services, call);
  if (!reading.application) {
    call.answer(no_application());
    return;
  }
  FieldErrors errors;
  Query query(call.request.query(), errors);
  Page page = read_page(query, true, false);
  const auto after = read_number(query, page, webhook::event_prefix);
  const EventFilter filter = EventFilter::read(query);
  const webhook::Window window = read_window(query, page, reading.now);
  const bool with_content = query.boolean("with_content", true);
  if (errors.any()) {
    call.answer(errors.response());
    return;
  }
  constexpr std::size_t events_at_once = 16;  // they have their payloads with them
  std::size_t bytes = 0;
  const auto paged = gather_page<webhook::Event>(
      page, services.options.scanned_per_listing_max, events_at_once,
      [&](const webhook::Event* last, std::size_t count) {
        return webhook::list_events(reading.reader(), reading.tenant, reading.number, window,
                                    last != nullptr ? std::optional(last->number) : after,
                                    page.order(), count);
      },
      [&](const webhook::Event& one) {
        if (!filter.takes(one)) {
          return Kept::no;
        }
        const bool first = bytes == 0;
        bytes += one.payload.size() + one.shown.size() + 1;
        return first || bytes <= services.options.listing_bytes_max ? Kept::yes : Kept::enough;
      });
  call.answer(page_response(
      page, paged, [](const auto& one) { return webhook::id_of(one); },
      [&](JsonWriter& json, const webhook::Event& one) {
        write_message(json, one, with_content, reading.now);
      }));
}

void get_message(const Services& services, Call& call) {
  FieldErrors errors;
  Query query(call.request.query(), errors);
  const bool with_content = query.boolean("with_content", true);
  if (errors.any()) {
    call.answer(errors.response());
    return;
  }
  with_event(services, call, [&](const Reading& reading, const webhook::Event& event) {
    return message_response(200, event, with_content, reading.now);
  });
}

void get_raw_message(const Services& services, Call& call) {
  with_event(services, call, [&](const Reading& reading, const webhook::Event& event) {
    if (is_payload_gone(event, reading.now)) {
      return not_found();
    }
    http::Response response;
    response.body = event.payload;
    if (!event.content_type.empty()) {
      response.content_type = event.content_type;
    }
    // What a customer sent is not to become a page of this server.
    response.fields.push_back({"X-Content-Type-Options", "nosniff"});
    response.fields.push_back({"Content-Disposition", "attachment"});
    return response;
  });
}

Write expunge_message(const Services& /*services*/, Call& call) {
  webhook::ExpungeEvents command{.tenant = call.tenant->id,
                                 .application_ref = call.param,
                                 .event_refs = {call.more_params.front()}};
  return plan<webhook::EventsExpunged>(std::move(command),
                                       [](const webhook::EventsExpunged& expunged) {
                                         return expunged.found.front() ? no_content() : not_found();
                                       });
}

Write bulk_expunge(const Services& services, Call& call) {
  FieldErrors errors;
  Input in(call.request.body, errors);
  if (!errors.any() && !in.raw("ids")) {
    in.refuse("ids", "must be given", decode_error);
  }
  auto ids = in.texts("ids", {.least = 1, .most = expunged_at_once_max, .unique = false})
                 .value_or(std::vector<std::string>{});
  if (errors.any()) {
    return wrong_of_application(services, call, errors);
  }
  std::ranges::sort(ids);
  const auto repeated = std::ranges::unique(ids);
  ids.erase(repeated.begin(), repeated.end());
  webhook::ExpungeEvents command{
      .tenant = call.tenant->id, .application_ref = call.param, .event_refs = ids};
  return plan<webhook::EventsExpunged>(
      std::move(command), [ids = std::move(ids)](const webhook::EventsExpunged& expunged) {
        return object_response(200, [&](JsonWriter& json) {
          json.key("results");
          json.begin_object();
          for (std::size_t i = 0; i < ids.size(); ++i) {
            json.field(ids[i], expunged.found[i] ? "expunged" : "not-found");
          }
          json.end_object();
        });
      });
}

/// Would anybody get it now?
Write precheck(const Services& services, Call& call) {
  const Reading reading(services, call);
  if (!reading.application) {
    return no_application();
  }
  FieldErrors errors;
  Input in(call.request.body, errors);
  const std::string type = in.required_text("eventType", check_name);
  const auto channels = in.texts("channels", {check_channel, 1, event_channels_max})
                            .value_or(std::vector<std::string>{});
  if (errors.any()) {
    return errors.response();
  }
  constexpr std::size_t endpoints_at_most = 100'000;  // more than any application may have
  const auto endpoints = webhook::list_endpoints(reading.reader(), reading.tenant, reading.number,
                                                 {}, core::Order::ascending, endpoints_at_most);
  const bool active = std::ranges::any_of(endpoints, [&](const webhook::Endpoint& one) {
    return one.disabled == webhook::Endpoint::Disabled::no && webhook::matches(one, type, channels);
  });
  return object_response(200, [active](JsonWriter& json) { json.field("active", active); });
}

}  // namespace hk::api::svix
