// Who writes under a key, asks again because the answer was lost, at once or after a crash, and who
// uses a key for something else.
#include <algorithm>

#include "sim/simulation.h"

namespace hk::sim {

namespace {

constexpr std::size_t once_remembered_max = 60;
constexpr std::uint64_t once_keys = 40;

}  // namespace

void Simulation::once_acts() {
  if (!once_ops_.empty() && chance(400)) {
    Op again = once_ops_[rng_.below(once_ops_.size())];
    if (chance(100)) {
      again.once->hash += " otherwise";
    }
    submit(std::move(again));
    return;
  }
  Op op = make_once();
  if (once_ops_.size() < once_remembered_max) {
    once_ops_.push_back(op);
  } else {
    once_ops_[rng_.below(once_ops_.size())] = op;
  }
  // Together: of these one is executed, whichever comes first.
  for (std::uint64_t more = chance(300) ? 1 + rng_.below(3) : 0; more > 0; --more) {
    submit(op);
  }
  submit(std::move(op));
}

Op Simulation::make_once() {
  Op op;
  const std::uint64_t what = rng_.below(1000);
  if (config_.ledger > 0 && chance(300)) {
    op = make_ledger_op();
  } else if (config_.keys > 0 && what < 250) {
    op = make_key_op();
    op.key.wait = Millis{0};
  } else if (!known_.empty() && what < 400) {
    const auto& [id, tenant] = known_[rng_.below(known_.size())];
    op = {.kind = Op::Kind::cancel, .tenant = tenant, .id = id};
  } else if (what < 500) {
    const core::TenantId tenant{static_cast<std::uint32_t>(1 + rng_.below(config_.tenants))};
    const core::Tenant& seen = model_.tenants().at(tenant);
    op = {.kind = Op::Kind::change_tenant, .tenant = tenant, .credentials = seen, .if_still = seen};
    op.credentials.token_digests = {seen.name + " " + std::to_string(next_op_)};
  } else if (config_.queues > 0 && what < 600) {
    op = {.kind = Op::Kind::queue,
          .tenant = core::TenantId{static_cast<std::uint32_t>(1 + rng_.below(config_.tenants))},
          .name = "q" + std::to_string(rng_.below(config_.queues)),
          .paused = chance(200)};
  } else {
    op = make_publish();
  }
  op.once = OnceText{.key = "o" + std::to_string(rng_.below(once_keys)),
                     .hash = "h" + std::to_string(next_op_),
                     .kept_for = Millis{1} + up_to(chance(500) ? Millis{5000} : key_kept_max)};
  return op;
}

/// Seen from outside, whatever was lost in between: until its time is over, the answer is the same.
void Simulation::once_answered(const Op& op, const core::OnceAnswered& told, const Pending& of) {
  digest(told.answer.body);
  const OnceText& text = *op.once;
  Told& before = told_[{op.tenant, text.key, text.hash}];
  require(
      before.body == told.answer.body || before.until <= of.time, "once",
      "key " + text.key + " was told '" + before.body + "' and then '" + told.answer.body + "'");
  if (!told.replayed) {
    before = {told.answer.body, of.time + text.kept_for};
  }
  if (const auto& reply = text.seen->reply; reply && *reply) {
    if (const auto* published = (*reply)->get_if<core::Published>()) {
      learn(*published, op.tenant, true);
    } else if (const auto* applied = (*reply)->get_if<ledger::LedgerApplied>()) {
      ledger_answered(op, *applied);
    }
  }
}

}  // namespace hk::sim
