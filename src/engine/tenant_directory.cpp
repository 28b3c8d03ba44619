#include "engine/tenant_directory.h"

#include <map>
#include <unordered_map>

#include "security/credentials.h"
#include "security/digest.h"

namespace hk::engine {

struct TenantDirectory::Table {
  std::map<core::TenantId, std::shared_ptr<const Entry>> by_id;
  /// Keyed digests: what an attacker sends does not decide where in the table it lands.
  std::unordered_map<std::string, std::shared_ptr<const Entry>> by_token;
  std::map<std::string, Signer, std::less<>> by_access_key;
};

TenantDirectory::TenantDirectory(const security::MasterKey& master_key)
    : master_key_(master_key), table_(std::make_shared<const Table>()) {}

TenantDirectory::~TenantDirectory() = default;

std::string signing_key_context(std::string_view tenant_name, std::string_view which) {
  return "tenant/" + std::string(tenant_name) + "/signing-key/" + std::string(which);
}

std::string access_key_context(std::string_view tenant_name, std::string_view id) {
  return "tenant/" + std::string(tenant_name) + "/access-key/" + std::string(id);
}

std::string webhook_secret_context(std::string_view tenant_name) {
  return "webhook secret of " + std::string(tenant_name);
}

namespace {

std::unexpected<Error> same_credential(const std::string& what, const std::string& a,
                                       const std::string& b) {
  return fail(ErrorKind::conflict, "the tenants " + b + " and " + a + " have the same " + what);
}

}  // namespace

Result<void> TenantDirectory::lend(const core::Tenant& tenant, Lent lent) {
  {
    const std::lock_guard lock(writing_);
    lent_.emplace(tenant.id, std::move(lent));
  }
  return put(tenant);
}

Result<void> TenantDirectory::put(const core::Tenant& tenant, core::PartitionId partition) {
  auto entry = std::make_shared<Entry>();
  entry->id = tenant.id;
  entry->partition = partition;
  entry->name = tenant.name;
  entry->token_digests = tenant.token_digests;
  entry->limits = tenant.limits;
  entry->limited = tenant.limits.any();
  auto current =
      master_key_.open(tenant.sealed_current_key, signing_key_context(tenant.name, "current"));
  if (!current) {
    return std::unexpected(current.error());
  }
  auto next = master_key_.open(tenant.sealed_next_key, signing_key_context(tenant.name, "next"));
  if (!next) {
    return std::unexpected(next.error());
  }
  entry->current_key = std::move(*current);
  entry->next_key = std::move(*next);

  std::vector<std::pair<std::string, Secret>> access_keys;
  for (const core::AccessKey& key : tenant.access_keys) {
    auto secret = master_key_.open(key.sealed_secret, access_key_context(tenant.name, key.id));
    if (!secret) {
      return std::unexpected(secret.error());
    }
    access_keys.emplace_back(key.id, std::move(*secret));
  }

  const std::lock_guard lock(writing_);
  entry->revision = ++revision_;
  if (lent_ && lent_->first == tenant.id) {
    const Lent& lent = lent_->second;
    if (lent.token) {
      entry->token_digests.push_back(master_key_.token_digest(lent.token->reveal()));
    }
    entry->current_key = lent.current_key.value_or(entry->current_key);
    entry->next_key = lent.next_key.value_or(entry->next_key);
    access_keys.insert(access_keys.end(), lent.access_keys.begin(), lent.access_keys.end());
  }
  auto table = std::make_shared<Table>(*std::atomic_load(&table_));
  table->by_id[tenant.id] = entry;
  std::erase_if(table->by_token, [&](const auto& row) { return row.second->id == tenant.id; });
  for (const std::string& digest : entry->token_digests) {
    const auto& owner = table->by_token.try_emplace(digest, entry).first->second;
    if (owner->id != tenant.id) {
      return same_credential("token", tenant.name, owner->name);
    }
  }
  std::erase_if(table->by_access_key,
                [&](const auto& row) { return row.second.tenant->id == tenant.id; });
  for (auto& [id, secret] : access_keys) {
    Signer& signer = table->by_access_key[id];
    if (signer.tenant != nullptr && signer.tenant->id != tenant.id) {
      return same_credential("access key " + id, tenant.name, signer.tenant->name);
    }
    signer = Signer{entry, std::move(secret)};
  }
  std::atomic_store(&table_, std::shared_ptr<const Table>(std::move(table)));
  return {};
}

std::shared_ptr<const TenantDirectory::Entry> TenantDirectory::authenticate(
    std::string_view token) const {
  const std::string digest = master_key_.token_digest(token);
  const auto table = std::atomic_load(&table_);
  const auto found = table->by_token.find(digest);
  if (found == table->by_token.end() || !security::constant_time_equal(found->first, digest)) {
    return nullptr;
  }
  return found->second;
}

std::optional<TenantDirectory::Signer> TenantDirectory::find_access_key(std::string_view id) const {
  const auto table = std::atomic_load(&table_);
  if (const auto found = table->by_access_key.find(id); found != table->by_access_key.end()) {
    return found->second;
  }
  return std::nullopt;
}

core::Tenant TenantDirectory::with_access_key(core::Tenant tenant, const std::string& id,
                                              const Secret& secret, Moment now) const {
  tenant.access_keys.push_back(
      {id, master_key_.seal(secret, access_key_context(tenant.name, id)), now});
  return tenant;
}

core::Tenant TenantDirectory::with_keys(core::Tenant tenant, const Secret& current,
                                        const Secret& next) const {
  tenant.sealed_current_key =
      master_key_.seal(current, signing_key_context(tenant.name, "current"));
  tenant.sealed_next_key = master_key_.seal(next, signing_key_context(tenant.name, "next"));
  return tenant;
}

Result<Secret> TenantDirectory::next_key_of(const core::Tenant& tenant) const {
  return master_key_.open(tenant.sealed_next_key, signing_key_context(tenant.name, "next"));
}

std::string TenantDirectory::sealed_webhook_secret(std::string_view tenant_name,
                                                   const Secret& secret) const {
  return master_key_.seal(secret, webhook_secret_context(tenant_name));
}

Result<Secret> TenantDirectory::open_webhook_secret(core::TenantId tenant,
                                                    std::string_view sealed) const {
  const auto entry = find(tenant);
  if (entry == nullptr) {
    return fail(ErrorKind::not_found, "there is no such tenant");
  }
  return master_key_.open(sealed, webhook_secret_context(entry->name));
}

std::string TenantDirectory::token_digest(std::string_view token) const {
  return master_key_.token_digest(token);
}

std::shared_ptr<const TenantDirectory::Entry> TenantDirectory::find(core::TenantId id) const {
  const auto table = std::atomic_load(&table_);
  const auto found = table->by_id.find(id);
  return found == table->by_id.end() ? nullptr : found->second;
}

std::size_t TenantDirectory::size() const { return std::atomic_load(&table_)->by_id.size(); }

std::vector<std::shared_ptr<const TenantDirectory::Entry>> TenantDirectory::all() const {
  std::vector<std::shared_ptr<const Entry>> entries;
  for (const auto& [id, entry] : std::atomic_load(&table_)->by_id) {
    entries.push_back(entry);
  }
  return entries;
}

}  // namespace hk::engine
