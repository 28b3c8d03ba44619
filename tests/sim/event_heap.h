/// Virtual time: what happens next is the event with the lowest (time, tie-break), and the
/// tie-break is drawn from the seed, so that events of the same millisecond come in every order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/random.h"
#include "base/time.h"

namespace hk::sim {

class EventHeap {
 public:
  using Action = std::move_only_function<void()>;

  explicit EventHeap(std::uint64_t seed) : rng_(seed) {}

  [[nodiscard]] Moment now() const { return now_; }
  [[nodiscard]] bool empty() const { return events_.empty(); }
  [[nodiscard]] Moment next() const { return events_.front().at; }

  void at(Moment when, Action action) {
    events_.push_back({std::max(when, now_), rng_.next(), std::move(action)});
    std::push_heap(events_.begin(), events_.end(), later);
  }
  void after(Millis wait, Action action) { at(now_ + wait, std::move(action)); }

  /// REQUIRES: !empty().
  void step() {
    HK_ASSERT(!events_.empty());
    std::pop_heap(events_.begin(), events_.end(), later);
    Event event = std::move(events_.back());
    events_.pop_back();
    now_ = event.at;
    event.action();
  }

 private:
  struct Event {
    Moment at{};
    std::uint64_t tie = 0;
    Action action{};
  };
  static bool later(const Event& a, const Event& b) {
    return std::pair(a.at, a.tie) > std::pair(b.at, b.tie);
  }

  SeededRng rng_;
  Moment now_{moment_from_ms(1'700'000'000'000)};
  std::vector<Event> events_;
};

}  // namespace hk::sim
