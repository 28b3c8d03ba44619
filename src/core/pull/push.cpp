// Queues that push. To the queue the server is a receiver like any other: what is posted is leased,
// counted and written so first; a crash is one more lease that runs out. When a queue's turn comes
// is decided with all other attempts (core/lane/pushing.cpp).
#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/clock_lean.h"
#include "base/sometimes.h"
#include "core/lane/lanes.h"
#include "core/message/places.h"
#include "core/pull/pulls.h"
#include "core/pull/room.h"
#include "core/queue/queues.h"

HK_SOMETIMES_DECLARE(pushed)
HK_SOMETIMES_DECLARE(pushed_again)
HK_SOMETIMES_DECLARE(push_failed)
HK_SOMETIMES_DECLARE(push_url_not_allowed)
HK_SOMETIMES_DECLARE(push_stopped)

namespace hk::core {

namespace {

constexpr Millis push_timeout_min{1'000};
constexpr Millis push_timeout_max = std::chrono::hours{11};
constexpr Millis push_again_first{1'000};
constexpr Millis push_again_max = std::chrono::minutes{15};
constexpr Millis push_asked_for_max = std::chrono::hours{1};

/// Twice as long after each failure.
Millis push_again_after(std::uint32_t receive) {
  const std::uint32_t doublings = std::min(receive - 1, 10U);
  return std::min(push_again_first * (1U << doublings), push_again_max);
}

}  // namespace

/// A URL that was allowed when it was set may not be any more. Then nothing is leased, so that no
/// message fails for it.
void Pulls::use_push(const Queue& queue) {
  const QueueKey key{queue.tenant, queue.name};
  const bool wanted =
      !queue.deleted && queue.pull && !queue.pull->push.url.empty() && context_.push_hosts;
  Result<std::string> host = wanted ? context_.push_hosts(queue) : std::string{};
  if (wanted && host) {
    pushes_[key] = std::make_shared<const PushTarget>(
        queue.pull->push.url, *host,
        std::clamp(queue.pull->visibility, push_timeout_min, push_timeout_max));
    scheduler_.push_from(scheduler_.pull_queue(queue.tenant, queue.name), *host,
                         queue.pull->push.at_once(), batch_.now());
    return;
  }
  if (wanted) {
    HK_SOMETIMES(push_url_not_allowed);
  }
  if (pushes_.erase(key) > 0) {
    HK_SOMETIMES(push_stopped);
    scheduler_.stop_pushing(scheduler_.pull_queue(queue.tenant, queue.name), batch_.now());
  }
}

void Pulls::push(Live& live, MoveRoom& room) {
  const QueueKey key{live.pull->tenant, live.pull->name};
  const Queue* const queue = queues_.find_pulled(key.first, key.second);
  const auto message = batch_.get<Message>(live.seq);
  HK_ASSERT(queue != nullptr && message != nullptr && message->pull);
  if (must_not_be_handed_out(*queue, live, *message)) {
    room.take(*message);
    return;
  }
  if (live.attempts > 0) {
    HK_SOMETIMES(pushed_again);
  } else {
    HK_SOMETIMES(pushed);
  }
  const std::shared_ptr<const PushTarget>& target = pushes_.at(key);
  lease_to(live, ReceiverId{}, outlasting(target->timeout) + limits_.lease_grace);
  live.nonce = message->id.nonce;
  scheduler_.take_places(live, places_of(*message, limits_));
  batch_.effect(StartAttempt{.partition = context_.partition,
                             .id = message->id,
                             .tenant = message->tenant,
                             .fence = live.fence,
                             .retried = live.attempts - 1,
                             .started_at = batch_.now(),
                             .lease_until = live.lease_until,
                             .message = message,
                             .to = target});
}

Millis Pulls::again_after(std::uint32_t receive, std::optional<Millis> wanted) {
  return wanted ? std::min(*wanted, push_asked_for_max) : push_again_after(receive);
}

void Pulls::try_again(Live& live, std::optional<Millis> wanted) {
  if (live.push != nullptr) {
    HK_SOMETIMES(push_failed);
  }
  const Millis wait = again_after(live.attempts, wanted);
  hide_until(live, batch_.now() + wait);
  if (wait <= Millis{0}) {
    become_visible(live);
  } else if (live.push != nullptr) {
    scheduler_.off_the_wire(live, batch_.now());
  }
}

}  // namespace hk::core
