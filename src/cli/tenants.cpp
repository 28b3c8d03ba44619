#include "cli/tenants.h"

#include <fmt/core.h>

#include "cli/exit_code.h"
#include "cli/process.h"
#include "cli/remote_call.h"

namespace hk::cli {

namespace json = boost::json;

namespace {

/// Prints the credentials that the answer holds, or all of it.
int show(const AdminArguments& arguments, const std::optional<Answer>& answer, int code) {
  if (!answer) {
    return code;
  }
  if (arguments.json) {
    fmt::print("{}\n", answer->text);
    return exit_ok;
  }
  for (const char* name : {"id", "name", "token", "current_signing_key", "next_signing_key"}) {
    if (const std::string text = text_of(answer->value, name); !text.empty()) {
      fmt::print("{:<22} {}\n", name, text);
    }
  }
  tell("The token is not shown again: store it now.");
  return exit_ok;
}

}  // namespace

int create_tenant(const AdminArguments& arguments, const std::string& name) {
  int code = exit_ok;
  const auto answer = ask_admin(arguments, "POST", "/api/v1/tenants",
                                json::serialize(json::object{{"name", name}}), code);
  return show(arguments, answer, code);
}

int list_tenants(const AdminArguments& arguments) {
  int code = exit_ok;
  const auto answer = ask_admin(arguments, "GET", "/api/v1/tenants", {}, code);
  if (!answer) {
    return code;
  }
  if (arguments.json) {
    fmt::print("{}\n", answer->text);
    return exit_ok;
  }
  for (const json::value& tenant : answer->value.at("tenants").as_array()) {
    fmt::print("{:>4}  {}  {}\n", text_of(tenant, "id"), text_of(tenant, "created_at"),
               text_of(tenant, "name"));
  }
  return exit_ok;
}

int rotate_tenant_token(const AdminArguments& arguments, const std::string& id) {
  int code = exit_ok;
  const auto answer = ask_admin(arguments, "POST",
                                "/api/v1/tenants/" + query_escape(id) + "/rotate-token", {}, code);
  return show(arguments, answer, code);
}

}  // namespace hk::cli
