/// Commands about tenants, and their replies.
#pragma once

#include <optional>
#include <variant>

#include "core/tenant/record.h"

namespace hk::core {

/// Creates (id 0: the core chooses one) or replaces a tenant. not_found: nobody has that id.
struct UpsertTenant {
  Tenant tenant{};
  /// What `tenant` was made of. unavailable: it was changed meanwhile; nothing was done.
  std::optional<Tenant> if_still{};
  bool create_with_id = false;  ///< whoever asks knows that no partition has a tenant of that id
};

using TenantCommand = std::variant<UpsertTenant>;

// ---- replies ----

struct TenantStored {
  TenantId id{};
};

using TenantReply = std::variant<TenantStored>;

}  // namespace hk::core
