/// Where a server dies, by name instead of by chance: the crash matrix tries each of these points,
/// and further ones while it recovers from the one before. Reached in the simulated server
/// (server.cpp, crash.cpp); points of the same name exist in the real one
/// (src/store/crash_points.def).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hk::sim {

enum class Point : std::uint8_t {
  batch_unwritten,   ///< decided, nothing of it in the store
  batch_written,     ///< in the store, not durable
  sync_begins,       ///< … and the sync is about to be asked for
  log_synced,        ///< durable, nobody knows
  view_published,    ///< durable, nobody was answered
  reply_released,    ///< some were answered
  replies_released,  ///< all were answered, no attempt has left
  effect_released,   ///< some attempts have left
  effects_released,  ///< all of it has left
  epoch_unwritten,   ///< recovery: in memory, the new epoch is not in the store
  epoch_written,     ///< … is in the store, not durable
  epoch_synced,      ///< … is durable, nothing is served
};
inline constexpr std::size_t point_count = 12;
inline constexpr std::size_t first_of_recovery = static_cast<std::size_t>(Point::epoch_unwritten);
const char* name_of(Point point);

/// One death after the other, each at the n-th passage of its point since the one before.
struct CrashPlan {
  struct Step {
    Point point{};
    std::uint64_t passage = 1;
  };
  bool power_cut = false;  ///< false: the process alone dies
  std::vector<Step> steps{};
};
/// "power/batch_written:10/epoch_written:1"
std::optional<CrashPlan> parse_crash_plan(const std::string& text);
std::string to_text(const CrashPlan& plan);

/// How far a run got with its plan.
struct CrashProgress {
  std::size_t done = 0;  ///< steps
  std::uint64_t passed = 0;
  std::array<std::uint64_t, point_count> passages{};
};

/// Every plan of one seed: each point of a running server, the process or the power, alone and
/// followed by one and by two deaths while it recovers.
std::vector<CrashPlan> crash_plans(std::uint64_t seed);

}  // namespace hk::sim
