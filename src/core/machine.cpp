#include "core/machine.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/assert.h"

namespace hk::core {

Machine::Machine(const Limits& limits, Rng& rng, Zones& zones, PartitionId partition,
                 PushHosts push_hosts, Sealing sealing)
    : context_{.limits = limits,
               .partition = partition,
               .rng = rng,
               .push_hosts = std::move(push_hosts),
               .sealing = std::move(sealing)},
      scheduler_(context_.limits),
      tenants_(context_),
      documents_(context_, tenants_),
      timers_(context_, idempotency_keys_, ledger_, webhooks_, sources_),
      idempotency_keys_(context_, tenants_, timers_,
                        [this](Command command) { return execute(std::move(command)); }),
      flow_keys_(context_, scheduler_, lanes_, tenants_),
      lanes_(context_, scheduler_, queues_, messages_, pulls_, tasks_, webhooks_),
      queues_(context_, scheduler_, tenants_, lanes_, messages_, pulls_, tasks_),
      messages_(context_, scheduler_, lanes_, tenants_, queues_, flow_keys_, topics_, pulls_,
                idempotency_keys_, webhooks_),
      topics_(context_, tenants_, queues_, messages_),
      schedules_(context_, zones, tenants_, topics_, messages_),
      pulls_(context_, scheduler_, lanes_, tenants_, queues_, messages_, tasks_),
      tasks_(context_, tenants_, scheduler_, lanes_, queues_, messages_, pulls_, webhooks_),
      ledger_(context_, tenants_, timers_, messages_, queues_),
      webhooks_(context_, scheduler_, lanes_, tenants_, messages_, timers_, tasks_),
      transacts_(context_, tenants_, messages_, idempotency_keys_, ledger_),
      sources_(context_, tenants_, timers_, queues_, topics_, messages_) {
  HK_ASSERT(limits.lane_window_min >= 2);
  HK_ASSERT(limits.quantum > 0);
  HK_ASSERT(limits.key_waits_of_key <= limits.key_wakes_per_batch);
}

Result<void> Machine::recover(Reader& reader, Moment now, const Term& term) {
  if (auto begun = context_.progress.recover(reader, now, term); !begun) {
    return begun;
  }
  tenants_.recover(reader);  // and with them how late it is
  context_.batch.begin(context_.progress.time(), context_.progress.next_batch(), reader);
  queues_.recover(reader);
  flow_keys_.recover(reader);
  webhooks_.recover(reader);  // what is shut is known before lanes are made
  tasks_.recover(reader);     // what ends while lanes are read is counted
  lanes_.recover(reader);
  context_.progress.begin_numbering();
  pulls_.recover(reader);
  messages_.recover();
  schedules_.recover(reader);
  timers_.recover(reader);
  sources_.recover(reader);
  return {};
}

void Machine::begin(Moment now, Reader& reader) {
  HK_ASSERT(context_.progress.epoch() > 0);  // recovered
  context_.progress.not_before(now);
  context_.batch.begin(context_.progress.time(), context_.progress.next_batch(), reader);
  // Here, because the reader shows everything decided so far and nothing is decided yet.
  lanes_.refill();
}

Reply Machine::execute(Command command) {
  return std::visit(
      [this](auto&& part) { return component(part).execute(std::forward<decltype(part)>(part)); },
      std::move(command).parts());
}

void Machine::advance() {
  messages_.expire_leases();
  queues_.advance();
  webhooks_.advance();
  pulls_.retime();
  scheduler_.advance(context_.batch.now());
  messages_.purge_expired();
  timers_.advance();
  idempotency_keys_.advance();
  tenants_.advance();
  flow_keys_.advance();
  schedules_.advance();
  pulls_.forget_past_delays();
  tasks_.advance();
  pulls_.hand_out();
  messages_.start_attempts();  // who asks for a message of a queue that pushes gets it first
  lanes_.advance();
}

Batch::Output Machine::take() {
  queues_.flush();
  flow_keys_.flush();
  schedules_.flush();
  sources_.flush();
  ledger_.flush();  // sets timers
  webhooks_.flush();
  timers_.flush();
  pulls_.flush();
  tasks_.flush();
  tenants_.flush();
  context_.progress.flush(context_.batch, context_.limits);
  return context_.batch.take();
}

std::optional<Moment> Machine::wake_at() const {
  return std::min({lanes_.wake_at(), queues_.wake_at(), messages_.wake_at(), schedules_.wake_at(),
                   pulls_.wake_at(), tasks_.wake_at(), flow_keys_.wake_at(), tenants_.wake_at(),
                   timers_.wake_at(), idempotency_keys_.wake_at(), webhooks_.wake_at()});
}

}  // namespace hk::core
