#include "outbox/send/judge.h"

#include <gtest/gtest.h>

#include <chrono>

#include "observe/metrics.h"

namespace hk::outbox {
namespace HK_TEST_FILE {

using observe::AttemptResult;

delivery::Answer answer_of(AttemptResult result, int status) {
  return {.result = result,
          .error = "why",
          .status = status,
          .body = "the answer",
          .took = std::chrono::microseconds(41'001)};
}

TEST(SendJudge, KnowsEveryWayARowCanEnd) {
  struct Case {
    AttemptResult result;
    int status;
    Ending ending;
    std::string_view reason;
    int http_status;
  };
  const Case cases[] = {
      {AttemptResult::delivered, 200, Ending::succeeded, "", 200},
      {AttemptResult::delivered, 204, Ending::succeeded, "", 200},
      {AttemptResult::http_error, 302, Ending::failed, "BROKER_REJECTED", 302},
      {AttemptResult::http_error, 400, Ending::failed, "BROKER_REJECTED", 400},
      {AttemptResult::http_error, 401, Ending::failed, "BROKER_REJECTED", 401},
      {AttemptResult::http_error, 429, Ending::failed, "BROKER_REJECTED", 429},
      {AttemptResult::http_error, 489, Ending::failed, "BROKER_REJECTED", 489},
      {AttemptResult::http_error, 500, Ending::failed, "BROKER_ERROR", 500},
      {AttemptResult::http_error, 503, Ending::failed, "BROKER_ERROR", 503},
      {AttemptResult::timeout, 0, Ending::failed, "BROKER_TIMEOUT", 504},
      {AttemptResult::network_error, 0, Ending::failed, "BROKER_UNREACHABLE", 502},
      {AttemptResult::blocked, 0, Ending::aborted, "BROKER_BLOCKED", 403},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.status);

    const Outcome outcome = judge(answer_of(one.result, one.status));

    EXPECT_EQ(outcome.ending, one.ending);
    EXPECT_EQ(outcome.reason_code, one.reason);
    EXPECT_EQ(outcome.http_status, one.http_status);
    EXPECT_EQ(outcome.message.empty(), one.ending == Ending::succeeded);
    EXPECT_EQ(outcome.response, "the answer");
    EXPECT_EQ(outcome.took, Millis{42});
    EXPECT_EQ(outcome.retry_after, std::nullopt);
  }
}

TEST(SendJudge, AbortsWhatTheReceiverCallsHopeless) {
  auto answer = answer_of(AttemptResult::http_error, 489);
  answer.give_up = true;

  const Outcome outcome = judge(std::move(answer));

  EXPECT_EQ(outcome.ending, Ending::aborted);
  EXPECT_EQ(outcome.reason_code, "BROKER_NON_RETRYABLE");
  EXPECT_EQ(outcome.http_status, 489);
}

TEST(SendJudge, WaitsAsLongAsABusyReceiverAsks) {
  for (const auto& [status, heeded] :
       {std::pair{429, true}, {503, true}, {500, false}, {404, false}}) {
    auto answer = answer_of(AttemptResult::http_error, status);
    answer.retry_after = Millis{7'000};

    const Outcome outcome = judge(std::move(answer));

    EXPECT_EQ(outcome.retry_after.has_value(), heeded) << status;
    EXPECT_EQ(outcome.retry_after.value_or(Millis{7'000}), Millis{7'000});
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::outbox
