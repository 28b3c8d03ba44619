/// What is said of a command line that cannot be understood.
#pragma once

#include <CLI/CLI.hpp>

namespace hk::cli {

/// Says what was wrong with it and where to look, or prints the help or version that was asked for;
/// the exit code.
int refuse_usage(const CLI::App& app, const CLI::ParseError& error);

}  // namespace hk::cli
