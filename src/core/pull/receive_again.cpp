// A receive whose answer was lost is asked again under the same attempt id, and gets the same: a
// group need not wait for the end of a lease that nobody knows of. In memory only; after a restart
// the second receive is one like any other.
#include <algorithm>

#include "base/assert.h"
#include "base/sometimes.h"
#include "core/lane/lanes.h"
#include "core/pull/pulls.h"

HK_SOMETIMES_DECLARE(handed_out_again)
HK_SOMETIMES_DECLARE(not_handed_out_again_as_it_was)

namespace hk::core {

namespace {
constexpr Millis remembered = std::chrono::minutes{5};
}

/// What it was given before. Nullopt: it was given nothing, or not all of that is still out as it
/// was.
std::optional<Received> Pulls::hand_out_again(const Queue& queue, const Receive& command) {
  if (command.attempt_id.empty() || !queue.pull->fifo) {
    return std::nullopt;
  }
  Given* const given = attempts_.find({queue.tenant, queue.name}, command.attempt_id, batch_.now());
  if (given == nullptr) {
    return std::nullopt;
  }
  const bool as_it_was = std::ranges::all_of(given->messages, [this](const Given::One& one) {
    const Live* const live = lanes_.find(one.receipt.id.seq);
    return live != nullptr && live->leased && live->attempts == one.receipt.receive &&
           live->lease_until == one.lease_until && live->lease_until > batch_.now();
  });
  const Millis visibility = command.visibility.value_or(queue.pull->visibility);
  if (!as_it_was || visibility <= Millis{0}) {
    HK_SOMETIMES(not_handed_out_again_as_it_was);
    return std::nullopt;
  }
  HK_SOMETIMES(handed_out_again);
  Received out{.receiver = command.receiver};
  for (Given::One& one : given->messages) {
    Live& live = *lanes_.find(one.receipt.id.seq);
    live.receiver = command.receiver;
    hide_until(live, batch_.now() + visibility);
    one.lease_until = live.lease_until;
    out.messages.push_back(handed_out(live, batch_.get<Message>(live.seq)));
  }
  return out;
}

/// REQUIRES: all of them are leased.
void Pulls::note_attempt(const Queue& queue, const std::string& id,
                         const std::vector<Live*>& given) {
  Given note{.until = batch_.now() + remembered};
  for (const Live* const live : given) {
    const auto message = batch_.get<Message>(live->seq);
    HK_ASSERT(message != nullptr);
    note.messages.push_back({{message->id, live->attempts}, live->lease_until});
  }
  attempts_.note({queue.tenant, queue.name}, id, std::move(note), batch_.now());
}

}  // namespace hk::core
