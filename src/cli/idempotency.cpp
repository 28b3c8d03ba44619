#include "cli/idempotency.h"

#include <fmt/core.h>

#include "cli/exit_code.h"
#include "cli/remote_call.h"

namespace hk::cli {

namespace json = boost::json;

namespace {

std::string key_path(const std::string& key, const std::string& space) {
  return "/api/v1/idempotency?key=" + query_escape(key) + "&namespace=" + query_escape(space);
}

}  // namespace

int get_key(const Connection& connection, const std::string& key, const std::string& space) {
  int code = exit_ok;
  const auto answer = call(connection, "GET", key_path(key, space), {}, {}, code);
  if (!answer) {
    return code;
  }
  if (connection.json) {
    fmt::print("{}\n", answer->text);
    return exit_ok;
  }
  for (const json::key_value_pair& one : answer->value.as_object()) {
    const std::string name(one.key());
    const bool plain = one.value().is_string() || one.value().is_number();
    fmt::print("{:<14} {}\n", name,
               plain ? text_of(answer->value, name) : json::serialize(one.value()));
  }
  return exit_ok;
}

int delete_key(const AdminArguments& arguments, const std::string& tenant, const std::string& key,
               const std::string& space) {
  int code = exit_ok;
  const auto answer =
      ask_admin(arguments, "DELETE", key_path(key, space), {}, code, {{"Hikyaku-Tenant", tenant}});
  if (answer && arguments.json) {
    fmt::print("{}\n", answer->text);
  }
  return code;
}

}  // namespace hk::cli
