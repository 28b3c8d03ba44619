#include "api/openapi.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "api/route.h"
#include "api/text.h"
#include "base/ascii.h"
#include "base/json.h"

namespace hk::api {

namespace {

/// "/v2/publish/{destination...}" -> "/v2/publish/{destination}"
std::string path_of(std::string_view pattern) {
  std::string path(pattern);
  if (const std::size_t dots = path.find("..."); dots != std::string::npos) {
    path.erase(dots, 3);
  }
  return path;
}

std::vector<std::string> path_parameters(std::string_view pattern) {
  std::vector<std::string> names;
  const std::string path = path_of(pattern);
  for (std::size_t open = path.find('{'); open != std::string::npos;
       open = path.find('{', open + 1)) {
    names.push_back(path.substr(open + 1, path.find('}', open) - open - 1));
  }
  return names;
}

std::string operation_id(const Route& route) {
  std::string id = lower_case(route.method);
  for (const char c : path_of(route.pattern)) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter) {
      id += c;
    } else if (id.back() != '_' && c != '}') {
      id += '_';
    }
  }
  return id;
}

void write_ref(JsonWriter& json, std::string_view schema) {
  json.key("schema");
  json.begin_object();
  json.field("$ref", "#/components/schemas/" + std::string(schema));
  json.end_object();
}

void write_content(JsonWriter& json, std::string_view type, std::string_view schema) {
  json.key("content");
  json.begin_object();
  json.key(type);
  json.begin_object();
  write_ref(json, schema);
  json.end_object();
  json.end_object();
}

void write_parameter(JsonWriter& json, std::string_view name, std::string_view in,
                     bool required = false) {
  json.begin_object();
  json.field("name", name);
  json.field("in", in);
  json.field("required", required);
  json.key("schema");
  json.begin_object();
  json.field("type", "string");
  json.end_object();
  json.end_object();
}

void write_parameters(JsonWriter& json, const Route& route, std::string_view query) {
  json.key("parameters");
  json.begin_array();
  for (const std::string& name : path_parameters(route.pattern)) {
    write_parameter(json, name, "path", true);
  }
  while (!query.empty()) {
    const std::string_view name = query.substr(0, query.find(' '));
    write_parameter(json, name, "query");
    query.remove_prefix(std::min(query.size(), name.size() + 1));
  }
  if (is_own_write(route) && route.keys.refused.empty()) {
    write_parameter(json, "Idempotency-Key", "header", route.keys.required);
  }
  if (route.access == Access::admin_for_tenant || route.access == Access::tenant_or_admin) {
    write_parameter(json, "Hikyaku-Tenant", "header", route.access == Access::admin_for_tenant);
  }
  json.end_array();
}

void write_responses(JsonWriter& json, Surface surface, const RouteWords& words) {
  json.key("responses");
  json.begin_object();
  json.key(std::to_string(words.status));
  json.begin_object();
  json.field("description", "success");
  if (!words.response.empty()) {
    write_content(json, "application/json", words.response);
  }
  json.end_object();
  json.key("default");
  json.begin_object();
  json.field("description", "error");
  const bool own = surface == Surface::own;
  write_content(json, own ? "application/problem+json" : "application/json",
                own                        ? "Problem"
                : surface == Surface::svix ? "WebhookError"
                                           : "Error");
  json.end_object();
  json.end_object();
}

/// As openapi_components() calls it.
std::string_view scheme_of(Access access) {
  switch (access) {
    case Access::open: return "";
    case Access::metrics: return "metricsToken";
    case Access::tenant:
    case Access::tenant_or_admin: return "token";
    case Access::app:
    case Access::app_view:
    case Access::app_secret:
    case Access::app_rotate:
    case Access::app_manage:
    case Access::app_attempt: return "token";
    case Access::admin:
    case Access::admin_for_tenant: return "adminToken";
  }
  std::unreachable();
}

void write_operation(JsonWriter& json, Surface surface, const Route& route) {
  const RouteWords& words = route.words;
  json.key(lower_case(route.method));
  json.begin_object();
  json.field("operationId", operation_id(route));
  json.key("tags");
  json.begin_array();
  json.string(words.tag);
  json.end_array();
  json.field("summary", words.summary);
  write_parameters(json, route, words.query);
  if (!words.request.empty()) {
    json.key("requestBody");
    json.begin_object();
    const bool bytes = words.request == "bytes";
    write_content(json, bytes ? "*/*" : "application/json", bytes ? "Bytes" : words.request);
    json.end_object();
  }
  json.key("security");
  json.begin_array();
  if (route.access == Access::metrics) {
    json.begin_object();  // none at all is one of the ways
    json.end_object();
  }
  if (route.access != Access::open) {
    json.begin_object();
    json.key(scheme_of(route.access));
    json.begin_array();
    json.end_array();
    json.end_object();
  }
  if (route.access == Access::tenant_or_admin) {
    json.begin_object();
    json.key("adminToken");
    json.begin_array();
    json.end_array();
    json.end_object();
  }
  json.end_array();
  write_responses(json, surface, words);
  json.end_object();
}

void write_paths(JsonWriter& json) {
  json.begin_object();
  for (const RouteTable& table : route_tables()) {
    std::vector<std::string_view> told;  // patterns: several methods share a path
    for (const Route& first : table.routes) {
      if (std::ranges::find(told, first.pattern) != told.end()) {
        continue;
      }
      told.push_back(first.pattern);
      json.key(path_of(first.pattern));
      json.begin_object();
      for (const Route& route : table.routes) {
        if (route.pattern == first.pattern) {
          write_operation(json, table.surface, route);
        }
      }
      json.end_object();
    }
  }
  json.end_object();
}

std::string make_document() {
  std::string text = R"({"openapi":"3.1.0","info":{"title":"Hikyaku","version":"1",)"
                     R"("description":"Paths below /v2 follow QStash v2; those below /api/v1 are )"
                     R"(Hikyaku's own."},"paths":)";
  JsonWriter json(text);
  write_paths(json);
  text += R"(,"components":)";
  text += openapi_components();
  text += '}';
  return text;
}

}  // namespace

const std::string& openapi_document() {
  static const std::string document = make_document();
  return document;
}

void get_openapi(const Services& /*services*/, Call& call) {
  http::Response response;
  response.body = openapi_document();
  call.answer(std::move(response));
}

}  // namespace hk::api
