#include "sim/shrink.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <exception>
#include <limits>

#include "base/assert.h"
#include "sim/knobs.h"

namespace hk::sim {

namespace {

constexpr double cpu_seconds_max = 60;

// In the process of a run.
int answer_to = -1;
const Simulation* running = nullptr;

/// "12 invariant", or nothing.
[[noreturn]] void answer(const std::string& invariant) {
  const std::string text =
      invariant.empty() ? "" : std::to_string(running->decisions()) + ' ' + invariant;
  const auto written = ::write(answer_to, text.data(), text.size());
  _exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
}

[[noreturn]] void run_and_answer(const Simulation::Options& options) {
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
  Simulation simulation(options);
  running = &simulation;
  std::signal(SIGABRT, [](int) { answer("assertion"); });
  std::string invariant;
  try {
    simulation.run();
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

/// Of all runs so far.
double cpu_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

/// The smallest failure so far.
class Shrinker {
 public:
  Shrinker(Simulation::Options options, Broken by)
      : best(std::move(options)), broken(std::move(by)) {
    SeededRng rng(best.seed);
    drawn_ = draw_config(rng, best.seed);
  }

  [[nodiscard]] bool time_left() const { return cpu_seconds() < end_; }

  /// One pass; did something become smaller?
  bool lower_knobs() {
    bool smaller = false;
    for (const Knob& knob : knobs()) {
      for (const std::uint64_t value :
           lower_values(knob, knob.get(turned(drawn_, best.settings)))) {
        if (time_left() && fails(knob.name, value, broken.decisions)) {
          smaller = true;
          break;
        }
      }
    }
    return smaller;
  }

  /// The same configuration under other luck.
  bool roll_again() {
    const std::uint64_t before = broken.decisions;
    for (std::uint64_t i = 0; i < rolls && time_left() && broken.decisions > 1; ++i) {
      fails("dice", ++dice_, broken.decisions - 1);
    }
    return broken.decisions < before;
  }

  Simulation::Options best;
  Broken broken;

 private:
  /// Takes over what breaks the same with so many decisions at most.
  bool fails(const char* knob, std::uint64_t value, std::uint64_t decisions_max) {
    Simulation::Options candidate = best;
    candidate.settings[knob] = value;
    candidate.decisions_max = decisions_max;
    const auto found = broken_by(candidate);
    if (!found || found->invariant != broken.invariant) {
      return false;
    }
    candidate.decisions_max = 0;
    best = std::move(candidate);
    broken = *found;
    return true;
  }

  static constexpr std::uint64_t rolls = 100;
  Config drawn_;
  std::uint64_t dice_ = 0;
  const double end_ = cpu_seconds() + cpu_seconds_max;
};

}  // namespace

std::optional<Broken> broken_by(const Simulation::Options& options) {
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
  if (!WIFEXITED(status)) {
    return Broken{"signal", std::numeric_limits<std::uint64_t>::max()};
  }
  if (text.empty()) {
    return std::nullopt;
  }
  return Broken{text.substr(text.find(' ') + 1), std::stoull(text)};
}

Simulation::Options shrink(Simulation::Options options, Broken& broken) {
  Shrinker shrinker(std::move(options), broken);
  while (shrinker.lower_knobs() || shrinker.roll_again()) {
  }
  broken = shrinker.broken;
  return shrinker.best;
}

}  // namespace hk::sim
