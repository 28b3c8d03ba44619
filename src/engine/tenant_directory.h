/// Who may do what: tokens and signing keys of every tenant, in memory, for edge and delivery
/// threads. Tokens are known by keyed digests only; signing keys are opened with the master key
/// when a tenant is loaded. Reads are lock-free copies of a pointer; writes come from start-up and
/// the sync thread.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/secret.h"
#include "core/record.h"

namespace hk::security {
class MasterKey;
}

namespace hk::engine {

/// What a signing key ("current" or "next") of a tenant is sealed for: it opens nowhere else.
std::string signing_key_context(std::string_view tenant_name, std::string_view which);

/// The same for the secret of an access key.
std::string access_key_context(std::string_view tenant_name, std::string_view id);

class TenantDirectory {
 public:
  struct Entry {
    core::TenantId id{};
    std::string name{};
    std::vector<std::string> token_digests{};
    Secret current_key{};
    Secret next_key{};
  };
  /// Who signs with an access key.
  struct Signer {
    std::shared_ptr<const Entry> tenant{};
    Secret secret{};
  };

  explicit TenantDirectory(const security::MasterKey& master_key);
  ~TenantDirectory();
  TenantDirectory(const TenantDirectory&) = delete;
  TenantDirectory& operator=(const TenantDirectory&) = delete;

  /// corruption: its keys cannot be opened with this master key.
  Result<void> put(const core::Tenant& tenant);
  /// The tenant whose token this is, or null; equal work for known and unknown tokens.
  [[nodiscard]] std::shared_ptr<const Entry> authenticate(std::string_view token) const;
  [[nodiscard]] std::shared_ptr<const Entry> find(core::TenantId id) const;
  /// nullopt: nobody has that key.
  [[nodiscard]] std::optional<Signer> find_access_key(std::string_view id) const;
  /// Development: the access key "test" with the secret "test" is that tenant's. Before the first
  /// request.
  void let_test_sign_for(core::TenantId tenant) { test_tenant_ = tenant; }
  [[nodiscard]] std::vector<std::shared_ptr<const Entry>> all() const;

  /// The tenant with these keys, sealed so that put() opens them. REQUIRES: it has its name.
  /// The tenant with one more access key, sealed so that put() opens it.
  [[nodiscard]] core::Tenant with_access_key(core::Tenant tenant, const std::string& id,
                                             const Secret& secret, Moment now) const;
  [[nodiscard]] core::Tenant with_keys(core::Tenant tenant, const Secret& current,
                                       const Secret& next) const;
  /// What a token is stored as, and found by.
  [[nodiscard]] std::string token_digest(std::string_view token) const;

 private:
  struct Table;
  const security::MasterKey& master_key_;
  core::TenantId test_tenant_{};  ///< 0: none
  std::mutex writing_;
  std::shared_ptr<const Table> table_;  ///< std::atomic_load / std::atomic_store only
};

}  // namespace hk::engine
