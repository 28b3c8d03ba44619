// Those who look after queues that are pulled from: they send dead letters back to work, pause a
// queue for a while, and decide what becomes of a message at which its group has stopped.
#include "sim/simulation.h"

namespace hk::sim {

void Simulation::move_acts() {
  const core::TenantId tenant{static_cast<std::uint32_t>(1 + rng_.below(config_.tenants))};
  const auto any_queue = [this] {
    return pull_name(static_cast<std::uint32_t>(rng_.below(config_.pull_queues)));
  };
  Op op{.kind = Op::Kind::start_move, .tenant = tenant, .name = any_queue()};
  if (chance(700)) {
    for (const auto& [key, queue] : model_.queues()) {
      if (queue.pull && !queue.pull->dead_letters_to.empty() && chance(500)) {
        op.tenant = key.first;
        op.name = queue.pull->dead_letters_to;
        break;
      }
    }
  }
  if (chance(150)) {
    op.kind = Op::Kind::list_moves;
  } else if (chance(200)) {
    const auto known = model_.moves().find({op.tenant, op.name});
    op.kind = Op::Kind::cancel_move;
    op.move_number = known == model_.moves().end() ? 1 : known->second.tasks.back().number;
    op.move_number -= chance(100) ? 1 : 0;
  } else {
    op.destination = chance(500) ? any_queue() : "";
    if (chance(500)) {
      op.rate = static_cast<std::uint32_t>(chance(200) ? 500 : 1 + rng_.below(20));
    }
  }
  submit(std::move(op));
}

/// One that is not there would be made by a pause, and of the other kind.
void Simulation::pause_acts() {
  const auto number = static_cast<std::uint32_t>(rng_.below(config_.pull_queues));
  const core::TenantId tenant{static_cast<std::uint32_t>(1 + rng_.below(config_.tenants))};
  const Named key{tenant, pull_name(number)};
  if (!model_.has_pull_queue(key)) {
    return;
  }
  Op op{.kind = Op::Kind::queue, .tenant = key.first, .name = key.second, .paused = chance(800)};
  if (chance(100)) {
    op.parallelism = static_cast<std::uint32_t>(1 + rng_.below(4));  // means nothing to it
  }
  // Long enough for leases to run out, and seldom so long that nothing else is done with it.
  const Millis until = up_to(config_.pull_visibility_max + config_.gap * 20);
  if (*op.paused) {
    heap_.after(until, [this, key] { resume(key); });
  }
  submit(std::move(op));
}

/// Of either kind: it may have been deleted before the pause came.
void Simulation::resume(const Named& queue) {
  const auto found = model_.queues().find(queue);
  if (found != model_.queues().end() && !found->second.deleted && found->second.paused) {
    submit({.kind = Op::Kind::queue, .tenant = queue.first, .name = queue.second, .paused = false});
  }
}

void Simulation::resume_everything() {
  for (std::uint32_t tenant = 1; tenant <= config_.tenants; ++tenant) {
    for (std::uint32_t i = 0; i < config_.pull_queues; ++i) {
      resume({core::TenantId{tenant}, pull_name(i)});
    }
  }
}

void Simulation::halt_acts() {
  const core::TenantId tenant{static_cast<std::uint32_t>(1 + rng_.below(config_.tenants))};
  Op op{.kind = Op::Kind::list_halted, .tenant = tenant};
  op.name = pull_name(static_cast<std::uint32_t>(rng_.below(config_.pull_queues)));
  if (chance(200)) {
    submit(std::move(op));
    return;
  }
  for (const auto& [key, queue] : model_.queues()) {
    if (queue.pull && queue.pull->halt && chance(500)) {
      op.tenant = key.first;
      op.name = key.second;
      break;
    }
  }
  const auto stopped = model_.stopped_groups({op.tenant, op.name});
  op.kind = Op::Kind::resolve_halted;
  op.group = stopped.empty() || chance(100) ? "g" + std::to_string(rng_.below(1 + config_.groups))
                                            : stopped[rng_.below(stopped.size())];
  op.action = chance(500) ? core::ResolveHalted::Action::retry : core::ResolveHalted::Action::skip;
  submit(std::move(op));
}

void Simulation::resolve_all(const Named& queue) {
  for (std::string& group : model_.stopped_groups(queue)) {
    submit({.kind = Op::Kind::resolve_halted,
            .tenant = queue.first,
            .name = queue.second,
            .group = std::move(group),
            .action = chance(500) ? core::ResolveHalted::Action::retry
                                  : core::ResolveHalted::Action::skip});
  }
}

}  // namespace hk::sim
