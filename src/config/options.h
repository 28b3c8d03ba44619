/// The settings of `hikyaku serve`, checked. Loaded once at the start, by the command line's
/// thread, and constant from then on.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/secret.h"
#include "base/time.h"
#include "config/option_row.h"

namespace hk::config {

struct HostPort {
  std::string host{};  ///< an IPv6 address without its brackets
  std::uint16_t port = 0;
  friend bool operator==(const HostPort&, const HostPort&) = default;
};

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
#define HK_OPTION(name, kind, default_text, unit, allowed, since, help) \
  TypeOf<Kind::kind>::Type name{};
#include "config/options.def"
#undef HK_OPTION
  /// What a person should know although the settings are usable. Holds no secret.
  std::vector<std::string> warnings{};
  /// Where each secret that was given came from, such as HIKYAKU_TOKEN, by the option's name.
  std::map<std::string, std::string> given_by{};
};

using Flags = std::map<std::string, std::string>;
using GetEnv = std::function<std::optional<std::string>(const std::string&)>;

struct Surroundings {
  /// Names of all variables that are set: one of ours that no option has is an error.
  std::vector<std::string> environment_names{};
  /// Variables beginning with HIKYAKU_ that other parts of the program read.
  std::vector<std::string> environment_known{};
};

/// Flag over environment over file over default. Flags are named as the option ("dedup_window") or
/// as typed
/// ("--dedup-window"); a flag of kind `flag` with an empty value is true; an empty variable counts
/// as not set. A secret may be given as a file under <name>_file. invalid_argument: names the
/// option, where the value came from, the value (unless a secret) and what would be right.
Result<Options> load(const Flags& flags, const GetEnv& getenv, const Surroundings& around = {});

/// The names of the variables of this process.
std::vector<std::string> environment_names();

}  // namespace hk::config
