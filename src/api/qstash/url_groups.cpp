// URL groups, called topics on the wire: GET /v2/topics, GET, DELETE and PATCH /v2/topics/{name},
// POST and DELETE /v2/topics/{name}/endpoints.
#include <utility>

#include "api/qstash/destination.h"
#include "api/qstash/errors.h"
#include "api/qstash/handlers.h"
#include "api/qstash/header_map.h"
#include "api/qstash/publish_options.h"
#include "api/qstash/submit.h"
#include "api/text.h"
#include "base/ascii.h"
#include "base/json.h"
#include "core/topic/ranges.h"

namespace hk::api::qstash {

namespace {

constexpr std::size_t endpoint_name_bytes_max = 256;

std::unexpected<Error> refused(std::string_view why) {
  return fail(ErrorKind::invalid_argument, std::string(why));
}

/// Answers 400 if the name in the path cannot be one.
bool has_valid_name(Call& call) {
  const bool valid = valid_name(call.param);
  if (!valid) {
    call.answer(error_response(400,
                               "invalid URL group name: letters, digits, '.', '_' and '-' only, at "
                               "least one of them"));
  }
  return valid;
}

/// Name and url as they are given.
Result<core::Endpoint> read_endpoint(const boost::json::value& given) {
  if (!given.is_object()) {
    return refused("endpoints: each must be an object with a url and an optional name");
  }
  Result<std::string> name = text_member(given.get_object(), "name", "endpoints: ");
  if (!name) {
    return std::unexpected(name.error());
  }
  Result<std::string> url = text_member(given.get_object(), "url", "endpoints: ");
  if (!url) {
    return std::unexpected(url.error());
  }
  if (name->size() > endpoint_name_bytes_max) {
    return refused("endpoints: a name has at most 256 bytes");
  }
  return core::Endpoint{.name = std::move(*name), .url = std::move(*url)};
}

Result<std::vector<core::Endpoint>> read_endpoints(std::string_view body) {
  const Result<boost::json::object> object = parse_json_object(body);
  if (!object) {
    return std::unexpected(object.error());
  }
  const boost::json::value* const list = member(*object, "endpoints");
  if (list == nullptr || !list->is_array() || list->get_array().empty()) {
    return refused("endpoints must be an array with at least one entry");
  }
  std::vector<core::Endpoint> endpoints;
  endpoints.reserve(list->get_array().size());
  for (const boost::json::value& one : list->get_array()) {
    Result<core::Endpoint> endpoint = read_endpoint(one);
    if (!endpoint) {
      return std::unexpected(endpoint.error());
    }
    endpoints.push_back(std::move(*endpoint));
  }
  return endpoints;
}

/// What a message to it would be checked for.
Result<void> check_url(const Services& services, core::Endpoint& endpoint) {
  Result<Destination> destination = parse_given_destination(endpoint.url);
  if (!destination) {
    return std::unexpected(destination.error());
  }
  if (destination->url.empty()) {
    return refused("invalid destination url: endpoint has invalid scheme, add http:// or https://");
  }
  Result<std::string> host = services.options.check_destination(destination->url);
  if (!host) {
    return std::unexpected(host.error());
  }
  endpoint.url = std::move(destination->url);
  endpoint.host = std::move(*host);
  return {};
}

Result<std::vector<core::Endpoint>> read_new_endpoints(const Services& services,
                                                       std::string_view body) {
  Result<std::vector<core::Endpoint>> endpoints = read_endpoints(body);
  if (!endpoints) {
    return endpoints;
  }
  for (core::Endpoint& endpoint : *endpoints) {
    if (auto right = check_url(services, endpoint); !right) {
      return std::unexpected(right.error());
    }
  }
  return endpoints;
}

Result<std::vector<core::Endpoint>> read_known_endpoints(std::string_view body) {
  Result<std::vector<core::Endpoint>> endpoints = read_endpoints(body);
  if (!endpoints) {
    return endpoints;
  }
  for (const core::Endpoint& endpoint : *endpoints) {
    if (endpoint.name.empty() && endpoint.url.empty()) {
      return refused("endpoints: each needs a name or a url");
    }
  }
  return endpoints;
}

/// Options that no publish could have are refused here, not at every publish.
Result<std::vector<core::Header>> read_options(const Services& services, core::TenantId tenant,
                                               std::string_view body) {
  const Result<boost::json::object> object = parse_json_object(body);
  if (!object) {
    return std::unexpected(object.error());
  }
  const boost::json::value* const map = member(*object, "headers");
  if (map == nullptr) {
    return refused("headers must be an object of option headers; {} for none");
  }
  Result<std::vector<net::Field>> fields = read_header_map(map);
  if (!fields) {
    return std::unexpected(fields.error());
  }
  std::vector<core::Header> options;
  options.reserve(fields->size());
  for (const net::Field& field : *fields) {
    if (!starts_with_ignoring_case(field.name, "upstash-") &&
        !equals_ignoring_case(field.name, "content-type")) {
      return refused("headers: \"" + field.name +
                     "\" is not an option; to forward it, write Upstash-Forward-" + field.name);
    }
    options.push_back({field.name, field.value});
  }
  core::Publish trial;
  trial.message = std::make_unique<core::Message>();
  trial.message->tenant = tenant;
  Result<void> understood =
      read_publish_options(services.options, services.now(), *fields, {}, trial);
  if (!understood) {
    return std::unexpected(understood.error());
  }
  return options;
}

void write_group(JsonWriter& json, const core::Topic& group) {
  json.begin_object();
  json.field("createdAt", to_ms(group.created_at));
  json.field("updatedAt", to_ms(group.updated_at));
  json.field("name", group.name);
  json.key("endpoints");
  json.begin_array();
  for (const core::Subscription& endpoint : group.subscriptions) {
    json.begin_object();
    if (!endpoint.id.empty()) {
      json.field("name", endpoint.id);
    }
    json.field("url", endpoint.url);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

}  // namespace

void list_url_groups(const Services& services, Call& call) {
  const std::shared_ptr<core::Reader> view = services.submitter.durable_view(call.tenant->id);
  http::Response response;
  JsonWriter json(response.body);
  json.begin_array();
  for (const core::Topic& group : view->scan(core::url_groups_of(call.tenant->id))) {
    write_group(json, group);
  }
  json.end_array();
  call.answer(std::move(response));
}

void get_url_group(const Services& services, Call& call) {
  if (!has_valid_name(call)) {
    return;
  }
  const std::optional<core::Topic> group = services.submitter.durable_view(call.tenant->id)
                                               ->get<core::Topic>({call.tenant->id, call.param});
  if (!group) {
    call.answer(error_response(404, "topic " + call.param + " not found"));
    return;
  }
  http::Response response;
  JsonWriter json(response.body);
  write_group(json, *group);
  call.answer(std::move(response));
}

void delete_url_group(const Services& /*services*/, Call& call) {
  if (has_valid_name(call)) {
    submit_for_done(call, core::DeleteTopic{call.tenant->id, core::TopicKind::url_group,
                                            std::move(call.param)});
  }
}

void set_url_group_options(const Services& services, Call& call) {
  if (!has_valid_name(call)) {
    return;
  }
  Result<std::vector<core::Header>> options =
      read_options(services, call.tenant->id, call.request.body);
  if (!options) {
    call.answer(error_response(options.error()));
    return;
  }
  submit_for_done(
      call, core::SetGroupOptions{call.tenant->id, std::move(call.param), std::move(*options)});
}

void add_endpoints(const Services& services, Call& call) {
  if (!has_valid_name(call)) {
    return;
  }
  Result<std::vector<core::Endpoint>> endpoints = read_new_endpoints(services, call.request.body);
  if (!endpoints) {
    call.answer(error_response(endpoints.error()));
    return;
  }
  submit_for_done(
      call, core::UpsertEndpoints{call.tenant->id, std::move(call.param), std::move(*endpoints)});
}

void remove_endpoints(const Services& /*services*/, Call& call) {
  if (!has_valid_name(call)) {
    return;
  }
  Result<std::vector<core::Endpoint>> endpoints = read_known_endpoints(call.request.body);
  if (!endpoints) {
    call.answer(error_response(endpoints.error()));
    return;
  }
  submit_for_done(
      call, core::RemoveEndpoints{call.tenant->id, std::move(call.param), std::move(*endpoints)});
}

}  // namespace hk::api::qstash
