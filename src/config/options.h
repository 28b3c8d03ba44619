/// The settings of `hikyaku serve`, checked. Loaded once at the start, by the command line's
/// thread, and constant from then on.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/secret.h"
#include "base/time.h"
#include "config/host_port.h"
#include "config/loader.h"
#include "config/option_row.h"

namespace hk::config {

template <Kind>
struct TypeOf {
  using Type = std::string;
};
template <>
struct TypeOf<Kind::flag> {
  using Type = bool;
};
template <>
struct TypeOf<Kind::count> {
  using Type = std::uint64_t;
};
template <>
struct TypeOf<Kind::bytes> {
  using Type = std::uint64_t;
};
template <>
struct TypeOf<Kind::duration> {
  using Type = Millis;
};
template <>
struct TypeOf<Kind::durations> {
  using Type = std::vector<Millis>;
};
template <>
struct TypeOf<Kind::address> {
  using Type = HostPort;
};
template <>
struct TypeOf<Kind::secret> {
  using Type = Secret;
};

/// A field for each row of options.def, under its name. Made by load(): on its own it holds no
/// defaults.
struct Options {
#define HK_OPTION(field, variable, kind, default_text, unit, allowed, since, help) \
  TypeOf<Kind::kind>::Type field{};
#include "config/options.def"
#undef HK_OPTION
  /// What a person should know although the settings are usable. Holds no secret.
  std::vector<std::string> warnings{};
  /// Where each option that was given came from, such as HIKYAKU_TOKEN, by the option's name.
  std::map<std::string, std::string> given_by{};
};

const OptionTable& server_table();

/// Each option is checked, alone and beside the others (loader.h, check.h).
Result<Options> load(const Flags& flags, const GetEnv& getenv, const Surroundings& around = {});

/// docs/reference/configuration.md.
std::string reference_markdown();

}  // namespace hk::config
