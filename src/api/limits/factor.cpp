#include "api/limits/factor.h"

namespace hk::api::limits {

namespace {

/// From 1 at `free` down to the least at `worst`.
Millionths between(Millionths at, Millionths free, Millionths worst) {
  if (at <= free) {
    return all_of_it;
  }
  const std::uint64_t beyond = std::min(at, worst) - free;
  return static_cast<Millionths>(all_of_it - (all_of_it - Factor::least) * beyond / (worst - free));
}

}  // namespace

void Factor::measure(Time now, std::uint64_t load, const Answered& answered) {
  load_ = static_cast<Millionths>(std::min<std::uint64_t>(load, all_of_it));
  count(now, answered);
  const Millionths target = wanted();
  if (!measured_) {  // there is no time that it could have changed in
    measured_ = true;
    measured_at_ = now;
    return;
  }
  constexpr std::uint64_t longest = 60'000;  // it has come from one end to the other by then
  const auto passed = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(std::max(now - measured_at_, Time{0}))
          .count());
  const std::uint64_t steps = std::min(passed, longest);
  measured_at_ += std::chrono::milliseconds{passed};
  const std::uint64_t fall = steps * fall_a_second / 1000;
  const std::uint64_t rise = steps * rise_a_second / 1000;
  const std::uint64_t lowest = value_ - std::min<std::uint64_t>(fall, value_);
  value_ = static_cast<Millionths>(
      std::clamp<std::uint64_t>(target, std::max<std::uint64_t>(lowest, least),
                                std::min<std::uint64_t>(value_ + rise, all_of_it)));
}

void Factor::count(Time now, const Answered& answered) {
  samples_.push_back({now, answered});
  while (samples_.size() > 1 && samples_[1].at <= now - errors_of) {
    samples_.pop_front();
  }
  const std::uint64_t all = answered.all - samples_.front().answered.all;
  const std::uint64_t failed = answered.failed - samples_.front().answered.failed;
  error_rate_ =
      all < answers_min ? 0 : static_cast<Millionths>(std::min(failed, all) * all_of_it / all);
}

Millionths Factor::wanted() const {
  return std::min(between(load_, load_free, all_of_it),
                  between(error_rate_, failed_free, failed_worst));
}

}  // namespace hk::api::limits
