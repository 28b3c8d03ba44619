// Who claims idempotency keys, does the work and says how it ended, or does not.
#include "sim/simulation.h"

namespace hk::sim {

/// Where somebody waits, something happens more often than elsewhere.
void Simulation::key_acts() {
  for (const auto& [name, line] : model_.key_waiters()) {
    if (line.empty() || !chance(500)) {
      continue;
    }
    Op op = make_key_op();
    op.tenant = name.first;
    op.name = name.second;
    op.key.token = model_.keys().at(name).token;
    op.key.wait = Millis{0};
    op.receiver = {};
    switch (rng_.below(5)) {
      case 0:
        op.kind = Op::Kind::stop_claiming;
        op.receiver = line[rng_.below(line.size())].op.receiver;
        break;
      case 1: op.kind = Op::Kind::end_key; break;
      case 2: op.kind = Op::Kind::release_key; break;
      case 3: op.kind = Op::Kind::renew_key; break;
      default:
        op.kind = Op::Kind::claim_key;
        op.key.wait = Millis{1} + up_to(key_wait_max);
        op.receiver = core::ReceiverId{next_receiver_++};
    }
    submit(std::move(op));
    return;
  }
  submit(make_key_op());
}

Op Simulation::make_key_op() {
  Op op{.tenant = core::TenantId{static_cast<std::uint32_t>(1 + rng_.below(config_.tenants))},
        .name = "k" + std::to_string(rng_.below(config_.keys))};
  const auto known = model_.keys().find({op.tenant, op.name});
  KeyText& key = op.key;
  key.lease = Millis{1} + up_to(key_lease_max);
  key.kept_for = Millis{1} + up_to(chance(500) ? Millis{5000} : key_kept_max);
  key.hash = chance(100) ? "" : chance(900) ? "h" : "g";
  key.token = known == model_.keys().end() ? 1 : known->second.token;
  key.token -= chance(150) ? rng_.below(2) : 0;  // somebody who lost it
  key.failed = chance(200);
  key.ends_sooner = chance(300);
  key.answer = std::to_string(rng_.below(2));
  const std::uint64_t what = rng_.below(1000);
  if (known == model_.keys().end() || what < 400) {
    op.kind = Op::Kind::claim_key;
    op.tenant = chance(config_.bad_requests) ? core::TenantId{99} : op.tenant;
    if (chance(300)) {
      key.wait = Millis{1} + up_to(key_wait_max);
      op.receiver = core::ReceiverId{next_receiver_++};
    }
  } else if (what < 550) {
    op.kind = Op::Kind::renew_key;
  } else if (what < 800) {
    op.kind = Op::Kind::end_key;
  } else if (what < 960) {
    op.kind = Op::Kind::release_key;
  } else {
    op.kind = Op::Kind::delete_key;
  }
  return op;
}

}  // namespace hk::sim
