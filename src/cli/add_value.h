/// An option or argument with its placeholder in the help.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace hk::cli {

/// `into` outlives the parsing.
template <class Value>
CLI::Option* add_value(CLI::App& command, const std::string& name, Value& into,
                       const std::string& placeholder, const std::string& help) {
  return command.add_option(name, into, help)->option_text(placeholder);
}

}  // namespace hk::cli
