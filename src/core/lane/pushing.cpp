// Queues that push what comes into them. Each has a place in its tenant's round, as a lane has, and
// passes the gates that deliveries pass: its own parallelism, and the host that it pushes to. Which
// of its messages goes is decided as for any receiver (pulling.cpp).
#include <algorithm>

#include "base/assert.h"
#include "core/lane/scheduler.h"

namespace hk::core {

void Scheduler::push_from(PullQueue& queue, const std::string& host, std::uint32_t parallelism,
                          Moment now) {
  HK_ASSERT(parallelism > 0);
  if (queue.pusher == nullptr) {
    queue.pusher = std::make_unique<Lane>();
    queue.pusher->serial = next_serial_++;
    queue.pusher->tenant = &tenant(queue.tenant);
    queue.pusher->pushes = &queue;
  }
  Lane& pusher = *queue.pusher;
  if (pusher.where == Lane::Where::parked) {
    leave(pusher);
  }
  Gate& slots = gate(Gate::Kind::push, queue.tenant, queue.name);
  slots.parallelism = parallelism;
  const std::vector<Gate*> before =
      std::exchange(pusher.gates, {&slots, &gate(Gate::Kind::destination, queue.tenant, host)});
  for (Gate* used : pusher.gates) {
    ++used->users;
  }
  for (Gate* used : before) {
    --used->users;
    drop_gate_if_unused(*used);
  }
  gate_changed(slots, now);
  wake_pusher(queue);
}

void Scheduler::stop_pushing(PullQueue& queue, Moment now) {
  if (queue.pusher == nullptr) {
    return;
  }
  const std::unique_ptr<Lane> pusher = std::exchange(queue.pusher, nullptr);
  if (pusher->where == Lane::Where::runnable) {
    std::erase(pusher->tenant->runnable, pusher.get());
    pusher->where = Lane::Where::idle;
  }
  leave(*pusher);
  pass_turn(*pusher, now);
  for (Gate* used : pusher->gates) {
    --used->users;
    drop_gate_if_unused(*used);
  }
}

/// INVARIANT: a pusher that is idle has nothing that it could take, or its queue's gate is shut.
void Scheduler::wake_pusher(PullQueue& queue) {
  if (queue.pusher != nullptr && queue.pusher->where == Lane::Where::idle && !queue.ready.empty()) {
    make_runnable(*queue.pusher);
  }
}

/// Null: it waits at a gate, or until its queue has something for it.
Live* Scheduler::push_next(Lane& pusher, Moment now) {
  const auto shut = std::ranges::find_if(pusher.gates, [&](const Gate* passed) {
    return !passed->open(now) || !has_share(*passed, *pusher.tenant);
  });
  if (shut != pusher.gates.end()) {
    park(pusher, **shut, now);
    pass_turn(pusher, now);
    return nullptr;
  }
  PullQueue& queue = *pusher.pushes;
  Live* const live = pull_next(queue, ReceiverId{}, now);
  if (live != nullptr) {
    put_on_the_wire(pusher, *live, now);
  }
  pass_turn(pusher, now);
  if (live != nullptr) {
    wake_pusher(queue);
  }
  return live;
}

void Scheduler::put_on_the_wire(const Lane& pusher, Live& live, Moment now) {
  HK_ASSERT(live.leased && live.push == nullptr && live.destination == nullptr);
  live.push = pusher.gates.front();
  live.destination = pusher.gates.back();
  for (Gate* passed : pusher.gates) {
    ++passed->users;
    pass(*passed, now);
  }
  ++pusher.tenant->places;
  ++places_;
  ++in_flight_;
}

void Scheduler::off_the_wire(Live& live, Moment now) {
  HK_ASSERT(live.leased && live.push != nullptr);
  TenantLanes& owner = *live.lane->tenant;
  give_up_places(live);
  give_back_own(live, now);
  go_on(owner, now);
}

}  // namespace hk::core
