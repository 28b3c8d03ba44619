/// The tenants at a start, and the credentials of the tenant `default`: made at the first start,
/// taken from the settings when given. With --dev the public ones work in addition, in memory only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/secret.h"
#include "config/options.h"
#include "engine/submitter.h"
#include "engine/tenant_directory.h"
#include "security/credentials.h"
#include "store/store.h"

namespace hk::cli {

/// The tenant that the settings speak of.
inline constexpr const char* default_tenant = "default";

struct Welcome {
  /// Known only when it was just made, comes from the settings or is that of development; a stored
  /// one is a digest.
  std::optional<Secret> token{};
  Secret current_key{};
  Secret next_key{};
  bool first_start = false;
  bool token_changed = false;      ///< the settings have another one than was stored
  bool keys_changed = false;       ///< the same of the signing keys
  bool beside_production = false;  ///< --dev on a directory that has credentials of its own
};

/// Before the engine starts: what is stored of every tenant.
Result<std::vector<core::Tenant>> stored_tenants(store::Store& store);

/// Before anything listens or is written: every tenant into the directory. invalid_argument: the
/// directory is of development and --dev is not given, or a credential of the settings is public or
/// another tenant's.
Result<void> load_tenants(const config::Options& options, const security::MasterKey& master_key,
                          const std::vector<core::Tenant>& tenants,
                          engine::TenantDirectory& directory);

/// Then: creates or updates the tenant `default`, and lends it what is not stored. Blocks until
/// that is durable. REQUIRES: load_tenants() of the same options.
Result<Welcome> settle_credentials(const config::Options& options,
                                   const security::MasterKey& master_key,
                                   engine::Submitter& submitter,
                                   engine::TenantDirectory& directory);

/// Submits one command and waits for its reply.
core::Reply submit_and_wait(engine::Submitter& submitter, core::Command command);

}  // namespace hk::cli
