/// One row of options.def as data: what the loader, the command line and the reference page read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hk::config {

enum class Kind : std::uint8_t {
  flag,      ///< true or false
  count,     ///< a whole number
  bytes,     ///< 64MiB
  duration,  ///< 1d10h30m
  text,
  path,
  choice,   ///< one of a few words, or empty where that is the default
  address,  ///< host:port
  secret,   ///< never printed; may be given as a file with <name>_file
  id,       ///< goes with a secret and is none; may be given as a file, too
};

struct OptionRow {
  std::string_view name{};  ///< as in the file: lower case, underscores
  Kind kind = Kind::text;
  std::string_view default_text{};
  std::string_view unit{};
  std::string_view allowed{};
  std::string_view since{};
  std::string_view help{};
};

const std::vector<OptionRow>& option_rows();

/// May <name>_file name a file that holds it?
inline bool may_be_file(Kind kind) { return kind == Kind::secret || kind == Kind::id; }

/// nullptr: there is none of this name.
const OptionRow* find_option(std::string_view name);

std::string flag_of(std::string_view name);         ///< "--allow-insecure-listen"
std::string environment_of(std::string_view name);  ///< "HIKYAKU_ALLOW_INSECURE_LISTEN"
std::string_view word_for(Kind kind);               ///< as in "is not a duration"

/// The known name that `name` was most likely meant to be; empty if none is near.
std::string nearest_option(std::string_view name);

/// docs/reference/configuration.md.
std::string reference_markdown();

}  // namespace hk::config
