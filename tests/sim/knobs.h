/// What of a run can be made smaller without changing its seed: the shrinker turns these down, and
/// `--set` turns them the same way again.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "sim/config.h"

namespace hk::sim {

/// By name; what is not named stays as the seed drew it.
using Settings = std::map<std::string, std::uint64_t>;

struct Knob {
  const char* name;
  std::uint64_t least;
  std::uint64_t (*get)(const Config& config);
  void (*set)(Config& config, std::uint64_t value);
};
std::span<const Knob> knobs();

/// REQUIRES: names that parse_settings() let through.
Config turned(Config config, const Settings& settings);

/// "ops=12,cancel=0"; nullopt: not of that form, no such knob, or less than its least value.
std::optional<Settings> parse_settings(const std::string& text);
std::string to_text(const Settings& settings);

}  // namespace hk::sim
