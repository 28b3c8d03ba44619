// hk_sim: runs seeds, says what they reached, and how to see a failure again.
#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "base/sometimes.h"
#include "sim/knobs.h"
#include "sim/shrink.h"
#include "sim/simulation.h"

namespace {

using hk::sim::Outcome;
using hk::sim::Simulation;

struct Arguments {
  std::uint64_t first = 1;
  std::uint64_t last = 100;
  bool many = true;
  Simulation::Options options{};
  std::string plant{};
  bool expect_caught = false;
  bool check_marks = false;
  bool quiet = false;
  bool shrink = false;
};

int usage() {
  std::puts(
      "hk_sim --seed N | --seeds A..B [--hours H] [--trace] [--quiet] [--marks]\n"
      "       [--plant NAME] [--expect-caught] [--set KNOB=N,...] [--shrink]\n"
      "  --marks          fail if a SOMETIMES mark was never reached\n"
      "  --plant          switch a known defect on\n"
      "  --expect-caught  succeed only if some seed fails\n"
      "  --set            part of the run smaller than the seed drew it\n"
      "  --shrink         find the smallest such part of a seed that fails");
  return 2;
}

std::optional<Arguments> parse(int count, char** words) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const bool more = i + 1 < count;
    if (word == "--seed" && more) {
      arguments.first = arguments.last = std::stoull(words[++i]);
      arguments.many = false;
    } else if (word == "--seeds" && more) {
      const std::string range = words[++i];
      const std::size_t dots = range.find("..");
      if (dots == std::string::npos) {
        return std::nullopt;
      }
      arguments.first = std::stoull(range.substr(0, dots));
      arguments.last = std::stoull(range.substr(dots + 2));
    } else if (word == "--hours" && more) {
      arguments.options.hours = std::stod(words[++i]);
    } else if (word == "--jobs" && more) {
      ++i;  // one thread, always: kept so that callers can say so
    } else if (word == "--plant" && more) {
      arguments.plant = words[++i];
      if (!hk::sim::switch_on(arguments.options.plants, arguments.plant)) {
        std::printf("no plant named %s\n", arguments.plant.c_str());
        return std::nullopt;
      }
    } else if (word == "--set" && more) {
      const auto settings = hk::sim::parse_settings(words[++i]);
      if (!settings) {
        std::printf("not settings of this simulator: %s\n", words[i]);
        return std::nullopt;
      }
      arguments.options.settings = *settings;
    } else if (word == "--shrink") {
      arguments.shrink = true;
    } else if (word == "--trace") {
      arguments.options.trace = true;
    } else if (word == "--expect-caught") {
      arguments.expect_caught = true;
    } else if (word == "--marks") {
      arguments.check_marks = true;
    } else if (word == "--quiet") {
      arguments.quiet = true;
    } else {
      return std::nullopt;
    }
  }
  return arguments;
}

// An assertion of the core ends the process: say first which seed it was.
const Simulation* running = nullptr;
std::uint64_t running_seed = 0;
Arguments given;

void tell_command(const char* what, std::uint64_t seed, const hk::sim::Settings& settings,
                  const char* last) {
  std::printf("%s: hk_sim --seed %llu%s%s%s%s %s\n", what, static_cast<unsigned long long>(seed),
              given.options.hours > 0 ? " --hours " : "",
              given.options.hours > 0 ? std::to_string(given.options.hours).c_str() : "",
              given.plant.empty() ? "" : (" --plant " + given.plant).c_str(),
              settings.empty() ? "" : (" --set " + hk::sim::to_text(settings)).c_str(), last);
  std::fflush(stdout);
}

void tell_failure(const std::string& invariant, const std::string& detail) {
  std::printf("FAILED seed %llu: %s: %s\n", static_cast<unsigned long long>(running_seed),
              invariant.c_str(), detail.c_str());
  if (!given.expect_caught) {
    for (const std::string& line : running->trace().last()) {
      std::printf("  %s\n", line.c_str());
    }
  }
  tell_command("replay", running_seed, given.options.settings, "--trace");
}

/// A failure that nobody expected is made smaller at once, by a process that nothing has happened
/// to yet. Comes back only if that cannot be started.
void shrink_failure() {
  if (given.expect_caught || given.options.trace || !given.options.settings.empty()) {
    return;
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);  // an abort is blocked while one is handled
  const std::string seed = std::to_string(running_seed);
  const std::string hours = std::to_string(given.options.hours);
  std::vector<const char*> words{"hk_sim",  "--seed",      seed.c_str(),
                                 "--hours", hours.c_str(), "--shrink"};
  if (!given.plant.empty()) {
    words.insert(words.end(), {"--plant", given.plant.c_str()});
  }
  words.push_back(nullptr);
  execv("/proc/self/exe", const_cast<char* const*>(words.data()));
}

/// The exit code of a failure: a planted defect that was seen is a success.
int code_of_failure(bool under_way) { return given.expect_caught && under_way ? 0 : 1; }

