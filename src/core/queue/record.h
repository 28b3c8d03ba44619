/// Queues as they are stored.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/message.h"

namespace hk::core {

/// A queue that pushes: what comes into it is posted to a URL.
struct PushSettings {
  static constexpr std::uint32_t parallelism_default = 10;

  std::string url{};              ///< "" = it does not push
  std::uint32_t parallelism = 0;  ///< messages on the wire at once; 0 = not said

  [[nodiscard]] std::uint32_t at_once() const {
    return parallelism == 0 ? parallelism_default : parallelism;
  }
  friend bool operator==(const PushSettings&, const PushSettings&) = default;
};

/// What makes a queue one that is pulled from. `extra` and `tags` are the adapter's: the core keeps
/// them and reads nothing of them.
struct PullSettings {
  bool fifo = false;
  Millis visibility{30'000};  ///< of a receive that does not say
  Millis delay{};             ///< of a message that does not say
  Millis wait{};              ///< of a receive that does not say
  Millis retention{4LL * 86'400'000};
  std::uint32_t bytes_max = 1'048'576;
  bool content_dedup = false;
  bool dedup_by_group = false;
  std::string dead_letters_to{};   ///< queue; "" = none
  std::uint32_t receives_max = 0;  ///< after as many it has failed, and goes there; 0 = never
  /// A group stops at a message that has failed, instead of losing it. Without a maximum of its
  /// own the queue has Limits::halt_after.
  bool halt = false;
  PushSettings push{};
  std::vector<Header> extra{};
  std::vector<Header> tags{};
  Moment purged_at{};
  std::uint32_t purges = 0;   ///< part of every dedup id: a purge forgets them
  std::uint64_t version = 0;  ///< one more at each change
  friend bool operator==(const PullSettings&, const PullSettings&) = default;
};

struct Queue {
  TenantId tenant{};
  std::string name{};
  std::uint32_t parallelism = 1;
  bool paused = false;
  Moment created_at{};
  Moment updated_at{};
  std::uint64_t lag = 0;  ///< messages of it that are not final
  /// Its messages up to this one are being cancelled, a few per batch, because it was deleted.
  Seq sweep_up_to{};
  std::uint64_t doomed = 0;  ///< of `lag`, if pulled from: what a sweep cancels
  bool deleted = false;      ///< not shown any more; gone when the sweep is done
  /// Its messages up to this one are being told of a changed delay or retention.
  Seq retime_up_to{};
  std::optional<PullSettings> pull{};  ///< nullopt: its messages are pushed
  friend bool operator==(const Queue&, const Queue&) = default;
};
inline std::tuple<const TenantId&, const std::string&> key_of(const Queue& queue) {
  return {queue.tenant, queue.name};
}

}  // namespace hk::core
