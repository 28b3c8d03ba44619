/// Deadlines of many connections or attempts without a timer each: nodes hang in buckets of one
/// tick, and a sweep looks only at the buckets that have come due. A node is moved when its
/// deadline becomes earlier; a later deadline is noticed when the old one comes up. So a connection
/// that is busy costs nothing here, and an idle one is looked at about once per deadline. It keeps
/// no clock: its owner, one I/O thread, says what time it is.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

#include "base/assert.h"

namespace hk {

class DeadlineWheel {
 public:
  using Clock = std::chrono::steady_clock;

  /// Base of what can be scheduled. Unhooks itself when destroyed.
  class Node {
   public:
    Node() = default;
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;
    virtual ~Node() { unhook(); }
    /// It is time to look, perhaps before the deadline: the node must schedule itself again or be
    /// done with. It may end itself and others.
    virtual void on_deadline(Clock::time_point now) = 0;

   private:
    friend class DeadlineWheel;
    void unhook() {
      if (next_ == nullptr) return;
      next_->previous_ = previous_;
      previous_->next_ = next_;
      next_ = previous_ = nullptr;
    }
    Node* next_ = nullptr;
    Node* previous_ = nullptr;
    std::uint64_t due_ = 0;
  };

  /// `tick`: how late a deadline may be noticed, twice; the owner calls advance() that often.
  DeadlineWheel(Clock::time_point start, std::chrono::milliseconds tick)
      : start_(start), tick_(tick) {}

  [[nodiscard]] std::chrono::milliseconds tick() const { return tick_; }

  /// on_deadline() will be called at `due` or, if the node was scheduled earlier, at that time.
  void schedule(Node& node, Clock::time_point due) {
    const std::uint64_t wanted = std::clamp(tick_of(due) + 1, now_ + 1, now_ + buckets_.size() - 1);
    if (node.next_ != nullptr && node.due_ <= wanted) return;
    node.unhook();
    Anchor& bucket = buckets_[wanted % buckets_.size()];
    node.due_ = wanted;
    node.previous_ = bucket.previous_;
    node.next_ = &bucket;
    bucket.previous_->next_ = &node;
    bucket.previous_ = &node;
  }

  void cancel(Node& node) { node.unhook(); }

  /// Calls on_deadline() of everything that is due.
  void advance(Clock::time_point now) {
    const std::uint64_t target = tick_of(now);
    // After a long sleep one full turn sees every bucket.
    if (target > now_ + buckets_.size()) now_ = target - buckets_.size();
    while (now_ < target) {
      ++now_;
      Anchor& bucket = buckets_[now_ % buckets_.size()];
      // schedule() never chooses the bucket of now_, so this ends.
      while (bucket.next_ != &bucket) {
        Node& node = *bucket.next_;
        node.unhook();
        node.on_deadline(now);
      }
    }
  }

  /// Takes every node out and hands it over once; it may schedule itself again.
  template <class Visit>
  void drain_each(Visit visit) {
    Anchor all;
    for (Anchor& bucket : buckets_) {
      while (bucket.next_ != &bucket) {
        Node& node = *bucket.next_;
        node.unhook();
        node.previous_ = all.previous_;
        node.next_ = &all;
        all.previous_->next_ = &node;
        all.previous_ = &node;
      }
    }
    while (all.next_ != &all) {
      Node& node = *all.next_;
      node.unhook();
      visit(node);
    }
  }

 private:
  struct Anchor final : Node {
    Anchor() { next_ = previous_ = this; }
    ~Anchor() override { next_ = previous_ = nullptr; }
    void on_deadline(Clock::time_point) override { HK_ASSERT(false); }
  };

  [[nodiscard]] std::uint64_t tick_of(Clock::time_point when) const {
    return when <= start_ ? 0 : static_cast<std::uint64_t>((when - start_) / tick_);
  }

  const Clock::time_point start_;
  const std::chrono::milliseconds tick_;
  std::uint64_t now_ = 0;
  std::array<Anchor, 1024> buckets_{};
};

}  // namespace hk
