#include "engine/zone/zone_cache.h"

namespace hk::engine {

Result<const core::Zone*> ZoneCache::load(std::string_view name) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = zones_.find(name); known != zones_.end()) {
      return &known->second;
    }
  }
  // Without the lock: nobody waits for a disk because of a name that is not there.
  Result<core::Zone> zone = load_zone(name, directory_);
  if (!zone) {
    return std::unexpected(std::move(zone.error()));
  }
  const std::lock_guard lock(mutex_);
  return &zones_.try_emplace(std::string(name), std::move(*zone)).first->second;
}

}  // namespace hk::engine
