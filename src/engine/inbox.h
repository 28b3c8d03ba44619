/// Commands that wait for the core, in order within each tenant. Tenants take turns, so that one
/// that sends without end delays itself; and one may hold only so much of the room, so that the
/// others are not refused for it. Owned by the engine, under its inbox_mutex_.
#pragma once

#include <cstddef>
#include <deque>
#include <limits>
#include <unordered_map>
#include <vector>

#include "engine/submitter.h"

namespace hk::engine {

class Inbox {
 public:
  Inbox(std::size_t count_max, std::size_t bytes_max)
      : count_max_(count_max), bytes_max_(bytes_max) {}

  /// Takes what there is room for; the rest stays in `batch`, in order. Of a tenant whose command
  /// does not fit, the later ones of this batch stay behind, too. How many stay.
  std::size_t put(std::vector<Submission>& batch);
  /// What the core's next batch holds: at most `most`, and no more than make `bytes_max` of writes
  /// together, roughly; one that is larger by itself comes alone. Of one tenant at most
  /// `beside_others` (a few more), while several send: a batch is answered as a whole, so everybody
  /// in it, and everybody who waits for the next one, waits for all of it.
  std::vector<Submission> take(std::size_t most, std::size_t bytes_max,
                               std::size_t beside_others = std::numeric_limits<std::size_t>::max());
  /// Bytes of messages that were taken are in the store now.
  void written(std::size_t bytes) { bytes_ -= bytes; }

  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::size_t size() const { return count_; }
  /// Of messages to publish, from being put to being written.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  struct Waiting {
    std::deque<Submission> commands{};
    std::size_t bytes = 0;
  };

  [[nodiscard]] bool has_several_tenants() const;
  bool take_turn(std::size_t most, std::size_t bytes_max, std::size_t& bytes,
                 std::vector<Submission>& taken);
  [[nodiscard]] bool fits(core::TenantId tenant, const Waiting* waiting, std::size_t weight) const;

  const std::size_t count_max_;
  const std::size_t bytes_max_;
  std::unordered_map<core::TenantId, Waiting> tenants_;  ///< those with commands
  std::deque<core::TenantId> round_;                     ///< the same, in turn
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
  std::size_t others_expected_ = 0;  ///< for so many batches: several tenants waited not long ago
};

}  // namespace hk::engine
