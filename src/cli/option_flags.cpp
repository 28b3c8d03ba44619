#include "cli/option_flags.h"

#include <CLI/CLI.hpp>

namespace hk::cli {
namespace {

std::string help_of(const config::OptionRow& row) {
  std::string help(row.help);
  std::erase(help, '`');  // marks code on the reference page
  const bool off = row.kind == config::Kind::flag && row.default_text == "false";
  return row.default_text.empty() || off ? help : help + " [" + std::string(row.default_text) + "]";
}

std::string placeholder_of(const config::OptionRow& row) {
  return std::string(row.kind == config::Kind::choice ? row.allowed
                                                      : config::placeholder_for(row.kind));
}

}  // namespace

void add_option_flags(CLI::App& command, const config::OptionTable& table, OptionTexts& texts) {
  for (const config::OptionRow& row : table.rows) {
    const std::string flag = table.flag_of(row);
    if (flag.empty()) {
      continue;
    }
    const std::string name = table.name_of(row);
    CLI::Option* option = command.add_option(flag, texts[name], help_of(row))
                              ->type_name(placeholder_of(row))
                              ->option_text(placeholder_of(row));
    if (row.kind == config::Kind::flag) {
      option->expected(0, 1);
    }
    if (config::may_be_file(row.kind) && table.secret_flags) {
      command
          .add_option(config::flag_for(name + "_file"), texts[name + "_file"],
                      "File that holds " + flag)
          ->type_name(std::string(config::placeholder_for(config::Kind::path)));
    }
  }
}

config::Flags flags_given(const CLI::App& command, const OptionTexts& texts) {
  config::Flags given;
  for (const auto& [name, text] : texts) {
    if (command.get_option(config::flag_for(name))->count() > 0) {
      given[name] = text;
    }
  }
  return given;
}

}  // namespace hk::cli
