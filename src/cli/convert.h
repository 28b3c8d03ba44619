/// hikyaku convert: a data directory of development gets credentials of its own.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "config/options.h"

namespace hk::cli {

void add_convert(CLI::App& app, int& code);

/// Of a stopped server, in one commit: a new token and new signing keys for the tenant `default`,
/// and the mark of development is gone. Prints them once.
int convert(const config::Options& options, bool json);

}  // namespace hk::cli
