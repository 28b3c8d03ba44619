/// hikyaku keys: the access keys that AWS clients sign their requests with.
#pragma once

#include <string>

#include "cli/admin_call.h"

namespace hk::cli {

/// `tenant` is a name; "" is the first one, which the server made at its first start.
int create_access_key(const AdminArguments& arguments, const std::string& tenant);
int list_access_keys(const AdminArguments& arguments, const std::string& tenant);
int revoke_access_key(const AdminArguments& arguments, const std::string& tenant,
                      const std::string& id);

}  // namespace hk::cli
