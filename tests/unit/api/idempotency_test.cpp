#include "fixture.h"

namespace hk::api::testing {
namespace HK_TEST_FILE {

class IdempotencyApi : public ApiTest {
 protected:
  IdempotencyApi() {
    submitter.answer = [](core::Command& command) -> core::Reply {
      if (const auto* claim = command.get_if<core::ClaimKey>(); claim != nullptr) {
        return core::KeyClaimed{.outcome = core::KeyClaimed::Outcome::started,
                                .at = now,
                                .record = {.token = 17, .attempt = 1}};
      }
      return core::Done{};
    };
  }
  const core::ClaimKey& claim(std::string body) {
    EXPECT_EQ(call("POST", "/api/v1/idempotency/claim", {}, std::move(body)).status, 201);
    return submitter.taken.back().get<core::ClaimKey>();
  }
};

TEST_F(IdempotencyApi, AClaimSaysHowLongItWaits) {
  EXPECT_EQ(claim(R"({"key":"k"})").wait, Millis{0});
  EXPECT_EQ(claim(R"({"key":"k","wait":"0s"})").wait, Millis{0});
  EXPECT_EQ(claim(R"({"key":"k","wait":"1.5s"})").wait, Millis{1500});
}

TEST_F(IdempotencyApi, WhoWaitsHasANameOfItsOwn) {
  const core::ReceiverId first = claim(R"({"key":"k","wait":"60s"})").receiver;
  const core::ReceiverId second = claim(R"({"key":"k","wait":"60s"})").receiver;
  EXPECT_NE(first, core::ReceiverId{});
  EXPECT_NE(second, core::ReceiverId{});
  EXPECT_NE(first, second);
}

TEST_F(IdempotencyApi, AWaitHasABound) {
  for (const char* const wait : {"\"61s\"", "\"-1s\"", "5", "\"5\"", "null"}) {
    const http::Response response = call("POST", "/api/v1/idempotency/claim", {},
                                         R"({"key":"k","wait":)" + std::string(wait) + "}");
    EXPECT_EQ(response.status, 400) << wait;
    EXPECT_NE(response.body.find("wait"), std::string::npos) << response.body;
  }
  EXPECT_TRUE(submitter.taken.empty());
}

TEST_F(IdempotencyApi, TooManyWhoWaitAreToldToComeBack) {
  submitter.answer = [](core::Command&) -> core::Reply {
    return fail(ErrorKind::limit_exceeded, "too many");
  };
  const http::Response response =
      call("POST", "/api/v1/idempotency/claim", {}, R"({"key":"k","wait":"5s"})");
  EXPECT_EQ(response.status, 429);
  EXPECT_EQ(field(response, "Retry-After"), "1");
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::testing
