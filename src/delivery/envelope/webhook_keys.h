/// What signs the webhooks of endpoints. Secrets are stored sealed and come so with every attempt;
/// to open one takes longer than to sign, so those that were used last are kept open. The sealed
/// text is the name of what is kept: a secret that was rotated has another one, and nothing is ever
/// out of date. One per I/O thread.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/error.h"
#include "base/secret.h"
#include "core/record.h"

namespace hk::engine {
class TenantDirectory;
}
namespace hk::security {
struct WebhookSecret;
}

namespace hk::delivery {

/// Opens a sealed secret of a tenant, or says why it cannot be opened. Called on I/O threads.
using WebhookSecrets = std::function<Result<Secret>(core::TenantId, std::string_view sealed)>;
/// With the master key of a directory, which outlives them.
WebhookSecrets webhook_secrets_of(const engine::TenantDirectory& tenants);

class WebhookKeys {
 public:
  static constexpr std::size_t kept_max_default = 4096;

  /// `open` empty: nothing can be opened.
  explicit WebhookKeys(WebhookSecrets open, std::size_t kept_max = kept_max_default);
  ~WebhookKeys();

  /// unavailable: it cannot be opened, or is nothing that signs. A failure is not remembered.
  Result<std::shared_ptr<const security::WebhookSecret>> find(core::TenantId tenant,
                                                              const std::string& sealed);
  [[nodiscard]] std::size_t kept() const { return by_sealed_.size(); }

 private:
  struct Kept {
    core::TenantId tenant{};
    std::string sealed{};
    std::shared_ptr<const security::WebhookSecret> secret{};
  };

  const WebhookSecrets open_;
  const std::size_t kept_max_;
  std::list<Kept> last_used_first_;
  std::unordered_map<std::string_view, std::list<Kept>::iterator> by_sealed_;
};

}  // namespace hk::delivery
