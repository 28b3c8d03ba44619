#include "api/find_tenant.h"

#include "api/text.h"

namespace hk::api {

std::optional<core::Tenant> find_tenant(core::Reader& reader, core::TenantId id) {
  return reader.get<core::Tenant>(id);
}

std::optional<core::Tenant> find_tenant(core::Reader& reader, std::string_view id) {
  const std::optional<std::uint64_t> number = parse_unsigned(id);
  if (!number || *number > UINT32_MAX) {
    return std::nullopt;
  }
  return find_tenant(reader, core::TenantId{static_cast<std::uint32_t>(*number)});
}

}  // namespace hk::api
