// hk_sim: runs seeds, says what they reached, and how to see a failure again.
#include <unistd.h>
#include <algorithm>
#include <array>
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
#include "sim/several.h"
#include "sim/shrink.h"
#include "sim/simulation.h"
#include "sim/webhooks.h"

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
  bool matrix = false;
  bool webhooks = false;         ///< a server of webhooks as well
  std::uint16_t partitions = 0;  ///< 0: one, that nobody looks at beside others
};

int usage() {
  std::puts(
      "hk_sim --seed N | --seeds A..B [--hours H] [--trace] [--quiet] [--marks]\n"
      "       [--plant NAME] [--expect-caught] [--set KNOB=N,...] [--shrink]\n"
      "       [--matrix] [--crash power|process/POINT:N/...] [--partitions N]\n"
      "  --webhooks       a server of webhooks beside each seed: some seconds of CPU each\n"
      "  --marks          fail if a SOMETIMES mark was never reached\n"
      "  --plant          switch a known defect on\n"
      "  --expect-caught  succeed only if some seed fails\n"
      "  --set            part of the run smaller than the seed drew it\n"
      "  --shrink         find the smallest such part of the first seed that fails\n"
      "  --matrix         each seed once for every crash plan; fail if a point was never reached\n"
      "  --crash          one of these plans\n"
      "  --partitions     so many seeds in one process, each as it runs alone");
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
    } else if (word == "--crash" && more) {
      const auto plan = hk::sim::parse_crash_plan(words[++i]);
      if (!plan) {
        std::printf("not a crash plan: %s\n", words[i]);
        return std::nullopt;
      }
      arguments.options.crash = *plan;
    } else if (word == "--partitions" && more) {
      arguments.partitions = static_cast<std::uint16_t>(std::stoul(words[++i]));
    } else if (word == "--matrix") {
      arguments.matrix = true;
    } else if (word == "--webhooks") {
      arguments.webhooks = true;
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
bool in_webhooks = false;  ///< the part of the seed that is about them
Arguments given;

void tell_command(const char* what, std::uint64_t seed, const hk::sim::Settings& settings,
                  const char* last) {
  const hk::sim::CrashPlan& crash = given.options.crash;
  std::printf("%s: hk_sim --seed %llu%s%s%s%s%s %s\n", what, static_cast<unsigned long long>(seed),
              given.options.hours > 0 ? " --hours " : "",
              given.options.hours > 0 ? std::to_string(given.options.hours).c_str() : "",
              given.plant.empty() ? "" : (" --plant " + given.plant).c_str(),
              settings.empty() ? "" : (" --set " + hk::sim::to_text(settings)).c_str(),
              crash.steps.empty() ? "" : (" --crash " + hk::sim::to_text(crash)).c_str(), last);
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
  if (given.expect_caught || given.options.trace || !given.options.settings.empty() ||
      in_webhooks) {
    return;
  }
  std::fflush(stdout);  // what was told so far would be lost with this program
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
  _exit(code_of_failure(running->under_way() || in_webhooks));
}

/// False: it failed, and that was told.
bool run_seed(std::uint64_t seed, Outcome& outcome, bool& under_way,
              hk::sim::CrashProgress* progress = nullptr) {
  Simulation::Options options = given.options;
  options.seed = seed;
  Simulation simulation(options);
  running = &simulation;
  running_seed = seed;
  try {
    outcome = simulation.run();
    if (given.webhooks) {
      in_webhooks = true;
      outcome.digest ^= hk::sim::WebhookSimulation(seed).run();
      in_webhooks = false;
    }
    if (progress != nullptr) {
      *progress = simulation.crash_progress();
    }
    return true;
  } catch (const hk::sim::Violation& violation) {
    tell_failure(violation.invariant, violation.what());
  } catch (const std::exception& error) {
    tell_failure("exception", error.what());
  }
  under_way = simulation.under_way() || in_webhooks;
  return false;
}

/// The first seed that fails. Fails unless there is one and the smaller run that is told fails
/// again.
int shrink_first() {
  Simulation::Options options = given.options;
  std::optional<hk::sim::Broken> broken;
  for (options.seed = given.first; !(broken = hk::sim::broken_by(options)); ++options.seed) {
    if (options.seed == given.last) {
      std::puts("no seed fails");
      return 1;
    }
  }
  const std::uint64_t before = broken->decisions;
  const Simulation::Options smaller = hk::sim::shrink(options, *broken);
  std::printf("shrunk: %s: %llu decisions of %llu\n", broken->invariant.c_str(),
              static_cast<unsigned long long>(broken->decisions),
              static_cast<unsigned long long>(before));
  tell_command("replay", smaller.seed, smaller.settings, "--trace");
  const auto again = hk::sim::broken_by(smaller);
  const bool same = again && again->invariant == broken->invariant;
  return given.expect_caught && same && !smaller.settings.empty() ? 0 : 1;
}

/// Each seed once for every crash plan, with no other faults. Fails if a point was never reached.
int run_matrix() {
  using hk::sim::point_count;
  std::array<std::array<std::uint64_t, 2>, point_count> deaths{};  // by process, by power
  std::array<std::uint64_t, point_count> passages{};
  std::uint64_t runs = 0;
  std::uint64_t crashes = 0;
  std::uint64_t scans = 0;
  const hk::sim::Settings asked = given.options.settings;
  given.options.settings = {{"ops", 150},           {"crash_every", 0}, {"crash_at_release", 0},
                            {"fail_write", 0},      {"fail_sync", 0},   {"crash_in_recovery", 0},
                            {"disk_full_every", 0}, {"fail_read", 0}};
  for (const auto& [name, value] : asked) {
    given.options.settings[name] = value;
  }
  for (std::uint64_t seed = given.first; seed <= given.last; ++seed) {
    for (const hk::sim::CrashPlan& plan : hk::sim::crash_plans(seed)) {
      given.options.crash = plan;
      Outcome outcome;
      hk::sim::CrashProgress progress;
      bool under_way = false;
      if (!run_seed(seed, outcome, under_way, &progress)) {
        return code_of_failure(under_way);
      }
      ++runs;
      crashes += outcome.crashes;
      scans += outcome.scans;
      for (std::size_t i = 0; i < point_count; ++i) {
        passages[i] += progress.passages[i];
      }
      for (std::size_t i = 0; i < progress.done; ++i) {
        ++deaths[static_cast<std::size_t>(plan.steps[i].point)][plan.power_cut ? 1 : 0];
      }
    }
  }
  bool all = true;
  for (std::size_t i = 0; i < point_count; ++i) {
    all = all && deaths[i][0] > 0 && deaths[i][1] > 0;
    std::printf("%-17s passed %9llu  process deaths %5llu  power cuts %5llu\n",
                name_of(static_cast<hk::sim::Point>(i)),
                static_cast<unsigned long long>(passages[i]),
                static_cast<unsigned long long>(deaths[i][0]),
                static_cast<unsigned long long>(deaths[i][1]));
  }
  std::printf("crash matrix: %llu runs, %llu crashes, %llu scans%s\n",
              static_cast<unsigned long long>(runs), static_cast<unsigned long long>(crashes),
              static_cast<unsigned long long>(scans), all ? "" : "; A POINT WAS NEVER REACHED");
  return all && !given.expect_caught ? 0 : 1;
}

/// Each seed with those after it, as partitions of one process.
int run_partitions() {
  Simulation::Options options = given.options;
  std::uint64_t runs = 0;
  Outcome total;
  for (options.seed = given.first; options.seed <= given.last; options.seed += given.partitions) {
    try {
      const Outcome outcome = hk::sim::run_several(options, given.partitions);
      total.attempts += outcome.attempts;
      total.crashes += outcome.crashes;
      ++runs;
    } catch (const std::exception& error) {
      std::printf("FAILED seed %llu: partitions: %s\n",
                  static_cast<unsigned long long>(options.seed), error.what());
      return given.expect_caught ? 0 : 1;
    }
  }
  std::printf("%llu runs of %u partitions: %llu attempts, %llu crashes\n",
              static_cast<unsigned long long>(runs), static_cast<unsigned>(given.partitions),
              static_cast<unsigned long long>(total.attempts),
              static_cast<unsigned long long>(total.crashes));
  return given.expect_caught ? 1 : 0;
}

/// What has no clients here: unit tests compare it with a naive reference.
bool is_elsewhere(const std::string& name) {
  constexpr std::array elsewhere = {"ledger_import_",
                                    "ledger_recon_",
                                    "ledger_rollup_",
                                    "ledger_key_",
                                    "ledger_book_importing",
                                    "ledger_in_a_transact",
                                    "ledger_taken_back_in_a_transact",
                                    "webhook_token_",
                                    "webhook_integration_"};
  return std::ranges::any_of(elsewhere, [&name](const char* one) { return name.starts_with(one); });
}

/// What only a server of webhooks can reach.
bool is_of_webhooks(const std::string& name) {
  constexpr std::array prefixes = {"webhook_",
                                   "endpoint_",
                                   "event_",
                                   "delivery_",
                                   "deliveries_",
                                   "hold_",
                                   "held_",
                                   "halted_delivery_",
                                   "ramp_",
                                   "replay_",
                                   "circuit_",
                                   "resent_",
                                   "operational_",
                                   "attempt_expunged",
                                   "payload_expired",
                                   "expunge_task_",
                                   "dead_letter_delivered_",
                                   "background_lane_"};
  return std::ranges::any_of(prefixes, [&name](const char* one) { return name.starts_with(one); });
}

int marks_missing() {
  int missing = 0;
  for (const auto& [name, hits] : hk::SometimesMark::all()) {
    if (hits == 0 && !is_elsewhere(name) && !is_of_webhooks(name)) {
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
    return shrink_first();
  }
  if (given.partitions > 0) {
    return run_partitions();
  }
  std::signal(SIGABRT, on_abort);
  if (given.matrix) {
    return run_matrix();
  }

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
          "crashes %llu  disk faults %llu  digest %016llx\n",
          static_cast<unsigned long long>(seed), static_cast<unsigned long long>(outcome.steps),
          outcome.virtual_hours, static_cast<unsigned long long>(outcome.acks),
          static_cast<unsigned long long>(outcome.attempts),
          static_cast<unsigned long long>(outcome.crashes),
          static_cast<unsigned long long>(outcome.disk_faults()),
          static_cast<unsigned long long>(outcome.digest));
    }
    total.steps += outcome.steps;
    total.batches += outcome.batches;
    total.acks += outcome.acks;
    total.attempts += outcome.attempts;
    total.crashes += outcome.crashes;
    total.failed_reads += outcome.failed_reads;
    total.failed_writes += outcome.failed_writes;
    total.failed_syncs += outcome.failed_syncs;
    total.full_disk += outcome.full_disk;
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
      "(%.0f per minute), %llu acks, %llu attempts, %llu crashes, %llu disk faults "
      "(%llu reads, %llu writes, %llu syncs, %llu on a full disk), %llu scans, digest %016llx\n",
      static_cast<unsigned long long>(given.last - given.first + 1), seconds,
      static_cast<double>(given.last - given.first + 1) / minutes,
      static_cast<unsigned long long>(total.steps), static_cast<unsigned long long>(total.batches),
      total.virtual_hours, total.virtual_hours / minutes,
      static_cast<unsigned long long>(total.acks), static_cast<unsigned long long>(total.attempts),
      static_cast<unsigned long long>(total.crashes),
      static_cast<unsigned long long>(total.disk_faults()),
      static_cast<unsigned long long>(total.failed_reads),
      static_cast<unsigned long long>(total.failed_writes),
      static_cast<unsigned long long>(total.failed_syncs),
      static_cast<unsigned long long>(total.full_disk),
      static_cast<unsigned long long>(total.scans), static_cast<unsigned long long>(total.digest));
  if (given.expect_caught) {
    std::puts("the planted defect was not caught");
    return 1;
  }
  return given.check_marks && marks_missing() > 0 ? 1 : 0;
}
