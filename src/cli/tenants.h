/// hikyaku tenants: who may use the server.
#pragma once

#include <string>

#include "cli/admin_call.h"

namespace hk::cli {

int create_tenant(const AdminArguments& arguments, const std::string& name);
int list_tenants(const AdminArguments& arguments);
int rotate_tenant_token(const AdminArguments& arguments, const std::string& id);

}  // namespace hk::cli
