#include "base/deadline_wheel.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <vector>

namespace hk {
namespace HK_TEST_FILE {

using std::chrono::milliseconds;
using std::chrono::seconds;

using Clock = DeadlineWheel::Clock;
const Clock::time_point start{seconds(1'000)};
constexpr milliseconds tick{50};

struct Probe : DeadlineWheel::Node {
  void on_deadline(Clock::time_point now) override {
    ++calls;
    called_at = now;
    if (wheel != nullptr) wheel->schedule(*this, again);
  }
  int calls = 0;
  Clock::time_point called_at{};
  DeadlineWheel* wheel = nullptr;
  Clock::time_point again{};
};

void run(DeadlineWheel& wheel, milliseconds from, milliseconds to) {
  for (milliseconds at = from; at <= to; at += milliseconds(10)) wheel.advance(start + at);
}

TEST(DeadlineWheel, ADeadlineIsNeverEarlyAndAtMostTwoTicksLate) {
  for (int ms = 0; ms < 400; ms += 7) {
    DeadlineWheel wheel(start, tick);
    Probe probe;
    wheel.schedule(probe, start + milliseconds(ms));
    run(wheel, milliseconds(0), milliseconds(600));
    ASSERT_EQ(probe.calls, 1);
    EXPECT_GE(probe.called_at, start + milliseconds(ms));
    EXPECT_LE(probe.called_at, start + milliseconds(ms) + 2 * tick);
  }
}

TEST(DeadlineWheel, AnEarlierDeadlineMovesTheNodeAndALaterOneDoesNot) {
  DeadlineWheel wheel(start, tick);
  Probe probe;
  wheel.schedule(probe, start + seconds(10));
  wheel.schedule(probe, start + seconds(1));
  wheel.schedule(probe, start + seconds(20));

  run(wheel, milliseconds(0), milliseconds(1'200));

  EXPECT_EQ(probe.calls, 1);
}

TEST(DeadlineWheel, ADeadlineBeyondTheHorizonIsLookedAtOnTheWay) {
  DeadlineWheel wheel(start, tick);
  Probe probe;
  probe.wheel = &wheel;
  probe.again = Clock::time_point::max();
  wheel.schedule(probe, Clock::time_point::max());

  run(wheel, milliseconds(0), milliseconds(200'000));

  EXPECT_GE(probe.calls, 2);
  EXPECT_LE(probe.calls, 5);
}

TEST(DeadlineWheel, ADestroyedOrCancelledNodeIsForgotten) {
  DeadlineWheel wheel(start, tick);
  Probe cancelled;
  {
    Probe destroyed;
    wheel.schedule(destroyed, start + milliseconds(100));
    wheel.schedule(cancelled, start + milliseconds(100));
  }
  wheel.cancel(cancelled);

  run(wheel, milliseconds(0), milliseconds(1'000));

  EXPECT_EQ(cancelled.calls, 0);
}

TEST(DeadlineWheel, DrainingVisitsEveryNodeOnce) {
  DeadlineWheel wheel(start, tick);
  Probe probes[20];
  for (int i = 0; i < 20; ++i) wheel.schedule(probes[i], start + seconds(i * 4));
  int visits = 0;

  wheel.drain_each([&](DeadlineWheel::Node& node) {
    ++visits;
    wheel.schedule(node, start + seconds(30));
  });

  EXPECT_EQ(visits, 20);
  run(wheel, milliseconds(0), milliseconds(30'200));
  for (const Probe& probe : probes) EXPECT_EQ(probe.calls, 1);
}

TEST(DeadlineWheel, EverythingIsSeenAfterALongSleep) {
  DeadlineWheel wheel(start, tick);
  std::deque<Probe> probes(3'000);
  int ms = 0;
  for (Probe& probe : probes) wheel.schedule(probe, start + milliseconds(ms += 17));

  wheel.advance(start + std::chrono::hours(24 * 365));

  for (const Probe& probe : probes) ASSERT_EQ(probe.calls, 1);
}

TEST(DeadlineWheel, ADeadlineInThePastIsSeenWithTheNextTick) {
  DeadlineWheel wheel(start, tick);
  wheel.advance(start + seconds(100));
  Probe probe;
  wheel.schedule(probe, start + seconds(1));

  wheel.advance(start + seconds(100) + tick);

  EXPECT_EQ(probe.calls, 1);
}

TEST(DeadlineWheel, ANodeThatIsCalledMayEndTheOthers) {
  struct Ender : Probe {
    void on_deadline(Clock::time_point now) override {
      Probe::on_deadline(now);
      if (others != nullptr) others->clear();
    }
    std::vector<std::unique_ptr<Probe>>* others = nullptr;
  };
  DeadlineWheel wheel(start, tick);
  Ender ender;
  std::vector<std::unique_ptr<Probe>> others;
  ender.others = &others;
  wheel.schedule(ender, start + seconds(1));
  for (int i = 0; i < 10; ++i) {
    others.push_back(std::make_unique<Probe>());
    wheel.schedule(*others.back(), start + seconds(1));
  }

  run(wheel, milliseconds(0), milliseconds(2'000));

  EXPECT_EQ(ender.calls, 1);
}

}  // namespace HK_TEST_FILE
}  // namespace hk
