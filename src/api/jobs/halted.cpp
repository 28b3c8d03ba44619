// GET and POST /api/v1/queues/{name}/halted: groups of a queue that have stopped at a message that
// failed for good, and what shall become of it.
#include "api/aws/message_attributes.h"
#include "api/jobs/handlers.h"
#include "api/reply.h"
#include "api/submit.h"
#include "base/json.h"
#include "base/json_input.h"

namespace hk::api::jobs {

namespace {

using core::ResolveHalted;

constexpr std::size_t listed_max = 100;
constexpr std::size_t body_bytes_max = 8 * json_bytes_max;  // a body of 1 MiB, escaped

/// The command without its tenant and queue.
Result<ResolveHalted> read_resolve(const std::string& text) {
  const Result<boost::json::object> object = parse_json_object(text, body_bytes_max);
  if (!object) {
    return std::unexpected(object.error());
  }
  ResolveHalted command;
  for (const auto& [key, value] : *object) {
    const std::string_view name(key.data(), key.size());
    if (!value.is_string() || (name != "group" && name != "action" && name != "body")) {
      return fail(ErrorKind::invalid_argument,
                  R"(the body must be {"group": "…", "action": "retry" or "skip", "body": "…"})");
    }
  }
  const Result<std::string> action = text_member(*object, "action");
  if (*action != "retry" && *action != "skip") {
    return fail(ErrorKind::invalid_argument, "action: must be retry or skip");
  }
  command.action = *action == "retry" ? ResolveHalted::Action::retry : ResolveHalted::Action::skip;
  command.group = *text_member(*object, "group");
  if (command.group.empty()) {
    return fail(ErrorKind::invalid_argument, "group: must be the name of a halted group");
  }
  if (const boost::json::value* const body = member(*object, "body")) {
    command.body = std::string(body->get_string());
    if (const auto good = aws::check_body(*command.body); !good) {
      return fail(ErrorKind::invalid_argument, "body: " + good.error().message);
    }
  }
  return command;
}

}  // namespace

void list_halted(const Services& /*services*/, Call& call) {
  core::ListHalted question{call.tenant->id, call.param, listed_max};
  submit_then(call, std::move(question), [](const core::Reply& reply) {
    http::Response response;
    JsonWriter json(response.body);
    json.begin_object();
    json.key("halted");
    json.begin_array();
    for (const auto& one : answer_of<core::HaltedListed>(reply).messages) {
      json.begin_object();
      json.field("group", one.group);
      json.field("message_id", core::to_text(one.id));
      json.field("receives", one.receives);
      json.end_object();
    }
    json.end_array();
    json.end_object();
    return response;
  });
}

Write resolve_halted(const Services& /*services*/, Call& call) {
  Result<ResolveHalted> command = read_resolve(call.request.body);
  if (!command) {
    return std::move(command.error());
  }
  command->tenant = call.tenant->id;
  command->queue = call.param;
  return Planned{.command = std::move(*command), .tell = [](const core::Reply& /*reply*/) {
                   http::Response response;
                   response.body = "{}";
                   return response;
                 }};
}

}  // namespace hk::api::jobs
