// GET and POST /api/v1/tenants/{id}/access-keys, DELETE /api/v1/tenants/{id}/access-keys/{key}:
// what signs the requests of AWS clients. A secret is shown once, in the answer that made it; it is
// stored sealed, because signatures are verified with it.
#include "api/admin/handlers.h"
#include "api/find_tenant.h"
#include "api/text.h"
#include "base/date.h"
#include "base/json.h"
#include "observe/log.h"
#include "security/credentials.h"

namespace hk::api::admin {

namespace {

constexpr std::size_t access_keys_max = 100;  // of one tenant: its record holds all of them

Error no_such_tenant(const Call& call) {
  return {ErrorKind::not_found, "no tenant has the id " + call.param};
}

/// Is this the access key that the settings give the tenant?
bool from_settings(const Services& services, const core::Tenant& tenant, std::string_view id) {
  const Options& options = services.options;
  return !id.empty() && id == options.settings_access_key && tenant.name == options.settings_tenant;
}

}  // namespace

void list_access_keys(const Services& services, Call& call) {
  const std::optional<core::Tenant> tenant = find_tenant(services.submitter, call.param);
  if (!tenant) {
    call.answer.refuse(no_such_tenant(call));
    return;
  }
  http::Response response;
  JsonWriter json(response.body);
  json.begin_object();
  json.field("tenant", tenant->name);
  json.key("access_keys");
  json.begin_array();
  if (const std::string& id = services.options.settings_access_key;
      from_settings(services, *tenant, id)) {
    json.begin_object();
    json.field("access_key_id", id);
    json.field("source", "configuration");
    json.end_object();
  }
  for (const core::AccessKey& key : tenant->access_keys) {
    if (from_settings(services, *tenant, key.id)) {
      continue;
    }
    json.begin_object();
    json.field("access_key_id", key.id);
    json.field("created_at", rfc3339(key.created_at));
    json.end_object();
  }
  json.end_array();
  json.end_object();
  call.answer(std::move(response));
}

/// It signs once this is answered.
Write create_access_key(const Services& services, Call& call) {
  const std::optional<core::Tenant> stored = find_tenant(services.submitter, call.param);
  if (!stored) {
    return no_such_tenant(call);
  }
  if (stored->access_keys.size() >= access_keys_max) {
    return Error{ErrorKind::conflict, "tenant " + stored->name + " has " +
                                          std::to_string(access_keys_max) +
                                          " access keys, the maximum: revoke one first"};
  }
  const std::string id = security::make_access_key_id();
  Secret secret = security::make_access_key_secret();
  core::UpsertTenant command{services.tenants.with_access_key(*stored, id, secret, services.now()),
                             stored};
  return Planned{
      .command = std::move(command),
      .tell =
          [id, name = stored->name, secret = std::move(secret)](const core::Reply& /*reply*/) {
            http::Response response;
            response.status = 201;
            JsonWriter json(response.body);
            json.begin_object();
            json.field("tenant", name);
            json.field("access_key_id", id);
            json.field("secret_access_key", secret.reveal());
            json.end_object();
            return response;
          },
      .done = when_done([name = stored->name, id] {
        observe::log(observe::Level::info, "tenant.access_key_created",
                     {{"tenant", name}, {"access_key", id}});
      })};
}

/// It signs nothing any more once this is answered.
Write revoke_access_key(const Services& services, Call& call) {
  const std::optional<core::Tenant> stored = find_tenant(services.submitter, call.param);
  if (!stored) {
    return no_such_tenant(call);
  }
  const std::string id = std::move(call.more_params.front());
  if (from_settings(services, *stored, id)) {
    return Error{ErrorKind::conflict,
                 "the access key " + id +
                     " comes from the server's settings (aws_access_key_id) and cannot be revoked "
                     "here: take it out there and start the server again"};
  }
  core::Tenant tenant = *stored;
  if (std::erase_if(tenant.access_keys, [&](const core::AccessKey& key) { return key.id == id; }) ==
      0) {
    return Error{ErrorKind::not_found,
                 "tenant " + stored->name + " has no access key " + id.substr(0, 128)};
  }
  core::UpsertTenant command{std::move(tenant), stored};
  return Planned{.command = std::move(command),
                 .tell =
                     [id, name = stored->name](const core::Reply& /*reply*/) {
                       http::Response response;
                       JsonWriter json(response.body);
                       json.begin_object();
                       json.field("tenant", name);
                       json.field("access_key_id", id);
                       json.end_object();
                       return response;
                     },
                 .done = when_done([name = stored->name, id] {
                   observe::log(observe::Level::info, "tenant.access_key_revoked",
                                {{"tenant", name}, {"access_key", id}});
                 })};
}

}  // namespace hk::api::admin
