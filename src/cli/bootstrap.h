/// The default tenant's credentials at start: made at the first start, taken from the settings when
/// given, well known with --dev.
#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "base/secret.h"
#include "config/options.h"
#include "engine/submitter.h"
#include "engine/tenant_directory.h"
#include "security/credentials.h"

namespace hk::cli {

/// The tenant that the settings speak of.
inline constexpr const char* default_tenant = "default";

/// Public constants of the QStash SDK's development mode.
Secret dev_token();
Secret dev_current_key();
Secret dev_next_key();

struct Welcome {
  /// Known only when it was just made or comes from the settings; a stored one is a digest.
  std::optional<Secret> token{};
  Secret current_key{};
  Secret next_key{};
  bool first_start = false;
};

/// Loads every tenant into the directory; creates or updates the tenant `default`. Blocks until
/// that is durable.
Result<Welcome> load_tenants(const config::Options& options, const security::MasterKey& master_key,
                             engine::Submitter& submitter, engine::TenantDirectory& directory);

/// Submits one command and waits for its reply.
core::Reply submit_and_wait(engine::Submitter& submitter, core::Command command);

}  // namespace hk::cli
