#include "api/sns/topic.h"

#include <gtest/gtest.h>

#include "api/sns/attributes.h"
#include "core/reader.h"

namespace hk::api::sns {
namespace HK_TEST_FILE {

constexpr Moment made = moment_from_ms(1'700'000'000'000);

Topic topic() {
  Topic topic{.name = "t", .region = "r", .incarnation = "i"};
  topic.attributes = {{"DisplayName", "a/b"}, {"SignatureVersion", "2"}};
  topic.tags = {{"k/1", "v"}, {"", "x"}};
  Subscription queue{.id = "one",
                     .protocol = "sqs",
                     .endpoint = "arn:aws:sqs:r:1:q",
                     .confirmed = true,
                     .authenticated = true};
  queue.attributes = {
      {"FilterPolicy", R"({"a":{"b":["x"]}})"},
      {"FilterPolicyScope", "MessageBody"},
      {"RawMessageDelivery", "true"},
      {"RedrivePolicy", R"({"deadLetterTargetArn":"arn:aws:sqs:r:1:dead"})"},
  };
  Subscription hook{.id = "two",
                    .protocol = "http",
                    .endpoint = "http://h/",
                    .token = "secret",
                    .token_made = made,
                    .authenticate_on_unsubscribe = true};
  topic.subscriptions = {{"one", queue}, {"two", hook}};
  return topic;
}

TEST(Topic, IsReadAsItWasWritten) {
  core::Document document = to_document(topic(), core::TenantId{1});
  document.version = 7;

  const Topic read = from_document(document);

  EXPECT_EQ(to_document(read, core::TenantId{1}).fields, document.fields);
  EXPECT_EQ(read.version, 7U);
  EXPECT_EQ(read.region, "r");
  EXPECT_EQ(read.attributes, topic().attributes);
  EXPECT_EQ(read.tags, topic().tags);
  const Subscription& queue = read.subscriptions.at("one");
  EXPECT_TRUE(queue.raw() && queue.confirmed && queue.authenticated);
  EXPECT_EQ(queue.dead_letters_to, "dead");
  ASSERT_TRUE(queue.filter);
  core::FilterSubject message;
  ASSERT_TRUE(message.read_body(R"({"a":{"b":"x"}})"));
  EXPECT_EQ(queue.filter->matches(message), true);
  ASSERT_TRUE(message.read_body(R"({"a":{"b":"y"}})"));
  EXPECT_EQ(queue.filter->matches(message), false);
  const Subscription& hook = read.subscriptions.at("two");
  EXPECT_EQ(hook.token, "secret");
  EXPECT_TRUE(!hook.confirmed && !hook.authenticated && hook.authenticate_on_unsubscribe);
}

TEST(Topic, IsReadThoughAPolicyInItIsBeyondALimitOfToday) {
  core::Document document = to_document(topic(), core::TenantId{1});
  std::string policy = R"({"a":[{"anything-but":["x")";
  for (int i = 0; i < 200; ++i) {
    policy += ",\"" + std::to_string(i) + '"';
  }
  document.fields.push_back({"subscription/two/attribute/FilterPolicy", policy + "]}]}"});

  EXPECT_TRUE(from_document(document).subscriptions.at("two").filter);
}

TEST(Topic, ThatIsNoneIsNotTakenForOne) {
  core::Document document = to_document(topic(), core::TenantId{1});
  document.fields.push_back({"subscription/one/attribute/FilterPolicy", "nonsense"});
  EXPECT_THROW(from_document(document), core::CorruptRecord);
  document = {.name = "t", .fields = {{"subscription/x", ""}}};
  EXPECT_THROW(from_document(document), core::CorruptRecord);
}

TEST(Subscription, LapsesWhenItIsNotConfirmedInThreeDays) {
  Subscription hook = topic().subscriptions.at("two");

  EXPECT_FALSE(hook.lapsed(made + token_life - Millis{1}));
  EXPECT_TRUE(hook.lapsed(made + token_life));
  hook.confirmed = true;
  EXPECT_FALSE(hook.lapsed(made + token_life));
}

TEST(Subscription, ARefusedFilterPolicyIsToldWithWhereItStood) {
  const Error error{ErrorKind::invalid_argument, "why"};

  EXPECT_EQ(filter_policy_refusal(error, true),
            (aws::Refusal{aws::ErrorCode::sns_invalid_parameter,
                          "Invalid parameter: Attributes Reason: FilterPolicy: why"}));
  EXPECT_EQ(filter_policy_refusal(error, false).message, "Invalid parameter: FilterPolicy: why");
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::sns
