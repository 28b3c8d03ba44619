#include "api/shedding.h"
#include "fixture.h"

namespace hk::api::testing {
namespace HK_TEST_FILE {

class Overload : public ApiTest {
 protected:
  Overload() { options.overload_delay = Millis{10}; }

  http::Request request(std::string method, std::string target) {
    http::Request made;
    made.method = std::move(method);
    made.target = std::move(target);
    made.fields = {{"Authorization", "Bearer token-1"}};
    return made;
  }
  /// Publishes that are read in one round; the answers.
  std::vector<http::Response> publish(std::size_t count) {
    std::vector<std::uint64_t> slots;
    for (std::size_t i = 0; i < count; ++i) {
      slots.push_back(begin(request("POST", "/v2/publish/https://h")));
    }
    io.run();
    std::vector<http::Response> answers;
    for (const std::uint64_t slot : slots) {
      answers.push_back(end(slot));
    }
    return answers;
  }
  /// Requests have waited too long for so long that it is no burst.
  void fall_behind() {
    publish(1);  // makes the thread's batcher
    auto now = std::chrono::steady_clock::now();
    io.lag_watcher(now, Millis{0});  // the first window begins
    for (auto t = Millis{0}; t <= Shedding::burst; t += Shedding::window) {
      for (int round = 0; round < 5; ++round) {
        publish(600);
      }
      now += Shedding::window;
      io.lag_watcher(now, Millis{20});
    }
  }
};

TEST_F(Overload, PublishesAreRefusedWithTheTimeToComeBack) {
  fall_behind();
  submitter.taken.clear();

  const auto answers = publish(600);

  std::size_t refused = 0;
  for (const http::Response& answer : answers) {
    if (answer.status != 201) {
      ++refused;
      EXPECT_EQ(answer.status, 503);
      EXPECT_EQ(field(answer, "Retry-After"), "1");
      EXPECT_NE(error_of(answer).find("nothing was done"), std::string::npos);
    }
  }
  EXPECT_GE(refused, 300U);  // half; more as far as this test itself takes time
  EXPECT_EQ(submitter.taken.size(), 600U - refused);
}

TEST_F(Overload, WhatMakesTheWorkLessIsNotRefused) {
  const std::string id = store(core::Seq{7});
  fall_behind();
  submitter.taken.clear();

  EXPECT_EQ(call("GET", "/v2/messages/" + id).status, 200);
  EXPECT_NE(call("DELETE", "/v2/messages/" + id).status, 503);
  EXPECT_EQ(submitter.taken.size(), 1U);
}

TEST_F(Overload, NothingIsRefusedWhenTurnedOff) {
  options.overload_delay = Millis{0};
  publish(1);

  EXPECT_FALSE(io.lag_watcher);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::testing
