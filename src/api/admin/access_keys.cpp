// GET and POST /api/v1/tenants/{id}/access-keys, DELETE /api/v1/tenants/{id}/access-keys/{key}:
// what signs the requests of AWS clients. A secret is shown once, in the answer that made it; it is
// stored sealed, because signatures are verified with it.
#include "api/admin/handlers.h"
#include "api/jobs/problem.h"
#include "api/tenant_change.h"
#include "api/text.h"
#include "base/date.h"
#include "base/json.h"
#include "observe/log.h"
#include "security/credentials.h"

namespace hk::api::admin {

namespace {

constexpr std::size_t access_keys_max = 100;  // of one tenant: its record holds all of them

http::Response no_such_tenant(const Call& call) {
  return jobs::problem(404, "no tenant with the id " + call.param);
}

/// Is this the access key that the settings give the tenant?
bool from_settings(const Services& services, const core::Tenant& tenant, std::string_view id) {
  const Options& options = services.options;
  return !id.empty() && id == options.settings_access_key && tenant.name == options.settings_tenant;
}

/// A tenant that is being changed.
struct Changing {
  TenantChange change;
  core::Tenant tenant;
};

/// Answers if it cannot be changed.
std::optional<Changing> begin_change(const Services& services, Call& call) {
  Result<TenantChange> change = TenantChange::begin();
  if (!change) {
    call.answer(jobs::problem(change.error()));
    return std::nullopt;
  }
  std::optional<core::Tenant> tenant =
      find_tenant(*services.submitter.durable_view(), std::string_view(call.param));
  if (!tenant) {
    call.answer(no_such_tenant(call));
    return std::nullopt;
  }
  return Changing{std::move(*change), std::move(*tenant)};
}

}  // namespace

void list_access_keys(const Services& services, Call& call) {
  const std::optional<core::Tenant> tenant =
      find_tenant(*services.submitter.durable_view(), std::string_view(call.param));
  if (!tenant) {
    call.answer(no_such_tenant(call));
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
void create_access_key(const Services& services, Call& call) {
  std::optional<Changing> changing = begin_change(services, call);
  if (!changing) {
    return;
  }
  if (changing->tenant.access_keys.size() >= access_keys_max) {
    call.answer(jobs::problem(409, "tenant " + changing->tenant.name + " has " +
                                       std::to_string(access_keys_max) +
                                       " access keys, as many as are allowed: revoke one first"));
    return;
  }
  std::string id = security::make_access_key_id();
  Secret secret = security::make_access_key_secret();
  std::string name = changing->tenant.name;
  core::UpsertTenant command{
      services.tenants.with_access_key(std::move(changing->tenant), id, secret, services.now())};
  call.batcher.submit(
      std::move(command),
      [change = std::move(changing->change), answer = std::move(call.answer), id = std::move(id),
       name = std::move(name), secret = std::move(secret)](core::Reply reply) mutable {
        change.end();
        if (!reply) {
          answer(jobs::problem(reply.error()));
          return;
        }
        observe::log(observe::Level::info, "tenant.access_key_created",
                     {{"tenant", name}, {"access_key", id}});
        http::Response response;
        response.status = 201;
        JsonWriter json(response.body);
        json.begin_object();
        json.field("tenant", name);
        json.field("access_key_id", id);
        json.field("secret_access_key", secret.reveal());
        json.end_object();
        answer(std::move(response));
      });
}

/// It signs nothing any more once this is answered.
void revoke_access_key(const Services& services, Call& call) {
  std::optional<Changing> changing = begin_change(services, call);
  if (!changing) {
    return;
  }
  std::string id(call.rest.substr(0, call.rest.find('?')));
  if (from_settings(services, changing->tenant, id)) {
    call.answer(jobs::problem(
        409, "the access key " + id +
                 " comes from the server's settings (aws_access_key_id) and cannot be revoked "
                 "here: take it out there and start the server again"));
    return;
  }
  if (std::erase_if(changing->tenant.access_keys,
                    [&](const core::AccessKey& key) { return key.id == id; }) == 0) {
    call.answer(jobs::problem(
        404, "tenant " + changing->tenant.name + " has no access key " + id.substr(0, 128)));
    return;
  }
  std::string name = changing->tenant.name;
  core::UpsertTenant command{std::move(changing->tenant)};
  call.batcher.submit(
      std::move(command),
      [change = std::move(changing->change), answer = std::move(call.answer), id = std::move(id),
       name = std::move(name)](const core::Reply& reply) mutable {
        change.end();
        if (!reply) {
          answer(jobs::problem(reply.error()));
          return;
        }
        observe::log(observe::Level::info, "tenant.access_key_revoked",
                     {{"tenant", name}, {"access_key", id}});
        http::Response response;
        JsonWriter json(response.body);
        json.begin_object();
        json.field("tenant", name);
        json.field("access_key_id", id);
        json.end_object();
        answer(std::move(response));
      });
}

}  // namespace hk::api::admin
