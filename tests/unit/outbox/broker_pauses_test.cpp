#include "outbox/broker_pauses.h"

#include <gtest/gtest.h>

#include <limits>

namespace hk::outbox {
namespace HK_TEST_FILE {

using namespace std::chrono_literals;

constexpr std::size_t any = std::numeric_limits<std::size_t>::max();
const std::string broker = "https://broker.example";

class BrokerPausesTest : public ::testing::Test {
 protected:
  BrokerPauses::Verdict fail(std::int64_t row, std::optional<Millis> retry_after = {},
                             bool busy = false) {
    return pauses.failed(broker, {row, busy, retry_after}, now);
  }
  /// As many faults as it takes, the last of them of `row`.
  BrokerPauses::Verdict fail_often(std::int64_t row) {
    for (int i = 1; i < BrokerPauses::faults_max; ++i) {
      EXPECT_FALSE(fail(1'000 + i).paused);
    }
    return fail(row);
  }
  /// To when it is tried again.
  Millis pass_pause() {
    const auto left = std::chrono::ceil<Millis>(pauses.next_try(broker) - now);
    now = std::max(now, pauses.next_try(broker));
    return left;
  }

  BrokerPauses pauses{7};
  BrokerPauses::Clock::time_point now{1h};
};

TEST_F(BrokerPausesTest, AFaultAmongAnswersDelaysNobodyElse) {
  for (int i = 0; i < 100; ++i) {
    const auto verdict = fail(i);
    EXPECT_FALSE(verdict.paused || verdict.away || verdict.counts);
    EXPECT_EQ(pauses.room(broker, now), any);
    EXPECT_FALSE(fail(i + 1'000).paused);
    pauses.answered(broker, 5'000, now);
  }
}

TEST_F(BrokerPausesTest, FaultsInARowLeaveTheBrokerInPeaceAndThenAFewRowsTryIt) {
  EXPECT_EQ(pauses.room(broker, now), any);
  pauses.begun(broker);

  const auto verdict = fail_often(1);
  pauses.ended(broker);

  EXPECT_TRUE(verdict.paused);
  EXPECT_FALSE(verdict.counts);
  EXPECT_FALSE(verdict.away) << "it may have been a moment";
  EXPECT_EQ(pauses.room(broker, now), 0U);
  EXPECT_EQ(pauses.room("https://other.example", now), any);
  pass_pause();
  EXPECT_EQ(pauses.room(broker, now), BrokerPauses::probe_rows);
  pauses.begun(broker);
  EXPECT_EQ(pauses.room(broker, now), BrokerPauses::probe_rows - 1);

  EXPECT_EQ(pauses.answered(broker, 2, now), std::nullopt);
  EXPECT_EQ(pauses.room(broker, now), any);
}

TEST_F(BrokerPausesTest, PausesGrowToABoundAndNoRowIsEverBlamed) {
  Millis longest{0};
  EXPECT_TRUE(fail_often(1).paused);
  pass_pause();
  for (int i = 1; i < 10'000; ++i) {
    const auto verdict = fail(i % 3);
    ASSERT_FALSE(verdict.counts) << "however long it lasts";
    ASSERT_TRUE(verdict.paused);
    ASSERT_EQ(verdict.away, i == 1) << "said once";
    const Millis pause = pass_pause();
    ASSERT_LE(pause, BrokerPauses::pause_most);
    if (i > 10) {
      ASSERT_GE(pause, BrokerPauses::pause_most / 2);
    }
    longest = std::max(longest, pause);
  }
  EXPECT_GT(longest, BrokerPauses::pause_most / 2) << "they are not all the same";
  EXPECT_EQ(pauses.away(now), 1U);

  EXPECT_GT(pauses.answered(broker, 4, now), 24h);
  EXPECT_EQ(pauses.away(now), 0U);
  EXPECT_TRUE(fail_often(5).paused);
  EXPECT_LE(pass_pause(), BrokerPauses::pause_first) << "from the beginning";
}

TEST_F(BrokerPausesTest, WhatWasOnItsWayMakesThePauseNeitherLongerNorShorter) {
  EXPECT_TRUE(fail_often(1).paused);
  const auto next = pauses.next_try(broker);
  EXPECT_FALSE(fail(2).paused);
  EXPECT_EQ(pauses.next_try(broker), next);

  pauses.answered(broker, 3, now);  // it was begun before the faults

  EXPECT_EQ(pauses.room(broker, now), 0U);
  pass_pause();
  EXPECT_EQ(pauses.room(broker, now), any) << "it is known to be there";
}

TEST_F(BrokerPausesTest, ABrokerThatAsksForTimeGetsItWithinABound) {
  fail_often(1);
  fail(1, 20s);
  EXPECT_EQ(pass_pause(), 20s);
  fail(1, 1h);
  EXPECT_EQ(pass_pause(), BrokerPauses::asked_most);
  fail(1, 1ms);
  EXPECT_GE(pass_pause(), BrokerPauses::pause_first);
}

TEST_F(BrokerPausesTest, ARowThatAloneMeetsFaultsIsBlamedAtLast) {
  for (int time = 0; time < 3; ++time) {
    for (int i = 0; i < BrokerPauses::strikes_max; ++i) {
      const auto verdict = fail(1);
      ASSERT_FALSE(verdict.counts) << i;
      ASSERT_EQ(verdict.strikes, i);
      pass_pause();
      pauses.answered(broker, 100 + i, now);  // another one
    }
    const auto verdict = fail(1);
    EXPECT_TRUE(verdict.counts);
    EXPECT_FALSE(verdict.paused) << "the broker is well";
    EXPECT_EQ(pauses.room(broker, now), any);
  }
}

TEST_F(BrokerPausesTest, ARowThatIsAnsweredInTheEndIsForgiven) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(fail(1).counts);
    pass_pause();
    pauses.answered(broker, 2, now);
    if (i % 5 == 0) {
      pauses.answered(broker, 1, now);
    }
  }
}

TEST_F(BrokerPausesTest, TooManyRequestsAreNeverOneRowsDoing) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(fail(1, std::nullopt, true).counts);
    pass_pause();
    pauses.answered(broker, 2, now);
  }
}

TEST_F(BrokerPausesTest, ABrokerThatNoRowAsksForAnyMoreIsForgotten) {
  fail_often(1);
  pass_pause();
  EXPECT_TRUE(fail(1).away);
  ASSERT_EQ(pauses.away(now), 1U);
  now += 11min;
  EXPECT_EQ(pauses.away(now), 0U);
  EXPECT_EQ(pauses.room(broker, now), any);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::outbox
