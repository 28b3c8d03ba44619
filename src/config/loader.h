/// From flags, environment and config file to the values of one option table: where each value
/// comes from, which source wins, and what is said about a wrong one. The tables' own load
/// functions (options.h, outbox/settings.h) say into which fields the values go.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/option_row.h"

namespace hk::config {

/// By the option's name ("dedup_window") or as typed ("--dedup-window").
using Flags = std::map<std::string, std::string>;
using GetEnv = std::function<std::optional<std::string>(const std::string&)>;

struct Surroundings {
  /// Names of all variables that are set: one with the table's prefix that no row has is an error.
  std::vector<std::string> environment_names{};
  /// Variables with the table's prefix that other parts of the program read.
  std::vector<std::string> environment_known{};
};

struct Loaded {
  /// What a person should know although the settings are usable. Holds no secret.
  std::vector<std::string> warnings{};
  /// Where each option that was given came from, such as HIKYAKU_TOKEN, by the option's name.
  std::map<std::string, std::string> given_by{};
};

/// Puts the value of the row with this index into its field; the error says what would be right and
/// does not repeat the value.
using AssignRow = std::function<Result<void>(std::size_t row, std::string_view text)>;

/// Assigns every row: flag over environment over file over default. A flag of kind `flag` with an
/// empty value is true; an empty variable counts as not set. A secret may be given as a file under
/// <name>_file. invalid_argument: names where the value came from, the value (unless a secret) and
/// what would be right.
Result<Loaded> load_table(const OptionTable& table, const Flags& flags, const GetEnv& getenv,
                          const Surroundings& around, const AssignRow& assign_row);

/// The names of the variables of this process.
std::vector<std::string> environment_names();

}  // namespace hk::config
