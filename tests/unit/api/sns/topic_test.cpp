#include "api/sns/topic.h"

#include <gtest/gtest.h>

#include "api/sns/attributes.h"
#include "core/reader.h"

namespace hk::api::sns {
namespace HK_TEST_FILE {

constexpr Moment made = moment_from_ms(1'700'000'000'000);

Topic topic() {
  Topic topic{.name = "t", .region = "r", .incarnation = "i", .version = 7};
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
                    .token_made = made};
  topic.subscriptions = {{"one", queue}, {"two", hook}};
  return topic;
}

TEST(Topic, IsReadAsItWasWritten) {
  const core::Topic record = to_record(topic(), core::TenantId{1});
  EXPECT_EQ(record.kind, core::TopicKind::sns);
  EXPECT_EQ(record.subscriptions.at(0).queue, "q");
  EXPECT_TRUE(record.subscriptions[0].raw);
  EXPECT_EQ(record.subscriptions[0].filter, R"({"a":{"b":["x"]}})");
  EXPECT_EQ(record.subscriptions[0].filter_scope, core::FilterScope::message_body);
  EXPECT_EQ(record.subscriptions.at(1).url, "http://h/");
  EXPECT_FALSE(record.subscriptions[1].confirmed || record.subscriptions[1].raw);

  const Topic read = from_record(record);

  EXPECT_EQ(to_record(read, core::TenantId{1}), record);
  EXPECT_EQ(read.version, 7U);
  EXPECT_EQ(read.region, "r");
  EXPECT_EQ(read.attributes, topic().attributes);
  EXPECT_EQ(read.tags, topic().tags);
  const Subscription& queue = read.subscriptions.at("one");
  EXPECT_EQ(queue.attributes, topic().subscriptions.at("one").attributes);
  EXPECT_EQ(queue.endpoint, "arn:aws:sqs:r:1:q");
  EXPECT_TRUE(queue.raw() && queue.confirmed && queue.authenticated);
  const Subscription& hook = read.subscriptions.at("two");
  EXPECT_EQ(hook.token, "secret");
  EXPECT_TRUE(!hook.confirmed && !hook.authenticated);
}

TEST(Subscription, KnowsWhatItsPoliciesSay) {
  Subscription queue = topic().subscriptions.at("one");

  ASSERT_TRUE(read_attributes(queue));

  EXPECT_EQ(queue.dead_letters_to, "dead");
  queue.attributes["FilterPolicy"] = "nonsense";
  EXPECT_FALSE(read_attributes(queue));
}

TEST(Subscription, LapsesWhenItIsNotConfirmedInThreeDays) {
  Subscription hook = topic().subscriptions.at("two");
  constexpr Millis life{3LL * 86'400'000};

  EXPECT_FALSE(core::lapsed(hook, made + life - Millis{1}));
  EXPECT_TRUE(core::lapsed(hook, made + life));
  hook.confirmed = true;
  EXPECT_FALSE(core::lapsed(hook, made + life));
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
