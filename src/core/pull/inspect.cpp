// "Why has nobody got this message?", of one that waits to be pulled.
#include "core/message/inspect.h"

#include "base/assert.h"
#include "core/lane/lanes.h"
#include "core/pull/pulls.h"

namespace hk::core {

void Pulls::inspect(const Message& message, Inspected& answer) {
  const Moment now = batch_.now();
  const LaneKey key = lane_of(message);
  const Seq seq = message.id.seq;
  // Beyond the window the index knows as much of it as memory does of others.
  LaneEntry known{.not_before = message.not_before};
  const Live* const live = lanes_.find(seq);
  if (live != nullptr) {
    known.not_before = live->not_before;
    known.attempts = live->attempts;
    known.started = live->started;
  } else if (auto entry = lanes_.find_entry(message)) {
    known = std::move(*entry);
  }
  const bool out = live != nullptr ? live->leased : known.started && known.not_before > now;
  if (out) {
    answer.running = true;
    answer.fence = live != nullptr ? live->fence : Fence{context_.progress.epoch(), known.attempts};
    answer.started_at = live != nullptr ? live->started_at : Moment{};
    answer.lease_until = known.not_before;
    answer.holds.push_back({"in_flight",
                            "receive " + std::to_string(known.attempts) +
                                ": its receiver has neither deleted it nor given it back",
                            known.not_before});
    return;
  }
  if (live != nullptr && live->halted) {
    answer.holds.push_back({"halted",
                            "received " +
                                std::to_string(message.pull->receives_before + live->attempts) +
                                " times: its group has stopped until somebody retries or skips it",
                            std::nullopt});
    return;
  }
  if (known.not_before > now) {
    answer.holds.push_back({"delay", "", known.not_before});
  }
  if (const Lane* const lane = scheduler_.find_lane(key)) {
    for (const Gate* gate : lane->gates) {
      explain_gate(*gate, now, answer.holds);
    }
    const Live* const first = lane->in_run() ? Scheduler::first_of_run(*lane) : nullptr;
    if (first != nullptr && first->seq < seq) {
      const auto ahead = batch_.get<Message>(first->seq);
      HK_ASSERT(ahead != nullptr);
      std::optional<Moment> until;
      if (first->not_before > now) {
        until = first->not_before;
      }
      answer.holds.push_back({"order",
                              "behind message " + to_text(ahead->id) + " of group " +
                                  message.group +
                                  (first->leased   ? ", which is in flight"
                                   : first->halted ? ", at which it has stopped"
                                                   : ""),
                              until});
    }
  }
  const PullQueue* const pull = scheduler_.find_pull_queue(key.tenant, key.queue);
  if (pull != nullptr && pull->pusher != nullptr) {
    for (const Gate* gate : pull->pusher->gates) {
      explain_gate(*gate, now, answer.holds);
    }
  }
  if (answer.holds.empty()) {
    answer.holds.push_back({"waits_for_receiver", "nobody has asked for it", std::nullopt});
  }
}

}  // namespace hk::core
