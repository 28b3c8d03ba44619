#include "delivery/deadline_wheel.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <random>
#include <set>
#include <vector>

namespace hk::delivery {
namespace {

using namespace std::chrono_literals;
using Clock = DeadlineWheel::Clock;

const Clock::time_point zero = Clock::time_point{} + 1h;

std::size_t turn(DeadlineWheel& wheel, Clock::time_point now) {
  std::size_t count = 0;
  wheel.turn(now, [&](WheelEntry&) { ++count; });
  return count;
}

TEST(DeadlineWheel, IsNeverEarlyAndAtMostOneTurnLate) {
  for (const auto wait : {0ms, 1ms, 19ms, 20ms, 21ms, 5'000ms, 20'480ms, 20'500ms, 7'200'000ms}) {
    SCOPED_TRACE(wait.count());
    DeadlineWheel wheel(zero);
    WheelEntry entry;
    wheel.set(entry, zero + wait);
    auto now = zero;
    while (now + DeadlineWheel::tick < zero + wait) {
      ASSERT_EQ(turn(wheel, now), 0U);
      now += DeadlineWheel::tick;
    }
    if (now < zero + wait) {
      ASSERT_EQ(turn(wheel, now), 0U);
    }

    EXPECT_EQ(turn(wheel, zero + wait), 1U);
    EXPECT_FALSE(entry.is_linked());
    EXPECT_EQ(turn(wheel, zero + wait + 1h), 0U);
  }
}

TEST(DeadlineWheel, SeesEverythingAfterALongSleep) {
  DeadlineWheel wheel(zero);
  std::deque<WheelEntry> entries(3'000);
  auto deadline = zero;
  for (WheelEntry& entry : entries) {
    wheel.set(entry, deadline += 17ms);
  }

  EXPECT_EQ(turn(wheel, zero + 1h), 3'000U);
}

TEST(DeadlineWheel, ADeadlineInThePastIsSeenAtTheNextTurn) {
  DeadlineWheel wheel(zero);
  ASSERT_EQ(turn(wheel, zero + 10s), 0U);
  WheelEntry entry;
  wheel.set(entry, zero + 1s);

  EXPECT_EQ(turn(wheel, zero + 10s), 1U);
}

TEST(DeadlineWheel, MovingAndDestroyingTakeEffect) {
  DeadlineWheel wheel(zero);
  WheelEntry moved;
  wheel.set(moved, zero + 1s);
  wheel.set(moved, zero + 3s);
  auto gone = std::make_unique<WheelEntry>();
  wheel.set(*gone, zero + 1s);
  gone.reset();

  EXPECT_EQ(turn(wheel, zero + 2s), 0U);
  EXPECT_EQ(turn(wheel, zero + 3s), 1U);
}

TEST(DeadlineWheel, ALateOneMayEndTheOthers) {
  DeadlineWheel wheel(zero);
  std::vector<std::unique_ptr<WheelEntry>> entries;
  for (int i = 0; i < 10; ++i) {
    entries.push_back(std::make_unique<WheelEntry>());
    wheel.set(*entries.back(), zero + 1s);
  }
  std::size_t count = 0;

  wheel.turn(zero + 2s, [&](WheelEntry&) {
    ++count;
    entries.clear();
  });

  EXPECT_EQ(count, 1U);
}

}  // namespace
}  // namespace hk::delivery
