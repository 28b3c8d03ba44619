/// What is stored of a tenant. Used by handlers on I/O threads.
#pragma once

#include <optional>
#include <string_view>

#include "core/reader.h"

namespace hk::api {

std::optional<core::Tenant> find_tenant(core::Reader& reader, core::TenantId id);
/// By its id as it stands in a path.
std::optional<core::Tenant> find_tenant(core::Reader& reader, std::string_view id);

}  // namespace hk::api
