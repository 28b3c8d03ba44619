#include "api/find_tenant.h"

#include "api/text.h"

namespace hk::api {

std::optional<core::Tenant> find_tenant(engine::Submitter& submitter, std::string_view id) {
  const std::optional<std::uint64_t> number = parse_unsigned(id);
  if (!number || *number > UINT32_MAX) {
    return std::nullopt;
  }
  for (const auto& view : submitter.durable_views()) {
    if (auto tenant =
            view->get<core::Tenant>(core::TenantId{static_cast<std::uint32_t>(*number)})) {
      return tenant;
    }
  }
  return std::nullopt;
}

}  // namespace hk::api
