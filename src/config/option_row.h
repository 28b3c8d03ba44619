/// A setting as data: one row of a table such as options.def. The loader, the command line's help
/// and the reference pages read the same rows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace hk::config {

enum class Kind : std::uint8_t {
  flag,       ///< true or false
  count,      ///< a whole number
  bytes,      ///< 64MiB
  duration,   ///< 1d10h30m; where the row has a unit, also a number of it
  durations,  ///< several, with commas between them
  text,
  url,
  path,
  choice,    ///< one of a few words, or empty where that is the default
  address,   ///< host:port
  secret,    ///< never printed; may be given as a file with <name>_file
  id,        ///< goes with a secret and is none; may be given as a file, too
  database,  ///< a secret, since a password may be in it; a flag may name one without a password
};

struct OptionRow {
  std::string_view variable{};  ///< of the environment; the other names are made from it
  Kind kind = Kind::text;
  std::string_view default_text{};
  std::string_view unit{};
  std::string_view allowed{};
  std::string_view since{};
  std::string_view help{};
};

/// A row of a table file as data: `#define HK_OPTION HK_OPTION_ROW`, and include the file.
#define HK_OPTION_ROW(field, variable, kind, default_text, unit, allowed, since, help) \
  {#variable, ::hk::config::Kind::kind, default_text, unit, allowed, since, help},

/// May <name>_file name a file that holds it?
inline bool may_be_file(Kind kind) {
  return kind == Kind::secret || kind == Kind::id || kind == Kind::database;
}
inline bool is_secret(Kind kind) { return kind == Kind::secret || kind == Kind::database; }

/// The settings of one command.
struct OptionTable {
  std::string_view prefix{};  ///< of the variables, such as HIKYAKU_: other names are without it
  bool secret_flags = true;   ///< false: secrets come from the environment and files alone
  bool config_file = true;    ///< can be given in one, named by the option `config`
  std::span<const OptionRow> rows{};

  /// In a config file and in code: HIKYAKU_EDGE_THREADS -> edge_threads.
  [[nodiscard]] std::string name_of(const OptionRow& row) const;
  /// --edge-threads; "": there is none.
  [[nodiscard]] std::string flag_of(const OptionRow& row) const;
  /// nullptr: there is none of this name.
  [[nodiscard]] const OptionRow* find(std::string_view name) const;
  /// Also <name>_file of what may be given as a file.
  [[nodiscard]] bool knows(std::string_view name) const;
  /// The known name that `name` was most likely meant to be; empty if none is near.
  [[nodiscard]] std::string nearest(std::string_view name) const;
};

std::string flag_for(std::string_view name);           ///< edge_threads -> --edge-threads
std::string_view word_for(Kind kind);                  ///< as in "is not a duration"
std::string_view placeholder_for(Kind kind);           ///< as in "--drain DURATION"; "" for a flag
std::string reference_rows(const OptionTable& table);  ///< as a Markdown table with its head

}  // namespace hk::config
