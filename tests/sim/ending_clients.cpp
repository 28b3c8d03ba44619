// Workers that say by a call of their own how their work ended: in time, late, twice, or of a lease
// that somebody else has by now.
#include <algorithm>

#include "sim/simulation.h"

namespace hk::sim {

namespace {

constexpr std::size_t leases_kept = 100;

}  // namespace

/// Whoever has it may use it later, also when it does not count any more.
void Simulation::hold_lease(Op op) {
  op.kind = Op::Kind::end_job;
  if (leases_.size() < leases_kept) {
    leases_.push_back(std::move(op));
  } else {
    leases_[rng_.below(leases_.size())] = std::move(op);
  }
}

void Simulation::draw_ending(Op& op) {
  op.kind = Op::Kind::end_job;
  op.delivered = chance(600);
  op.give_up = !op.delivered && chance(200);
  op.result = "result " + std::to_string(rng_.below(2));
  op.retry_after.reset();
  if (!op.delivered && !op.give_up && chance(600)) {
    op.retry_after = chance(300) ? Millis{0} : up_to(config_.retry_delay_max);
  }
}

/// It is about to be ended: whatever comes of that, others may have the message from now on.
void Simulation::let_go(const Op& op) {
  const auto wire = wire_.find({op.id.seq, op.id.nonce});
  if (wire != wire_.end() && wire->second.last == op.fence) {
    wire->second.open_until = Moment{};
    wire->second.delivered = wire->second.delivered || op.delivered;
  }
  const auto held = held_.find({op.id.seq, op.id.nonce});
  const std::uint32_t number = op.receipts.empty() ? op.fence.attempt : op.receipts.front().receive;
  if (held != held_.end() && held->second.receive == number) {
    held->second.until = std::min(held->second.until, partition_now());
  }
}

void Simulation::end_by_call(Op op, Millis within) {
  draw_ending(op);
  heap_.after(up_to(within), [this, op = std::move(op)] {
    let_go(op);
    submit(op);
  });
}

/// Again, with another result, with a fence that was never given, of another tenant.
void Simulation::old_lease_acts() {
  if (leases_.empty()) {
    return;
  }
  Op op = leases_[rng_.below(leases_.size())];
  switch (rng_.below(12)) {
    case 0: op.id.nonce ^= 1; break;
    case 1: op.tenant = core::TenantId{1 + op.tenant.value() % config_.tenants}; break;
    case 2: op.other_partition = true; break;
    case 3: op.fence.attempt += chance(500) ? 1 : ~0U; break;
    case 4: op.fence.epoch += chance(500) ? 1 : ~0U; break;
    default: break;
  }
  end_by_call(std::move(op), Millis{0});
}

}  // namespace hk::sim
