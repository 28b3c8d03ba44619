#include "api/svix/render.h"

#include "api/svix/rules.h"
#include "base/date.h"

namespace hk::api::svix {

namespace {

void write_times(JsonWriter& json, Moment created, Moment updated) {
  json.field("createdAt", rfc3339(created));
  json.field("updatedAt", rfc3339(updated));
}

}  // namespace

void text_or_null(JsonWriter& json, std::string_view name, std::string_view text) {
  json.key(name);
  if (text.empty()) {
    json.null();
  } else {
    json.string(text);
  }
}

void texts(JsonWriter& json, std::string_view name, const std::vector<std::string>& all) {
  json.key(name);
  json.begin_array();
  for (const std::string& one : all) {
    json.string(one);
  }
  json.end_array();
}

void texts_or_null(JsonWriter& json, std::string_view name, const std::vector<std::string>& all) {
  if (!all.empty()) {
    texts(json, name, all);
    return;
  }
  json.key(name);
  json.null();
}

void time_or_null(JsonWriter& json, std::string_view name, std::optional<Moment> moment) {
  text_or_null(json, name, moment ? rfc3339(*moment) : std::string());
}

void rate_or_null(JsonWriter& json, std::string_view name, std::uint32_t rate) {
  json.key(name);
  if (rate == 0) {
    json.null();
  } else {
    json.number(rate);
  }
}

void metadata_member(JsonWriter& json, const webhook::Metadata& metadata) {
  json.key("metadata");
  json.begin_object();
  for (const auto& [name, value] : metadata) {
    json.field(name, value);
  }
  json.end_object();
}

void write_application(JsonWriter& json, const webhook::Application& application) {
  json.begin_object();
  json.field("id", webhook::id_of(application));
  text_or_null(json, "uid", application.uid);
  json.field("name", application.name);
  rate_or_null(json, "throttleRate", application.rate);
  rate_or_null(json, "rateLimit", application.rate);
  metadata_member(json, application.metadata);
  write_times(json, application.made.at, application.updated_at);
  json.end_object();
}

void write_event_type(JsonWriter& json, const webhook::EventType& type, bool with_content) {
  json.begin_object();
  json.field("name", type.name);
  json.field("description", type.description);
  json.field("archived", type.archived);
  json.field("deprecated", type.deprecated);
  json.key("schemas");
  if (with_content && !type.schemas.empty()) {
    json.whole(type.schemas);
  } else {
    json.null();
  }
  text_or_null(json, "groupName", type.group);
  texts_or_null(json, "featureFlags", type.feature_flags);
  text_or_null(json, "featureFlag", type.feature_flags.empty() ? "" : type.feature_flags.front());
  write_times(json, type.created_at, type.updated_at);
  json.end_object();
}

void write_endpoint_members(JsonWriter& json, const webhook::Endpoint& endpoint,
                            bool with_metadata) {
  json.field("id", webhook::id_of(endpoint));
  json.field("url", endpoint.url);
  json.field("description", endpoint.description);
  text_or_null(json, "uid", endpoint.uid);
  json.field("disabled", endpoint.disabled != webhook::Endpoint::Disabled::no);
  texts_or_null(json, "eventTypes", endpoint.event_types);
  texts_or_null(json, "filterTypes", endpoint.event_types);
  if (endpoint.application != webhook::operational) {
    texts_or_null(json, "channels", endpoint.channels);
  }
  rate_or_null(json, "throttleRate", endpoint.rate);
  rate_or_null(json, "rateLimit", endpoint.rate);
  json.field("version", 1);
  if (with_metadata) {
    metadata_member(json, endpoint.metadata);
  }
  write_times(json, endpoint.made.at, endpoint.updated_at);
}

void write_endpoint(JsonWriter& json, const webhook::Endpoint& endpoint) {
  json.begin_object();
  write_endpoint_members(json, endpoint, true);
  json.end_object();
}

bool is_payload_gone(const webhook::Event& event, Moment now) {
  return event.expunged ||
         (event.payload_expires_at != Moment{} && event.payload_expires_at <= now);
}

void write_message_members(JsonWriter& json, const webhook::Event& event, bool with_content,
                           Moment now) {
  json.field("id", webhook::id_of(event));
  json.field("eventType", event.event_type);
  text_or_null(json, "eventId", event.event_id);
  texts_or_null(json, "channels", event.channels);
  texts_or_null(json, "tags", event.tags);
  json.key("payload");
  if (!with_content) {
    json.whole("{}");
  } else if (is_payload_gone(event, now)) {
    json.whole(R"({"expired":true})");
  } else {
    json.whole(event.shown.empty() ? event.payload : event.shown);
  }
  json.field("timestamp", rfc3339(event.made.at));
  time_or_null(json, "deliverAt",
               event.deliver_at == Moment{} ? std::nullopt : std::optional(event.deliver_at));
}

void write_message(JsonWriter& json, const webhook::Event& event, bool with_content, Moment now) {
  json.begin_object();
  write_message_members(json, event, with_content, now);
  json.end_object();
}

void write_integration(JsonWriter& json, const webhook::Integration& integration) {
  json.begin_object();
  json.field("id", webhook::id_of(integration));
  json.field("name", integration.name);
  texts(json, "featureFlags", integration.feature_flags);
  write_times(json, integration.made.at, integration.updated_at);
  json.end_object();
}

void write_headers(JsonWriter& json, const webhook::Endpoint& endpoint) {
  json.key("headers");
  json.begin_object();
  for (const core::Header& one : endpoint.headers) {
    if (!is_sensitive_header(one.name)) {
      json.field(one.name, one.value);
    }
  }
  json.end_object();
  json.key("sensitive");
  json.begin_array();
  for (const core::Header& one : endpoint.headers) {
    if (is_sensitive_header(one.name)) {
      json.string(one.name);
    }
  }
  json.end_array();
}

std::string_view name_of(webhook::Shown shown) {
  switch (shown) {
    case webhook::Shown::succeeded: return "success";
    case webhook::Shown::pending: return "pending";
    case webhook::Shown::failed: return "fail";
    case webhook::Shown::sending: return "sending";
    case webhook::Shown::canceled: return "canceled";
  }
  std::unreachable();
}

void write_standing(JsonWriter& json, webhook::Shown shown, bool expanded) {
  // Clients that know no more than four statuses take what was cancelled for done.
  if (shown == webhook::Shown::canceled && !expanded) {
    shown = webhook::Shown::succeeded;
  }
  json.field("status", static_cast<std::uint32_t>(shown));
  json.field("statusText", name_of(shown));
}

http::Response no_content() {
  http::Response response;
  response.status = 204;
  return response;
}

http::Response empty_object(int status) {
  http::Response response;
  response.status = status;
  response.body = "{}";
  return response;
}

}  // namespace hk::api::svix
