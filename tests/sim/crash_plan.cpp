#include "sim/crash_plan.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace hk::sim {

namespace {

constexpr std::array<const char*, point_count> names = {
    "batch_unwritten",  "batch_written",   "sync_begins",      "log_synced",
    "view_published",   "reply_released",  "replies_released", "effect_released",
    "effects_released", "epoch_unwritten", "epoch_written",    "epoch_synced"};

constexpr std::string_view power = "power";
constexpr std::string_view process = "process";

/// From the first batch to the thick of it.
constexpr std::array<std::uint64_t, 6> passages = {1, 3, 10, 30, 100, 300};

std::optional<CrashPlan::Step> parse_step(std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto* const found = std::find(names.begin(), names.end(), text.substr(0, colon));
  CrashPlan::Step step;
  if (found == names.end() || colon == std::string_view::npos) {
    return std::nullopt;
  }
  step.point = static_cast<Point>(found - names.begin());
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + colon + 1, end, step.passage);
  return error == std::errc{} && rest == end && step.passage > 0 ? std::optional(step)
                                                                 : std::nullopt;
}

}  // namespace

const char* name_of(Point point) { return names[static_cast<std::size_t>(point)]; }

std::optional<CrashPlan> parse_crash_plan(const std::string& text) {
  CrashPlan plan;
  const std::size_t slash = text.find('/');
  plan.power_cut = text.substr(0, slash) == power;
  if (slash == std::string::npos || (!plan.power_cut && text.substr(0, slash) != process)) {
    return std::nullopt;
  }
  for (std::size_t at = slash + 1; at <= text.size();) {
    const std::size_t end = std::min(text.find('/', at), text.size());
    const auto step = parse_step(std::string_view(text).substr(at, end - at));
    if (!step) {
      return std::nullopt;
    }
    plan.steps.push_back(*step);
    at = end + 1;
  }
  return plan;
}

std::string to_text(const CrashPlan& plan) {
  std::string out(plan.power_cut ? power : process);
  for (const CrashPlan::Step& step : plan.steps) {
    out += std::string("/") + name_of(step.point) + ":" + std::to_string(step.passage);
  }
  return out;
}

std::vector<CrashPlan> crash_plans(std::uint64_t seed) {
  std::vector<CrashPlan> plans;
  for (std::size_t first = 0; first < first_of_recovery; ++first) {
    for (const bool power_cut : {false, true}) {
      const std::uint64_t passage = passages[(seed + first) % passages.size()];
      CrashPlan plan{power_cut, {{static_cast<Point>(first), passage}}};
      plans.push_back(plan);
      for (std::size_t second = first_of_recovery; second < point_count; ++second) {
        CrashPlan twice = plan;
        twice.steps.push_back({static_cast<Point>(second), 1});
        plans.push_back(twice);
        const std::size_t third =
            first_of_recovery + (seed + second) % (point_count - first_of_recovery);
        twice.steps.push_back({static_cast<Point>(third), 1});
        plans.push_back(std::move(twice));
      }
    }
  }
  return plans;
}

}  // namespace hk::sim
