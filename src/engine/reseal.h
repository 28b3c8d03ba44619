/// A rotation of the master key, for the secrets of a tenant. Pure, any thread.
#pragma once

#include <string_view>

#include "base/error.h"
#include "core/record.h"
#include "core/webhook/record.h"

namespace hk::security {
class MasterKey;
}

namespace hk::engine {

/// Everything of the tenant that is sealed, opened with one key and sealed with the other.
/// corruption: `from` does not open it.
Result<core::Tenant> resealed(core::Tenant tenant, const security::MasterKey& from,
                              const security::MasterKey& to);
/// The same for the secrets that an endpoint of that tenant signs with.
Result<core::webhook::Endpoint> resealed(core::webhook::Endpoint endpoint,
                                         std::string_view tenant_name,
                                         const security::MasterKey& from,
                                         const security::MasterKey& to);

}  // namespace hk::engine
