/// Who asks in every conversation, made once: a tenant with a token and an access key.
#pragma once

#include <optional>
#include <string>

#include "api/aws/sigv4.h"
#include "base/assert.h"
#include "engine/tenant_directory.h"
#include "observe/metrics.h"
#include "security/credentials.h"

namespace hk::fuzz {

struct Account {
  static constexpr Moment begin = moment_from_ms(1'700'000'000'000);

  Account() {
    const engine::TenantDirectory sealing(*master_key);
    core::Tenant made;  // gets its id from the core
    made.name = "default";
    made.token_digests = {sealing.token_digest(token)};
    made = sealing.with_keys(std::move(made), Secret("sig_current"), Secret("sig_next"));
    tenant = sealing.with_access_key(std::move(made), access_key, secret, begin);
  }

  static constexpr core::TenantId id{1};
  const std::string token = "token-1";
  const std::string access_key = "AKIDFUZZ";
  const Secret secret{"wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"};
  const Result<security::MasterKey> master_key =
      security::MasterKey::from_hex(Secret(std::string(64, 'a')));
  core::Tenant tenant;
  observe::Metrics metrics;
  api::aws::SigningKeys signing_keys;
  std::optional<core::Document> sns_key{};  ///< a tenth of a second of work: kept for the next one
};

}  // namespace hk::fuzz
