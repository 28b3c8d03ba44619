#include "cli/bootstrap.h"

#include <algorithm>
#include <future>
#include <iterator>

#include "cli/development.h"
#include "cli/process.h"
#include "cli/read_stored.h"
#include "observe/log.h"

namespace hk::cli {

namespace {

class WaitingMailbox final : public engine::Mailbox {
 public:
  void deliver(std::vector<engine::Finished> finished) override {
    for (engine::Finished& one : finished) {
      one.done(std::move(one.reply));
    }
  }
};

std::unexpected<Error> wrong(std::string message) {
  return fail(ErrorKind::invalid_argument, std::move(message));
}

/// Where it was given: "HIKYAKU_TOKEN"
std::string named(const config::Options& options, const std::string& name) {
  const auto source = options.given_by.find(name);
  return source == options.given_by.end() ? name : source->second;
}

/// The setting if given, else the development constant, else nothing.
std::optional<Secret> wanted(const Secret& setting, bool dev, Secret (*constant)()) {
  if (!setting.empty()) {
    return setting;
  }
  return dev ? std::optional(constant()) : std::nullopt;
}

std::optional<core::Tenant> find_default(const std::vector<core::Tenant>& tenants) {
  const auto found = std::find_if(tenants.begin(), tenants.end(), [](const core::Tenant& one) {
    return one.name == default_tenant;
  });
  return found == tenants.end() ? std::nullopt : std::optional(*found);
}

bool has_token(const core::Tenant& tenant, const std::string& digest) {
  const auto& digests = tenant.token_digests;
  return std::find(digests.begin(), digests.end(), digest) != digests.end();
}

/// As it must be typed for this directory.
std::string convert_command(const config::Options& options) {
  std::string command = "hikyaku convert --data " + shell_quoted(options.data);
  if (!options.config.empty()) {
    command += " --config " + shell_quoted(options.config);
  }
  const auto master_key = options.given_by.find("master_key");
  if (master_key != options.given_by.end() && master_key->second.starts_with("--")) {
    command += " --master-key-file FILE";
  }
  return command;
}

/// What --dev may use, a server for others may not.
Result<void> check_not_public(const config::Options& options) {
  for (const auto& [name, setting] :
       {std::pair{"token", &options.token},
        std::pair{"current_signing_key", &options.current_signing_key},
        std::pair{"next_signing_key", &options.next_signing_key}}) {
    if (is_public(*setting)) {
      return wrong(named(options, name) +
                   ": this is a public credential of development mode, which everybody knows. Give "
                   "another one, or start with --dev");
    }
  }
  return {};
}

Result<void> check_token(const config::Options& options, const security::MasterKey& master_key,
                         const std::vector<core::Tenant>& tenants) {
  const auto token = wanted(options.token, options.dev, dev_token);
  const std::string digest = token ? master_key.token_digest(token->reveal()) : "";
  for (const core::Tenant& tenant : tenants) {
    if (token && tenant.name != default_tenant && has_token(tenant, digest)) {
      return wrong(
          named(options, "token") + ": this is the token of the tenant " + tenant.name +
          ", and one token opens one tenant. The setting is the token of the tenant " +
          default_tenant + ": give another one, or leave it out" +
          (options.given_by.contains("token") && options.given_by.at("token") == "HIKYAKU_TOKEN"
               ? ". For the commands that talk to a server, set HIKYAKU_CLIENT_TOKEN "
                 "instead of HIKYAKU_TOKEN"
               : ""));
    }
  }
  return {};
}

/// REQUIRES: the tenants are in the directory.
Result<void> check_access_key(const config::Options& options,
                              const engine::TenantDirectory& directory) {
  const std::string& id = options.aws_access_key_id;
  const auto known = id.empty() ? std::nullopt : directory.find_access_key(id);
  if (known && known->tenant->name != default_tenant) {
    return wrong(named(options, "aws_access_key_id") + ": the access key " + id +
                 " belongs to the tenant " + known->tenant->name +
                 ". The setting is an access key of the tenant " + default_tenant +
                 ": give another id");
  }
  if (known && known->secret.reveal() != options.aws_secret_access_key.reveal()) {
    return wrong(named(options, "aws_access_key_id") + ": the access key " + id +
                 " is stored with another secret. Give another id, or revoke the stored one first: "
                 "hikyaku keys revoke " +
                 id);
  }
  return {};
}

/// In one commit; the tenant has its id then.
Result<void> store_tenant(engine::Submitter& submitter, core::Tenant& tenant) {
  const core::Reply reply = submit_and_wait(submitter, core::UpsertTenant{tenant});
  if (!reply) {
    return std::unexpected(reply.error());
  }
  tenant.id = reply->get<core::TenantStored>().id;
  return {};
}

/// Nobody has seen its token, and nobody will see its keys: they are there because a tenant has
/// some.
core::Tenant tenant_of_development(const engine::TenantDirectory& directory) {
  core::Tenant tenant{.name = default_tenant, .development = true};
  tenant.token_digests = {directory.token_digest(security::make_token("live").reveal())};
  return directory.with_keys(std::move(tenant), security::make_signing_key(),
                             security::make_signing_key());
}

/// The tenant as the settings want it, stored if that is new.
Result<void> update(const config::Options& options, engine::Submitter& submitter,
                    const engine::TenantDirectory& directory, core::Tenant& tenant,
                    Welcome& welcome) {
  const auto entry = welcome.first_start ? nullptr : directory.find(tenant.id);
  const auto key = [](const Secret& setting, const Secret* stored) {
    if (!setting.empty()) return setting;
    return stored != nullptr ? *stored : security::make_signing_key();
  };
  welcome.current_key = key(options.current_signing_key, entry ? &entry->current_key : nullptr);
  welcome.next_key = key(options.next_signing_key, entry ? &entry->next_key : nullptr);
  if (!options.token.empty()) {
    welcome.token = options.token;
  } else if (welcome.first_start) {
    welcome.token = security::make_token("live");
  }

  const std::string digest = welcome.token ? directory.token_digest(welcome.token->reveal()) : "";
  const bool other_token = welcome.token && !has_token(tenant, digest);
  const bool other_keys = entry == nullptr ||
                          entry->current_key.reveal() != welcome.current_key.reveal() ||
                          entry->next_key.reveal() != welcome.next_key.reveal();
  if (other_token) {
    tenant.token_digests = {digest};
  }
  if (other_keys) {
    tenant = directory.with_keys(std::move(tenant), welcome.current_key, welcome.next_key);
  }
  welcome.token_changed = other_token && !welcome.first_start;
  welcome.keys_changed = other_keys && !welcome.first_start;
  return other_token || other_keys ? store_tenant(submitter, tenant) : Result<void>{};
}

void log_changes(const config::Options& options, const Welcome& welcome) {
  const auto source = [&options](const std::string& name) {
    const auto found = options.given_by.find(name);
    return found == options.given_by.end() ? std::string() : found->second;
  };
  if (welcome.token_changed) {
    observe::log(observe::Level::warn, "tenant.token_changed",
                 {{"tenant", default_tenant}, {"from", source("token")}});
  }
  if (welcome.keys_changed) {
    observe::log(observe::Level::warn, "tenant.keys_changed",
                 {{"tenant", default_tenant},
                  {"from", source(options.current_signing_key.empty() ? "next_signing_key"
                                                                      : "current_signing_key")}});
  }
}

}  // namespace

core::Reply submit_and_wait(engine::Submitter& submitter, core::Command command) {
  std::promise<core::Reply> promise;
  auto reply = promise.get_future();
  WaitingMailbox mailbox;
  std::vector<engine::Submission> batch;
  batch.push_back({std::move(command),
                   [&promise](core::Reply answer) { promise.set_value(std::move(answer)); },
                   &mailbox});
  submitter.submit(batch);
  if (!batch.empty()) {
    return fail(ErrorKind::unavailable, "the engine takes no commands");
  }
  return reply.get();
}

Result<std::vector<core::Tenant>> stored_tenants(store::Store& store) {
  return read_stored(store, [](store::TypedReader& reader) { return reader.scan<core::Tenant>(); });
}

Result<void> load_tenants(const config::Options& options, const security::MasterKey& master_key,
                          const std::vector<core::Tenant>& tenants,
                          engine::TenantDirectory& directory) {
  if (!options.dev) {
    if (auto fits = check_not_public(options); !fits) {
      return fits;
    }
  }
  if (auto fits = check_token(options, master_key, tenants); !fits) {
    return fits;
  }
  for (core::Tenant tenant : tenants) {
    if (tenant.name == default_tenant && !options.dev && !options.token.empty()) {
      // It will have this one: the stored one may be another tenant's, as earlier versions allowed.
      tenant.token_digests = {master_key.token_digest(options.token.reveal())};
    }
    if (auto stored = directory.put(tenant); !stored) {
      if (stored.error().kind == ErrorKind::conflict) {
        return wrong(stored.error().message + ". Give the tenant " + default_tenant +
                     " a token of its own: start once with HIKYAKU_TOKEN set to a new one");
      }
      return fail(
          stored.error().kind,
          "the stored keys of tenant " + tenant.name +
              " cannot be opened: this is not the master key that sealed them. Start with the "
              "master.key file or HIKYAKU_MASTER_KEY that this data directory was created with (" +
              stored.error().message + ")");
    }
  }
  if (const auto known = find_default(tenants); known && !options.dev) {
    const auto development = of_development(*known, master_key);
    if (!development) {
      return std::unexpected(development.error());
    }
    if (*development) {
      return wrong(options.data +
                   " is a directory of development: `serve --dev` has made it, or has left its "
                   "public credentials in it, which everybody knows. Start with --dev, or give it "
                   "a new token and new signing keys first:\n\n  " +
                   convert_command(options) +
                   "\n\nMessages, queues and the other tenants stay as they are.");
    }
  }
  return check_access_key(options, directory);
}

Result<Welcome> settle_credentials(const config::Options& options,
                                   const security::MasterKey& master_key,
                                   engine::Submitter& submitter,
                                   engine::TenantDirectory& directory) {
  std::vector<core::Tenant> tenants;
  for (const auto& view : submitter.durable_views()) {
    std::ranges::move(view->scan<core::Tenant>(), std::back_inserter(tenants));
  }
  const auto known = find_default(tenants);
  core::Tenant tenant = known.value_or(core::Tenant{.name = default_tenant});
  Welcome welcome;
  welcome.first_start = !known;
  engine::TenantDirectory::Lent lent;
  if (options.dev) {
    if (known) {
      const auto development = of_development(*known, master_key);
      if (!development) {
        return std::unexpected(development.error());
      }
      welcome.beside_production = !*development;
    } else {
      tenant = tenant_of_development(directory);
      if (auto stored = store_tenant(submitter, tenant); !stored) {
        return std::unexpected(stored.error());
      }
    }
    lent.token = welcome.token = wanted(options.token, true, dev_token);
    lent.current_key = wanted(options.current_signing_key, true, dev_current_key);
    lent.next_key = wanted(options.next_signing_key, true, dev_next_key);
    lent.access_keys.emplace_back(dev_access_key, Secret(dev_access_key));
    welcome.current_key = *lent.current_key;
    welcome.next_key = *lent.next_key;
  } else if (auto updated = update(options, submitter, directory, tenant, welcome); !updated) {
    return std::unexpected(updated.error());
  }
  if (!options.aws_access_key_id.empty()) {
    lent.access_keys.emplace_back(options.aws_access_key_id, options.aws_secret_access_key);
  }
  if (auto put = directory.lend(tenant, std::move(lent)); !put) {
    return std::unexpected(put.error());
  }
  log_changes(options, welcome);
  return welcome;
}

}  // namespace hk::cli
