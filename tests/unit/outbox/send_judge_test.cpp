#include <gtest/gtest.h>

#include "outbox/send/judge.h"

namespace hk::outbox {
namespace HK_TEST_FILE {

using observe::AttemptResult;

core::CompleteAttempt report_of(int status) {
  core::CompleteAttempt report;
  report.attempt.started_at = moment_from_ms(1'000);
  report.attempt.ended_at = moment_from_ms(1'042);
  report.attempt.response_status = status;
  report.attempt.response_body = "the answer";
  report.attempt.error = "why";
  return report;
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

    const Outcome outcome = judge(one.result, report_of(one.status));

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
  auto report = report_of(489);
  report.give_up = true;

  const Outcome outcome = judge(AttemptResult::http_error, std::move(report));

  EXPECT_EQ(outcome.ending, Ending::aborted);
  EXPECT_EQ(outcome.reason_code, "BROKER_NON_RETRYABLE");
  EXPECT_EQ(outcome.http_status, 489);
}

TEST(SendJudge, WaitsAsLongAsABusyReceiverAsks) {
  for (const auto& [status, heeded] :
       {std::pair{429, true}, {503, true}, {500, false}, {404, false}}) {
    auto report = report_of(status);
    report.retry_after = Millis{7'000};

    const Outcome outcome = judge(AttemptResult::http_error, std::move(report));

    EXPECT_EQ(outcome.retry_after.has_value(), heeded) << status;
    EXPECT_EQ(outcome.retry_after.value_or(Millis{7'000}), Millis{7'000});
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::outbox
