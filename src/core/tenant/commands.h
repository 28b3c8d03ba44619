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

/// Replaces its limits as a whole. not_found: nobody has that id. invalid_argument: beyond what
/// TenantLimits allows, or a burst below its rate.
struct SetTenantLimits {
  TenantId tenant{};
  TenantLimits limits{};
};

using TenantCommand = std::variant<UpsertTenant, SetTenantLimits>;

// ---- replies ----

struct TenantStored {
  TenantId id{};
};

using TenantReply = std::variant<TenantStored>;

}  // namespace hk::core
