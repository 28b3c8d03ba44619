#include "delivery/envelope/webhook_keys.h"

#include <utility>

#include "base/assert.h"
#include "engine/tenant_directory.h"
#include "security/webhook_signature.h"

namespace hk::delivery {

WebhookSecrets webhook_secrets_of(const engine::TenantDirectory& tenants) {
  return [&tenants](core::TenantId tenant, std::string_view sealed) {
    return tenants.open_webhook_secret(tenant, sealed);
  };
}

WebhookKeys::WebhookKeys(WebhookSecrets open, std::size_t kept_max)
    : open_(std::move(open)), kept_max_(kept_max) {
  HK_ASSERT(kept_max_ > 0);
}

WebhookKeys::~WebhookKeys() = default;

Result<std::shared_ptr<const security::WebhookSecret>> WebhookKeys::find(
    core::TenantId tenant, const std::string& sealed) {
  const auto found = by_sealed_.find(sealed);
  // What is sealed for one tenant opens for no other: not from here, either.
  if (found != by_sealed_.end() && found->second->tenant == tenant) {
    last_used_first_.splice(last_used_first_.begin(), last_used_first_, found->second);
    return found->second->secret;
  }

  if (!open_) {
    return fail(ErrorKind::unavailable, "no signing key: this server opens no secrets");
  }
  const Result<Secret> text = open_(tenant, sealed);
  if (!text) {
    return fail(ErrorKind::unavailable,
                "no signing key: the endpoint's secret cannot be opened: " + text.error().message);
  }
  auto secret = security::parse_secret(text->reveal());
  if (!secret || secret->kind == security::WebhookSecret::Kind::verifying) {
    return fail(ErrorKind::unavailable,
                "no signing key: what is stored as the endpoint's secret cannot sign");
  }
  auto kept = std::make_shared<const security::WebhookSecret>(*std::move(secret));
  if (found != by_sealed_.end()) {
    return kept;  // the other tenant's stays
  }
  if (by_sealed_.size() >= kept_max_) {
    by_sealed_.erase(last_used_first_.back().sealed);
    last_used_first_.pop_back();
  }
  last_used_first_.push_front({tenant, sealed, kept});
  by_sealed_.emplace(last_used_first_.front().sealed, last_used_first_.begin());
  return kept;
}

}  // namespace hk::delivery
