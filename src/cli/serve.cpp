#include "cli/serve.h"

#include <fmt/core.h>

#include "cli/daemon.h"
#include "cli/exit_code.h"
#include "cli/process.h"
#include "observe/log.h"

namespace hk::cli {

namespace {

using observe::Level;

int refuse_to_start(const Error& error) {
  fmt::print(stderr, "hikyaku: {}\n", error.message);
  const int code = exit_code_of(error.kind);
  return code == exit_failed ? static_cast<int>(exit_usage) : code;
}

}  // namespace

int serve(const config::Options& options) {
  harden_process();
  const sigset_t signals = block_stop_signals();
  observe::set_log_level(observe::parse_level(options.log_level).value_or(Level::info));
  if (!options.log_file.empty() && !observe::set_log_file(options.log_file)) {
    fmt::print(stderr, "hikyaku: cannot open the log file {}\n", options.log_file);
    return exit_usage;
  }
  for (const std::string& warning : options.warnings) {
    fmt::print(stderr, "hikyaku: {}\n", warning);
  }

  Daemon daemon(options);
  if (auto started = daemon.start(); !started) {
    const int code = refuse_to_start(started.error());
    daemon.stop();
    return code;
  }
  daemon.print_welcome();
  for (;;) {
    const timespec pause{1, 0};
    const int signal = sigtimedwait(&signals, nullptr, &pause);
    daemon.look_around();
    if (signal == SIGHUP) {
      daemon.reload();
    } else if (signal == SIGTERM || signal == SIGINT) {
      break;
    }
  }
  daemon.stop();
  return daemon.failed() ? exit_store : exit_ok;
}

}  // namespace hk::cli
