// Claimers who wait for whoever holds their key. Each time that may be over they claim again, in
// the order in which they came.
#include <algorithm>

#include "base/assert.h"
#include "base/sometimes.h"
#include "core/idempotency/idempotency_keys.h"

HK_SOMETIMES_DECLARE(claim_waits)
HK_SOMETIMES_DECLARE(claim_waited_for_the_answer)
HK_SOMETIMES_DECLARE(claim_waited_and_started)
HK_SOMETIMES_DECLARE(claim_waited_in_vain)
HK_SOMETIMES_DECLARE(claim_waits_on)
HK_SOMETIMES_DECLARE(claimer_went_away)
HK_SOMETIMES_DECLARE(claim_ended_by_a_drain)

namespace hk::core {

namespace {

const IdempotencyKey* held_by_another(const Reply& reply) {
  const auto* const claimed = reply ? reply->get_if<KeyClaimed>() : nullptr;
  return claimed != nullptr && claimed->outcome == KeyClaimed::Outcome::held ? &claimed->record
                                                                             : nullptr;
}

}  // namespace

IdempotencyKeys::Line IdempotencyKeys::line_of(const ClaimKey& claim) {
  return {claim.tenant, idempotency_id(claim.space, claim.key)};
}

Reply IdempotencyKeys::decide(ClaimKey command) {
  if (command.wait <= Millis{0} || !context_.starting) {
    return claim(std::move(command));
  }
  ClaimKey again = command;
  Reply reply = claim(std::move(command));
  if (const IdempotencyKey* const held = held_by_another(reply)) {
    return wait_for(std::move(again), held->lease_until);
  }
  return reply;
}

Reply IdempotencyKeys::wait_for(ClaimKey claim, Moment lease_until) {
  const auto line = lines_.find(line_of(claim));
  const auto of_tenant = waiting_of_.find(claim.tenant);
  if (waiters_.size() >= limits_.key_waits ||
      (of_tenant != waiting_of_.end() && of_tenant->second >= limits_.key_waits_of_tenant) ||
      (line != lines_.end() && line->second.size() >= limits_.key_waits_of_key)) {
    return fail(ErrorKind::limit_exceeded,
                "too many claims wait already: nothing was claimed, try again shortly");
  }
  HK_SOMETIMES(claim_waits);
  const ReceiverId receiver = claim.receiver;
  const Moment until = batch_.now() + claim.wait;
  Waiter waiter{.until = until, .looked_at_next = std::min(until, lease_until)};
  looks_.emplace(waiter.looked_at_next, receiver);
  lines_[line_of(claim)].push_back(receiver);
  ++waiting_of_[claim.tenant];
  waiter.claim = std::move(claim);
  HK_ASSERT(waiters_.emplace(receiver, std::move(waiter)).second);
  return Later{receiver};
}

Reply IdempotencyKeys::decide(const StopClaiming& command) {
  const auto found = waiters_.find(command.receiver);
  if (found != waiters_.end() && found->second.claim.tenant == command.tenant) {
    HK_SOMETIMES(claimer_went_away);
    stop_waiting(command.receiver, fail(ErrorKind::unavailable, "the claimer is gone"));
  }
  return Done{};
}

void IdempotencyKeys::stop_waiting(ReceiverId receiver, Reply reply) {
  const auto found = waiters_.find(receiver);
  const Waiter& waiter = found->second;
  looks_.erase({waiter.looked_at_next, receiver});
  const auto line = lines_.find(line_of(waiter.claim));
  std::erase(line->second, receiver);
  if (line->second.empty()) {
    changed_.erase(line->first);
    lines_.erase(line);
  }
  const auto of_tenant = waiting_of_.find(waiter.claim.tenant);
  if (--of_tenant->second == 0) {
    waiting_of_.erase(of_tenant);
  }
  waiters_.erase(found);
  batch_.answer(receiver, std::move(reply));
}

void IdempotencyKeys::changed(TenantId tenant, const std::string& id) {
  if (Line line{tenant, id}; lines_.contains(line)) {
    changed_.insert(std::move(line));
  }
}

void IdempotencyKeys::look_again(ReceiverId receiver) {
  Waiter& waiter = waiters_.at(receiver);
  std::optional<Reply> known = waiter.once ? known_answer(*waiter.once) : std::nullopt;
  const std::size_t before = batch_.decided();
  Reply reply = known ? std::move(*known) : claim(waiter.claim);
  if (const IdempotencyKey* const held = held_by_another(reply)) {
    if (context_.starting && waiter.until > batch_.now()) {
      HK_SOMETIMES(claim_waits_on);
      looks_.erase({waiter.looked_at_next, receiver});
      waiter.looked_at_next = std::min(waiter.until, held->lease_until);
      looks_.emplace(waiter.looked_at_next, receiver);
      return;
    }
    if (context_.starting) {
      HK_SOMETIMES(claim_waited_in_vain);
    } else {
      HK_SOMETIMES(claim_ended_by_a_drain);
    }
  } else if (const auto* const claimed = reply ? reply->get_if<KeyClaimed>() : nullptr) {
    if (claimed->outcome == KeyClaimed::Outcome::started) {
      HK_SOMETIMES(claim_waited_and_started);
    } else {
      HK_SOMETIMES(claim_waited_for_the_answer);
    }
  }
  if (waiter.once && !known) {
    reply = keep_answer(std::move(*waiter.once), std::move(reply), before);
  }
  stop_waiting(receiver, std::move(reply));
}

/// A bounded part of them, a whole line at a time, so that who came first is first also if the time
/// of another one is over; the rest makes the next batch come at once.
void IdempotencyKeys::advance() {
  for (const auto& [at, receiver] : looks_) {
    if (context_.starting && at > batch_.now()) {
      break;
    }
    changed_.insert(line_of(waiters_.at(receiver).claim));
  }
  std::size_t left = limits_.key_wakes_per_batch;
  while (!changed_.empty()) {
    const Line line = *changed_.begin();
    const std::vector<ReceiverId> all = lines_.at(line);
    if (all.size() > left) {
      return;
    }
    left -= all.size();
    for (const ReceiverId receiver : all) {
      look_again(receiver);
    }
    changed_.erase(line);
  }
}

Moment IdempotencyKeys::wake_at() const {
  if (!changed_.empty() || (!context_.starting && !waiters_.empty())) {
    return context_.progress.time();
  }
  return looks_.empty() ? never : looks_.begin()->first;
}

}  // namespace hk::core
