// Attempts begin, and those that nobody reported of end.
#include "base/assert.h"
#include "base/clock_lean.h"
#include "base/sometimes.h"
#include "core/flow/flow_keys.h"
#include "core/lane/lanes.h"
#include "core/message/callback.h"
#include "core/message/messages.h"
#include "core/message/places.h"
#include "core/pull/pulls.h"
#include "core/pull/room.h"
#include "core/webhook/webhooks.h"

HK_SOMETIMES_DECLARE(lease_ran_out)

namespace hk::core {

namespace {

/// Each may call back, with its body: after a long sleep of the machine all of them are due at
/// once.
constexpr std::size_t expired_places_per_batch = 1024;

}  // namespace

void Messages::expire_leases() {
  std::size_t places = 0;
  while (places < expired_places_per_batch) {
    Live* const live = lanes_.lease_over();
    if (live == nullptr) {
      return;
    }
    HK_SOMETIMES(lease_ran_out);
    places += live->places;
    if (live->lane->pull != nullptr) {
      pulls_.become_visible(*live);
      continue;
    }
    Attempt attempt{.fence = live->fence,
                    .started_at = live->started_at,
                    .ended_at = batch_.now(),
                    .error = "no outcome was reported within the lease"};
    end_attempt(*live, std::move(attempt), false, false, std::nullopt, true);
  }
}

void Messages::start_attempts() {
  const Moment now = batch_.now();
  MoveRoom room(limits_);
  for (std::size_t started = 0;
       context_.starting && started < limits_.starts_per_batch && !room.is_used_up(); ++started) {
    Live* live = scheduler_.start_next(now);
    if (live == nullptr) {
      return;
    }
    if (live->push != nullptr) {
      pulls_.push(*live, room);
      continue;
    }
    auto message = batch_.get<Message>(live->seq);
    HK_ASSERT(message != nullptr);
    HK_ASSERT(live->not_before <= now);
    std::shared_ptr<const WebhookTarget> webhook;
    if (message->webhook) {
      auto sending = webhooks_.begin_attempt(*live, *message);
      if (!sending) {
        end_unsent(*live, sending.error());
        continue;
      }
      message = std::move(sending->message);
      webhook = std::move(sending->target);
    }
    live->fence = Fence{context_.progress.epoch(), live->attempts + 1};
    live->started_at = now;
    lanes_.lease(*live, now + outlasting(message->timeout) + limits_.lease_grace);
    live->callbacks = callbacks_of(*message);
    scheduler_.take_places(*live, places_of(*message, limits_));
    if (!message->flow_key.empty() && webhook == nullptr) {
      flow_keys_.started(message->tenant, message->flow_key);
    }
    batch_.event(message->tenant, live->seq, EventKind::active, live->fence.attempt);

    StartAttempt start{.partition = context_.partition,
                       .id = message->id,
                       .tenant = message->tenant,
                       .fence = live->fence,
                       .retried = live->attempts,
                       .started_at = now,
                       .lease_until = live->lease_until,
                       .message = message,
                       .webhook = std::move(webhook)};
    const std::uint64_t span = context_.rng.next() | 1U;  // a span id must not be all zero
    for (std::size_t i = 0; i < start.span_id.size(); ++i) {
      start.span_id[i] = static_cast<std::uint8_t>(span >> (8 * i));
    }
    batch_.effect(std::move(start));
  }
}

}  // namespace hk::core
