#include "sim/several.h"

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/assert.h"

namespace hk::sim {

namespace {

/// One of them runs at a time; who is next is drawn.
class Turns {
 public:
  Turns(std::size_t count, std::uint64_t seed) : rng_(seed), here_(count, true) {}

  void wait(std::size_t who) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return now_ == who; });
  }
  void pass(std::size_t who) {
    {
      const std::lock_guard lock(mutex_);
      draw();
    }
    changed_.notify_all();
    wait(who);
  }
  void leave(std::size_t who) {
    {
      const std::lock_guard lock(mutex_);
      here_[who] = false;
      draw();
    }
    changed_.notify_all();
  }

 private:
  void draw() {
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < here_.size(); ++i) {
      if (here_[i]) {
        left.push_back(i);
      }
    }
    now_ = left.empty() ? here_.size() : left[rng_.below(left.size())];
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  SeededRng rng_;
  std::vector<bool> here_;
  std::size_t now_ = 0;
};

constexpr std::uint64_t events_per_turn = 32;

Simulation::Options options_of(const Simulation::Options& all, std::uint16_t number) {
  Simulation::Options own = all;
  own.seed = all.seed + number;
  own.partition = core::PartitionId{number};
  return own;
}

}  // namespace

Outcome run_several(const Simulation::Options& options, std::uint16_t partitions) {
  HK_ASSERT(partitions > 0);
  std::vector<std::uint64_t> alone;
  for (std::uint16_t i = 0; i < partitions; ++i) {
    alone.push_back(Simulation(options_of(options, i)).run().digest);
  }

  Turns turns(partitions, options.seed);
  std::vector<std::unique_ptr<Simulation>> all;
  std::vector<std::optional<Outcome>> outcomes(partitions);
  std::vector<std::exception_ptr> failures(partitions);
  for (std::uint16_t i = 0; i < partitions; ++i) {
    Simulation::Options own = options_of(options, i);
    own.turn = [&turns, i, events = std::uint64_t{0}]() mutable {
      if (++events % events_per_turn == 0) {
        turns.pass(i);
      }
    };
    own.report_to = [&all, &outcomes](core::PartitionId partition, Op op) {
      const std::size_t to = partition.value();
      require(to < all.size(), "partitions", "an outcome for one that is not there");
      if (!outcomes[to]) {
        all[to]->report_here(std::move(op));
      }
    };
    all.push_back(std::make_unique<Simulation>(own));
  }
  std::vector<std::thread> threads;
  for (std::uint16_t i = 0; i < partitions; ++i) {
    threads.emplace_back([&, i] {
      turns.wait(i);
      try {
        outcomes[i] = all[i]->run();
      } catch (...) {
        failures[i] = std::current_exception();
      }
      turns.leave(i);
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }

  Outcome sum;
  for (std::uint16_t i = 0; i < partitions; ++i) {
    if (failures[i]) {
      std::rethrow_exception(failures[i]);
    }
    require(outcomes[i]->digest == alone[i], "partitions",
            "partition " + std::to_string(i) + " does not do what it does alone");
    sum.steps += outcomes[i]->steps;
    sum.batches += outcomes[i]->batches;
    sum.acks += outcomes[i]->acks;
    sum.deliveries += outcomes[i]->deliveries;
    sum.attempts += outcomes[i]->attempts;
    sum.crashes += outcomes[i]->crashes;
    sum.scans += outcomes[i]->scans;
    sum.virtual_hours += outcomes[i]->virtual_hours;
    sum.digest = sum.digest * 1'000'003 + outcomes[i]->digest;
  }
  return sum;
}

}  // namespace hk::sim
