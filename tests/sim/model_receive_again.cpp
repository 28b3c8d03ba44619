// What attempt ids must mean: who lost an answer gets the same again, as long as all of it is out
// as it was. All others are ordinary receives. Gone with the process.
#include <algorithm>

#include "sim/model.h"
#include "sim/model_update.h"
#include "sim/trace.h"

namespace hk::sim {

namespace {
constexpr Millis remembered = std::chrono::minutes{5};
}

/// Those that are too old, and the oldest of those that are too many.
void Model::forget_attempts(const Named& queue) {
  std::vector<Given>& all = given_[queue];
  while (!all.empty() &&
         (all.front().until <= time_ || all.size() > limits_.receive_attempts_max)) {
    all.erase(all.begin());
  }
}

bool Model::hand_out_again(const Named& key, const core::PullSettings& settings, const Op& op) {
  const Millis visibility = op.visibility.value_or(settings.visibility);
  if (draining_ || op.attempt_id.empty() || !settings.fifo || visibility <= Millis{0}) {
    return false;
  }
  forget_attempts(key);
  std::vector<Given>& all = given_[key];
  const auto given = std::find_if(
      all.rbegin(), all.rend(), [&](const Given& one) { return one.attempt_id == op.attempt_id; });
  if (given == all.rend()) {
    return false;
  }
  const bool as_it_was = std::ranges::all_of(given->messages, [&](const Given::One& one) {
    const ModelMessage* const message = held(key, one.receipt);
    return message != nullptr && message->due == one.lease_until && message->due > time_;
  });
  if (!as_it_was) {
    return false;
  }
  for (Given::One& one : given->messages) {
    one.lease_until = time_ + visibility;
    update(one.receipt.id.seq, [&](ModelMessage& message) { message.due = one.lease_until; });
    holders_[one.receipt.id.seq] = op.receiver;
  }
  again_[op.receiver] = *given;
  return true;
}

void Model::note_attempt(const Named& queue, const Waiter& waiter, const core::Received& out) {
  if (waiter.attempt_id.empty()) {
    return;
  }
  Given given{.attempt_id = waiter.attempt_id, .until = time_ + remembered};
  for (const core::Received::One& one : out.messages) {
    given.messages.push_back({{one.message->id, one.receive}, one.visible_at});
  }
  given_[queue].push_back(std::move(given));
  forget_attempts(queue);
}

/// False: it is an ordinary one.
bool Model::check_handed_out_again(const core::Received& out) {
  const auto want = again_.find(out.receiver);
  if (want == again_.end()) {
    return false;
  }
  require(std::ranges::equal(out.messages, want->second.messages,
                             [](const core::Received::One& got, const Given::One& one) {
                               return got.message->id == one.receipt.id &&
                                      got.receive == one.receipt.receive &&
                                      got.visible_at == one.lease_until;
                             }),
          "receive again", "one got something else than before");
  again_.erase(want);
  return true;
}

}  // namespace hk::sim
