#include "engine/places.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace hk::engine {
namespace HK_TEST_FILE {

core::PartitionId at(std::uint16_t number) { return core::PartitionId{number}; }

TEST(Places, OnePartitionHasAllOfThemAndKeepsThem) {
  Places places(4096);
  places.open(at(0));

  EXPECT_EQ(places.share(at(0)), 4096U);
  EXPECT_TRUE(places.report(at(0), {.share = 4096, .used = 4096, .wants = true}).empty());
}

TEST(Places, WhatIsTakenFromOneIsAnothersOnlyWhenItsMachineHasGivenItUp) {
  Places places(256);
  places.open(at(0));
  places.open(at(1));
  EXPECT_EQ(places.share(at(1)), 0U);

  const auto taken = places.report(at(1), {.share = 0, .used = 0, .wants = true});
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].partition, at(0));
  EXPECT_EQ(taken[0].share, 192U);
  EXPECT_EQ(places.share(at(1)), 0U);

  // A batch that began before: it may have used what it had.
  EXPECT_TRUE(places.report(at(0), {.share = 256, .used = 200, .wants = false}).empty());
  EXPECT_EQ(places.share(at(1)), 0U);

  const auto given = places.report(at(0), {.share = 192, .used = 190, .wants = false});
  ASSERT_EQ(given.size(), 1U);
  EXPECT_EQ(given[0].partition, at(1));
  EXPECT_EQ(given[0].share, 64U);
}

TEST(Places, OneThatHangsWithAllOfThemLeavesTheOthersTheirPartAsItsAttemptsEnd) {
  Places places(256);
  places.open(at(0));
  places.open(at(1));
  std::uint32_t used = 256;
  for (int round = 0; round < 20; ++round) {
    places.report(at(1), {.share = places.share(at(1)), .used = 0, .wants = true});
    used = std::max(places.share(at(0)), used - 16);
    places.report(at(0), {.share = places.share(at(0)), .used = used, .wants = true});
  }

  EXPECT_EQ(places.share(at(0)), 128U);
  EXPECT_EQ(places.share(at(1)), 128U);
}

TEST(Places, WhatAClosedPartitionHadGoesToWhoeverWantsIt) {
  Places places(100);
  places.open(at(0));
  places.open(at(1));
  places.close(at(0));

  places.report(at(1), {.share = 0, .used = 0, .wants = true});
  places.report(at(1), {.share = 64, .used = 64, .wants = true});

  EXPECT_EQ(places.share(at(1)), 100U);
  EXPECT_TRUE(places.report(at(0), {.share = 100, .used = 3, .wants = true}).empty());
}

TEST(Places, TheySumUpToNoMoreThanThereAreWhateverHappens) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SeededRng rng(seed);
    const auto total = static_cast<std::uint32_t>(4 + rng.below(600));
    Places places(total);
    struct Machine {
      std::uint32_t share = 0;  ///< that it works with
      std::uint32_t used = 0;
      std::uint32_t work = 0;  ///< attempts that wait
    };
    std::map<core::PartitionId, Machine> machines;
    for (std::uint16_t i = 0; i < 4; ++i) {
      places.open(at(i));
      machines[at(i)].share = places.share(at(i));
    }
    for (int step = 0; step < 2000; ++step) {
      auto& [id, machine] = *std::next(machines.begin(), static_cast<long>(rng.below(4)));
      machine.work += rng.below(10) == 0 ? static_cast<std::uint32_t>(rng.below(300)) : 0;
      machine.used -= static_cast<std::uint32_t>(rng.below(machine.used + 1));
      if (rng.below(3) != 0) {
        machine.share = places.share(id);  // it hears of a change sooner or later
      }
      const std::uint32_t room = machine.share - std::min(machine.share, machine.used);
      const std::uint32_t starts = std::min(machine.work, room);
      machine.work -= starts;
      machine.used += starts;

      places.report(id, {machine.share, machine.used, machine.work > 0});

      std::uint64_t sum = 0;
      for (const auto& [other, its] : machines) {
        sum += std::max(its.used, std::min(its.share, places.share(other)));
      }
      ASSERT_LE(sum, total) << "seed " << seed << " step " << step;
    }
    // Whoever has work and whose neighbours are idle gets nearly everything.
    for (auto& [id, machine] : machines) {
      machine = {places.share(id), 0, 0};
    }
    for (int round = 0; round < 100; ++round) {
      for (auto& [id, machine] : machines) {
        machine.share = places.share(id);
        const bool busy = id == at(2);
        places.report(id, {machine.share, busy ? machine.share : 0, busy});
      }
    }
    EXPECT_EQ(places.share(at(2)), total - 3) << "seed " << seed;
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::engine
