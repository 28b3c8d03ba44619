// Time-zone files: one that is read has an unbroken line of periods, and local times lead back to
// instants that have them.
#include "engine/zone/tzif.h"

#include "base/assert.h"
#include "core/schedule/cron.h"
#include "fuzz/text.h"

using namespace hk;
using std::chrono::local_seconds;
using std::chrono::sys_seconds;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto nightly = core::parse_cron("30 2 * * *");
  const auto zone = engine::parse_tzif(fuzz::as_text(data, size));
  if (!zone) {
    HK_ASSERT(!zone.error().message.empty());
    return 0;
  }
  sys_seconds at{std::chrono::seconds{0}};
  for (int steps = 0; steps < 100 && at < sys_seconds{std::chrono::years{100}}; ++steps) {
    const core::Zone::Period period = zone->period_at(at);
    HK_ASSERT(period.begin <= at && at < period.end);
    HK_ASSERT(period.offset <= core::zone_offset_max && period.offset >= -core::zone_offset_max);
    const local_seconds local = zone->to_local(at);
    const auto [first, last] = zone->to_utc(local);
    HK_ASSERT(first && last && *first <= at && at <= *last);
    HK_ASSERT(zone->to_local(*first) == local && zone->to_local(*last) == local);
    at = period.end;
  }
  if (const auto next = core::next_after(nightly->cron, moment_from_ms(1'700'000'000'000), *zone)) {
    const local_seconds local = zone->to_local(std::chrono::floor<std::chrono::seconds>(*next));
    HK_ASSERT(local - std::chrono::floor<std::chrono::days>(local) == std::chrono::minutes{150});
  }
  return 0;
}
