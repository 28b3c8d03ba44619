#include "cli/serve.h"

#include "cli/daemon.h"
#include "cli/descriptors.h"
#include "cli/exit_code.h"
#include "cli/process.h"
#include "observe/log.h"

namespace hk::cli {

namespace {

using observe::Level;

int refuse_to_start(const Error& error, bool at_disk) {
  tell("hikyaku: " + error.message);
  const int code = at_disk ? exit_code_of_disk(error.kind) : exit_code_of(error.kind);
  return code == exit_failed ? static_cast<int>(exit_usage) : code;
}

}  // namespace

int serve(const config::Options& given) {
  harden_process();
  const sigset_t signals = block_stop_signals();
  config::Options options = given;
  observe::set_log_level(observe::parse_level(options.log_level).value_or(Level::info));
  if (!options.log_file.empty() && !observe::set_log_file(options.log_file)) {
    tell("hikyaku: cannot open the log file " + options.log_file);
    return exit_usage;
  }
  const auto warning = share_descriptors(descriptor_limit(), options);
  if (!warning) {
    return refuse_to_start(warning.error(), false);
  }
  if (*warning) {
    options.warnings.push_back(**warning);
  }
  for (const std::string& one : options.warnings) {
    tell("hikyaku: " + one);
  }

  Daemon daemon(options);
  if (auto started = daemon.start(); !started) {
    const int code = refuse_to_start(started.error(), daemon.failed_at_disk());
    const int failed_with = daemon.failed_with();  // then that is the reason
    daemon.stop();
    return failed_with != 0 ? failed_with : code;
  }
  daemon.print_welcome();
  daemon.accept();
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
  return daemon.failed_with();
}

}  // namespace hk::cli
