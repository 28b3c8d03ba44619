/// Fills the data directory of a stopped server with dead letters, by running the real partition
/// on it: publish, attempt, failure. Each leaves four events.
///
///   dead_letters DIRECTORY COUNT
///
/// Prints the id of the last message, to be asked for.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "engine/partition.h"
#include "engine/zone/zone_cache.h"
#include "store/rocksdb/rocksdb_store.h"

namespace hk::bench {
namespace {

constexpr std::size_t messages_per_batch = 512;
constexpr std::size_t batches_per_sync = 64;

[[noreturn]] void stop(const Error& error) {
  std::fprintf(stderr, "dead_letters: %s\n", error.message.c_str());
  std::exit(1);
}

template <class T>
T take(Result<T> result) {
  if (!result) {
    stop(result.error());
  }
  return std::move(*result);
}

core::Command publish(std::size_t number) {
  core::Publish command{.message = std::make_unique<core::Message>()};
  core::Message& message = *command.message;
  message.tenant = core::TenantId{1};
  message.host = "https://receiver" + std::to_string(number % 16) + ".example:443";
  message.url = message.host + "/hook";
  message.body = std::string(256, '.');
  message.labels = {"label-" + std::to_string(number % 100)};
  message.retry.retries_max = 0;
  message.timeout = Millis{1000};
  return command;
}

core::Command failure(const core::StartAttempt& start) {
  core::CompleteAttempt command{.id = start.id, .fence = start.fence};
  command.attempt.started_at = start.started_at;
  command.attempt.ended_at = start.started_at;
  command.attempt.response_status = 500;
  command.attempt.error = "status 500";
  command.attempt.response_body = "no";
  return command;
}

void fill(const std::string& directory, std::size_t count) {
  const std::unique_ptr<store::DurableStore> store =
      take(store::open_rocksdb({.path = directory, .create = false}));
  SeededRng rng{1};
  engine::ZoneCache zones;
  engine::Partition partition(core::Limits{}, *store, rng, zones, std::size_t{64} << 20U);
  const auto now = [] {
    return std::chrono::time_point_cast<Millis>(std::chrono::system_clock::now());
  };
  if (auto opened = partition.open(now()); !opened) {
    stop(opened.error());
  }
  core::MessageId last{};
  std::vector<core::Command> next;
  std::size_t batches = 0;
  for (std::size_t made = 0; made < count || !next.empty();) {
    for (std::size_t i = 0; i < messages_per_batch && made < count; ++i) {
      next.push_back(publish(made++));
    }
    std::vector<engine::Submission> batch;
    for (core::Command& command : next) {
      batch.push_back({std::move(command), {}, nullptr});
    }
    next.clear();
    const auto written = take(partition.run(now(), batch));
    for (const core::Reply& reply : written.replies) {
      if (!reply) {
        stop(reply.error());
      }
    }
    for (const core::Effect& effect : written.effects) {
      if (const auto* start = std::get_if<core::StartAttempt>(&effect)) {
        last = start->id;
        next.push_back(failure(*start));
      }
    }
    if (++batches % batches_per_sync == 0) {
      take(store->sync());
    }
  }
  if (auto closed = store->close(); !closed) {
    stop(closed.error());
  }
  std::printf("%s\n", core::to_text(last).c_str());
}

}  // namespace
}  // namespace hk::bench

int main(int count, char** words) {
  if (count != 3) {
    std::fprintf(stderr, "dead_letters DIRECTORY COUNT\n");
    return 2;
  }
  hk::bench::fill(words[1], std::strtoull(words[2], nullptr, 10));
  return 0;
}
