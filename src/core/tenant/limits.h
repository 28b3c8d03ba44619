/// How often a tenant may call the API. The core keeps and checks it; the edge counts by it, before
/// a command exists (api/limits). Plain data.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace hk::core {

/// What a request costs tokens of. The numbers are stored; a new one is added at the end.
enum class RateClass : std::uint8_t {
  publish = 0,
  receive = 1,
  read = 2,
  manage = 3,
  ledger = 4,
  payments = 5,
  source = 6,
};
inline constexpr std::array<std::string_view, 7> rate_class_names = {
    "publish", "receive", "read", "manage", "ledger", "payments", "source"};
inline constexpr std::size_t rate_classes = rate_class_names.size();

constexpr std::string_view name_of(RateClass one) {
  return rate_class_names[static_cast<std::size_t>(one)];
}
constexpr std::optional<RateClass> rate_class_of(std::string_view name) {
  for (std::size_t i = 0; i < rate_classes; ++i) {
    if (rate_class_names[i] == name) {
      return static_cast<RateClass>(i);
    }
  }
  return std::nullopt;
}

/// A token bucket, and how many requests may be under way. 0: no limit.
struct CallLimit {
  std::uint64_t rate = 0;       ///< tokens a second
  std::uint64_t burst = 0;      ///< tokens at once, at least `rate`; 0 only without a rate
  std::uint64_t in_flight = 0;  ///< requests at the same time

  [[nodiscard]] bool any() const { return rate != 0 || in_flight != 0; }
  friend bool operator==(const CallLimit&, const CallLimit&) = default;
};

struct TenantLimits {
  static constexpr std::uint64_t rate_max = 10'000'000;
  static constexpr std::uint64_t burst_max = 1'000'000'000;
  static constexpr std::uint64_t in_flight_max = 1'000'000;
  static constexpr std::uint32_t weight_max = 1'000;

  /// all.rate and all.burst stand in place of what the settings say for every tenant, also when
  /// they say "no limit".
  bool own_rate = false;
  CallLimit all{};           ///< of all its requests together
  std::uint32_t weight = 1;  ///< of its share of what the whole server may take
  std::array<CallLimit, rate_classes> classes{};

  /// Is there anything to count by, beside what the settings say?
  [[nodiscard]] bool any() const {
    return own_rate || all.any() ||
           std::any_of(classes.begin(), classes.end(),
                       [](const CallLimit& one) { return one.any(); });
  }
  [[nodiscard]] const CallLimit& of(RateClass one) const {
    return classes[static_cast<std::size_t>(one)];
  }
  friend bool operator==(const TenantLimits&, const TenantLimits&) = default;
};

}  // namespace hk::core
