#include "cli/own_server.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "delivery/envelope/plain.h"
#include "observe/metrics.h"

namespace hk::cli {
namespace HK_TEST_FILE {

using namespace std::chrono_literals;
using observe::AttemptResult;

class Answers final : public delivery::AnswerTaker {
 public:
  void take(const delivery::Request& request, delivery::Answer answer) override {
    numbers.push_back(request.id.seq.value());
    all.push_back(std::move(answer));
  }
  std::vector<std::uint64_t> numbers;
  std::vector<delivery::Answer> all;
};

/// The sender's side, with the requests that came to the server.
struct OwnServerTest : testing::Test {
  delivery::Request request(std::uint64_t number, Millis timeout = 60s) {
    auto message = std::make_shared<core::Message>();
    message->url = "http://127.0.0.1:8080/v2/publish/https%3A%2F%2Fa.example%2F?x=1";
    message->headers = {{"Content-Type", "application/json"}, {"Upstash-Retries", "3"}};
    message->body = "{}";
    message->trace.trace_id[0] = 1;
    delivery::Request made;
    made.id = {core::Seq{number}, 0};
    made.span_id[0] = 2;
    made.timeout = timeout;
    made.envelope = &envelope;
    made.message = std::move(message);
    return made;
  }
  void start(std::vector<delivery::Request> requests) { carrier->start(std::move(requests)); }
  void run_until(std::size_t count) {
    while (answers.all.size() < count) {
      ASSERT_NE(io.run_one_for(60s), 0U);
    }
  }

  boost::asio::io_context io{1};
  Answers answers;
  delivery::PlainEnvelope envelope{"Relay/1"};
  std::vector<HandIn> came;
  std::unique_ptr<outbox::Carrier> carrier = *into_own_server([this](std::vector<HandIn> all) {
    std::ranges::move(all, std::back_inserter(came));
  })(&io, answers);
};

TEST_F(OwnServerTest, ARequestIsWhatWouldHaveComeOverHttp) {
  start({request(7)});

  ASSERT_EQ(came.size(), 1U);
  const http::Request& got = came[0].request;
  EXPECT_EQ(got.method, "POST");
  EXPECT_EQ(got.target, "/v2/publish/https%3A%2F%2Fa.example%2F?x=1");
  EXPECT_EQ(got.body, "{}");
  EXPECT_EQ(got.peer, "127.0.0.1");
  EXPECT_EQ(got.header("Host"), "127.0.0.1:8080");
  EXPECT_EQ(got.header("Content-Type"), "application/json");
  EXPECT_EQ(got.header("Upstash-Retries"), "3");
  EXPECT_EQ(got.header("User-Agent"), "Relay/1");
  EXPECT_EQ(got.header("Content-Length"), "2");
  EXPECT_EQ(got.header("traceparent"), "00-01000000000000000000000000000000-0200000000000000-01");
  EXPECT_EQ(got.fields.size(), 7U);
}

TEST_F(OwnServerTest, AnAnswerIsJudgedAsOneThatCameOverHttp) {
  start({request(1), request(2), request(3)});
  ASSERT_EQ(came.size(), 3U);

  came[2].respond({.status = 201, .body = std::string(100'000, 'x')});
  came[0].respond({.status = 429, .body = "busy", .fields = {{"Retry-After", "7"}}});
  came[1].respond = {};  // dropped without an answer
  run_until(3);

  EXPECT_EQ(answers.numbers, (std::vector<std::uint64_t>{3, 1, 2}));
  EXPECT_EQ(answers.all[0].result, AttemptResult::delivered);
  EXPECT_TRUE(answers.all[0].delivered);
  EXPECT_EQ(answers.all[0].status, 201);
  EXPECT_EQ(answers.all[0].body.size(), outbox::answer_bytes_kept);
  EXPECT_EQ(answers.all[1].result, AttemptResult::http_error);
  EXPECT_EQ(answers.all[1].status, 429);
  EXPECT_EQ(answers.all[1].retry_after, Millis{7'000});
  EXPECT_EQ(answers.all[1].body, "busy");
  EXPECT_EQ(answers.all[2].result, AttemptResult::http_error);
  EXPECT_EQ(answers.all[2].status, 500);
}

TEST_F(OwnServerTest, WhatIsNotAnsweredInTimeEndsOnce) {
  start({request(1, 1ms)});

  run_until(1);
  came[0].respond({.status = 201});
  io.poll();

  ASSERT_EQ(answers.all.size(), 1U);
  EXPECT_EQ(answers.all[0].result, AttemptResult::timeout);
  EXPECT_EQ(answers.all[0].error, "timeout: no complete answer within 1 ms");
}

TEST_F(OwnServerTest, WhatMayNotBeSentEndsAtOnce) {
  delivery::Request bad = request(1);
  auto message = std::make_shared<core::Message>(*bad.message);
  message->headers = {{"X-A", "a\r\nHost: b"}};
  bad.message = std::move(message);

  start({std::move(bad)});

  EXPECT_TRUE(came.empty());
  ASSERT_EQ(answers.all.size(), 1U);
  EXPECT_EQ(answers.all[0].result, AttemptResult::blocked);
}

TEST_F(OwnServerTest, AnAnswerThatNobodyWaitsForIsDropped) {
  start({request(1)});

  carrier.reset();
  came[0].respond({.status = 201});
  io.poll();

  EXPECT_TRUE(answers.all.empty());
}

}  // namespace HK_TEST_FILE
}  // namespace hk::cli
