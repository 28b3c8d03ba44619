#include "edge/http/pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

namespace hk::http {

namespace HK_TEST_FILE {

Response answer(const std::string& body, bool close = false) {
  Response response;
  response.body = body;
  response.content_type.clear();
  response.close = close;
  return response;
}

std::string wire(const std::string& body, bool close = false) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         (close ? "Connection: close\r\n" : "") + "\r\n" + body;
}

TEST(Pipeline, ResponsesLeaveInTheOrderOfTheRequestsWhateverTheOrderOfAnswers) {
  std::vector<int> order{0, 1, 2, 3, 4};
  do {
    Pipeline pipeline;
    std::vector<std::uint64_t> slots;
    for (int i = 0; i < 5; ++i) slots.push_back(pipeline.open({}));
    std::string out;
    for (const int i : order) {
      pipeline.answer(slots[static_cast<std::size_t>(i)], answer(std::to_string(i)), "", out);
    }
    ASSERT_EQ(out, wire("0") + wire("1") + wire("2") + wire("3") + wire("4"));
    ASSERT_EQ(pipeline.waiting(), 0U);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Pipeline, WhatAResponseHoldsIsLetGoWhenItIsSent) {
  Pipeline pipeline;
  const std::uint64_t first = pipeline.open({});
  const std::uint64_t second = pipeline.open({});
  const auto held = std::make_shared<const int>(1);
  Response response = answer("second");
  response.held = held;
  std::string out;
  pipeline.answer(second, response, "", out);
  response.held.reset();
  EXPECT_EQ(held.use_count(), 2) << "its turn has not come";
  pipeline.sent();
  EXPECT_EQ(held.use_count(), 2);
  pipeline.answer(first, answer("first"), "", out);
  EXPECT_EQ(held.use_count(), 2) << "it is to be sent";
  pipeline.sent();
  EXPECT_EQ(held.use_count(), 1);

  const std::uint64_t last = pipeline.open({});
  response.held = held;
  pipeline.answer(last, response, "", out);
  response.held.reset();
  pipeline = Pipeline{};
  EXPECT_EQ(held.use_count(), 1) << "the connection is gone";
}

TEST(Pipeline, ALongRunKeepsItsNumbers) {
  Pipeline pipeline;
  std::string out;
  std::uint64_t previous = pipeline.open({});
  for (int i = 0; i < 1'000; ++i) {  // never empty, so it has to make room
    const std::uint64_t next = pipeline.open({});
    out.clear();
    pipeline.answer(previous, answer("x"), "", out);
    ASSERT_EQ(out, wire("x"));
    ASSERT_EQ(pipeline.waiting(), 1U);
    previous = next;
  }
}

TEST(Pipeline, NothingFollowsAResponseThatEndsTheConnection) {
  Pipeline pipeline;
  const auto first = pipeline.open({});
  const auto second = pipeline.open({});
  const auto third = pipeline.open({});
  std::string out;

  pipeline.answer(third, answer("3"), "", out);
  pipeline.answer(second, answer("2", true), "", out);
  EXPECT_FALSE(pipeline.ended());
  pipeline.answer(first, answer("1"), "", out);

  EXPECT_EQ(out, wire("1") + wire("2", true));
  EXPECT_TRUE(pipeline.ended());
  EXPECT_EQ(pipeline.waiting(), 0U);
}

TEST(Pipeline, AnAnswerAfterTheEndIsDropped) {
  Pipeline pipeline;
  const auto first = pipeline.open({});
  const auto second = pipeline.open({});
  std::string out;
  pipeline.answer(first, answer("1", true), "", out);

  pipeline.answer(second, answer("2"), "", out);

  EXPECT_EQ(out, wire("1", true));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::http
