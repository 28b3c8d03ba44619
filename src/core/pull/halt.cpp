// Groups that would rather stop than lose a message. What has been received too often stays at the
// head of its group, and nothing of the group goes out, until somebody decides. That it has stopped
// is not stored: its receives are, and say so again after a restart.
#include <vector>

#include "base/assert.h"
#include "base/sometimes.h"
#include "core/lane/lanes.h"
#include "core/pull/no_queue.h"
#include "core/pull/pulls.h"
#include "core/pull/size.h"
#include "core/queue/queues.h"
#include "core/task/tasks.h"

HK_SOMETIMES_DECLARE(group_stopped)
HK_SOMETIMES_DECLARE(stopped_group_goes_on_by_settings)
HK_SOMETIMES_DECLARE(halted_message_retried)
HK_SOMETIMES_DECLARE(halted_message_skipped)
HK_SOMETIMES_DECLARE(halted_message_skipped_to_nowhere)

namespace hk::core {

/// It was handed out here as often as its queue allows. Once at least, so that dead-letter queues
/// that refer to each other or to themselves do not pass it on and on.
bool Pulls::failed_for_good(const Queue& queue, const Live& live) {
  std::uint32_t receives_max = queue.pull->receives_max;
  if (receives_max == 0 && queue.pull->halt) {
    receives_max = limits_.halt_after;
  }
  if (receives_max == 0 || live.attempts == 0) {
    return false;
  }
  // Receives in the queues before do not count: dead-letter queues may form a circle.
  return live.attempts >= receives_max + live.forgiven;
}

bool Pulls::stops_its_group(const Live& live) {
  if (!live.lane->in_run() || live.attempts == 0) {
    return false;
  }
  const Queue* const queue = queues_.find_pulled(live.lane->key.tenant, live.lane->key.queue);
  return queue != nullptr && queue->pull->halt && failed_for_good(*queue, live);
}

void Pulls::halt_if_failed(Live& live) {
  if (live.pull != nullptr && !live.halted && stops_its_group(live)) {
    HK_SOMETIMES(group_stopped);
    live.halted = true;
    live.pull->halted.insert(live.seq);
  }
}

/// REQUIRES: halted.
void Pulls::go_on(Live& live) {
  HK_ASSERT(live.halted && !live.leased);
  scheduler_.remove_waiting(live);
  live.halted = false;
  live.pull->halted.erase(live.seq);
  tasks_.look_again(live.lane->key, live.seq);
  lanes_.wait(live);
}

void Pulls::go_on_if_allowed(const Queue& queue) {
  PullQueue* const pull = scheduler_.find_pull_queue(queue.tenant, queue.name);
  if (pull == nullptr) {
    return;
  }
  const std::vector<Seq> halted(pull->halted.begin(), pull->halted.end());
  for (const Seq seq : halted) {
    Live* const live = lanes_.find(seq);
    HK_ASSERT(live != nullptr);
    if (!stops_its_group(*live)) {
      HK_SOMETIMES(stopped_group_goes_on_by_settings);
      go_on(*live);
    }
  }
}

Reply Pulls::decide(const ListHalted& command) {
  const Queue* const queue = queues_.find_pulled(command.tenant, command.queue);
  if (queue == nullptr) {
    return no_queue(command.queue);
  }
  // What a purge has doomed nobody decides about any more.
  HaltedListed listed;
  if (const PullQueue* pull = scheduler_.find_pull_queue(command.tenant, command.queue)) {
    for (const Seq seq : pull->halted) {
      if (listed.messages.size() == command.limit) {
        break;
      }
      if (seq <= queue->sweep_up_to) {
        continue;
      }
      const auto message = batch_.get<Message>(seq);
      const Live* const live = lanes_.find(seq);
      HK_ASSERT(message != nullptr && message->pull && live != nullptr);
      listed.messages.push_back(
          {message->group, message->id, message->pull->receives_before + live->attempts});
    }
  }
  return listed;
}

Reply Pulls::decide(const ResolveHalted& command) {
  const Queue* const queue = queues_.find_pulled(command.tenant, command.queue);
  if (queue == nullptr) {
    return no_queue(command.queue);
  }
  Lane* const lane = scheduler_.find_lane(
      LaneKey{command.tenant, command.queue, command.group, LaneKey::pulled, {}});
  Live* live = nullptr;
  if (lane != nullptr) {
    for (const auto& [seq, begun] : lane->begun) {
      if (begun->halted && seq > queue->sweep_up_to) {
        live = begun;
        break;
      }
    }
  }
  if (live == nullptr) {
    return fail(ErrorKind::not_found,
                "group " + command.group + " of queue " + command.queue + " has not stopped");
  }
  if (command.action == ResolveHalted::Action::retry) {
    if (command.body) {
      const auto message = batch_.get<Message>(live->seq);
      HK_ASSERT(message != nullptr && message->pull);
      auto edited = std::make_shared<Message>(*message);
      edited->body = *command.body;
      if (pulled_bytes(*edited) > queue->pull->bytes_max) {
        return fail(ErrorKind::invalid_argument,
                    "the message would be larger than queue " + command.queue + " allows (" +
                        std::to_string(queue->pull->bytes_max) + " bytes)");
      }
      batch_.put_message(std::move(edited));
    }
    // Receives go on counting: an old receipt must not become good again.
    live->forgiven = live->attempts;
    HK_SOMETIMES(halted_message_retried);
    lanes_.index_again(*live);
    go_on(*live);
    return Done{};
  }
  if (command.body) {
    return fail(ErrorKind::invalid_argument, "a message that is skipped has no use for a new body");
  }
  scheduler_.remove_waiting(*live);
  scheduler_.lease(*live, batch_.now());
  live->lease_until = batch_.now();
  const Queue* const target = queues_.find_pulled(command.tenant, queue->pull->dead_letters_to);
  if (target != nullptr && target != queue) {
    HK_SOMETIMES(halted_message_skipped);
    move_to(*target, *live, *queue);
  } else {
    HK_SOMETIMES(halted_message_skipped_to_nowhere);
    finish(*live, Status::canceled);
  }
  return Done{};
}

}  // namespace hk::core
