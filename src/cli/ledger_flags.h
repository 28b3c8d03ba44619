/// The commands below `hikyaku ledger` on the command line.
#pragma once

#include <CLI/CLI.hpp>

namespace hk::cli {

/// `code` outlives the parsing; it becomes the exit code of the command that was chosen.
void add_ledger(CLI::App& app, int& code);

}  // namespace hk::cli
