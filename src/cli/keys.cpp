#include "cli/keys.h"

#include <fmt/core.h>

#include "cli/exit_code.h"
#include "cli/process.h"

namespace hk::cli {

namespace json = boost::json;

namespace {

/// Where the keys of that tenant are; nullopt: the exit code is in `code`.
std::optional<std::string> path_of(const AdminArguments& arguments, const std::string& tenant,
                                   int& code) {
  const auto answer = ask_admin(arguments, "GET", "/api/v1/tenants", {}, code);
  if (!answer) {
    return std::nullopt;
  }
  for (const json::value& one : answer->value.at("tenants").as_array()) {  // in the order of ids
    if (tenant.empty() || text_of(one, "name") == tenant) {
      return "/api/v1/tenants/" + text_of(one, "id") + "/access-keys";
    }
  }
  tell(fmt::format("hikyaku: there is no tenant {}; see `hikyaku tenants list`", tenant));
  code = exit_failed;
  return std::nullopt;
}

std::optional<Answer> ask(const AdminArguments& arguments, const std::string& method,
                          const std::string& tenant, const std::string& below, int& code) {
  const auto path = path_of(arguments, tenant, code);
  return path ? ask_admin(arguments, method, *path + below, {}, code) : std::nullopt;
}

}  // namespace

int create_access_key(const AdminArguments& arguments, const std::string& tenant) {
  int code = exit_ok;
  const auto answer = ask(arguments, "POST", tenant, {}, code);
  if (!answer) {
    return code;
  }
  if (arguments.json) {
    fmt::print("{}\n", answer->text);
    return exit_ok;
  }
  // As a file of credentials or an env file has them.
  for (const char* name : {"access_key_id", "secret_access_key"}) {
    fmt::print("{}={}\n", name, text_of(answer->value, name));
  }
  tell("The secret is not shown again: store it now.");
  return exit_ok;
}

int list_access_keys(const AdminArguments& arguments, const std::string& tenant) {
  int code = exit_ok;
  const auto answer = ask(arguments, "GET", tenant, {}, code);
  if (!answer) {
    return code;
  }
  if (arguments.json) {
    fmt::print("{}\n", answer->text);
    return exit_ok;
  }
  const json::array& keys = answer->value.at("access_keys").as_array();
  if (keys.empty()) {
    fmt::print("no access keys\n");
  }
  for (const json::value& key : keys) {
    const std::string made = text_of(key, "created_at");
    fmt::print("{}  {}\n", text_of(key, "access_key_id"),
               made.empty() ? "from configuration" : made);
  }
  return exit_ok;
}

int revoke_access_key(const AdminArguments& arguments, const std::string& tenant,
                      const std::string& id) {
  int code = exit_ok;
  const auto answer = ask(arguments, "DELETE", tenant, "/" + query_escape(id), code);
  if (!answer) {
    return code;
  }
  if (arguments.json) {
    fmt::print("{}\n", answer->text);
  } else {
    fmt::print("revoked {}\n", id);
  }
  return exit_ok;
}

}  // namespace hk::cli
