/// What clients of Svix are shown of each thing. Pure, any thread.
#pragma once

#include <string_view>

#include "base/json.h"
#include "core/webhook/read.h"
#include "core/webhook/replay.h"
#include "edge/http/message.h"

namespace hk::api::svix {

namespace webhook = core::webhook;

void write_application(JsonWriter& json, const webhook::Application& application);
/// Without content `schemas` is null.
void write_event_type(JsonWriter& json, const webhook::EventType& type, bool with_content);
void write_endpoint(JsonWriter& json, const webhook::Endpoint& endpoint);
/// Members, of an object that has others.
void write_endpoint_members(JsonWriter& json, const webhook::Endpoint& endpoint,
                            bool with_metadata);
void write_message(JsonWriter& json, const webhook::Event& event, bool with_content, Moment now);
void write_message_members(JsonWriter& json, const webhook::Event& event, bool with_content,
                           Moment now);
void write_integration(JsonWriter& json, const webhook::Integration& integration);
void write_headers(JsonWriter& json, const webhook::Endpoint& endpoint);

/// What is delivered is there no more.
bool is_payload_gone(const webhook::Event& event, Moment now);

// ---- how a delivery stands ----

std::string_view name_of(webhook::Shown shown);
void write_standing(JsonWriter& json, webhook::Shown shown, bool expanded);

void text_or_null(JsonWriter& json, std::string_view name, std::string_view text);
void texts(JsonWriter& json, std::string_view name, const std::vector<std::string>& all);
void texts_or_null(JsonWriter& json, std::string_view name, const std::vector<std::string>& all);
void time_or_null(JsonWriter& json, std::string_view name, std::optional<Moment> moment);
void rate_or_null(JsonWriter& json, std::string_view name, std::uint32_t rate);
void metadata_member(JsonWriter& json, const webhook::Metadata& metadata);

/// An answer that is one object.
template <class Write>
http::Response object_response(int status, Write&& write) {
  http::Response response;
  response.status = status;
  JsonWriter json(response.body);
  json.begin_object();
  write(json);
  json.end_object();
  return response;
}
http::Response no_content();
/// `{}`.
http::Response empty_object(int status);

}  // namespace hk::api::svix
