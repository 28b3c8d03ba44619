// …/endpoint/{ep}/send-example and …/cancel-msgs.
#include <algorithm>
#include <charconv>
#include <utility>

#include "api/qstash/publish.h"
#include "api/svix/endpoint_calls.h"
#include "api/svix/handlers.h"
#include "api/svix/plan.h"
#include "api/svix/render.h"
#include "api/svix/rules.h"
#include "base/json_reader.h"

namespace hk::api::svix {

namespace {

constexpr std::string_view ping_type = "svix.ping";

/// The schema of the highest version; "" = there is none.
std::string_view newest_schema(const std::string& schemas) {
  FieldErrors errors;
  const Input in(schemas, errors, Input::Empty::object);
  std::uint64_t newest = 0;
  std::string_view found;
  for (const Input::Member& one : in.members()) {
    std::uint64_t version = 0;
    std::from_chars(one.name.data(), one.name.data() + one.name.size(), version);
    if (version >= newest) {
      newest = version;
      found = one.value;
    }
  }
  return found;
}

/// Points into the schemas. "" = there is none.
std::string_view example_of(const std::string& schemas, std::size_t index) {
  const std::string_view schema = newest_schema(schemas);
  if (schema.empty()) {
    return {};
  }
  FieldErrors errors;
  const Input in(schema, errors);
  if (const auto one = in.raw("example")) {
    return *one;
  }
  const auto many = in.raw("examples");
  if (!many || !many->starts_with('[')) {
    return {};
  }
  JsonReader json(*many, Input::depth_max);
  json.begin_array();
  std::string_view first;
  for (std::size_t i = 0; json.next_item(); ++i) {
    json.kind();
    const std::size_t begin = json.at();
    json.skip();
    const std::string_view value = many->substr(begin, json.at() - begin);
    if (i == index) {
      return value;
    }
    first = i == 0 ? value : first;
  }
  return first;
}

/// One member of a filter that may be given as a list; more than one value cannot be.
std::string read_single(Input& in, std::string_view list_name, std::string_view name, Rule rule) {
  const auto raw = in.raw(list_name);
  if (!raw) {
    return name.empty() ? std::string() : in.text(name, rule).value_or("");
  }
  if (raw->starts_with('"')) {
    return in.text(list_name, rule).value_or("");
  }
  const auto all = in.texts(list_name, {rule, 1, 1});
  return all ? all->front() : std::string();
}

}  // namespace

Write send_example(const Services& services, Call& call) {
  const Reading reading(services, call);
  if (!reading.application) {
    return no_application();
  }
  const auto endpoint = reading.endpoint(call.more_params.front());
  if (!endpoint) {
    return not_found();
  }
  FieldErrors errors;
  Input in(call.request.body, errors);
  std::string type = in.required_text("eventType", check_name);
  constexpr std::int64_t examples_max = 10'000;
  const auto index = in.integer("exampleIndex", 0, examples_max).value_or(0);
  if (errors.any()) {
    return errors.response();
  }
  std::string payload = R"({"success":true})";
  if (type != ping_type) {
    const auto known = webhook::find_event_type(reading.reader(), reading.tenant, type);
    if (!known) {
      return not_found();
    }
    payload = example_of(known->schemas, static_cast<std::size_t>(index));
    if (payload.empty()) {
      return error_response(400, "invalid_scheme",
                            "The event type has no schema with an example: add one.");
    }
  }
  webhook::PublishEvent command{.application_ref = call.param,
                                .only_endpoint_ref = call.more_params.front()};
  command.event.tenant = call.tenant->id;
  command.event.event_type = std::move(type);
  command.event.payload = std::move(payload);
  command.event.trace = qstash::read_trace(call.request, call.batcher.rng());
  return plan<webhook::EventStored>(std::move(command), [](const webhook::EventStored& stored) {
    http::Response response;
    response.status = 202;
    JsonWriter json(response.body);
    write_message(json, *stored.event, false, stored.event->made.at);
    return response;
  });
}

Write cancel_waiting(const Services& services, Call& call) {
  FieldErrors errors;
  Input in(call.request.body, errors, Input::Empty::object);
  webhook::CancelWaiting command{.tenant = call.tenant->id,
                                 .application_ref = call.param,
                                 .endpoint_ref = call.more_params.front()};
  command.event_type = read_single(in, "eventTypes", "eventType", check_name);
  command.channel = read_single(in, "channel", "", check_channel);
  command.tag = read_single(in, "tag", "", check_tag);
  if (errors.any()) {
    return wrong_of_endpoint(services, call, errors);
  }
  return plan_plainly(std::move(command), no_content);
}

}  // namespace hk::api::svix
