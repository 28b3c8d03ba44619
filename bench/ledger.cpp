/// How many transfers a second the ledger's core makes durable, without the network: batches of
/// transfers through one partition on RocksDB, synced after each batch.
///
///   ledger DIRECTORY [BATCH [ACCOUNTS [SECONDS]]]      defaults: 8192 1000 5
///
/// Prints one line of JSON: transfers a second, CPU time and puts of a transfer, bytes in the
/// store.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/ledger/commands.h"
#include "engine/partition.h"
#include "engine/zone/zone_cache.h"
#include "store/rocksdb/rocksdb_store.h"

namespace hk::bench {
namespace {

namespace ledger = core::ledger;

[[noreturn]] void stop(const Error& error) {
  std::fprintf(stderr, "ledger: %s\n", error.message.c_str());
  std::exit(1);
}

template <class T>
T take(Result<T> result) {
  if (!result) {
    stop(result.error());
  }
  return std::move(*result);
}

double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

class Bench {
 public:
  explicit Bench(const std::string& directory)
      : store_(take(store::open_rocksdb({.path = directory, .create = true}))),
        partition_(core::Limits{}, *store_, rng_, zones_, std::size_t{64} << 20U) {
    if (auto opened = partition_.open(now()); !opened) {
      stop(opened.error());
    }
    core::UpsertTenant tenant;
    tenant.tenant.name = "bench";
    submit(std::move(tenant));
  }

  /// Its rows.
  std::size_t submit(core::Command command) {
    std::vector<engine::Submission> batch;
    batch.push_back({std::move(command), {}, nullptr});
    const auto written = take(partition_.run(now(), batch));
    for (const core::Reply& reply : written.replies) {
      if (!reply) {
        stop(reply.error());
      }
      if (const auto* const applied = reply->get_if<ledger::LedgerApplied>()) {
        for (const ledger::ItemResult& one : applied->results) {
          if (!one) {
            stop({ErrorKind::internal, one.error()->detail});
          }
        }
      }
    }
    take(store_->sync());
    return written.mutations;
  }

  void accounts(std::size_t count) {
    for (std::size_t made = 0; made < count;) {
      ledger::Apply apply{.tenant = core::TenantId{1}, .book = "main"};
      for (std::size_t i = 0; i < ledger::batch_items_max && made < count; ++i, ++made) {
        apply.items.push_back(
            {.operation = ledger::CreateAccount{.id = "account:" + std::to_string(made),
                                                .type = ledger::AccountType::liability}});
      }
      submit(std::move(apply));
    }
  }

  void transfers(std::size_t batch, std::size_t accounts, double seconds) {
    std::size_t count = 0;
    std::size_t puts = 0;
    double cpu = 0;
    double elapsed = 0;
    while (elapsed < seconds) {
      ledger::Apply apply{.tenant = core::TenantId{1}, .book = "main"};
      apply.items.reserve(batch);
      for (std::size_t i = 0; i < batch; ++i) {
        ledger::CreateTransaction create;
        create.entries.resize(2);
        create.entries[0] = {.account = "account:" + std::to_string(rng_.below(accounts)),
                             .currency = "USD",
                             .amount = 1 + rng_.below(10'000),
                             .side = ledger::Side::debit};
        create.entries[1] = {.account = "account:" + std::to_string(rng_.below(accounts)),
                             .currency = "USD",
                             .amount = create.entries[0].amount,
                             .side = ledger::Side::credit};
        apply.items.push_back({.operation = std::move(create)});
      }
      // What makes the commands is the edge's work, not the core's.
      const double cpu_before = cpu_seconds();
      const auto before = std::chrono::steady_clock::now();
      puts += submit(std::move(apply));
      elapsed += std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
      cpu += cpu_seconds() - cpu_before;
      count += batch;
    }
    const auto of_each = [count](double sum) { return sum / static_cast<double>(count); };
    std::printf(
        "{\"batch\": %zu, \"accounts\": %zu, \"transfers\": %zu, \"per_second\": %.0f, "
        "\"cpu_us\": %.2f, \"puts\": %.3f}\n",
        batch, accounts, count, static_cast<double>(count) / elapsed, of_each(cpu) * 1e6,
        of_each(static_cast<double>(puts)));
  }

 private:
  static Moment now() {
    return std::chrono::time_point_cast<Millis>(std::chrono::system_clock::now());
  }

  SeededRng rng_{1};
  engine::ZoneCache zones_;
  std::unique_ptr<store::DurableStore> store_;
  engine::Partition partition_;
};

}  // namespace
}  // namespace hk::bench

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: ledger DIRECTORY [BATCH [ACCOUNTS [SECONDS]]]\n");
    return 2;
  }
  const auto number = [&](int at, unsigned long otherwise) {
    return argc > at ? std::strtoul(argv[at], nullptr, 10) : otherwise;
  };
  const std::size_t accounts = number(3, 1000);
  hk::bench::Bench bench(argv[1]);
  bench.accounts(accounts);
  bench.transfers(number(2, 8192), accounts, static_cast<double>(number(4, 5)));
  return 0;
}
