// StartMessageMoveTask, ListMessageMoveTasks and CancelMessageMoveTask: dead letters on their way
// back.
#include <algorithm>

#include "api/aws/names.h"
#include "api/reply.h"
#include "api/sqs/exchange.h"
#include "api/sqs/receipt.h"
#include "base/encoding.h"
#include "base/json.h"
#include "base/json_input.h"
#include "security/digest.h"

namespace hk::api::sqs {

namespace {

using aws::Checked;
using aws::ErrorCode;

constexpr std::int64_t rate_max = 500;
constexpr std::int64_t listed_max = 10;

aws::Refusal not_found(std::string_view what) {
  return {ErrorCode::resource_not_found, "The " + std::string(what) + " does not exist."};
}

/// A UUID that says which task it is: its number, and half a MAC over what it is a task of. So a
/// handle needs no table, and nobody makes one up.
std::string task_id(const Exchange& exchange, const std::string& source, std::uint64_t number) {
  const security::Digest256 mac = security::hmac_sha256(
      exchange.services.options.receipt_key.reveal(),
      "move task " + exchange.account + "/" + source + "/" + std::to_string(number));
  std::uint64_t half = 0;
  for (std::size_t i = 0; i < sizeof half; ++i) {
    half = (half << 8U) | mac[i];
  }
  return core::uuid_text({core::Seq{number}, half});
}

std::string to_task_handle(const Exchange& exchange, const core::Queue& source,
                           std::uint64_t number) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.field("taskId", task_id(exchange, source.name, number));
  json.field("sourceArn", arn_of(exchange, source));
  json.end_object();
  return base64(text);
}

/// Which task a handle names. resource_not_found: none of ours.
Checked<core::CancelMoveTask> parse_task_handle(const Exchange& exchange, std::string_view handle) {
  const auto object = parse_json_object(unbase64(handle).value_or(""));
  const auto* const id = object ? member(*object, "taskId") : nullptr;
  const auto* const arn = object ? member(*object, "sourceArn") : nullptr;
  if (id == nullptr || !id->is_string() || arn == nullptr || !arn->is_string()) {
    return std::unexpected(
        aws::invalid_value("TaskHandle", handle, "it is not one that StartMessageMoveTask gave."));
  }
  const std::string_view uuid{id->get_string().data(), id->get_string().size()};
  const auto source =
      find_queue_by_arn(exchange, {arn->get_string().data(), arn->get_string().size()});
  if (!source) {
    return std::unexpected(not_found("source queue of the task"));
  }
  const auto parsed = core::parse_message_id(uuid);  // the id of a task has the same form
  const std::uint64_t number = parsed ? parsed->seq.value() : 0;
  if (!security::constant_time_equal(task_id(exchange, source->name, number), uuid)) {
    return std::unexpected(not_found("task"));
  }
  return core::CancelMoveTask{exchange.tenant_id(), source->name, number};
}

/// nullopt: there is none, and that has been said.
std::optional<core::Queue> source_of(Exchange& exchange, std::string_view arn) {
  auto source = find_queue_by_arn(exchange, arn);
  if (!source) {
    exchange.refuse(not_found("queue of SourceArn"));
  }
  return source;
}

bool takes_dead_letters(const Exchange& exchange, const core::Queue& queue) {
  return std::ranges::any_of(exchange.services.submitter.durable_view(exchange.tenant_id())
                                 ->scan(core::Range<core::Queue>::of(exchange.tenant_id())),
                             [&](const core::Queue& one) {
                               return one.pull && !one.deleted && one.pull->receives_max > 0 &&
                                      one.pull->dead_letters_to == queue.name;
                             });
}

std::string_view status_text(core::Task::Status status) {
  switch (status) {
    case core::Task::Status::running:
    case core::Task::Status::paused: return "RUNNING";
    case core::Task::Status::completed: return "COMPLETED";
    case core::Task::Status::canceled: return "CANCELLED";
    case core::Task::Status::failed: break;
  }
  return "FAILED";
}

std::string_view reason_text(std::string_view reason) {
  return reason == core::Task::destination_gone
             ? "AWS.SimpleQueueService.NonExistentQueue"
             : "A message did not come from a queue: name a destination.";
}

/// Also of a queue that is gone.
std::string destination_arn(const Exchange& exchange, const std::string& name) {
  const auto queue = exchange.services.submitter.durable_view(exchange.tenant_id())
                         ->get<core::Queue>({exchange.tenant_id(), name});
  if (queue && queue->pull) {
    return arn_of(exchange, *queue);
  }
  return aws::to_text(
      {.service = "sqs", .region = exchange.region, .account = exchange.account, .resource = name});
}

void write_task(aws::Output& out, const Exchange& exchange, const core::Queue& source,
                const core::Task& task) {
  if (task.status == core::Task::Status::running) {
    out.text("TaskHandle", to_task_handle(exchange, source, task.number));
  }
  out.text("Status", status_text(task.status));
  out.text("SourceArn", arn_of(exchange, source));
  if (const std::string& to = std::get<core::MoveMessages>(task.work).destination; !to.empty()) {
    out.text("DestinationArn", destination_arn(exchange, to));
  }
  if (task.rate > 0) {
    out.integer("MaxNumberOfMessagesPerSecond", task.rate);
  }
  out.integer("ApproximateNumberOfMessagesMoved", static_cast<std::int64_t>(task.processed));
  out.integer("ApproximateNumberOfMessagesToMove", static_cast<std::int64_t>(task.total));
  if (task.status == core::Task::Status::failed) {
    out.text("FailureReason", reason_text(task.reason));
  }
  out.integer("StartedTimestamp", to_ms(task.started_at));
}

}  // namespace

