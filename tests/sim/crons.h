/// Cron texts whose runs are known without parsing them: every `period` minutes, `offset` minutes
/// after the hour. And the time zones of the simulation: UTC, and one that is half an hour off.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/time.h"
#include "core/schedule/zones.h"

namespace hk::sim {

struct KnownCron {
  std::string_view text;
  std::int64_t period;
  std::int64_t offset;
};
inline constexpr std::array known_crons{
    KnownCron{"* * * * *", 1, 0},
    KnownCron{"*/2 * * * *", 2, 0},
    KnownCron{"3-59/15 * * * *", 15, 3},
    KnownCron{"@hourly", 60, 0},
    KnownCron{"CRON_TZ=Sim/Half 0 * * * *", 60, 30},
};

/// The first run after a time.
inline Moment next_run(const KnownCron& cron, Moment after) {
  const std::int64_t period = cron.period * 60'000;
  const std::int64_t offset = cron.offset * 60'000;
  return moment_from_ms(((to_ms(after) - offset) / period + 1) * period + offset);
}

class SimZones final : public core::Zones {
 public:
  const core::Zone* find(std::string_view name) override {
    return name == "UTC" ? &utc_ : name == "Sim/Half" ? &half_ : nullptr;
  }

 private:
  const core::Zone utc_{};
  const core::Zone half_ = *core::Zone::make(std::chrono::minutes{330}, {}, std::nullopt);
};

}  // namespace hk::sim
