// GET and POST /api/v1/tenants, POST /api/v1/tenants/{id}/rotate-token. A token is shown once, in
// the answer that made it: only its digest is stored.
#include <boost/json.hpp>

#include "api/admin/handlers.h"
#include "api/find_tenant.h"
#include "api/reply.h"
#include "api/text.h"
#include "base/date.h"
#include "base/json.h"
#include "base/json_input.h"
#include "observe/log.h"
#include "security/credentials.h"

namespace hk::api::admin {

namespace {

constexpr std::size_t name_bytes_max = 64;

Result<std::string> read_name(const std::string& body) {
  const Result<boost::json::object> object = parse_json_object(body);
  if (!object) {
    return std::unexpected(object.error());
  }
  const boost::json::value* const name = object->if_contains("name");
  if (object->size() != 1 || name == nullptr || !name->is_string()) {
    return fail(ErrorKind::invalid_argument, R"(the body must be {"name": "<name>"})");
  }
  std::string text(name->get_string());
  if (!valid_name(text) || text.size() > name_bytes_max) {
    return fail(ErrorKind::invalid_argument,
                "name: must have 1 to 64 letters, digits, '.', '_' and '-'");
  }
  return text;
}

void write_tenant(JsonWriter& json, core::TenantId id, std::string_view name) {
  json.field("id", id.value());
  json.field("name", name);
}

}  // namespace

void list_tenants(const Services& services, Call& call) {
  http::Response response;
  JsonWriter json(response.body);
  json.begin_object();
  json.key("tenants");
  json.begin_array();
  for (const auto& view : services.submitter.durable_views()) {
    for (const core::Tenant& tenant : view->scan<core::Tenant>()) {
      json.begin_object();
      write_tenant(json, tenant.id, tenant.name);
      json.field("created_at", rfc3339(tenant.created_at));
      json.end_object();
    }
  }
  json.end_array();
  json.end_object();
  call.answer(std::move(response));
}

Write create_tenant(const Services& services, Call& call) {
  Result<std::string> name = read_name(call.request.body);
  if (!name) {
    return std::move(name.error());
  }
  Secret token = security::make_token("live");
  Secret current = security::make_signing_key();
  Secret next = security::make_signing_key();
  core::Tenant tenant;
  tenant.name = *name;
  tenant.token_digests = {services.tenants.token_digest(token.reveal())};
  core::UpsertTenant command{services.tenants.with_keys(std::move(tenant), current, next)};
  return Planned{.command = std::move(command),
                 .tell =
                     [name = *name, token = std::move(token), current = std::move(current),
                      next = std::move(next)](const core::Reply& reply) {
                       http::Response response;
                       response.status = 201;
                       JsonWriter json(response.body);
                       json.begin_object();
                       write_tenant(json, answer_of<core::TenantStored>(reply).id, name);
                       json.field("token", token.reveal());
                       json.field("current_signing_key", current.reveal());
                       json.field("next_signing_key", next.reveal());
                       json.end_object();
                       return response;
                     },
                 .done = when_done([name = *name] {
                   observe::log(observe::Level::info, "tenant.created", {{"tenant", name}});
                 })};
}

/// The tokens that it had open nothing any more once this is answered.
Write rotate_token(const Services& services, Call& call) {
  const std::optional<core::Tenant> stored = find_tenant(services.submitter, call.param);
  if (!stored) {
    return Error{ErrorKind::not_found, "no tenant has the id " + call.param};
  }
  if (services.options.settings_token && stored->name == services.options.settings_tenant) {
    return Error{
        ErrorKind::conflict,
        "the token of this tenant comes from the server's settings or --dev: change it there, or "
        "start without it and rotate the token"};
  }
  Secret token = security::make_token("live");
  core::UpsertTenant command{*stored, stored};
  command.tenant.token_digests = {services.tenants.token_digest(token.reveal())};
  return Planned{.command = std::move(command),
                 .tell =
                     [id = stored->id, name = stored->name,
                      token = std::move(token)](const core::Reply& /*reply*/) {
                       http::Response response;
                       JsonWriter json(response.body);
                       json.begin_object();
                       write_tenant(json, id, name);
                       json.field("token", token.reveal());
                       json.end_object();
                       return response;
                     },
                 .done = when_done([name = stored->name] {
                   observe::log(observe::Level::info, "tenant.token_rotated", {{"tenant", name}});
                 })};
}

}  // namespace hk::api::admin
