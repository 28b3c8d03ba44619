// hikyaku messages why: the holds of a message, told to a person.
#include <fmt/core.h>

#include <array>

#include "cli/exit_code.h"
#include "cli/remote.h"
#include "cli/remote_call.h"

namespace hk::cli {

namespace json = boost::json;

namespace {

struct Gate {
  std::string_view name;
  std::string_view means;
  std::string_view opened_by;  ///< if no time is known
};

constexpr std::array<Gate, 18> gates = {{
    {"delay", "it was published with a delay", "that time"},
    {"retry", "its last attempt failed; it waits for the next one", "that time"},
    {"order", "messages before it in its queue or lane are not finished", "them finishing"},
    {"queue_paused", "its queue is paused", "resuming the queue"},
    {"queue_deleted", "its queue was deleted or purged and is being emptied", "the end of that"},
    {"queue_parallelism", "its queue has reached its parallelism",
     "a message of the queue finishing, or a higher parallelism"},
    {"flow_control_paused", "its flow-control key is paused", "resuming the key"},
    {"flow_control_rate", "its flow-control key has reached its rate", "the next period"},
    {"flow_control_parallelism", "its flow-control key has reached its parallelism",
     "an attempt of the key ending, or a higher parallelism"},
    {"destination_parallelism", "its host has reached destination_parallelism",
     "an attempt to the host ending, or a higher destination_parallelism"},
    {"destination_share", "its host uses much of tenant_parallelism, and little of it is free",
     "some of the tenant's attempts ending, or a higher tenant_parallelism"},
    {"tenant_share", "its tenant uses much of global_parallelism, and little of it is free",
     "some attempts ending, or a higher global_parallelism"},
    {"tenant_parallelism", "its tenant has reached tenant_parallelism",
     "an attempt of the tenant ending, or a higher tenant_parallelism"},
    {"global_parallelism", "the server has reached global_parallelism",
     "an attempt ending, or a higher global_parallelism"},
    {"callbacks", "a message before it in its queue is finished, but its callbacks are not",
     "the last of them finishing"},
    {"waits_for_receiver", "it is visible, and nobody has received it", "a receive"},
    {"in_flight", "a receiver has it", "its visibility timeout, or its receiver"},
    {"halted", "it was received as often as its queue allows, and its group is halted",
     "hikyaku queues retry, or hikyaku queues skip"},
}};

void print_hold(const json::value& hold) {
  const std::string name = text_of(hold, "gate");
  const std::string detail = text_of(hold, "detail");
  const std::string opens_at = text_of(hold, "opens_at");
  const Gate* known = nullptr;
  for (const Gate& one : gates) {
    if (one.name == name) {
      known = &one;
    }
  }
  fmt::print("{}: {}\n", name, known != nullptr ? known->means : std::string_view("it is held"));
  if (!detail.empty()) {
    fmt::print("  {}\n", detail);
  }
  if (!opens_at.empty()) {
    fmt::print("  opens at {}\n", opens_at);
  } else if (known != nullptr) {
    fmt::print("  opened by {}; no time is known\n", known->opened_by);
  }
}

void print_finished(const json::value& job, const std::string& status) {
  fmt::print("finished: {} at {}\n", status, text_of(job, "finished_at"));
  if (const std::string letter = text_of(job, "dlq_id"); !letter.empty()) {
    fmt::print("  it is dead letter {}: hikyaku dlq retry {}\n", letter, letter);
  }
}

}  // namespace

int explain_message(const Connection& connection, const std::string& id) {
  int code = exit_ok;
  const auto answer = call(connection, "GET", "/api/v1/jobs/" + query_escape(id), {}, {}, code);
  if (!answer) {
    return code;
  }
  if (connection.json) {
    fmt::print("{}\n", json::serialize(answer->value.at("holds")));
    return exit_ok;
  }
  const json::value& job = answer->value;
  const std::string status = text_of(job, "status");
  const json::array& holds = job.at("holds").as_array();
  if (!text_of(job, "finished_at").empty()) {
    print_finished(job, status);
  } else if (status == "RUNNING" && holds.empty()) {
    const json::value& attempt = job.at("attempts").as_array().back();
    fmt::print("attempt {} is running since {}\n", text_of(attempt, "number"),
               text_of(attempt, "started_at"));
  } else if (holds.empty()) {
    fmt::print("nothing holds it: an attempt is about to start\n");
  }
  for (const json::value& hold : holds) {
    print_hold(hold);
  }
  if (text_of(job, "cancel_requested") == "true") {
    fmt::print("it is being cancelled: no further attempt starts\n");
  }
  return exit_ok;
}

}  // namespace hk::cli
