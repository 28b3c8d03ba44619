#include "core/timer/timers.h"

#include <algorithm>

#include "base/sometimes.h"
#include "core/idempotency/idempotency_keys.h"
#include "core/ledger/ledger.h"
#include "core/source/sources.h"
#include "core/webhook/webhooks.h"

HK_SOMETIMES_DECLARE(timers_go_on_in_the_next_batch)

namespace hk::core {

void Timers::recover(Reader& reader) {
  const auto first = reader.scan<Timer>({}, 1);
  next_ = first.empty() ? never : first.front().due;
}

void Timers::set(Moment due, Timer::Kind kind, TenantId tenant, std::string key) {
  fresh_ = std::min(fresh_, due);
  batch_.put(Put<Timer>{{due, kind, tenant, std::move(key)}});
}

/// A bounded part of those that are due; the rest makes the next batch come at once.
void Timers::advance() {
  if (next_ > batch_.now()) {
    return;
  }
  std::vector<Timer> due = batch_.reader().scan<Timer>({}, limits_.timers_per_batch + 1);
  next_ = never;
  if (due.size() > limits_.timers_per_batch) {
    HK_SOMETIMES(timers_go_on_in_the_next_batch);
    next_ = due.back().due;
    due.pop_back();
  }
  for (const Timer& timer : due) {
    if (timer.due > batch_.now()) {
      next_ = timer.due;
      break;
    }
    batch_.erase<Timer>(own_key(timer));
    fire(timer);
  }
}

void Timers::fire(const Timer& timer) {
  switch (timer.kind) {
    case Timer::Kind::idempotency_key:
      idempotency_keys_.on_timer(timer.due, timer.tenant, timer.key);
      break;
    case Timer::Kind::ledger_expiry: ledger_.on_expiry_timer(timer.tenant, timer.key); break;
    case Timer::Kind::ledger_checkpoint:
      ledger_.on_checkpoint_timer(timer.tenant, timer.key);
      break;
    case Timer::Kind::ledger_rollup: ledger_.on_rollup_timer(timer.tenant, timer.key); break;
    case Timer::Kind::webhook_hold:
    case Timer::Kind::webhook_ramp:
    case Timer::Kind::webhook_token: webhooks_.on_timer(timer); break;
    case Timer::Kind::source_upkeep:
      sources_.on_upkeep_timer(timer.due, timer.tenant, timer.key);
      break;
    case Timer::Kind::source_sweep: sources_.on_sweep_timer(timer.tenant, timer.key); break;
  }
}

void Timers::flush() { next_ = std::min(next_, std::exchange(fresh_, never)); }

}  // namespace hk::core
