/// Amounts of the ledger: integers of minor units, never floating point. Sums say when they would
/// overflow.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hk::core::ledger {

using Amount = unsigned __int128;
inline constexpr Amount amount_max = ~Amount{0};

/// False: the sum is more than amount_max, and nothing was added.
constexpr bool add(Amount& sum, Amount more) {
  if (more > amount_max - sum) {
    return false;
  }
  sum += more;
  return true;
}

/// A balance or a limit: the difference of two amounts.
struct Signed {
  bool negative = false;  ///< false for zero
  Amount magnitude = 0;

  static constexpr Signed difference(Amount plus, Amount minus) {
    return plus >= minus ? Signed{false, plus - minus} : Signed{true, minus - plus};
  }
  friend constexpr bool operator==(const Signed&, const Signed&) = default;
  friend constexpr std::strong_ordering operator<=>(const Signed& a, const Signed& b) {
    if (a.negative != b.negative) {
      return a.negative ? std::strong_ordering::less : std::strong_ordering::greater;
    }
    return a.negative ? b.magnitude <=> a.magnitude : a.magnitude <=> b.magnitude;
  }
};
/// amount_max in either direction is as far as it goes.
Signed saturating_sum(Signed a, Signed b);

std::string to_text(Amount amount);
std::string to_text(const Signed& amount);
/// Digits only, no more than amount_max; nothing else is an amount. "007" is 7.
std::optional<Amount> parse_amount(std::string_view text);
/// The same, with an optional "-".
std::optional<Signed> parse_signed(std::string_view text);

/// Times of the ledger: nanoseconds since 1970.
using Instant = std::chrono::sys_time<std::chrono::nanoseconds>;
constexpr Instant instant_from_ns(std::int64_t ns) { return Instant{std::chrono::nanoseconds{ns}}; }
constexpr std::int64_t to_ns(Instant instant) { return instant.time_since_epoch().count(); }
/// In keys: their order is that of the instants, also before 1970.
constexpr std::uint64_t ordered(Instant instant) {
  return static_cast<std::uint64_t>(to_ns(instant)) ^ (std::uint64_t{1} << 63U);
}
constexpr Instant instant_from_ordered(std::uint64_t key) {
  return instant_from_ns(static_cast<std::int64_t>(key ^ (std::uint64_t{1} << 63U)));
}
/// RFC 3339 with nanoseconds: "2026-01-02T03:04:05.678901234Z".
std::string to_text(Instant instant);
inline constexpr Instant long_ago = Instant::min();
inline constexpr Instant no_end = Instant::max();

}  // namespace hk::core::ledger
