#include <chrono>

#include "unit/core/webhook/deliver.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

using namespace std::chrono_literals;

CompleteAttempt not_made(const StartAttempt& start) {
  CompleteAttempt report = Shop::answer(start, 0);
  report.not_made = true;
  return report;
}

TEST(AttemptNotMade, CostsTheDeliveryNothingAndIsMadeLater) {
  Shop shop;
  const StartAttempt start = shop.send().starts.at(0);

  EXPECT_TRUE(shop.run(not_made(start)).starts.empty());

  EXPECT_EQ(shop.counts().attempts, 0U);
  EXPECT_EQ(shop.health("a").failures, 0U);
  EXPECT_EQ(shop.health("a").waiting, 1U);
  // The others of the endpoint wait as well: they would fare no better.
  EXPECT_TRUE(shop.send().starts.empty());

  shop.pass(5s);
  const Ran again = shop.run();
  ASSERT_EQ(again.starts.size(), 2U);
  for (const StartAttempt& one : again.starts) {
    EXPECT_EQ(one.webhook->attempt, "1");
    shop.run(Shop::answer(one, 200));
  }
  EXPECT_EQ(shop.counts().succeeded, 2U);
}

TEST(AttemptNotMade, AfterOthersTheyStillCount) {
  Shop shop;
  shop.set_delays("a", {0s, 1s, 1s});
  shop.run(Shop::answer(shop.send().starts.at(0), 500));
  const StartAttempt second = shop.wait_for_start().starts.at(0);
  EXPECT_EQ(second.webhook->attempt, "2");

  shop.run(not_made(second));

  const StartAttempt again = shop.wait_for_start().starts.at(0);
  EXPECT_EQ(again.webhook->attempt, "2");
  shop.run(Shop::answer(again, 500));
  EXPECT_EQ(shop.state(again.id).attempts, 2U);
  EXPECT_EQ(shop.health("a").failures, 2U);
}

TEST(AttemptNotMade, IsMadeAfterARestart) {
  Shop shop;
  shop.run(not_made(shop.send().starts.at(0)));

  shop.restart();
  shop.pass(5s);

  const Ran again = shop.run();
  ASSERT_EQ(again.starts.size(), 1U);
  EXPECT_EQ(again.starts[0].fence.attempt, 1U);
  shop.run(Shop::answer(again.starts[0], 200));
  EXPECT_EQ(shop.counts().succeeded, 1U);
}

TEST(AttemptNotMade, OfADeliveryThatWasCanceledIsItsEnd) {
  Shop shop;
  const StartAttempt start = shop.send().starts.at(0);
  shop.run(CancelMessage{.tenant = tenant_one, .id = start.id});

  shop.run(not_made(start));

  EXPECT_EQ(shop.counts().canceled, 1U);
  EXPECT_EQ(shop.counts().pending, 0U);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
