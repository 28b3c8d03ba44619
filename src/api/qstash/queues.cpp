// /v2/queues: the queues themselves. Lists read the durable view; changes go through the core.
#include <algorithm>
#include <iterator>
#include <limits>

#include "api/qstash/errors.h"
#include "api/qstash/handlers.h"
#include "api/qstash/publish.h"
#include "api/qstash/submit.h"
#include "api/text.h"
#include "base/json.h"
#include "base/json_input.h"
#include "core/webhook/gate_name.h"

namespace hk::api::qstash {

namespace {

constexpr std::string_view upsert_members[] = {"queueName", "parallelism", "paused"};

http::Response no_such_queue(std::string_view name) {
  return error_response(404, "queue " + std::string(name) + " not found");
}

void write_queue(JsonWriter& json, const core::Queue& queue) {
  json.begin_object();
  json.field("createdAt", to_ms(queue.created_at));
  json.field("updatedAt", to_ms(queue.updated_at));
  json.field("name", queue.name);
  json.field("parallelism", queue.parallelism);
  json.field("lag", queue.lag);
  json.field("paused", queue.paused);
  if (queue.pull) {
    json.field("pulled", true);
  }
  json.end_object();
}

/// One that is being deleted is not there any more, whatever is left of it.
std::optional<core::Queue> find_queue(const Services& services, const Call& call) {
  auto queue = services.submitter.durable_view(call.tenant->id)
                   ->get<core::Queue>({call.tenant->id, call.param});
  return queue && queue->deleted ? std::nullopt : queue;
}

Result<core::UpsertQueue> read_upsert(const Call& call) {
  Result<boost::json::object> body = parse_json_object(call.request.body);
  if (!body) {
    return std::unexpected(std::move(body.error()));
  }
  for (const auto& member : *body) {
    const std::string key(member.key());
    if (std::ranges::find(upsert_members, key) == std::end(upsert_members)) {
      return fail(ErrorKind::invalid_argument,
                  "unknown member \"" + key + "\"; known: queueName, parallelism and paused");
    }
  }
  core::UpsertQueue command{.tenant = call.tenant->id};
  const boost::json::value* const name = body->if_contains("queueName");
  if (name == nullptr || !name->is_string() || !valid_new_queue_name(name->get_string())) {
    return fail(ErrorKind::invalid_argument,
                "queueName: must be a string of letters, digits, '.', '_' and '-', at most " +
                    std::to_string(queue_name_bytes_max) + " of them");
  }
  command.name = std::string(name->get_string());
  const boost::json::value* const parallelism = body->if_contains("parallelism");
  if (parallelism != nullptr && !parallelism->is_null()) {
    // Boost reads what fits into 64 bits as an integer; anything else is not a whole number.
    const std::int64_t* const number = parallelism->if_int64();
    if (number == nullptr || *number < 1 || *number > std::numeric_limits<std::uint32_t>::max()) {
      return fail(ErrorKind::invalid_argument, "parallelism: must be a whole number of at least 1");
    }
    command.parallelism = static_cast<std::uint32_t>(*number);
  }
  const boost::json::value* const paused = body->if_contains("paused");
  if (paused != nullptr && !paused->is_null()) {
    if (!paused->is_bool()) {
      return fail(ErrorKind::invalid_argument, "paused: must be true or false");
    }
    command.paused = paused->get_bool();
  }
  return command;
}

void set_queue_paused(const Services& services, Call& call, bool paused) {
  if (!valid_name(call.param)) {
    call.answer(error_response(invalid_queue_name()));
    return;
  }
  if (!find_queue(services, call)) {
    call.answer(no_such_queue(call.param));
    return;
  }
  submit_for_done(
      call, core::UpsertQueue{.tenant = call.tenant->id, .name = call.param, .paused = paused});
}

}  // namespace

void upsert_queue(const Services& services, Call& call) {
  Result<core::UpsertQueue> command = read_upsert(call);
  if (command && command->parallelism) {
    const auto queue = services.submitter.durable_view(call.tenant->id)
                           ->get<core::Queue>({call.tenant->id, command->name});
    if (queue && !queue->deleted && queue->pull) {
      command = fail(ErrorKind::invalid_argument,
                     "parallelism: queue " + queue->name +
                         " is one that workers pull from: it has no parallelism");
    }
  }
  if (!command) {
    call.answer(error_response(command.error()));
    return;
  }
  submit_for_done(call, std::move(*command));
}

void list_queues(const Services& services, Call& call) {
  http::Response response;
  JsonWriter json(response.body);
  json.begin_array();
  for (const core::Queue& queue : services.submitter.durable_view(call.tenant->id)
                                      ->scan(core::Range<core::Queue>::of(call.tenant->id))) {
    if (!queue.deleted && !core::webhook::is_ours(queue.name)) {
      write_queue(json, queue);
    }
  }
  json.end_array();
  call.answer(std::move(response));
}

void get_queue(const Services& services, Call& call) {
  if (!valid_name(call.param)) {
    call.answer(error_response(invalid_queue_name()));
    return;
  }
  const std::optional<core::Queue> queue = find_queue(services, call);
  if (!queue) {
    call.answer(no_such_queue(call.param));
    return;
  }
  http::Response response;
  JsonWriter json(response.body);
  write_queue(json, *queue);
  call.answer(std::move(response));
}

void delete_queue(const Services& /*services*/, Call& call) {
  if (!valid_name(call.param)) {
    call.answer(error_response(invalid_queue_name()));
    return;
  }
  submit_for_done(call, core::DeleteQueueCommand{.tenant = call.tenant->id, .name = call.param});
}

void pause_queue(const Services& services, Call& call) { set_queue_paused(services, call, true); }

void resume_queue(const Services& services, Call& call) { set_queue_paused(services, call, false); }

}  // namespace hk::api::qstash
