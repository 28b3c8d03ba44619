#include "core/pull/delayed.h"

#include <algorithm>

namespace hk::core {

namespace {

constexpr std::int64_t per_second = 1000;
/// Several seconds share one entry: it has an overhead of its own, and far away each second has but
/// one slot.
constexpr std::int64_t per_span = 8 * per_second;

std::int64_t span_of(Moment due) { return to_ms(due) / per_span; }
std::uint16_t ms_of(Moment due) { return static_cast<std::uint16_t>(to_ms(due) % per_span); }

}  // namespace

void Delayed::add(Moment due, std::uint32_t count) {
  Slots& slots = spans_[span_of(due)];
  const std::uint16_t ms = ms_of(due);
  auto at = std::ranges::lower_bound(slots, ms, {}, &Slot::ms);
  if (at == slots.end() || at->ms != ms) {
    at = slots.insert(at, {ms, 0});
  }
  at->count += count;
  total_ += count;
}

bool Delayed::remove(Moment due) {
  const auto span = spans_.find(span_of(due));
  if (span == spans_.end()) {
    return false;
  }
  Slots& slots = span->second;
  const std::uint16_t ms = ms_of(due);
  const auto at = std::ranges::lower_bound(slots, ms, {}, &Slot::ms);
  if (at == slots.end() || at->ms != ms) {
    return false;
  }
  --total_;
  if (--at->count == 0) {
    slots.erase(at);
    if (slots.empty()) {
      spans_.erase(span);
    }
  }
  return true;
}

std::vector<Moment> Delayed::forget(Moment now) {
  std::vector<Moment> gone;
  const std::int64_t up_to = to_ms(second_of(now));
  while (!spans_.empty() && spans_.begin()->first * per_span < up_to) {
    auto& [span, slots] = *spans_.begin();
    auto at = slots.begin();
    for (; at != slots.end() && span * per_span + at->ms < up_to; ++at) {
      total_ -= at->count;
      const Moment second = second_of(moment_from_ms(span * per_span + at->ms));
      if (gone.empty() || gone.back() != second) {
        gone.push_back(second);
      }
    }
    slots.erase(slots.begin(), at);
    if (!slots.empty()) {
      break;
    }
    spans_.erase(spans_.begin());
  }
  return gone;
}

std::uint64_t Delayed::count(Moment now) const {
  std::uint64_t left = total_;
  for (const auto& [span, slots] : spans_) {
    if (span > span_of(now)) {
      break;
    }
    for (const Slot& slot : slots) {
      left -= span < span_of(now) || slot.ms <= ms_of(now) ? slot.count : 0;
    }
  }
  return left;
}

std::vector<DelayedSecond::Slot> Delayed::in_second(Moment second) const {
  std::vector<DelayedSecond::Slot> found;
  const auto span = spans_.find(span_of(second));
  if (span == spans_.end()) {
    return found;
  }
  const std::int64_t from = ms_of(second);
  for (auto slot = std::ranges::lower_bound(span->second, from, {}, &Slot::ms);
       slot != span->second.end() && slot->ms < from + per_second; ++slot) {
    found.push_back({static_cast<std::uint32_t>(slot->ms - from), slot->count});
  }
  return found;
}

}  // namespace hk::core
