/// Which new work an I/O thread refuses, because it could not be done in time. What arrives now
/// waits for what is ready to be read before it, and then for what is under way: so long as that is
/// no more than `delay_max`, everything is taken. Only when the shortest such wait of a while is
/// longer (a queue that stands, no burst and no stall) is as much kept as can be served in that
/// time, and those tenants are refused who have more than their fair share of it. Only publishing
/// is refused: receiving and deleting make the work less. Pure: it is told what time it is. Owned
/// by the Batcher; on its I/O thread only.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <unordered_map>

#include "core/message.h"

namespace hk::api {

class Shedding {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::nanoseconds;

  /// So many publishes of a tenant at once are always taken.
  static constexpr std::size_t kept_min = 128;
  /// The wait must be too long for all of it; what is shorter is a burst.
  static constexpr std::chrono::milliseconds interval{300};
  static constexpr std::chrono::milliseconds slot{100};  ///< answers are counted by
  static constexpr std::chrono::milliseconds calm{500};  ///< without a refusal: it is over

  explicit Shedding(Duration delay_max) : delay_max_(delay_max) {}

  /// Whether one more publish of this tenant is taken.
  [[nodiscard]] bool takes(core::TenantId tenant);
  /// Commands of these tenants went to the engine.
  void begun(Time now, std::span<const core::TenantId> tenants);
  /// So many replies came. They count for those that have been under way longest.
  void answered(Time now, std::size_t commands);
  /// A round over all sockets that were ready has ended: what is read next has waited for `lag`.
  void on_lag(Time now, Duration lag);

 private:
  /// What somebody has there: what was under way when the round began, and is still, and what was
  /// read in it, which is as much as waits to be read at a time.
  struct There {
    std::size_t carried = 0;
    std::size_t read = 0;
  };
  struct Tenant {
    std::size_t under_way = 0;
    There there{};  ///< in the round `round`
    std::uint64_t round = 0;
  };

  Tenant& in_this_round(core::TenantId tenant);
  [[nodiscard]] std::size_t present(const Tenant& tenant) const;
  [[nodiscard]] std::size_t best_slot() const;
  [[nodiscard]] Duration wait(Time now, Duration lag) const;
  void turn_slots(Time now);
  void look_for_overload(Time now, Duration wait);
  void share_out();

  const Duration delay_max_;
  std::unordered_map<core::TenantId, Tenant> tenants_;  ///< those with something under way or read
  std::deque<core::TenantId> under_way_;                ///< oldest first
  Time last_answer_{};                                  ///< or since when anything is under way
  There there_{};                                       ///< of all, in this round
  std::uint64_t round_ = 1;

  std::array<std::size_t, 10> slots_{};  ///< what was answered in each; a second in all
  std::size_t slot_ = 0;                 ///< the present one
  Time slot_begun_{};

  std::optional<Time> behind_since_{};
  bool overload_ = false;
  bool refused_ = false;  ///< in this round
  Time last_refusal_{};
  // While it is overload: what may be there at once, of all and of one tenant.
  std::size_t kept_ = 0;
  std::size_t share_ = 0;
};

}  // namespace hk::api
