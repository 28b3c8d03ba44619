#include "engine/clock.h"

#include <gtest/gtest.h>

#include <string>

namespace hk::engine {
namespace HK_TEST_FILE {

using namespace std::chrono_literals;

ClockReadings readings;  // what the fake system clocks show
ClockReadings read_fake() { return readings; }

class SlewedClockTest : public ::testing::Test {
 protected:
  SlewedClockTest() { readings = {.boot = 1000ms, .wall = Moment{1'700'000'000'000ms}}; }
  static void pass(Millis elapsed) {
    readings.boot += elapsed;
    readings.wall += elapsed;
  }
  const Moment begin_{1'700'000'000'000ms};
};

TEST_F(SlewedClockTest, FollowsTheWallClockWhenThatIsSteady) {
  SlewedClock clock(read_fake);
  pass(90min);
  EXPECT_EQ(clock.now(), begin_ + 90min);
}

TEST_F(SlewedClockTest, AJumpForwardsIsFollowedByATenthAtMost) {
  SlewedClock clock(read_fake);
  readings.wall += 24h;
  pass(10s);
  EXPECT_EQ(clock.now(), begin_ + 11s);
}

TEST_F(SlewedClockTest, AJumpBackwardsNeverTurnsTimeBack) {
  SlewedClock clock(read_fake);
  readings.wall -= 24h;
  Moment last = clock.now();
  for (int i = 0; i < 1000; ++i) {
    pass(Millis{i % 7});
    const Moment now = clock.now();
    ASSERT_GE(now, last);
    last = now;
  }
  EXPECT_GT(last, begin_);
}

TEST_F(SlewedClockTest, CatchesUpInTheEnd) {
  SlewedClock clock(read_fake);
  readings.wall += 10s;
  for (int i = 0; i < 200; ++i) {
    pass(1s);
    clock.now();
  }
  EXPECT_EQ(clock.now(), readings.wall);
}

TEST_F(SlewedClockTest, LeansByATenthHoweverOftenItIsAsked) {
  for (const Millis jump : {Millis{24h}, Millis{-24h}}) {
    for (const int step : {1, 2, 3, 7, 9, 10, 11, 19, 1000}) {
      SCOPED_TRACE(std::to_string(jump.count()) + " by " + std::to_string(step));
      readings = {.boot = 1000ms, .wall = begin_};
      SlewedClock clock(read_fake);
      readings.wall += jump;
      Millis passed{0};
      while (passed < 10s) {
        pass(Millis{step});
        passed += Millis{step};
        (void)clock.now();
      }
      const Millis lean = clock.now() - (begin_ + passed);
      EXPECT_EQ(std::chrono::abs(lean), passed / 10);
      EXPECT_EQ(lean > 0ms, jump > 0ms);
    }
  }
}

TEST_F(SlewedClockTest, StartsNoEarlierThanWhatWasStored) {
  SlewedClock clock(read_fake);
  clock.start_at_least(begin_ + 1h);
  EXPECT_EQ(clock.now(), begin_ + 1h);
}

TEST_F(SlewedClockTest, ASuspendCounts) {
  SlewedClock clock(read_fake);
  pass(8h);  // the boot-time clock goes on while the machine sleeps
  EXPECT_EQ(clock.now(), begin_ + 8h);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::engine
