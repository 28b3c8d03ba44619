/// hikyaku tenants: commands of the admin API of a running server. They find it by admin.json in
/// its data directory, so they run where the server does, as its user.
#pragma once

#include <string>

namespace hk::cli {

struct TenantArguments {
  std::string data{"./data"};
  std::string ca_file{};
  bool json = false;
};

int create_tenant(const TenantArguments& arguments, const std::string& name);
int list_tenants(const TenantArguments& arguments);
int rotate_tenant_token(const TenantArguments& arguments, const std::string& id);

}  // namespace hk::cli
