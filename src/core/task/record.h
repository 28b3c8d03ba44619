/// Tasks as they are stored. Numbers of enums are on disk: never change or reuse one.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <variant>

#include "core/message/filter.h"
#include "core/webhook/replay.h"

namespace hk::core {

/// Messages on their way from one queue that is pulled from into another or, without a destination,
/// each back to where it came from.
struct MoveMessages {
  std::string source{};
  std::string destination{};
  friend bool operator==(const MoveMessages&, const MoveMessages&) = default;
};

/// Unfinished messages that a filter selects.
struct CancelMessages {
  MessageFilter filter{};
  std::uint64_t count_max = 0;  ///< 0 = all of them
  friend bool operator==(const CancelMessages&, const CancelMessages&) = default;
};

/// Work on many messages, done a bounded piece per batch.
struct Task {
  enum class Kind : std::uint32_t { move = 1, cancel = 2, webhook_replay = 3, webhook_expunge = 4 };
  enum class Status : std::uint8_t {
    running = 1,
    completed = 2,
    canceled = 3,
    failed = 4,
    paused = 5,
  };
  /// Why it failed; "" = it did not.
  static constexpr const char* destination_gone = "destination_gone";
  static constexpr const char* came_from_nowhere = "came_from_nowhere";  ///< without a destination
  static constexpr const char* application_gone = "application_gone";

  TenantId tenant{};
  std::uint64_t number = 0;  ///< of those of its kind and subject, rising
  std::variant<MoveMessages, CancelMessages, webhook::ReplayEvents, webhook::ExpungeContents>
      work{};
  /// Messages a second, of a replay deliveries in a thousand seconds; 0 = no limit.
  std::uint32_t rate = 0;
  Status status = Status::running;
  /// Move: visible when it started; cancel and expunge: found so far; replay: matched.
  std::uint64_t total = 0;
  std::uint64_t processed = 0;  ///< moved, cancelled, queued again, expunged
  Moment started_at{};
  Moment ended_at{};
  Seq up_to{};  ///< what came later is left alone
  std::string reason{};

  /// By what it works on.
  [[nodiscard]] Kind kind() const { return static_cast<Kind>(work.index() + 1); }
  /// What only one task of its kind works on at a time; "": it does not matter.
  [[nodiscard]] const std::string& subject() const {
    static const std::string none;
    const auto* const move = std::get_if<MoveMessages>(&work);
    return move == nullptr ? none : move->source;
  }
  friend bool operator==(const Task&, const Task&) = default;
};
inline std::tuple<const TenantId&, std::uint32_t, const std::uint64_t&, const std::string&> key_of(
    const Task& task) {
  return {task.tenant, static_cast<std::uint32_t>(task.kind()), task.number, task.subject()};
}

}  // namespace hk::core
