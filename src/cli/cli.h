/// The command line: every command, its arguments and its help.
#pragma once

namespace hk::cli {

/// The exit code of the process.
int run(int argc, char** argv);

}  // namespace hk::cli
