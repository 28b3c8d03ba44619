#include "outbox/relay_broker.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "security/credentials.h"

namespace hk::outbox {
namespace {

constexpr std::size_t given_back_together = 512;
constexpr Millis probe_takes{1'000};
constexpr Millis count_every{60'000};

}  // namespace

RelayBroker::RelayBroker(const Settings& settings, Sender& sender, RelayMetrics& metrics,
                         RelayLog& log)
    : settings_(settings),
      sender_(sender),
      metrics_(metrics),
      log_(log),
      broker_(sender.broker()),
      pauses_(security::random_seed()) {}

std::size_t RelayBroker::claims(Clock::time_point now) const {
  return broker_.empty() ? std::numeric_limits<std::size_t>::max() : pauses_.room(broker_, now);
}

RelayBroker::Clock::time_point RelayBroker::next_claims(Clock::time_point now) const {
  const Clock::time_point next = pauses_.next_try(broker_);
  return now < next ? next : Clock::time_point::max();
}

/// Until the host is to be tried again, at least.
Millis RelayBroker::wait_for(const std::string& target, Clock::time_point now) const {
  return std::max(std::chrono::ceil<Millis>(pauses_.next_try(target) - now), Millis{0});
}

bool RelayBroker::admit(Row& row, Clock::time_point now) {
  row.target = sender_.target_of(row);
  if (row.target.empty()) {
    return true;
  }
  if (broker_.empty() && pauses_.room(row.target, now) == 0) {
    // Those that were tried come first, and tell.
    const Millis wait = wait_for(row.target, now);
    waiting_.push_back({row.claim, wait > Millis{0} ? wait * 2 : probe_takes, "", ""});
    return false;
  }
  pauses_.begun(row.target);
  return true;
}

bool RelayBroker::takes_back(const Sent& sent, const Sending& sending, Clock::time_point now) {
  const std::string& target = sending.target;
  if (target.empty()) {
    return false;
  }
  pauses_.ended(target);
  if (!sent.begun) {
    if (sent.recalled) {
      const auto delay = broker_.empty() ? std::optional(wait_for(target, now) * 2) : std::nullopt;
      waiting_.push_back({sent.claim, delay, "", ""});
    }
    return sent.recalled;
  }
  if (sent.outcome.broker == Broker::answered) {
    if (const auto away = pauses_.answered(target, sent.claim.id, now)) {
      log_.broker_back(target, *away);
      metrics_.brokers_away(pauses_.away(now));
    }
    return false;
  }
  if (sent.outcome.broker != Broker::at_fault) {
    return false;
  }
  const BrokerPauses::Verdict verdict = pauses_.failed(
      target, {sent.claim.id, sent.outcome.http_status == 429, sent.outcome.retry_after}, now);
  fault(sent, target, verdict, now);
  return !verdict.counts;
}

void RelayBroker::fault(const Sent& sent, const std::string& target,
                        const BrokerPauses::Verdict& verdict, Clock::time_point now) {
  if (verdict.paused) {
    sender_.recall(target);
  }
  if (verdict.away) {
    log_.broker_away(target, sent.outcome);
    metrics_.brokers_away(pauses_.away(now));
  }
  if (verdict.counts) {
    return;
  }
  // Behind all that is due now, so that the next try is with others.
  Millis delay{0};
  if (verdict.strikes > 0 && !settings_.backoff.empty()) {
    const auto strike = static_cast<std::size_t>(verdict.strikes - 1);
    delay = settings_.backoff[std::min(strike, settings_.backoff.size() - 1)];
  }
  if (broker_.empty()) {
    delay = std::max(delay, wait_for(target, now));
  }
  delay = std::max(
      delay, std::min(sent.outcome.retry_after.value_or(Millis{0}), BrokerPauses::asked_most));
  waiting_.push_back({sent.claim, delay, sent.outcome.reason_code, sent.outcome.message});
}

void RelayBroker::note(const Postponed& row, const Sending& sending, Clock::time_point now) {
  Finished told{row.claim, sending.idempotency_key, sending.request_digest, {}};
  told.outcome.reason_code = row.reason_code;
  told.outcome.message = row.message;
  log_.processed(told, Written::postponed, sending.span, now - sending.since);
}

DatabaseResult<std::size_t> RelayBroker::give_back(Store& store, SendingRows& sending,
                                                   Clock::time_point now) {
  if (now >= next_count_) {
    next_count_ = now + count_every;
    metrics_.brokers_away(pauses_.away(now));
  }
  if (waiting_.empty() || now < next_give_back_) {
    return 0;
  }
  const std::size_t count = std::min(waiting_.size(), given_back_together);
  const std::vector<Postponed> rows(waiting_.begin(),
                                    waiting_.begin() + static_cast<std::ptrdiff_t>(count));
  const auto given = store.postpone(rows);
  if (!given) {
    return std::unexpected(given.error());
  }
  std::vector<Postponed> kept;
  std::size_t done = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto found = sending.find(name_of(rows[i].claim));
    const bool ours = found->second.lease->at(now) != Lease::State::lost;
    if (!(*given)[i] && ours) {
      kept.push_back(rows[i]);  // somebody's transaction has locked it
      continue;
    }
    if ((*given)[i]) {
      ++done;
      note(rows[i], found->second, now);
    }
    sending.erase(found);
  }
  metrics_.postponed(done);
  next_give_back_ = kept.empty() ? Clock::time_point{} : now + locked_again;
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
  std::ranges::move(kept, std::back_inserter(waiting_));
  return done;
}

}  // namespace hk::outbox
