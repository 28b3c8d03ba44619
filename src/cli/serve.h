/// `hikyaku serve`: wires store, engine, edge, adapters and delivery together, and takes them down
/// again in the order in which nothing is lost.
#pragma once

#include "config/options.h"

namespace hk::cli {

/// Returns when asked to stop (SIGTERM, SIGINT) or when it cannot start; the exit code of the
/// process.
int serve(const config::Options& options);

}  // namespace hk::cli
