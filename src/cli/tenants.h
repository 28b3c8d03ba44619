/// hikyaku tenants: who may use the server.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/admin_call.h"

namespace hk::cli {

int create_tenant(const AdminArguments& arguments, const std::string& name);
int list_tenants(const AdminArguments& arguments);
int rotate_tenant_token(const AdminArguments& arguments, const std::string& id);

/// How often a tenant may call the API.
struct LimitArguments {
  std::optional<std::uint64_t> rate{};
  std::optional<std::uint64_t> burst{};
  std::optional<std::uint64_t> weight{};
  std::optional<std::uint64_t> in_flight{};
  std::vector<std::string> classes{};  ///< "publish=50" or "publish=50:100"
  bool none = false;                   ///< all of them go
};
/// Shows the limits; replaces them before, if anything was said.
int tenant_limits(const AdminArguments& arguments, const std::string& id,
                  const LimitArguments& limits);

}  // namespace hk::cli
