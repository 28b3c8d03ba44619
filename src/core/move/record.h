/// Move tasks. Numbers of enums are on disk: never change or
/// reuse one.
#pragma once

#include <cstdint>
#include <string>

#include "core/message.h"

namespace hk::core {

/// Messages on their way from one queue that is pulled from into another or, without a destination,
/// each back to where it came from. Numbers of statuses are on disk.
struct MoveTask {
  enum class Status : std::uint8_t { running = 1, completed = 2, canceled = 3, failed = 4 };
  /// Why it failed; "" = it did not.
  static constexpr const char* destination_gone = "destination_gone";
  static constexpr const char* came_from_nowhere = "came_from_nowhere";  ///< without a destination

  TenantId tenant{};
  std::string source{};
  std::uint64_t number = 0;  ///< 1, 2, … for each source
  std::string destination{};
  std::uint32_t rate = 0;  ///< messages a second; 0 = no limit
  Status status = Status::running;
  std::uint64_t moved = 0;
  std::uint64_t to_move = 0;  ///< visible when it started
  Moment started_at{};
  Moment ended_at{};
  Seq up_to{};  ///< what came later stays
  std::string reason{};
  friend bool operator==(const MoveTask&, const MoveTask&) = default;
};

}  // namespace hk::core
