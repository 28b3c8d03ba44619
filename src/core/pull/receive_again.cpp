// A receive whose answer was lost is asked again under the same attempt id, and gets the same: a
// group need not wait for the end of a lease that nobody knows of. In memory only; after a restart
// the second receive is one like any other.
#include <algorithm>

#include "base/assert.h"
#include "base/sometimes.h"
#include "core/machine.h"

HK_SOMETIMES_DECLARE(handed_out_again)
HK_SOMETIMES_DECLARE(not_handed_out_again_as_it_was)
HK_SOMETIMES_DECLARE(receive_attempt_forgotten)

namespace hk::core {

namespace {
constexpr Millis remembered = std::chrono::minutes{5};
}

/// True: it was given what it was given before. False: it was given nothing, or not all of that is
/// still out as it was.
bool Machine::hand_out_again(const Queue& queue, const Receive& command) {
  if (command.attempt_id.empty() || !queue.pull->fifo) {
    return false;
  }
  const QueueKey key{queue.tenant, queue.name};
  forget_attempts(key);
  const auto attempts = receive_attempts_.find(key);
  if (attempts == receive_attempts_.end()) {
    return false;
  }
  const auto given = attempts->second.by_id.find(command.attempt_id);
  if (given == attempts->second.by_id.end()) {
    return false;
  }
  const bool as_it_was = std::ranges::all_of(given->second.messages, [this](const Given::One& one) {
    const Live* const live = find_live(one.receipt.id.seq);
    return live != nullptr && live->leased && live->attempts == one.receipt.receive &&
           live->lease_until == one.lease_until && live->lease_until > batch_.now();
  });
  const Millis visibility = command.visibility.value_or(queue.pull->visibility);
  if (!as_it_was || visibility <= Millis{0}) {
    HK_SOMETIMES(not_handed_out_again_as_it_was);
    return false;
  }
  HK_SOMETIMES(handed_out_again);
  HandOut out{.receiver = command.receiver};
  for (Given::One& one : given->second.messages) {
    Live& live = *find_live(one.receipt.id.seq);
    live.receiver = command.receiver;
    hide_until(live, batch_.now() + visibility);
    one.lease_until = live.lease_until;
    out.messages.push_back(handed_out(live, batch_.message(live.seq)));
  }
  batch_.effect(std::move(out));
  return true;
}

/// REQUIRES: all of them are leased.
void Machine::note_attempt(const Queue& queue, const std::string& id,
                           const std::vector<Live*>& given) {
  ReceiveAttempts& attempts = receive_attempts_[{queue.tenant, queue.name}];
  Given note{.until = batch_.now() + remembered};
  for (const Live* const live : given) {
    const auto message = batch_.message(live->seq);
    HK_ASSERT(message != nullptr);
    note.messages.push_back({{message->id, live->attempts}, live->lease_until});
  }
  attempts.by_end.emplace_back(note.until, id);
  attempts.by_id[id] = std::move(note);
  forget_attempts({queue.tenant, queue.name});
}

/// Those that are too old, and the oldest of those that are too many.
void Machine::forget_attempts(const QueueKey& queue) {
  const auto found = receive_attempts_.find(queue);
  if (found == receive_attempts_.end()) {
    return;
  }
  auto& [by_id, by_end] = found->second;
  while (!by_end.empty() &&
         (by_end.front().first <= batch_.now() || by_end.size() > limits_.receive_attempts_max)) {
    HK_SOMETIMES(receive_attempt_forgotten);
    const auto& [until, id] = by_end.front();
    // An id that was used again has a later end, too.
    if (const auto noted = by_id.find(id); noted != by_id.end() && noted->second.until == until) {
      by_id.erase(noted);
    }
    by_end.pop_front();
  }
  if (by_end.empty()) {
    receive_attempts_.erase(found);
  }
}

}  // namespace hk::core
