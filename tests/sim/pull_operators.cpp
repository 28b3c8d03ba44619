// Those who look after queues that are pulled from: they send dead letters back to work, and decide
// what becomes of a message at which its group has stopped.
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
