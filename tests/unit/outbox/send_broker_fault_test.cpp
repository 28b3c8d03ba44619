#include "outbox/send/broker_fault.h"

#include <gtest/gtest.h>

#include <string>

#include "observe/metrics.h"

namespace hk::outbox {
namespace HK_TEST_FILE {

using observe::AttemptResult;

bool fault(Faults faults, AttemptResult result, int status = 0, std::string body = "") {
  return is_broker_fault(
      faults,
      {.result = result, .error = "blocked_by_policy", .status = status, .body = std::move(body)});
}

TEST(SendBrokerFault, OfABrokerIsWhatAnyRowWouldMeet) {
  for (const Faults faults : {Faults::of_broker, Faults::of_queue}) {
    for (const AttemptResult result :
         {AttemptResult::timeout, AttemptResult::network_error, AttemptResult::blocked}) {
      EXPECT_TRUE(fault(faults, result));
    }
    for (const int status : {301, 308, 401, 403, 407, 408, 429, 500, 502, 503, 504, 507, 599}) {
      EXPECT_TRUE(fault(faults, AttemptResult::http_error, status)) << status;
    }
    for (const int status : {400, 402, 404, 405, 409, 410, 412, 413, 415, 422, 489}) {
      EXPECT_FALSE(fault(faults, AttemptResult::http_error, status)) << status;
    }
    EXPECT_FALSE(fault(faults, AttemptResult::delivered, 200));
  }
}

TEST(SendBrokerFault, OfAHostIsThatItCannotBeReachedAndNothingElse) {
  EXPECT_TRUE(fault(Faults::of_hosts, AttemptResult::network_error));
  for (const AttemptResult result : {AttemptResult::timeout, AttemptResult::blocked}) {
    EXPECT_FALSE(fault(Faults::of_hosts, result));
  }
  for (const int status : {401, 429, 503}) {
    EXPECT_FALSE(fault(Faults::of_hosts, AttemptResult::http_error, status)) << status;
  }
  EXPECT_FALSE(fault(Faults::of_rows, AttemptResult::network_error));
  EXPECT_FALSE(fault(Faults::of_rows, AttemptResult::http_error, 503));
}

TEST(SendBrokerFault, OfAQueueIsAlsoWhatItsCodesSay) {
  const auto type = [](std::string_view code) {
    return R"({"__type":")" + std::string(code) + R"(","message":"no"})";
  };
  for (const char* code :
       {"com.amazonaws.sqs#QueueDoesNotExist", "com.amazon.coral.service#AccessDeniedException",
        "ThrottlingException", "com.amazonaws.sqs#RequestThrottled", "ExpiredTokenException",
        "com.amazon.coral.service#UnrecognizedClientException", "InvalidSignatureException"}) {
    EXPECT_TRUE(fault(Faults::of_queue, AttemptResult::http_error, 400, type(code))) << code;
    EXPECT_FALSE(fault(Faults::of_broker, AttemptResult::http_error, 400, type(code))) << code;
  }
  for (const char* body : {R"({"__type":"com.amazonaws.sqs#InvalidMessageContents"})",
                           R"({"__type":"com.amazonaws.sqs#InvalidParameterValue"})",
                           R"({"__type":7})", R"(["__type"])", "<Error/>", "", "{"}) {
    EXPECT_FALSE(fault(Faults::of_queue, AttemptResult::http_error, 400, body)) << body;
  }
}

TEST(SendBrokerFault, ARowThatABrokerCallsHopelessIsNotItsFault) {
  EXPECT_FALSE(is_broker_fault(
      Faults::of_broker, {.result = AttemptResult::http_error, .give_up = true, .status = 503}));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::outbox
