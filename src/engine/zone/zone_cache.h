/// The time zones that schedules use, each read from its file once: the core asks at every run, the
/// API when a schedule is made. A new version of tzdata counts from the next start on. Unknown
/// names are not remembered, so it holds at most as many zones as there are files. Any thread.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "base/error.h"
#include "core/schedule/zones.h"
#include "engine/zone/load_zone.h"

namespace hk::engine {

class ZoneCache final : public core::Zones {
 public:
  explicit ZoneCache(std::string directory = std::string(system_zone_directory))
      : directory_(std::move(directory)) {}

  /// Reads a small file if it is not in memory yet; errors as load_zone().
  Result<const core::Zone*> load(std::string_view name);
  const core::Zone* find(std::string_view name) override { return load(name).value_or(nullptr); }

 private:
  const std::string directory_;
  std::mutex mutex_;
  std::map<std::string, const core::Zone, std::less<>> zones_;  ///< nodes stay where they are
};

}  // namespace hk::engine
