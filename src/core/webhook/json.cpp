#include "core/webhook/json.h"

#include "base/date.h"
#include "core/webhook/id.h"

namespace hk::core::webhook {

namespace {

void text_or_null(JsonWriter& json, std::string_view name, std::string_view text) {
  json.key(name);
  text.empty() ? json.null() : json.string(text);
}

std::string_view reason_of(Endpoint::Disabled disabled) {
  switch (disabled) {
    case Endpoint::Disabled::failing: return "failing";
    case Endpoint::Disabled::gone: return "gone";
    case Endpoint::Disabled::no:
    case Endpoint::Disabled::manual: break;
  }
  return "manual";
}

}  // namespace

void write_endpoint(JsonWriter& json, const Application& application, const Endpoint& endpoint) {
  json.field("appId", id_of(application));
  text_or_null(json, "appUid", application.uid);
  json.field("endpointId", id_of(endpoint));
  text_or_null(json, "endpointUid", endpoint.uid);
}

std::string endpoint_data(const Application& application, const Endpoint& endpoint) {
  std::string data;
  JsonWriter json(data);
  json.begin_object();
  write_endpoint(json, application, endpoint);
  json.end_object();
  return data;
}

std::string disabled_data(const Application& application, const Endpoint& endpoint,
                          Moment fail_since) {
  std::string data;
  JsonWriter json(data);
  json.begin_object();
  write_endpoint(json, application, endpoint);
  text_or_null(json, "failSince", fail_since == Moment{} ? std::string() : rfc3339(fail_since));
  const bool manual = endpoint.disabled == Endpoint::Disabled::manual;
  json.field("trigger", manual ? "manual" : "automatic");
  json.field("reason", reason_of(endpoint.disabled));
  json.end_object();
  return data;
}

}  // namespace hk::core::webhook
