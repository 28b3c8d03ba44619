// What was kept of a source long enough goes, a bounded part of it per batch. A source has a timer
// only while it has something that will go.
#include <algorithm>

#include "base/sometimes.h"
#include "core/source/sources.h"
#include "core/timer/timers.h"

HK_SOMETIMES_DECLARE(source_events_forgotten)
HK_SOMETIMES_DECLARE(source_quarantined_forgotten)
HK_SOMETIMES_DECLARE(source_upkeep_goes_on)
HK_SOMETIMES_DECLARE(source_swept)
HK_SOMETIMES_DECLARE(source_sweep_goes_on)

namespace hk::core {

void Sources::keep_up(Source& source) {
  if (source.upkeep_at == Moment{}) {
    // Later than now: a batch must not ask for itself.
    source.upkeep_at = batch_.now() + std::max(limits_.source_upkeep_every, Millis{1});
    timers_.set(source.upkeep_at, Timer::Kind::source_upkeep, source.tenant, source.id);
  }
}

bool Sources::forget_events(TenantId tenant, const std::string& id, Moment before, bool& any_left) {
  const auto rows = batch_.reader().scan(Range<SourceEvent>::of(tenant, Folder(id)),
                                         limits_.source_rows_per_batch);
  std::size_t gone = 0;
  for (const SourceEvent& event : rows) {
    if (event.received_at >= before) {
      break;
    }
    HK_SOMETIMES(source_events_forgotten);
    batch_.erase<SourceEvent>(own_key(event));
    ++gone;
  }
  any_left = gone < rows.size();
  return gone > 0 && gone == limits_.source_rows_per_batch;
}

void Sources::on_upkeep_timer(Moment due, TenantId tenant, const std::string& id) {
  const auto found = find(tenant, id);
  if (found == sources_.end() || found->second.source.upkeep_at != due) {
    return;  // deleted since
  }
  Source& source = change(found);
  bool events_left = false;
  bool more = forget_events(tenant, id, batch_.now() - limits_.source_events_kept_for, events_left);
  for (std::size_t left = limits_.quarantined_per_batch; left > 0; --left) {
    const auto request = source.quarantine.items == 0 ? std::nullopt : oldest(source);
    if (!request || request->received_at + limits_.quarantine_kept_for > batch_.now()) {
      break;
    }
    HK_SOMETIMES(source_quarantined_forgotten);
    remove(source, *request);
    more = more || left == 1;
  }
  source.upkeep_at = Moment{};
  if (more) {
    HK_SOMETIMES(source_upkeep_goes_on);
    source.upkeep_at = batch_.now() + Millis{1};  // another one than that which is handled now
    timers_.set(source.upkeep_at, Timer::Kind::source_upkeep, tenant, id);
  } else if (events_left || source.quarantine.items > 0 ||
             source.stats.last_accepted_at + limits_.source_events_kept_for >= batch_.now()) {
    keep_up(source);  // also for what this batch has accepted, which no reader shows yet
  }
}

void Sources::on_sweep_timer(TenantId tenant, const std::string& id) {
  HK_SOMETIMES(source_swept);
  bool events_left = false;
  bool more = forget_events(tenant, id, never, events_left);
  const auto requests = batch_.reader().scan(Range<Quarantined>::of(tenant, Folder(id)),
                                             limits_.quarantined_per_batch);
  for (const Quarantined& one : requests) {
    batch_.erase<Quarantined>(own_key(one));
  }
  more = more || requests.size() == limits_.quarantined_per_batch;
  // Those with an end go by themselves as well; those without would stay for ever.
  const std::string first = source_dedup_id(id, "");
  const auto known = batch_.reader().scan(
      Range<Dedup>().from(tenant, first).before(tenant, first.substr(0, first.size() - 1) + '!'),
      limits_.source_rows_per_batch);
  for (const auto& [key, dedup] : known) {
    batch_.erase<Dedup>(key);
  }
  more = more || known.size() == limits_.source_rows_per_batch;
  if (more) {
    HK_SOMETIMES(source_sweep_goes_on);
    timers_.set(batch_.now() + Millis{1}, Timer::Kind::source_sweep, tenant, id);
  }
}

}  // namespace hk::core
