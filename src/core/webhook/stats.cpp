// What is counted for an endpoint: by hour, and what it has now. Written once per batch.
#include <algorithm>

#include "base/sometimes.h"
#include "core/webhook/webhooks.h"

HK_SOMETIMES_DECLARE(webhook_stats_forgotten)

namespace hk::core::webhook {

namespace {

constexpr std::size_t forgotten_at_once = 4;

std::uint64_t hour_of(Moment moment) {
  return static_cast<std::uint64_t>(
      std::chrono::floor<std::chrono::hours>(moment.time_since_epoch()).count());
}

}  // namespace

Stats& Webhooks::change_stats(TenantId tenant, Number endpoint, Moment at) {
  const KeyOf<Stats> key{tenant, endpoint, hour_of(at)};
  const auto [found, fresh] = stats_.try_emplace(key);
  Stats& stats = found->second;
  if (!fresh) {
    return stats;
  }
  if (auto stored = batch_.reader().get<Stats>(key)) {
    stats = *std::move(stored);
    return stats;
  }
  stats.tenant = tenant;
  stats.endpoint = endpoint;
  stats.hour = hour_of(at);
  // With each hour that begins, those that were kept long enough go.
  const std::uint64_t kept_from =
      hour_of(std::max(Moment{}, batch_.now() - limits_.retention_webhooks));
  for (const Stats& old :
       batch_.reader().scan(Range<Stats>::of(tenant, endpoint).before(tenant, endpoint, kept_from),
                            forgotten_at_once)) {
    HK_SOMETIMES(webhook_stats_forgotten);
    batch_.erase<Stats>(own_key(old));
  }
  return stats;
}

Webhooks::Watched& Webhooks::watch(TenantId tenant, Number endpoint) {
  const auto [found, fresh] = health_.try_emplace({tenant, endpoint});
  if (fresh) {
    found->second.health = batch_.reader()
                               .get<Health>({tenant, endpoint})
                               .value_or(Health{.tenant = tenant, .endpoint = endpoint});
  }
  return found->second;
}

const Health& Webhooks::look_at(TenantId tenant, Number endpoint) {
  return watch(tenant, endpoint).health;
}

Health& Webhooks::change_health(TenantId tenant, Number endpoint) {
  Watched& watched = watch(tenant, endpoint);
  watched.changed = true;
  return watched.health;
}

void Webhooks::forget_health(TenantId tenant, Number endpoint) {
  watch(tenant, endpoint) = {
      .health = {.tenant = tenant, .endpoint = endpoint}, .changed = false, .gone = true};
}

void Webhooks::write_counts() {
  for (auto& [key, watched] : health_) {
    if (watched.changed) {
      batch_.put(Put<Health>{std::move(watched.health)});
    } else if (watched.gone) {
      batch_.erase<Health>(key.first, key.second);
    }
  }
  health_.clear();
  for (auto& [key, stats] : stats_) {
    batch_.put(Put<Stats>{std::move(stats)});
  }
  stats_.clear();
}

}  // namespace hk::core::webhook
