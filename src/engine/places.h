/// How the partitions of a process share its places for attempts (Limits::global_parallelism).
/// Pure: Engines reports what each of them uses and passes on what changes. What one gives up is
/// not another's before its machine has worked with the smaller share, so that the shares that are
/// in use never come to more than there are; only a large body may begin with fewer places left
/// than it takes, as with one partition. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/message.h"

namespace hk::engine {

class Places {
 public:
  /// So many change hands at once: fewer would be a message between threads for each attempt.
  static constexpr std::uint32_t step = 64;

  explicit Places(std::uint32_t total) : total_(total) {}

  /// After a batch of a partition.
  struct Use {
    std::uint32_t share = 0;  ///< that the batch worked with
    std::uint32_t used = 0;
    bool wants = false;  ///< something would start if it had more
  };
  struct Change {
    core::PartitionId partition{};
    std::uint32_t share = 0;
  };

  /// The first one has all of them, the others what is free; they get theirs when they want them.
  void open(core::PartitionId partition);
  /// What it had is free.
  void close(core::PartitionId partition) { shares_.erase(partition); }
  /// The shares that are different now.
  std::vector<Change> report(core::PartitionId partition, const Use& use);

  [[nodiscard]] std::uint32_t share(core::PartitionId partition) const {
    return shares_.at(partition).share;
  }
  [[nodiscard]] std::size_t partitions() const { return shares_.size(); }

 private:
  struct Share {
    std::uint32_t share = 0;  ///< what it was told last
    std::uint32_t held = 0;   ///< what it may still be using: no less than `share`
    std::uint32_t used = 0;
    bool wants = false;
  };
  using Shares = std::map<core::PartitionId, Share>;

  [[nodiscard]] std::uint32_t free() const;
  [[nodiscard]] std::uint32_t fair() const;
  Shares::iterator neediest();
  Shares::iterator richest(const Share& needy);
  [[nodiscard]] std::uint32_t excess(const Share& of, const Share& needy) const;

  const std::uint32_t total_;
  Shares shares_;
};

}  // namespace hk::engine
