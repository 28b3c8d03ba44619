#include "core/pull/delayed.h"

#include <algorithm>
#include <charconv>

namespace hk::core {

namespace {

constexpr std::int64_t per_second = 1000;
/// Several seconds share one entry: it has an overhead of its own, and far away each second has but
/// one slot.
constexpr std::int64_t per_span = 8 * per_second;

std::int64_t span_of(Moment due) { return to_ms(due) / per_span; }
std::uint16_t ms_of(Moment due) { return static_cast<std::uint16_t>(to_ms(due) % per_span); }

/// The number in front, which is taken away with the character that must follow it.
template <class Number>
bool take_number(std::string_view& text, char end, Number& number) {
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) {
    return false;
  }
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  if (!text.empty() && text.front() == end) {
    text.remove_prefix(1);
    return true;
  }
  return text.empty() && end == ' ';
}

}  // namespace

std::int64_t Delayed::second_of(Moment due) { return to_ms(due) / per_second; }

Delayed::Range Delayed::in_second(std::int64_t second, const Slots& slots) {
  const std::int64_t from = second * per_second % per_span;
  return {std::ranges::lower_bound(slots, from, {}, &Slot::ms),
          std::ranges::lower_bound(slots, from + per_second, {}, &Slot::ms)};
}

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

std::vector<std::int64_t> Delayed::forget(Moment now) {
  std::vector<std::int64_t> gone;
  const std::int64_t up_to = second_of(now) * per_second;
  while (!spans_.empty() && spans_.begin()->first * per_span < up_to) {
    auto& [span, slots] = *spans_.begin();
    auto at = slots.begin();
    for (; at != slots.end() && span * per_span + at->ms < up_to; ++at) {
      total_ -= at->count;
      const std::int64_t second = (span * per_span + at->ms) / per_second;
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

std::string Delayed::text(std::int64_t second) const {
  std::string text;
  const auto found = spans_.find(second * per_second / per_span);
  if (found == spans_.end()) {
    return text;
  }
  const auto [from, to] = in_second(second, found->second);
  for (auto slot = from; slot != to; ++slot) {
    text += text.empty() ? "" : " ";
    text += std::to_string(slot->ms % per_second) + ':' + std::to_string(slot->count);
  }
  return text;
}

bool Delayed::read(std::int64_t second, std::string_view text) {
  while (!text.empty()) {
    std::uint16_t ms = 0;
    std::uint32_t count = 0;
    if (!take_number(text, ':', ms) || !take_number(text, ' ', count) || ms >= per_second ||
        count == 0) {
      return false;
    }
    add(moment_from_ms(second * per_second + ms), count);
  }
  return true;
}

}  // namespace hk::core
