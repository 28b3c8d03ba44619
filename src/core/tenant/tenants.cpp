#include "core/tenant/tenants.h"

#include "base/assert.h"

namespace hk::core {

void Tenants::recover(Reader& reader) {
  for (const Tenant& tenant : reader.scan<Tenant>()) {
    tenants_[tenant.id] = tenant;
    // The stored time lags by meta_every: what happened after it is in the log, and a clock that
    // was set back must not put later events before it.
    for (const Events& last : reader.scan(Range<Events>::of(tenant.id), 1, Order::descending)) {
      context_.progress.not_before(last.time);
    }
  }
  for (const auto& [tenant, counts] : reader.scan<Counters>()) {
    HK_ASSERT(counts.conserved());
    counters_[tenant] = counts;
  }
  next_event_purge_ = context_.progress.time();
}

Reply Tenants::execute(TenantCommand&& command) {
  return std::visit([this](auto&& one) { return decide(std::forward<decltype(one)>(one)); },
                    std::move(command));
}

void Tenants::advance() {
  const Moment now = batch_.now();
  if (now < next_event_purge_) {
    return;
  }
  next_event_purge_ = now + limits_.event_purge_every;
  const Moment before = now - limits_.retention_finished;
  for (const auto& [id, tenant] : tenants_) {
    if (before > tenant.created_at) {
      batch_.put(EraseRange<Events>{Range<Events>().from(id, Moment{}, 0U).before(id, before, 0U)});
    }
  }
}

void Tenants::flush() {
  for (const TenantId tenant : dirty_counters_) {
    const Counters& counts = counters_.at(tenant);
    HK_ASSERT(counts.conserved());
    batch_.put(Put<Counters>{tenant, counts});
  }
  dirty_counters_.clear();
}

Counters& Tenants::counters(TenantId tenant) {
  dirty_counters_.insert(tenant);
  return counters_[tenant];
}

}  // namespace hk::core
