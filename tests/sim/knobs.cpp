#include "sim/knobs.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <type_traits>

#include "base/assert.h"

namespace hk::sim {

namespace {

template <auto Field>
std::uint64_t get(const Config& config) {
  if constexpr (std::is_same_v<std::remove_cvref_t<decltype(config.*Field)>, Millis>) {
    return static_cast<std::uint64_t>((config.*Field).count());
  } else {
    return config.*Field;
  }
}

template <auto Field>
void set(Config& config, std::uint64_t value) {
  using Type = std::remove_cvref_t<decltype(config.*Field)>;
  if constexpr (std::is_same_v<Type, Millis>) {
    config.*Field = Millis{static_cast<std::int64_t>(value)};
  } else {
    config.*Field = static_cast<Type>(value);
  }
}

template <auto Field>
constexpr Knob knob(const char* name, std::uint64_t least = 0) {
  return {name, least, get<Field>, set<Field>};
}

// What takes most away comes first.
constexpr std::array all_knobs{
    knob<&Config::ops>("ops", 1),
    knob<&Config::crashes_max>("crashes_max"),
    knob<&Config::tenants>("tenants", 1),
    Knob{"hosts", 1, [](const Config& config) -> std::uint64_t { return config.hosts.size(); },
         [](Config& config, std::uint64_t value) {
           config.hosts.resize(std::min<std::size_t>(config.hosts.size(), value));
         }},
    knob<&Config::crash_every>("crash_every"),
    knob<&Config::crash_at_release>("crash_at_release"),
    knob<&Config::crash_in_recovery>("crash_in_recovery"),
    knob<&Config::fail_write>("fail_write"),
    knob<&Config::fail_sync>("fail_sync"),
    knob<&Config::fail_read>("fail_read"),
    knob<&Config::disk_full_every>("disk_full_every"),
    knob<&Config::clock_step>("clock_step"),
    knob<&Config::clock_lean>("clock_lean"),
    knob<&Config::pause_max>("pause_max"),
    knob<&Config::late_outcomes>("late_outcomes"),
    knob<&Config::lost_answers>("lost_answers"),
    knob<&Config::burst>("burst"),
    knob<&Config::queues>("queues"),
    knob<&Config::groups>("groups"),
    knob<&Config::flows>("flows"),
    knob<&Config::url_groups>("url_groups"),
    knob<&Config::batch>("batch"),
    knob<&Config::keys>("keys"),
    knob<&Config::once>("once"),
    knob<&Config::endings>("endings"),
    knob<&Config::sources>("sources"),
    knob<&Config::ledger>("ledger"),
    knob<&Config::ledger_bulk>("ledger_bulk"),
    knob<&Config::ledger_books>("ledger_books", 1),
    knob<&Config::ledger_accounts>("ledger_accounts", 1),
    knob<&Config::transacts>("transacts"),
    knob<&Config::topics>("topics"),
    knob<&Config::topic_fifo>("topic_fifo"),
    knob<&Config::schedules>("schedules"),
    knob<&Config::pull_queues>("pull_queues"),
    knob<&Config::pull_fifo>("pull_fifo"),
    knob<&Config::pull_redrive>("pull_redrive"),
    knob<&Config::pull_moves>("pull_moves"),
    knob<&Config::pull_pauses>("pull_pauses"),
    knob<&Config::pull_push>("pull_push"),
    knob<&Config::pull_brief>("pull_brief"),
    knob<&Config::pull_attempts>("pull_attempts"),
    knob<&Config::pull_halt>("pull_halt"),
    knob<&Config::delayed>("delayed"),
    knob<&Config::dedup>("dedup"),
    knob<&Config::cancel>("cancel"),
    knob<&Config::cancel_again>("cancel_again"),
    knob<&Config::cancel_tasks>("cancel_tasks"),
    knob<&Config::dead_letters>("dead_letters"),
    knob<&Config::settings>("settings"),
    knob<&Config::inspect>("inspect"),
    knob<&Config::bad_requests>("bad_requests"),
    knob<&Config::callbacks>("callbacks"),
    knob<&Config::retries_max>("retries_max"),
    knob<&Config::origin>("origin"),
    knob<&Config::places_every>("places_every"),
    knob<&Config::dice>("dice"),
};

const Knob* find(const std::string& name) {
  const auto* const found = std::find_if(all_knobs.begin(), all_knobs.end(),
                                         [&name](const Knob& one) { return one.name == name; });
  return found == all_knobs.end() ? nullptr : found;
}

}  // namespace

std::span<const Knob> knobs() { return all_knobs; }

Config turned(Config config, const Settings& settings) {
  for (const auto& [name, value] : settings) {
    const Knob* const named = find(name);
    HK_ASSERT(named != nullptr);
    named->set(config, value);
  }
  return config;
}

std::optional<Settings> parse_settings(const std::string& text) {
  Settings settings;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::size_t equals = text.find('=', at);
    if (equals >= end) {
      return std::nullopt;
    }
    const std::string name = text.substr(at, equals - at);
    std::uint64_t value = 0;
    const auto [rest, error] = std::from_chars(text.data() + equals + 1, text.data() + end, value);
    const Knob* const named = find(name);
    if (error != std::errc{} || rest != text.data() + end || named == nullptr ||
        value < named->least) {
      return std::nullopt;
    }
    settings[name] = value;
    at = end + 1;
  }
  return settings;
}

std::string to_text(const Settings& settings) {
  std::string out;
  for (const auto& [name, value] : settings) {
    out += (out.empty() ? "" : ",") + name + "=" + std::to_string(value);
  }
  return out;
}

}  // namespace hk::sim
