/// The flags of hikyaku sources.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/remote_flags.h"
#include "cli/sources.h"

namespace hk::cli {

/// Sets `code` when one of its commands was chosen.
void add_sources(CLI::App& app, RemoteFlags& remote, SourceArguments& arguments, int& code);

}  // namespace hk::cli
