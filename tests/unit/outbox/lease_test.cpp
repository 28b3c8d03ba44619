#include "outbox/lease.h"

#include <gtest/gtest.h>

namespace hk::outbox {
namespace HK_TEST_FILE {

using namespace std::chrono_literals;
using State = Lease::State;

constexpr Lease::Clock::time_point start{1h};

TEST(Lease, IsInDoubtATenthBeforeItRunsOutInTheTable) {
  const Lease lease(start, 100s);

  EXPECT_EQ(lease.at(start), State::ours);
  EXPECT_EQ(lease.at(start + 90s - 1ms), State::ours);
  EXPECT_EQ(lease.at(start + 90s), State::in_doubt);
  EXPECT_EQ(lease.at(start + 24h), State::in_doubt) << "nobody has said that it is lost";
}

TEST(Lease, AHeartbeatCountsFromBeforeItWasSent) {
  Lease lease(start, 100s);

  lease.renew(start + 50s, 100s);

  EXPECT_EQ(lease.at(start + 140s - 1ms), State::ours);
  EXPECT_EQ(lease.at(start + 140s), State::in_doubt);
}

TEST(Lease, OneInDoubtIsOursAgainWhenAHeartbeatSaysSo) {
  Lease lease(start, 100s);
  ASSERT_EQ(lease.at(start + 1h), State::in_doubt);

  lease.renew(start + 1h, 100s);

  EXPECT_EQ(lease.at(start + 1h), State::ours);
}

TEST(Lease, WhatIsLostIsSoAtAnyTime) {
  Lease lease(start, 100s);

  lease.lose();

  EXPECT_EQ(lease.at(start), State::lost);
  EXPECT_EQ(lease.at(start + 1h), State::lost);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::outbox
