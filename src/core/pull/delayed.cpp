#include "core/pull/delayed.h"

#include <algorithm>
#include <charconv>

namespace hk::core {

namespace {

constexpr std::int64_t per_second = 1000;

std::uint16_t ms_of(Moment due) { return static_cast<std::uint16_t>(to_ms(due) % per_second); }

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

void Delayed::add(Moment due, std::uint32_t count) {
  std::vector<Slot>& slots = seconds_[second_of(due)];
  const std::uint16_t ms = ms_of(due);
  auto at = std::ranges::lower_bound(slots, ms, {}, &Slot::ms);
  if (at == slots.end() || at->ms != ms) {
    at = slots.insert(at, {ms, 0});
  }
  at->count += count;
  total_ += count;
}

bool Delayed::remove(Moment due) {
  const auto second = seconds_.find(second_of(due));
  if (second == seconds_.end()) {
    return false;
  }
  std::vector<Slot>& slots = second->second;
  const std::uint16_t ms = ms_of(due);
  const auto at = std::ranges::lower_bound(slots, ms, {}, &Slot::ms);
  if (at == slots.end() || at->ms != ms) {
    return false;
  }
  --total_;
  if (--at->count == 0) {
    slots.erase(at);
    if (slots.empty()) {
      seconds_.erase(second);
    }
  }
  return true;
}

std::vector<std::int64_t> Delayed::forget(Moment now) {
  std::vector<std::int64_t> gone;
  while (!seconds_.empty() && seconds_.begin()->first < second_of(now)) {
    for (const Slot& slot : seconds_.begin()->second) {
      total_ -= slot.count;
    }
    gone.push_back(seconds_.begin()->first);
    seconds_.erase(seconds_.begin());
  }
  return gone;
}

std::uint64_t Delayed::count(Moment now) const {
  std::uint64_t left = total_;
  for (const auto& [second, slots] : seconds_) {
    if (second > second_of(now)) {
      break;
    }
    for (const Slot& slot : slots) {
      left -= second < second_of(now) || slot.ms <= ms_of(now) ? slot.count : 0;
    }
  }
  return left;
}

std::string Delayed::text(std::int64_t second) const {
  std::string text;
  const auto found = seconds_.find(second);
  if (found == seconds_.end()) {
    return text;
  }
  for (const Slot& slot : found->second) {
    text += text.empty() ? "" : " ";
    text += std::to_string(slot.ms) + ':' + std::to_string(slot.count);
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
