#include "api/tenant_change.h"

#include <atomic>

#include "api/text.h"

namespace hk::api {

namespace {

std::atomic<bool> under_way = false;

}  // namespace

Result<TenantChange> TenantChange::begin() {
  if (under_way.exchange(true)) {
    return fail(ErrorKind::unavailable,
                "another change of credentials is under way: nothing was done, try again shortly");
  }
  return TenantChange{};
}

void TenantChange::end() {
  if (std::exchange(held_, false)) {
    under_way.store(false);
  }
}

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
