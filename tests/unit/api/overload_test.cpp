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
  /// Requests have waited too long for so long that it is no burst, and nothing was answered for
  /// more than a second.
  void fall_behind() {
    publish(1);  // makes the thread's batcher
    const auto now = std::chrono::steady_clock::now() + std::chrono::seconds{10};
    io.lag_watcher(now, Millis{20});
    io.lag_watcher(now + Shedding::interval, Millis{20});
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
      EXPECT_EQ(answer.status, 429);
      EXPECT_EQ(field(answer, "Retry-After"), "1");
      EXPECT_EQ(field(answer, "Burst-RateLimit-Limit"), "128");
      EXPECT_EQ(field(answer, "Burst-RateLimit-Remaining"), "0");
      EXPECT_GT(field(answer, "Burst-RateLimit-Reset"), "1700000000");
      EXPECT_NE(error_of(answer).find("nothing was done"), std::string::npos);
    }
  }
  EXPECT_EQ(refused, 600U - Shedding::kept_min);
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
