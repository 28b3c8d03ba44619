/// Which new work an I/O thread refuses when more is offered than can be done in time. It adds up
/// what a request has to wait for (to be read, and to be answered). When that is longer than
/// `delay_max`, beyond what two syncs of the store take anyway, and has been for a while (a burst
/// is no overload), as many requests are refused as are too many at once, of those tenants that
/// have more than an even share under way: who asks for little is not refused for who asks for
/// much. Only publishing is refused: receiving and deleting make the work less. Pure: it is told
/// what time it is. Owned by the Batcher; on its I/O thread only.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <unordered_map>

#include "core/message.h"

namespace hk::api {

class Shedding {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::nanoseconds;

  /// So many publishes at once are always taken.
  static constexpr std::size_t kept_min = 128;
  static constexpr std::chrono::milliseconds window{100};  ///< looked at together
  static constexpr std::chrono::milliseconds burst{300};   ///< what lasts longer is none
  static constexpr std::chrono::milliseconds calm{1000};   ///< what lasts longer is the end

  explicit Shedding(Duration delay_max) : delay_max_(delay_max) {}

  /// Whether one more publish of this tenant is taken.
  [[nodiscard]] bool takes(core::TenantId tenant);
  /// Commands went to the engine, replies came from it.
  void begun(Time now, std::size_t commands);
  void answered(Time now, std::size_t commands);
  /// What was read since the last call had waited for up to `lag`. `sync`: what one takes.
  void on_lag(Time now, Duration lag, Duration sync);

 private:
  void under_way_until(Time now);
  [[nodiscard]] Duration delay() const;
  [[nodiscard]] double at_once(Duration delay, Duration length) const;
  [[nodiscard]] bool is_overload(Time now, Duration delay, Duration allowed);
  void refuse(double at_once, double kept);
  void begin_window(Time now);

  struct Tenant {
    std::size_t offered = 0;
    std::size_t to_refuse = 0;
  };

  const Duration delay_max_;
  std::unordered_map<core::TenantId, Tenant> tenants_;  ///< of this window, and those to refuse

  // Of this window:
  Time begun_at_{};
  std::size_t offered_ = 0;
  std::size_t offered_before_lag_ = 0;  ///< of them, when the last lag was told
  Duration waited_{0};                  ///< all of them together, to be read
  std::size_t read_at_once_ = 0;        ///< the most between two lags
  std::size_t under_way_at_once_ = 0;   ///< the most
  std::size_t answered_ = 0;
  Duration served_{0};  ///< commands under way × time

  std::size_t under_way_ = 0;
  Time counted_until_{};
  std::optional<Time> behind_since_{};
  Time behind_last_{};
};

}  // namespace hk::api
