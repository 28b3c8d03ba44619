// Workers that end what they hold, publish on and end their keys, all in one request or not at all.
#include <algorithm>

#include "sim/simulation.h"

namespace hk::sim {

Op Simulation::draw_operation(core::TenantId tenant) {
  const std::uint64_t what = rng_.below(1000);
  if (what < 400 && !leases_.empty()) {
    Op op = leases_[rng_.below(leases_.size())];
    for (std::size_t i = 0; i < 20 && op.tenant != tenant; ++i) {
      op = leases_[rng_.below(leases_.size())];
    }
    op.tenant = tenant;  // one that was never its own is not found
    draw_ending(op);
    return op;
  }
  if (what < 550 && config_.keys > 0) {
    Op op{.kind = chance(700) ? Op::Kind::end_key : Op::Kind::release_key,
          .tenant = tenant,
          .name = "k" + std::to_string(rng_.below(config_.keys))};
    const auto known = model_.keys().find({op.tenant, op.name});
    op.key.token = known == model_.keys().end() ? 1 : known->second.token;
    op.key.token -= chance(50) ? rng_.below(2) : 0;
    op.key.failed = chance(200);
    op.key.ends_sooner = chance(300);
    op.key.kept_for = Millis{1} + up_to(key_kept_max);
    op.key.answer = std::to_string(rng_.below(2));
    return op;
  }
  if (what < 620 && !known_.empty()) {
    Op op{.kind = Op::Kind::cancel, .tenant = tenant};
    op.id = known_[known_.size() - 1 - rng_.below(known_.size()) / 2].first;
    return op;
  }
  if (what < 800 && config_.pull_queues > 0) {
    const auto number = static_cast<std::uint32_t>(rng_.below(config_.pull_queues));
    return make_send({tenant, pull_name(number)}, ((config_.pull_fifo >> number) & 1U) != 0);
  }
  Op op = make_publish();
  if (op.message->tenant != tenant) {
    auto own = std::make_shared<core::Message>(*op.message);
    own->tenant = tenant;
    op.tenant = tenant;
    op.message = std::move(own);
  }
  return op;
}

core::Precondition Simulation::draw_condition(core::TenantId tenant) {
  if (config_.keys > 0 && chance(400)) {
    core::KeyIs key{.space = key_space, .key = "k" + std::to_string(rng_.below(config_.keys))};
    if (chance(500)) {
      key.state = core::IdempotencyKey::State::started;
    }
    const auto known = model_.keys().find({tenant, key.key});
    if (known != model_.keys().end() && chance(500)) {
      key.token = known->second.token - (chance(100) ? 1 : 0);
    }
    return key;
  }
  core::JobIs job{.any_of = {core::Status::running}};
  if (chance(500)) {
    job.any_of.push_back(core::Status::pending);
  }
  if (!leases_.empty() && chance(700)) {
    job.job = leases_[rng_.below(leases_.size())].id;
  } else if (!known_.empty()) {
    job.job = known_[rng_.below(known_.size())].first;
  } else {
    job.job = {core::Seq{1}, 1};
  }
  return job;
}

void Simulation::transact_acts() {
  Op op{.kind = Op::Kind::transact};
  const std::uint64_t skewed = std::min(rng_.below(config_.tenants), rng_.below(config_.tenants));
  op.tenant = core::TenantId{static_cast<std::uint32_t>(1 + skewed)};
  if (chance(200)) {
    op.conditions.push_back(draw_condition(op.tenant));
  }
  for (std::uint64_t left = 1 + rng_.below(4); left > 0; --left) {
    op.items.push_back(draw_operation(op.tenant));
  }
  if (chance(100)) {  // the same twice
    op.items.push_back(op.items[rng_.below(op.items.size())]);
    if (op.items.back().kind == Op::Kind::end_job && chance(500)) {
      draw_ending(op.items.back());
    }
  }
  for (const Op& item : op.items) {
    if (item.kind == Op::Kind::end_job) {
      let_go(item);
    }
  }
  submit(std::move(op));
}

}  // namespace hk::sim
