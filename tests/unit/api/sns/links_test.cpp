// Links in what SNS delivers: they work for whoever has them, and for nothing else.
#include "api/sns/topic.h"
#include "unit/api/fixture.h"

namespace hk::api::testing {
namespace HK_TEST_FILE {

constexpr const char* confirm = "/?Action=ConfirmSubscription&TopicArn=arn:aws:sns:r:";
constexpr const char* leave = "/?Action=Unsubscribe&SubscriptionArn=arn:aws:sns:r:";

struct SnsLinks : ApiTest {
  SnsLinks() {
    submitter.answer = [this](core::Command& command) -> core::Reply {
      if (const auto* const given = command.get_if<core::ConfirmSubscription>()) {
        confirmed = *given;
      } else if (const auto* const ended = command.get_if<core::Unsubscribe>()) {
        left = *ended;
      }
      return reply;
    };
  }
  http::Response follow(const std::string& link) { return call_as("", "GET", link); }

  core::Reply reply = core::Done{};
  std::optional<core::ConfirmSubscription> confirmed;
  std::optional<core::Unsubscribe> left;
};

TEST_F(SnsLinks, ConfirmAsSomebodyWhoHasNoMoreThanTheToken) {
  core::Topic topic{.tenant = core::TenantId{1},
                    .kind = core::TopicKind::sns,
                    .name = "t",
                    .subscriptions = {{.id = "one", .url = "http://h/", .protocol = "http"}},
                    .options = {{"Region", "r"}}};
  reply = core::Subscribed{
      .existed = true, .topic = core::ReadTopic::read_stored(std::move(topic)), .id = "one"};

  const http::Response response =
      follow(std::string(confirm) + "000000000000:t&Token=secret&AuthenticateOnUnsubscribe=true");

  EXPECT_EQ(response.status, 200) << response.body;
  EXPECT_NE(response.body.find("<SubscriptionArn>arn:aws:sns:"), std::string::npos)
      << response.body;
  EXPECT_NE(response.body.find(":000000000000:t:one<"), std::string::npos) << response.body;
  ASSERT_TRUE(confirmed);
  EXPECT_EQ(confirmed->tenant, core::TenantId{1});
  EXPECT_EQ(confirmed->topic, "t");
  EXPECT_EQ(confirmed->token, "secret");
  EXPECT_FALSE(confirmed->by_owner);
  EXPECT_TRUE(confirmed->owner_ends_it) << "the core knows what it is worth";
}

TEST_F(SnsLinks, ThatConfirmNothingSayWhy) {
  const std::string link = std::string(confirm) + "000000000000:t&Token=secret";
  reply = fail(ErrorKind::invalid_argument, "it is unknown, or its time is over");
  EXPECT_EQ(follow(link).status, 400);
  reply = fail(ErrorKind::not_found, "topic t not found");
  EXPECT_EQ(follow(link).status, 404);
  EXPECT_EQ(submitter.taken.size(), 2U);

  EXPECT_EQ(follow(std::string(confirm) + "000000000000:t").status, 400);
  EXPECT_EQ(follow(std::string(confirm) + "000000000007:t&Token=secret").status, 400);
  EXPECT_EQ(follow("/?Action=ConfirmSubscription&Token=secret").status, 400);
  EXPECT_EQ(follow("/?Action=DeleteTopic&Version=2010-03-31&TopicArn=arn:aws:sns:r:000000000000:t")
                .status,
            403);
  EXPECT_EQ(submitter.taken.size(), 2U) << "what is malformed does not reach the core";
}

TEST_F(SnsLinks, EndASubscriptionUnlessThatNeedsASignature) {
  EXPECT_EQ(follow(std::string(leave) + "000000000000:t:one").status, 200);
  ASSERT_TRUE(left);
  EXPECT_EQ(left->topic, "t");
  EXPECT_EQ(left->id, "one");
  EXPECT_FALSE(left->by_owner);

  reply = fail(ErrorKind::permission_denied, "only the owner of the topic ends this subscription");
  EXPECT_EQ(follow(std::string(leave) + "000000000000:t:one").status, 403);
  EXPECT_EQ(follow(std::string(leave) + "000000000000:t").status, 400);
}

TEST_F(SnsLinks, HaveNoCertificateBeforeAnythingWasSigned) {
  EXPECT_EQ(call_as("", "GET", "/sns/certificate.pem").status, 404);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::testing
