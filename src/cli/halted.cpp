// hikyaku queues halted, retry, skip: groups that have stopped at a message.
#include <fmt/core.h>

#include "cli/exit_code.h"
#include "cli/message_parts.h"
#include "cli/remote.h"
#include "cli/remote_call.h"

namespace hk::cli {

namespace json = boost::json;

namespace {

std::string path_of(const std::string& queue) {
  return "/api/v1/queues/" + query_escape(queue) + "/halted";
}

int resolve(const Connection& connection, const std::string& queue, const json::object& what) {
  int code = exit_ok;
  const auto answer = call(connection, "POST", path_of(queue),
                           {{"Content-Type", "application/json"}}, json::serialize(what), code);
  if (answer && connection.json) {
    fmt::print("{}\n", answer->text);
  }
  return code;
}

}  // namespace

int list_halted(const Connection& connection, const std::string& queue) {
  int code = exit_ok;
  const auto answer = call(connection, "GET", path_of(queue), {}, {}, code);
  if (!answer) {
    return code;
  }
  if (connection.json) {
    fmt::print("{}\n", answer->text);
    return exit_ok;
  }
  const json::array& halted = answer->value.at("halted").as_array();
  if (halted.empty()) {
    fmt::print("no halted groups\n");
  }
  for (const json::value& one : halted) {
    fmt::print("{}  received {:>3} times  {}\n", text_of(one, "message_id"),
               text_of(one, "receives"), text_of(one, "group"));
  }
  return exit_ok;
}

int retry_halted(const Connection& connection, const std::string& queue, const std::string& group,
                 const std::string& body_file) {
  json::object what{{"group", group}, {"action", "retry"}};
  if (!body_file.empty()) {
    const std::optional<std::string> body = read_body_file(body_file);
    if (!body) {
      return exit_usage;
    }
    what["body"] = json::string_view(body->data(), body->size());
  }
  return resolve(connection, queue, what);
}

int skip_halted(const Connection& connection, const std::string& queue, const std::string& group) {
  return resolve(connection, queue, {{"group", group}, {"action", "skip"}});
}

}  // namespace hk::cli
