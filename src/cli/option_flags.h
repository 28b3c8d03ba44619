/// The flags that a command has for the settings of a table.
#pragma once

#include <map>
#include <string>

#include "config/loader.h"

namespace CLI {
class App;
}

namespace hk::cli {

/// What the parser fills in, by the option's name. It outlives the parsing.
using OptionTexts = std::map<std::string, std::string>;

void add_option_flags(CLI::App& command, const config::OptionTable& table, OptionTexts& texts);

/// Those that stood on the command line. REQUIRES: add_option_flags() made them.
config::Flags flags_given(const CLI::App& command, const OptionTexts& texts);

}  // namespace hk::cli
