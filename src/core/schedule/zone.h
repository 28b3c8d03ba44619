/// A time zone as plain data: when its offset from UTC changed, and the rule for what comes after
/// the table. Made outside the core from a time-zone file (engine/zone/), because the core reads no
/// files; used by next_after. An immutable value; any thread.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

#include "core/schedule/zone_rule.h"

namespace hk::core {

inline constexpr std::size_t zone_name_bytes_max = 64;

/// Whether a text has the form of an IANA name: parts of letters, digits, _, + and -, joined by
/// single slashes. Such a text cannot leave the directory that it is looked up in. Says nothing
/// about whether there is such a zone.
bool is_zone_name(std::string_view name);

class Zone {
 public:
  /// A stretch of time, without its end, in which the offset does not change. Neighbours may have
  /// the same offset.
  struct Period {
    std::chrono::sys_seconds begin{};
    std::chrono::sys_seconds end{};
    std::chrono::seconds offset{0};
  };

  /// What a local time is in UTC: nothing if clocks jumped over it, two instants or more if they
  /// were put back over it.
  struct Instants {
    std::optional<std::chrono::sys_seconds> first{};
    std::optional<std::chrono::sys_seconds> last{};

    friend bool operator==(const Instants&, const Instants&) = default;
  };

  /// UTC.
  Zone() = default;

  /// `initial` is the offset before the first change; without a rule the last offset stays.
  /// invalid_argument: changes that do not ascend, or an offset beyond zone_offset_max.
  static Result<Zone> make(std::chrono::seconds initial, std::vector<ZoneChange> changes,
                           std::optional<ZoneRule> rule);

  /// The period that holds an instant. The first begins at sys_seconds::min(), one that does not
  /// end has end = sys_seconds::max(). The rule is followed from year 1 to year 9999.
  [[nodiscard]] Period period_at(std::chrono::sys_seconds instant) const;

  [[nodiscard]] std::chrono::local_seconds to_local(std::chrono::sys_seconds instant) const;

  /// REQUIRES: a local time between year 1 and year 9999.
  [[nodiscard]] Instants to_utc(std::chrono::local_seconds local) const;

  friend bool operator==(const Zone&, const Zone&) = default;

 private:
  [[nodiscard]] Period period_by_rule(std::chrono::sys_seconds instant,
                                      std::chrono::sys_seconds table_end) const;

  std::chrono::seconds initial_{0};
  std::vector<ZoneChange> changes_;
  std::optional<ZoneRule> rule_;
};

}  // namespace hk::core
