#include "core/webhook/id.h"

#include <gtest/gtest.h>

namespace hk::core::webhook {
namespace HK_TEST_FILE {

constexpr Moment at = moment_from_ms(1'790'000'000'123);

TEST(WebhookId, IsTheSameAtEveryTimeAndHoldsTheNumber) {
  const Application application{.number = 7, .made = {at, 0x0102030405060708}};
  const std::string id = id_of(application);
  EXPECT_EQ(id, "app_3Jdnq5XLvG5POzFSoW86dwIFBqS");
  EXPECT_EQ(number_in(id, application_prefix), 7U);
  EXPECT_EQ(number_in(id, endpoint_prefix), std::nullopt);
  EXPECT_EQ(number_in("anything", application_prefix), std::nullopt);
  const Endpoint endpoint{.number = 7, .made = application.made};
  EXPECT_EQ(id_of(endpoint), "ep_" + id.substr(4));
  const Event event{.number = 7, .made = application.made};
  EXPECT_EQ(id_of(event), "msg_" + id.substr(4));
  const Integration integration{.number = 7, .made = application.made};
  EXPECT_EQ(id_of(integration), "integ_" + id.substr(4));
}

TEST(WebhookId, OfAnAttemptIsItsPlaceToTheMillisecond) {
  for (const std::int64_t ms : {0, 1, 3, 500, 998, 999}) {
    SCOPED_TRACE(ms);
    const AttemptPlace place{.ended_at = moment_from_ms(1'790'000'000'000 + ms),
                             .delivery = Seq{0xfedc'0000'0000'0001},
                             .attempt = 0xffff'ffff};
    const std::string id = id_of(place);
    EXPECT_TRUE(id.starts_with("atmpt_"));
    EXPECT_EQ(parse_attempt_id(id), place);
  }
  EXPECT_EQ(parse_attempt_id("atmpt_"), std::nullopt);
  EXPECT_EQ(parse_attempt_id("msg_000000000000000000000000000"), std::nullopt);
}

TEST(WebhookId, AUidIsNoIdAndHasNoSpecialCharacters) {
  const struct {
    std::string text;
    bool may;
  } rows[] = {{"a", true},
              {"A-z_0.9", true},
              {std::string(256, 'x'), true},
              {std::string(257, 'x'), false},
              {"", false},
              {"a b", false},
              {"a/b", false},
              {"ü", false},
              {"app_", false},
              {"app_x", false},
              {"ep_x", true}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.text);
    EXPECT_EQ(may_be_uid(row.text, application_prefix), row.may);
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::webhook
