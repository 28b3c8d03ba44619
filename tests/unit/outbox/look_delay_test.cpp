#include "outbox/source/look_delay.h"

#include <gtest/gtest.h>

#include "outbox/source/poll_source.h"

using namespace hk;
using namespace hk::outbox;

TEST(LookDelay, GrowsWithLooksThatFindNothingUpToItsBound) {
  struct Row {
    std::size_t idle_looks;
    Millis polling;
    Millis told;
  };
  const Row rows[] = {
      {0, Millis{500}, Millis{500}},      {1, Millis{1000}, Millis{1000}},
      {3, Millis{4000}, Millis{4000}},    {4, Millis{5000}, Millis{8000}},
      {6, Millis{5000}, Millis{30'000}},  {63, Millis{5000}, Millis{30'000}},
      {64, Millis{5000}, Millis{30'000}}, {1'000'000, Millis{5000}, Millis{30'000}},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(poll_delay(Millis{500}, row.idle_looks), row.polling) << row.idle_looks;
    EXPECT_EQ(told_delay(Millis{500}, row.idle_looks), row.told) << row.idle_looks;
  }
}

TEST(LookDelay, IsNeverShorterThanTheIntervalNorNothing) {
  EXPECT_EQ(told_delay(Millis{60'000}, 9), Millis{60'000});
  EXPECT_GE(poll_delay(Millis{0}, 0), Millis{1});
  EXPECT_GE(told_delay(Millis{0}, 0), Millis{1});
}

TEST(LookDelay, RepeatsALookThatMayHaveComeBeforeTheCommitWasSeen) {
  EXPECT_EQ(unseen_delay(Millis{30'000}, Millis{0}), Millis{5});
  EXPECT_EQ(unseen_delay(Millis{30'000}, Millis{700}), Millis{700});
  EXPECT_EQ(unseen_delay(Millis{30'000}, Millis{90'000}), Millis{30'000});
}

TEST(PollSource, HasNothingToWaitForAndIsDueOnceAfterItsStart) {
  PollSource source(Millis{500});
  EXPECT_FALSE(source.take_due());

  ASSERT_TRUE(source.start().has_value());

  EXPECT_TRUE(source.take_due());
  EXPECT_FALSE(source.take_due());
  EXPECT_EQ(source.fd(), -1);
  EXPECT_TRUE(source.on_readable().has_value());
  EXPECT_TRUE(source.looked_through().has_value());
  EXPECT_EQ(source.look_again_after(2), Millis{2000});
}
