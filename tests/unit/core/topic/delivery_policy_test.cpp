#include "core/topic/delivery_policy.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace hk::core {
namespace HK_TEST_FILE {

std::vector<std::int64_t> seconds(const RetryPolicy& policy) {
  std::vector<std::int64_t> all;
  for (const Millis delay : std::get<TableDelay>(policy.delay).delays) {
    all.push_back(delay.count() / 1000);
  }
  EXPECT_EQ(all.size(), policy.retries_max);
  return all;
}

TEST(DeliveryPolicy, IsThreeRetriesTwentySecondsApartUnlessItIsSet) {
  EXPECT_EQ(seconds(default_retries()), (std::vector<std::int64_t>{20, 20, 20}));
  EXPECT_EQ(read_delivery_policy(R"({"throttlePolicy":{}})", false), std::nullopt);
  EXPECT_EQ(read_delivery_policy(R"({"http":{}})", true), std::nullopt);
}

TEST(DeliveryPolicy, SaysHowLongToWaitBeforeEachRetry) {
  const std::string policy =
      R"({"numRetries":6,"numNoDelayRetries":1,"numMinDelayRetries":1,"numMaxDelayRetries":1,)"
      R"("minDelayTarget":10,"maxDelayTarget":30,"backoffFunction":"linear"})";
  const std::vector<std::int64_t> expected{0, 10, 10, 20, 30, 30};

  const auto own = read_delivery_policy(R"({"healthyRetryPolicy":)" + policy + "}", false);
  const auto of_topic =
      read_delivery_policy(R"({"http":{"defaultHealthyRetryPolicy":)" + policy + "}}", true);

  ASSERT_TRUE(own && *own && of_topic && *of_topic);
  EXPECT_EQ(seconds(**own), expected);
  EXPECT_EQ(seconds(**of_topic), expected);
}

TEST(DeliveryPolicy, RisesToTheMaximumWithEveryFunction) {
  for (const char* function : {"linear", "arithmetic", "geometric", "exponential"}) {
    const auto policy =
        read_delivery_policy(R"({"healthyRetryPolicy":{"numRetries":5,"minDelayTarget":1,)"
                             R"("maxDelayTarget":100,"backoffFunction":")" +
                                 std::string(function) + "\"}}",
                             false);
    ASSERT_TRUE(policy && *policy) << function;
    const auto waits = seconds(**policy);
    EXPECT_EQ(waits.front(), 1) << function;
    EXPECT_EQ(waits.back(), 100) << function;
    EXPECT_TRUE(std::ranges::is_sorted(waits)) << function;
  }
}

TEST(DeliveryPolicy, IsRefusedWhenItMakesNoSense) {
  for (const char* policy : {"nonsense", "[]", R"({"healthyRetryPolicy":1})",
                             R"({"healthyRetryPolicy":{"numRetries":101}})",
                             R"({"healthyRetryPolicy":{"numRetries":-1}})",
                             R"({"healthyRetryPolicy":{"numRetries":"3"}})",
                             R"({"healthyRetryPolicy":{"minDelayTarget":30}})",
                             R"({"healthyRetryPolicy":{"numRetries":1,"numNoDelayRetries":2}})",
                             R"({"healthyRetryPolicy":{"backoffFunction":"random"}})"}) {
    EXPECT_FALSE(read_delivery_policy(policy, false)) << policy;
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core
