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
#include <utility>
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

/// The same for the secrets that sign webhooks of a tenant, or check those that it receives.
std::string webhook_secret_context(std::string_view tenant_name);

class TenantDirectory {
 public:
  struct Entry {
    core::TenantId id{};
    core::PartitionId partition{};
    std::string name{};
    std::vector<std::string> token_digests{};
    Secret current_key{};
    Secret next_key{};
    core::TenantLimits limits{};
    bool limited = false;        ///< limits.any()
    std::uint64_t revision = 0;  ///< grows with every put(): of two entries the newer one counts
  };
  /// Who signs with an access key.
  struct Signer {
    std::shared_ptr<const Entry> tenant{};
    Secret secret{};
  };

  /// What a tenant has for the life of this process only: from the settings, or of development.
  struct Lent {
    std::optional<Secret> token{};        ///< opens the tenant as the stored ones do
    std::optional<Secret> current_key{};  ///< in place of the stored one
    std::optional<Secret> next_key{};     ///< in place of the stored one
    std::vector<std::pair<std::string, Secret>> access_keys{};  ///< sign as the stored ones do
  };

  explicit TenantDirectory(const security::MasterKey& master_key);
  ~TenantDirectory();
  TenantDirectory(const TenantDirectory&) = delete;
  TenantDirectory& operator=(const TenantDirectory&) = delete;

  /// corruption: its keys cannot be opened with this master key. conflict: one of its tokens or
  /// access keys is another tenant's.
  Result<void> put(const core::Tenant& tenant, core::PartitionId partition = {});
  /// Puts the tenant, and whenever it is put again it has what it was lent; nothing of that is
  /// stored. Of one tenant, before the first request.
  Result<void> lend(const core::Tenant& tenant, Lent lent);
  /// The tenant whose token this is, or null; equal work for known and unknown tokens.
  [[nodiscard]] std::shared_ptr<const Entry> authenticate(std::string_view token) const;
  [[nodiscard]] std::shared_ptr<const Entry> find(core::TenantId id) const;
  /// nullopt: nobody has that key.
  [[nodiscard]] std::optional<Signer> find_access_key(std::string_view id) const;
  [[nodiscard]] std::vector<std::shared_ptr<const Entry>> all() const;
  [[nodiscard]] std::size_t size() const;

  /// The tenant with one more access key, sealed so that put() opens it.
  [[nodiscard]] core::Tenant with_access_key(core::Tenant tenant, const std::string& id,
                                             const Secret& secret, Moment now) const;
  /// The tenant with these keys, sealed so that put() opens them. REQUIRES: it has its name.
  [[nodiscard]] core::Tenant with_keys(core::Tenant tenant, const Secret& current,
                                       const Secret& next) const;
  /// As it is stored, whatever the tenant was lent. corruption: this master key does not open it.
  [[nodiscard]] Result<Secret> next_key_of(const core::Tenant& tenant) const;
  /// A secret of the tenant's webhooks, as it is stored. REQUIRES: it is the tenant's name.
  [[nodiscard]] std::string sealed_webhook_secret(std::string_view tenant_name,
                                                  const Secret& secret) const;
  /// not_found: there is no such tenant. corruption: this master key does not open it, or it is
  /// another tenant's.
  [[nodiscard]] Result<Secret> open_webhook_secret(core::TenantId tenant,
                                                   std::string_view sealed) const;
  /// What a token is stored as, and found by.
  [[nodiscard]] std::string token_digest(std::string_view token) const;

 private:
  struct Table;
  const security::MasterKey& master_key_;
  std::mutex writing_;
  std::optional<std::pair<core::TenantId, Lent>> lent_;  ///< guarded by writing_
  std::uint64_t revision_ = 0;                           ///< guarded by writing_
  std::shared_ptr<const Table> table_;  ///< std::atomic_load / std::atomic_store only
};

}  // namespace hk::engine
