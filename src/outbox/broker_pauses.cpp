#include "outbox/broker_pauses.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace hk::outbox {

std::size_t BrokerPauses::room(const std::string& broker, Clock::time_point now) const {
  const auto found = states_.find(broker);
  if (found == states_.end()) {
    return std::numeric_limits<std::size_t>::max();
  }
  const State& state = found->second;
  if (now < state.next_try) {
    return 0;
  }
  if (state.tries == 0) {
    return std::numeric_limits<std::size_t>::max();
  }
  return probe_rows - std::min(probe_rows, state.in_flight);
}

BrokerPauses::Clock::time_point BrokerPauses::next_try(const std::string& broker) const {
  const auto found = states_.find(broker);
  return found == states_.end() ? Clock::time_point{} : found->second.next_try;
}

void BrokerPauses::begun(const std::string& broker) { ++states_[broker].in_flight; }

void BrokerPauses::ended(const std::string& broker) {
  const auto found = states_.find(broker);
  if (found != states_.end() && found->second.in_flight > 0) {
    --found->second.in_flight;
    forget_if_well(broker);
  }
}

BrokerPauses::Verdict BrokerPauses::failed(const std::string& broker, const Fault& fault,
                                           Clock::time_point now) {
  Verdict verdict;
  if (const auto found = strikes_.find(fault.row); found != strikes_.end()) {
    verdict.strikes = found->second;
    if (verdict.strikes >= strikes_max && !fault.busy) {
      strikes_.erase(found);
      verdict.counts = true;
      return verdict;  // the broker has answered others all the while
    }
  }
  State& state = states_[broker];
  if (state.tries == 0 && states_.size() > brokers_max) {
    verdict.counts = true;
    return verdict;
  }
  if (!fault.busy && state.suspects.size() < rows_max) {
    state.suspects.insert(fault.row);
  }
  ++state.faults;
  state.last = now;
  if (state.faults == 1) {
    state.since = now;
  }
  // What was on its way when the pause began says nothing new.
  if (now >= state.next_try && (state.tries > 0 || state.faults >= faults_max)) {
    ++state.tries;
    state.pause = state.pause == Millis{0} ? pause_first : std::min(state.pause * 2, pause_most);
    const auto half = static_cast<std::uint64_t>(state.pause.count() / 2);
    state.next_try = now + state.pause - Millis{static_cast<std::int64_t>(random_.below(half + 1))};
    verdict.paused = true;
  }
  if (fault.retry_after && now < state.next_try) {
    state.next_try =
        std::max<Clock::time_point>(state.next_try, now + std::min(*fault.retry_after, asked_most));
  }
  if (!state.away && state.tries > 1) {
    state.away = true;
    verdict.away = true;
    ++away_;
  }
  return verdict;
}

std::optional<Millis> BrokerPauses::answered(const std::string& broker, std::int64_t row,
                                             Clock::time_point now) {
  strikes_.erase(row);
  const auto found = states_.find(broker);
  if (found == states_.end()) {
    return std::nullopt;
  }
  State& state = found->second;
  state.suspects.erase(row);
  if (strikes_.size() + state.suspects.size() > rows_max) {
    strikes_.clear();
  }
  for (const std::int64_t suspect : state.suspects) {
    ++strikes_[suspect];
  }
  state.suspects.clear();
  std::optional<Millis> was_away;
  if (state.away) {
    was_away = std::chrono::floor<Millis>(now - state.since);
    --away_;
  }
  // A pause runs its course: what was on its way when it began must not turn it into none.
  state.away = false;
  state.faults = 0;
  state.tries = 0;
  if (now >= state.next_try) {
    state.pause = Millis{0};
  }
  forget_if_well(broker);
  return was_away;
}

std::size_t BrokerPauses::away(Clock::time_point now) {
  if (now >= next_look_) {
    next_look_ = now + look_every;
    std::erase_if(states_, [this, now](const auto& one) {
      const State& state = one.second;
      const bool idle =
          state.in_flight == 0 && now > std::max(state.next_try, state.last) + idle_most;
      away_ -= idle && state.away ? 1 : 0;
      return idle;
    });
  }
  return away_;
}

void BrokerPauses::forget_if_well(const std::string& broker) {
  const auto found = states_.find(broker);
  const State& state = found->second;
  if (state.in_flight == 0 && state.faults == 0 && state.pause == Millis{0}) {
    states_.erase(found);
  }
}

}  // namespace hk::outbox
