/// What a tick costs the core thread when there are many schedules: the real partition over RocksDB
/// in a directory that is removed again, in virtual time, without syncs.
///
///   schedules [directory]
///
/// For each number of schedules: a minute in which 100 of them run, and one in which all do.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/partition.h"
#include "engine/zone/zone_cache.h"
#include "store/rocksdb/rocksdb_store.h"

namespace hk::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::size_t commands_per_batch = 512;
constexpr Millis minute{60'000};

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

[[noreturn]] void stop(const Error& error) {
  std::fprintf(stderr, "schedules: %s\n", error.message.c_str());
  std::exit(1);
}

class Bench {
 public:
  explicit Bench(const std::string& directory) : directory_(directory) {
    fs::remove_all(directory_);
    auto opened = store::open_rocksdb({.path = directory_});
    if (!opened) {
      stop(opened.error());
    }
    store_ = std::move(*opened);
    partition_ = std::make_unique<engine::Partition>(core::Limits{}, *store_, rng_, zones_,
                                                     std::size_t{64} << 20U);
    if (auto done = partition_->open(now_); !done) {
      stop(done.error());
    }
    std::vector<core::Command> first;
    first.emplace_back(core::UpsertTenant{.tenant = {.name = "bench"}});
    run(std::move(first));
  }
  ~Bench() {
    partition_.reset();
    (void)store_->close();
    store_.reset();
    fs::remove_all(directory_);
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  /// Milliseconds for all of them.
  double put(std::size_t first, std::size_t last, const std::string& cron) {
    const auto start = Clock::now();
    for (std::size_t at = first; at < last;) {
      std::vector<core::Command> batch;
      for (; at < last && batch.size() < commands_per_batch; ++at) {
        core::UpsertSchedule upsert;
        upsert.schedule.tenant = core::TenantId{1};
        upsert.schedule.id = "schedule-" + std::to_string(at);
        upsert.schedule.cron = cron;
        upsert.schedule.delay =
            Millis{30LL * 86'400'000};  // nothing starts: only runs are measured
        upsert.schedule.prototype.url = "https://example.com/hook";
        upsert.schedule.prototype.host = "https://example.com:443";
        upsert.schedule.prototype.body = "tick";
        upsert.schedule.prototype.timeout = Millis{1000};
        batch.emplace_back(std::move(upsert));
      }
      run(std::move(batch));
    }
    return ms_since(start);
  }

  /// Milliseconds until everything that is due at the next minute has run.
  double tick() {
    now_ = std::chrono::floor<std::chrono::minutes>(now_) + minute;
    const auto start = Clock::now();
    do {
      run({});
    } while (partition_->wake_at() <= now_);
    return ms_since(start);
  }

 private:
  void run(std::vector<core::Command> commands) {
    std::vector<engine::Submission> batch;
    for (core::Command& command : commands) {
      batch.push_back({std::move(command), {}, nullptr});
    }
    const auto written = partition_->run(now_, batch);
    if (!written) {
      stop(written.error());
    }
    for (const core::Reply& reply : written->replies) {
      if (!reply) {
        stop(reply.error());
      }
    }
  }

  const std::string directory_;
  Moment now_ = moment_from_ms(1'700'000'010'000);
  SeededRng rng_{1};
  engine::ZoneCache zones_;
  std::unique_ptr<store::DurableStore> store_;
  std::unique_ptr<engine::Partition> partition_;
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void measure(const std::string& directory, std::size_t count) {
  constexpr std::size_t busy = 100;
  constexpr int ticks = 30;
  Bench bench(directory);
  const double made = bench.put(0, busy, "* * * * *") + bench.put(busy, count, "0 0 1 1 *");
  std::vector<double> few;
  for (int i = 0; i < ticks; ++i) {
    few.push_back(bench.tick());
  }
  bench.put(busy, count, "* * * * *");
  std::vector<double> all;
  for (int i = 0; i < 3; ++i) {
    all.push_back(bench.tick());
  }
  const auto per = [count](double ms) { return ms * 1000 / static_cast<double>(count); };
  std::printf("%9zu %16.1f %20.2f %20.1f %16.1f\n", count, per(made), median(few), median(all),
              per(median(all)));
  std::fflush(stdout);
}

}  // namespace
}  // namespace hk::bench

int main(int count, char** words) {
  const std::string directory =
      count > 1 ? words[1] : (std::filesystem::temp_directory_path() / "hikyaku-bench").string();
  std::printf("%9s %16s %20s %20s %16s\n", "schedules", "us to make one", "ms, 100 of them run",
              "ms, all of them run", "us per run");
  for (const std::size_t schedules : {1'000U, 10'000U, 100'000U}) {
    hk::bench::measure(directory, schedules);
  }
  return 0;
}
