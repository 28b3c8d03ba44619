// Links in what SNS delivers: they work for whoever has them, and for nothing else.
#include "api/sns/topic.h"
#include "unit/api/fixture.h"

namespace hk::api::testing {
namespace HK_TEST_FILE {

constexpr const char* confirm = "/?Action=ConfirmSubscription&TopicArn=arn:aws:sns:r:";
constexpr const char* leave = "/?Action=Unsubscribe&SubscriptionArn=arn:aws:sns:r:";

struct SnsLinks : ApiTest {
  SnsLinks() {
    sns::Topic topic{.name = "t", .region = "r", .incarnation = "i", .version = 1};
    sns::Subscription hook{.id = "one",
                           .protocol = "http",
                           .endpoint = "http://h/",
                           .token = "secret",
                           .token_made = now};
    topic.subscriptions = {{"one", hook}};
    put(topic);
    submitter.answer = [this](core::Command& command) -> core::Reply {
      auto* const given = command.get_if<core::PutTopic>();
      if (given == nullptr) {
        return fail(ErrorKind::internal, "not expected");
      }
      if (conflicts > 0) {
        --conflicts;
        return fail(ErrorKind::conflict, "somebody was faster");
      }
      EXPECT_EQ(given->topic.version, submitter.reader->scan<core::Topic>().front().version);
      core::Topic changed = given->topic;
      ++changed.version;
      submitter.reader->put<core::Topic>(changed);
      return core::Done{};
    };
  }
  void put(const sns::Topic& topic) {
    submitter.reader->put<core::Topic>(sns::to_record(topic, core::TenantId{1}));
  }
  sns::Topic stored() { return sns::from_record(submitter.reader->scan<core::Topic>().front()); }
  http::Response follow(const std::string& link) { return call_as("", "GET", link); }

  int conflicts = 0;
};

TEST_F(SnsLinks, ConfirmOnceAndForAll) {
  const std::string link = std::string(confirm) + "000000000000:t&Token=secret";
  conflicts = 2;
  for (int i = 0; i < 2; ++i) {
    const http::Response response = follow(link);
    EXPECT_EQ(response.status, 200) << response.body;
    EXPECT_NE(response.body.find("<SubscriptionArn>arn:aws:sns:r:000000000000:t:one<"),
              std::string::npos)
        << response.body;
  }
  EXPECT_TRUE(stored().subscriptions.at("one").confirmed);
  EXPECT_FALSE(stored().subscriptions.at("one").authenticated);
  EXPECT_EQ(submitter.taken.size(), 3U) << "two conflicts, one change, and then there was nothing";
}

TEST_F(SnsLinks, ConfirmNothingWithoutTheTokenOrTooLate) {
  EXPECT_EQ(follow(std::string(confirm) + "000000000000:t&Token=guess").status, 400);
  EXPECT_EQ(follow(std::string(confirm) + "000000000000:t").status, 400);
  EXPECT_EQ(follow(std::string(confirm) + "000000000000:other&Token=secret").status, 404);
  EXPECT_EQ(follow(std::string(confirm) + "000000000007:t&Token=secret").status, 400);
  EXPECT_EQ(follow("/?Action=ConfirmSubscription&Token=secret").status, 400);
  EXPECT_EQ(follow("/?Action=DeleteTopic&Version=2010-03-31&TopicArn=arn:aws:sns:r:000000000000:t")
                .status,
            403);
  sns::Topic old = stored();
  old.subscriptions.at("one").token_made = now - sns::token_life;
  put(old);
  EXPECT_EQ(follow(std::string(confirm) + "000000000000:t&Token=secret").status, 400);
  EXPECT_FALSE(stored().subscriptions.at("one").confirmed);
  EXPECT_TRUE(submitter.taken.empty());
}

TEST_F(SnsLinks, EndASubscriptionUnlessThatNeedsASignature) {
  sns::Topic guarded = stored();
  guarded.subscriptions.at("one").confirmed = true;
  guarded.subscriptions.at("one").authenticate_on_unsubscribe = true;
  put(guarded);
  EXPECT_EQ(follow(std::string(leave) + "000000000000:t:one").status, 403);
  EXPECT_EQ(stored().subscriptions.size(), 1U);

  guarded.subscriptions.at("one").authenticate_on_unsubscribe = false;
  put(guarded);
  EXPECT_EQ(follow(std::string(leave) + "000000000000:t:one").status, 200);
  EXPECT_TRUE(stored().subscriptions.empty());
  EXPECT_EQ(follow(std::string(leave) + "000000000000:t:one").status, 200);
  EXPECT_EQ(follow(std::string(leave) + "000000000000:gone:one").status, 200);
  EXPECT_EQ(follow(std::string(leave) + "000000000000:t").status, 400);
}

TEST_F(SnsLinks, HaveNoCertificateBeforeAnythingWasSigned) {
  EXPECT_EQ(call_as("", "GET", "/sns/certificate.pem").status, 404);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::testing
