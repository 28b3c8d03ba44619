/// Tenants as they are stored.
#pragma once

#include <string>
#include <vector>

#include "core/message.h"
#include "core/tenant/limits.h"

namespace hk::core {

/// A key that signs requests of a tenant.
struct AccessKey {
  std::string id{};
  std::string sealed_secret{};
  Moment created_at{};
  friend bool operator==(const AccessKey&, const AccessKey&) = default;
};

/// Credentials are opaque here: digests and sealed keys that security/ made.
struct Tenant {
  TenantId id{};
  std::string name{};
  std::vector<std::string> token_digests{};
  std::string sealed_current_key{};
  std::string sealed_next_key{};
  Moment created_at{};
  std::vector<AccessKey> access_keys{};
  /// Made by a server for development: its token and keys are known to nobody, and a server for
  /// production refuses the directory until it has real ones.
  bool development = false;
  TenantLimits limits{};
  friend bool operator==(const Tenant&, const Tenant&) = default;
};
inline TenantId key_of(const Tenant& tenant) { return tenant.id; }

}  // namespace hk::core
