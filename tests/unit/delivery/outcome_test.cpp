#include "delivery/outcome.h"

#include <gtest/gtest.h>

namespace hk::delivery {
namespace HK_TEST_FILE {

TEST(Outcome, FollowsTheStatus) {
  for (int status = 100; status < 1000; ++status) {
    SCOPED_TRACE(status);
    const Outcome outcome = judge_answer(status, false, Millis{5});

    const bool success = status >= 200 && status < 300;
    EXPECT_EQ(outcome.delivered, success);
    EXPECT_EQ(outcome.error.empty(), success);
    EXPECT_FALSE(outcome.give_up);
    EXPECT_EQ(outcome.retry_after.has_value(), !success);
    EXPECT_EQ(outcome.error == "redirect not followed", status >= 300 && status < 400);
  }
}

TEST(Outcome, OnlyTheMarked489GivesUp) {
  EXPECT_TRUE(judge_answer(489, true, {}).give_up);
  EXPECT_FALSE(judge_answer(489, false, {}).give_up);
  EXPECT_FALSE(judge_answer(500, true, {}).give_up);
  EXPECT_FALSE(judge_answer(200, true, {}).give_up);
  EXPECT_TRUE(judge_answer(200, true, {}).delivered);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::delivery
