#include "cli/admin_call.h"

#include <fmt/core.h>

#include "cli/admin_file.h"
#include "cli/exit_code.h"
#include "cli/process.h"

namespace hk::cli {

std::optional<Answer> ask_admin(const AdminArguments& arguments, const std::string& method,
                                const std::string& path, std::string body, int& code,
                                std::vector<net::Field> fields) {
  const auto admin = read_admin_file(arguments.data);
  if (!admin) {
    tell(
        fmt::format("hikyaku: no server runs on {}: give the data directory of a running one with "
                    "--data",
                    arguments.data));
    code = exit_unavailable;
    return std::nullopt;
  }
  Connection connection;
  connection.url = admin->url;
  connection.token = admin->token;
  connection.ca_file = arguments.ca_file;
  connection.json = arguments.json;
  fields.push_back({"Content-Type", "application/json"});
  return call(connection, method, path, std::move(fields), std::move(body), code);
}

}  // namespace hk::cli
