/// Calls of the admin API of a running server. They find it by admin.json in its data directory, so
/// the commands that make them run where the server does, as its user.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/remote_call.h"

namespace hk::cli {

struct AdminArguments {
  std::string data{"./data"};
  std::string ca_file{};
  bool json = false;
};

/// Sends and prints what went wrong; nullopt: the exit code is in `code`.
std::optional<Answer> ask_admin(const AdminArguments& arguments, const std::string& method,
                                const std::string& path, std::string body, int& code,
                                std::vector<net::Field> fields = {});

}  // namespace hk::cli
