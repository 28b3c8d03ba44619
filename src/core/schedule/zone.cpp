#include "core/schedule/zone.h"

#include <algorithm>
#include <string>

namespace hk::core {

namespace {

using std::chrono::local_seconds;
using std::chrono::seconds;
using std::chrono::sys_days;
using std::chrono::sys_seconds;

constexpr sys_seconds rule_begin{sys_days{std::chrono::year{1} / 1 / 1}};
constexpr sys_seconds rule_end{sys_days{std::chrono::year{9999} / 12 / 31}};

bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '+' || c == '-';
}

bool is_plausible(seconds offset) {
  return offset <= zone_offset_max && offset >= -zone_offset_max;
}

}  // namespace

bool is_zone_name(std::string_view name) {
  if (name.empty() || name.size() > zone_name_bytes_max) {
    return false;
  }
  bool inside_part = false;
  for (const char c : name) {
    if (c == '/' ? !inside_part : !is_name_byte(c)) {
      return false;
    }
    inside_part = c != '/';
  }
  return inside_part;
}

Result<Zone> Zone::make(seconds initial, std::vector<ZoneChange> changes,
                        std::optional<ZoneRule> rule) {
  bool plausible = is_plausible(initial);
  for (const ZoneChange& change : changes) {
    plausible = plausible && is_plausible(change.offset);
  }
  if (rule) {
    plausible = plausible && is_plausible(rule->standard) &&
                (!rule->summer || is_plausible(rule->summer->offset));
  }
  if (!plausible) {
    return fail(ErrorKind::invalid_argument, "a time zone is more than " +
                                                 std::to_string(zone_offset_max.count()) +
                                                 " hours away from UTC");
  }
  const auto not_ascending = [](const ZoneChange& a, const ZoneChange& b) { return a.at >= b.at; };
  if (std::adjacent_find(changes.begin(), changes.end(), not_ascending) != changes.end()) {
    return fail(ErrorKind::invalid_argument, "the changes of a time zone do not ascend");
  }

  Zone zone;
  zone.initial_ = initial;
  zone.changes_ = std::move(changes);
  zone.rule_ = rule;
  return zone;
}

Zone::Period Zone::period_at(sys_seconds instant) const {
  const auto later = [](sys_seconds at, const ZoneChange& change) { return at < change.at; };
  const auto next = std::upper_bound(changes_.begin(), changes_.end(), instant, later);
  const bool is_first = next == changes_.begin();
  const sys_seconds begin = is_first ? sys_seconds::min() : std::prev(next)->at;
  if (next == changes_.end() && rule_) {
    return period_by_rule(instant, begin);
  }
  return Period{.begin = begin,
                .end = next == changes_.end() ? sys_seconds::max() : next->at,
                .offset = is_first ? initial_ : std::prev(next)->offset};
}

Zone::Period Zone::period_by_rule(sys_seconds instant, sys_seconds table_end) const {
  Period period{.begin = table_end, .end = sys_seconds::max(), .offset = rule_->standard};
  if (!rule_->summer) {
    return period;
  }

  // The year of an instant differs from the local one by at most one, and a rule may reach a week
  // into its neighbours: the changes of three years enclose the instant.
  const sys_seconds inside = std::clamp(instant, rule_begin, rule_end);
  const auto year =
      std::chrono::year_month_day{std::chrono::floor<std::chrono::days>(inside)}.year();
  for (int nearby = -1; nearby <= 1; ++nearby) {
    for (const ZoneChange& change : changes_of_year(*rule_, year + std::chrono::years{nearby})) {
      if (change.at > instant) {
        period.end = change.at;
        return period;
      }
      period.begin = std::max(table_end, change.at);
      period.offset = change.offset;
    }
  }
  return period;
}

local_seconds Zone::to_local(sys_seconds instant) const {
  return local_seconds{instant.time_since_epoch()} + period_at(instant).offset;
}

Zone::Instants Zone::to_utc(local_seconds local) const {
  const sys_seconds unshifted{local.time_since_epoch()};
  Instants found;
  // Every instant with this local time is within the largest offset of it.
  sys_seconds at = unshifted - zone_offset_max;
  while (at <= unshifted + zone_offset_max) {
    const Period period = period_at(at);
    const sys_seconds instant = unshifted - period.offset;
    if (instant >= period.begin && instant < period.end) {
      found.first = found.first.value_or(instant);
      found.last = instant;
    }
    at = period.end;
  }
  return found;
}

}  // namespace hk::core
