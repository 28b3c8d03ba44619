/// hikyaku idempotency: keys by which handlers let their work take effect once.
#pragma once

#include <string>

#include "cli/admin_call.h"
#include "cli/remote.h"

namespace hk::cli {

/// What is known of a key.
int get_key(const Connection& connection, const std::string& key, const std::string& space);
/// Its work can be done again. For an operator.
int delete_key(const AdminArguments& arguments, const std::string& tenant, const std::string& key,
               const std::string& space);

}  // namespace hk::cli