void on_abort(int) {
  std::signal(SIGABRT, SIG_DFL);
  tell_failure("assertion", "the core stopped itself; its message is above");
  shrink_failure();
  _exit(code_of_failure(running->under_way()));
}

/// False: it failed, and that was told.
bool run_seed(std::uint64_t seed, Outcome& outcome, bool& under_way) {
  Simulation::Options options = given.options;
  options.seed = seed;
  Simulation simulation(options);
  running = &simulation;
  running_seed = seed;
  try {
    outcome = simulation.run();
    return true;
  } catch (const hk::sim::Violation& violation) {
    tell_failure(violation.invariant, violation.what());
  } catch (const std::exception& error) {
    tell_failure("exception", error.what());
  }
  under_way = simulation.under_way();
  return false;
}

/// Fails unless the seed fails, too, and the smaller run that is told does so again.
int shrink_seed() {
  Simulation::Options options = given.options;
  options.seed = given.first;
  const std::string invariant = hk::sim::broken_by(options);
  if (invariant.empty()) {
    std::printf("seed %llu does not fail\n", static_cast<unsigned long long>(options.seed));
    return 1;
  }
  const Simulation::Options smaller = hk::sim::shrink(options, invariant);
  std::printf("shrunk: %s\n", invariant.c_str());
  tell_command("replay", smaller.seed, smaller.settings, "--trace");
  const bool again = hk::sim::broken_by(smaller) == invariant;
  return given.expect_caught && again && !smaller.settings.empty() ? 0 : 1;
}

int marks_missing() {
  int missing = 0;
  for (const auto& [name, hits] : hk::SometimesMark::all()) {
    if (hits == 0) {
      std::printf("NEVER REACHED: %s\n", name.c_str());
      ++missing;
    }
  }
  return missing;
}

}  // namespace

int main(int count, char** words) {
  const auto parsed = parse(count, words);
  if (!parsed) {
    return usage();
  }
  given = *parsed;
  if (given.shrink) {
    return shrink_seed();
  }
  std::signal(SIGABRT, on_abort);

  Outcome total;
  const std::clock_t began = std::clock();
  for (std::uint64_t seed = given.first; seed <= given.last; ++seed) {
    Outcome outcome;
    bool under_way = false;
    bool good = run_seed(seed, outcome, under_way);
    if (good && given.many && seed % 50 == 0) {  // the canary of determinism
      Outcome again;
      good = run_seed(seed, again, under_way);
      if (good && again.digest != outcome.digest) {
        std::printf("FAILED seed %llu: determinism: the same seed ran differently\n",
                    static_cast<unsigned long long>(seed));
        good = false;
      }
    }
    if (!good) {
      shrink_failure();
      return code_of_failure(under_way);
    }
    if (!given.quiet) {
      std::printf(
          "seed %llu  steps %llu  virtual hours %.2f  acks %llu  attempts %llu  "
          "crashes %llu  store faults %llu  digest %016llx\n",
          static_cast<unsigned long long>(seed), static_cast<unsigned long long>(outcome.steps),
          outcome.virtual_hours, static_cast<unsigned long long>(outcome.acks),
          static_cast<unsigned long long>(outcome.attempts),
          static_cast<unsigned long long>(outcome.crashes),
          static_cast<unsigned long long>(outcome.store_faults),
          static_cast<unsigned long long>(outcome.digest));
    }
    total.steps += outcome.steps;
    total.batches += outcome.batches;
    total.acks += outcome.acks;
    total.attempts += outcome.attempts;
    total.crashes += outcome.crashes;
    total.store_faults += outcome.store_faults;
    total.scans += outcome.scans;
    total.virtual_hours += outcome.virtual_hours;
    total.digest = total.digest * 1'000'003 + outcome.digest;
  }
  // Time of the processor, not of the clock: it says the same on a busy machine.
  const double seconds = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
  const double minutes = seconds / 60;
  std::printf(
      "%llu seeds in %.1f CPU seconds (%.0f per minute): %llu steps, %llu batches, %.0f virtual "
      "hours "
      "(%.0f per minute), %llu acks, %llu attempts, %llu crashes, %llu store faults, "
      "%llu scans, digest %016llx\n",
      static_cast<unsigned long long>(given.last - given.first + 1), seconds,
      static_cast<double>(given.last - given.first + 1) / minutes,
      static_cast<unsigned long long>(total.steps), static_cast<unsigned long long>(total.batches),
      total.virtual_hours, total.virtual_hours / minutes,
      static_cast<unsigned long long>(total.acks), static_cast<unsigned long long>(total.attempts),
      static_cast<unsigned long long>(total.crashes),
      static_cast<unsigned long long>(total.store_faults),
      static_cast<unsigned long long>(total.scans), static_cast<unsigned long long>(total.digest));
  if (given.expect_caught) {
    std::puts("the planted defect was not caught");
    return 1;
  }
  return given.check_marks && marks_missing() > 0 ? 1 : 0;
}
