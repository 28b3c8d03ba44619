/// What relays count, by the names of the protocol with its dots as underscores (a metric's name
/// may have no dots). Counted by the relays' threads, read when scraped.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "outbox/store.h"

namespace hk::observe {
class Metrics;
}

namespace hk::outbox {

class RelayMetrics {
 public:
  /// The counts live as long as the metrics that read them.
  explicit RelayMetrics(observe::Metrics& metrics);

  using Clock = std::chrono::steady_clock;
  enum class Phase : std::uint8_t { claim, send, commit };

  void claimed(std::size_t rows);
  void processed(Written how);
  void retried(std::int32_t attempt);  ///< the attempts counted so far
  void leases_expired(std::size_t rows);
  void took(Phase phase, Clock::duration time);
  void now(const Counts& counts);
  void retained_wal(std::uint64_t bytes);
  void connected(bool yes);
  void postponed(std::size_t rows);
  void brokers_away(std::size_t brokers);
  [[nodiscard]] std::size_t brokers_away() const;  ///< any thread

 private:
  struct Values;
  std::shared_ptr<Values> values_;
  std::array<std::function<void(double)>, 3> latency_{};
};

}  // namespace hk::outbox