void start_message_move_task(const ExchangePtr& exchange, aws::Input& input) {
  const std::string_view source_arn = input.required_text("SourceArn");
  const auto destination_arn_text = input.text("DestinationArn");
  const auto rate = input.integer("MaxNumberOfMessagesPerSecond", 1, rate_max);
  if (!well_formed(*exchange, input)) {
    return;
  }
  const auto source = source_of(*exchange, source_arn);
  if (!source) {
    return;
  }
  core::StartMoveTask command{exchange->tenant_id(), source->name, {}, 0};
  command.rate = static_cast<std::uint32_t>(rate.value_or(0));
  if (destination_arn_text && !destination_arn_text->empty()) {
    const auto destination = find_queue_by_arn(*exchange, *destination_arn_text);
    if (!destination) {
      exchange->refuse(not_found("queue of DestinationArn"));
      return;
    }
    if (destination->pull->fifo != source->pull->fifo) {
      exchange->refuse(aws::invalid_value(
          "DestinationArn", *destination_arn_text,
          "messages of a FIFO queue go to a FIFO queue, and those of a standard queue to a "
          "standard one."));
      return;
    }
    command.destination = destination->name;
  }
  if (!takes_dead_letters(*exchange, *source)) {
    exchange->refuse(
        aws::invalid_value("SourceArn", source_arn, "no queue names it as its dead-letter queue."));
    return;
  }
  exchange->batcher.submit(
      std::move(command), [exchange, source = *source](const core::Reply& reply) {
        if (!reply) {
          exchange->refuse(
              reply.error().kind == ErrorKind::conflict
                  ? aws::Refusal{ErrorCode::invalid_parameter_value,
                                 "There is already a task running. Only one active task is "
                                 "allowed for a source queue at a given time."}
                  : told(reply.error()));
          return;
        }
        const std::uint64_t number = answer_of<core::TaskStarted>(reply).number;
        exchange->succeed([&](aws::Output& out) {
          out.text("TaskHandle", to_task_handle(*exchange, source, number));
        });
      });
}

void list_message_move_tasks(const ExchangePtr& exchange, aws::Input& input) {
  const std::string_view source_arn = input.required_text("SourceArn");
  const auto max = input.integer("MaxResults", 1, listed_max);
  if (!well_formed(*exchange, input)) {
    return;
  }
  const auto source = source_of(*exchange, source_arn);
  if (!source) {
    return;
  }
  exchange->batcher.submit(
      core::ListMoveTasks{exchange->tenant_id(), source->name},
      [exchange, source = *source,
       limit = static_cast<std::size_t>(max.value_or(1))](const core::Reply& reply) {
        if (!reply) {
          exchange->refuse(told(reply.error()));
          return;
        }
        std::vector<core::Task> tasks = answer_of<core::MoveTasksListed>(reply).tasks;
        tasks.resize(std::min(tasks.size(), limit));
        exchange->succeed([&](aws::Output& out) {
          out.list("Results", tasks, [&](aws::Output& item, const core::Task& task) {
            write_task(item, *exchange, source, task);
          });
        });
      });
}

void cancel_message_move_task(const ExchangePtr& exchange, aws::Input& input) {
  const std::string_view handle = input.required_text("TaskHandle");
  if (!well_formed(*exchange, input)) {
    return;
  }
  Checked<core::CancelMoveTask> command = parse_task_handle(*exchange, handle);
  if (!command) {
    exchange->refuse(command.error());
    return;
  }
  exchange->batcher.submit(std::move(*command), [exchange](const core::Reply& reply) {
    if (!reply) {
      exchange->refuse(reply.error().kind == ErrorKind::not_found ? not_found("running task")
                                                                  : told(reply.error()));
      return;
    }
    const auto moved = static_cast<std::int64_t>(answer_of<core::MoveTaskCanceled>(reply).moved);
    exchange->succeed(
        [&](aws::Output& out) { out.integer("ApproximateNumberOfMessagesMoved", moved); });
  });
}

}  // namespace hk::api::sqs
