#include "sim/shrink.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <exception>

#include "base/assert.h"
#include "sim/knobs.h"

namespace hk::sim {

namespace {

constexpr int runs_max = 250;

int answer_to = -1;  ///< in the process of a run

[[noreturn]] void answer(const std::string& invariant) {
  const auto written = ::write(answer_to, invariant.data(), invariant.size());
  _exit(written == static_cast<ssize_t>(invariant.size()) ? 0 : 1);
}

[[noreturn]] void run_and_answer(const Simulation::Options& options) {
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
  std::signal(SIGABRT, [](int) { answer("assertion"); });
  std::string invariant;
  try {
    Simulation(options).run();
  } catch (const Violation& violation) {
    invariant = violation.invariant;
  } catch (const std::exception&) {
    invariant = "exception";
  }
  answer(invariant);
}

/// What the run would be with the knob as far down as it goes, or half, or one.
std::vector<std::uint64_t> lower_values(const Knob& knob, std::uint64_t now) {
  std::vector<std::uint64_t> values;
  for (const std::uint64_t value : {knob.least, now / 4, now / 2, now - now / 8, now - 1}) {
    if (now > knob.least && value >= knob.least && value < now &&
        (values.empty() || value > values.back())) {
      values.push_back(value);
    }
  }
  return values;
}

}  // namespace

std::string broken_by(const Simulation::Options& options) {
  int ends[2] = {-1, -1};
  HK_ASSERT(::pipe2(ends, O_CLOEXEC) == 0);
  const pid_t child = ::fork();
  HK_ASSERT(child >= 0);
  if (child == 0) {
    ::close(ends[0]);
    answer_to = ends[1];
    run_and_answer(options);
  }
  ::close(ends[1]);
  std::string text;
  char part[256];
  for (ssize_t got = 0; (got = ::read(ends[0], part, sizeof part)) > 0;) {
    text.append(part, static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? text : "signal";
}

Simulation::Options shrink(Simulation::Options options, const std::string& invariant) {
  SeededRng rng(options.seed);
  const Config drawn = draw_config(rng);
  int runs = 0;
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (const Knob& knob : knobs()) {
      const std::uint64_t now = knob.get(turned(drawn, options.settings));
      for (const std::uint64_t value : lower_values(knob, now)) {
        if (++runs > runs_max) {
          return options;
        }
        Simulation::Options candidate = options;
        candidate.settings[knob.name] = value;
        if (broken_by(candidate) == invariant) {
          options = std::move(candidate);
          smaller = true;
          break;
        }
      }
    }
  }
  return options;
}

}  // namespace hk::sim
