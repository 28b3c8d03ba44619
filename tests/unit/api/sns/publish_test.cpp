#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "api/sns/actions.h"
#include "api/sns/fan_out.h"
#include "api/sns/topic.h"
#include "core/message/mark.h"
#include "unit/api/aws/actions.h"

namespace hk::api::sns {
namespace HK_TEST_FILE {

/// A subscription of a queue that gets bodies as they are, with dead letters to "dead".
Subscription raw_to_queue(const std::string& id, const std::string& queue) {
  const std::string arns = "arn:aws:sqs:eu-central-1:000000000000:";
  return {.id = id,
          .protocol = "sqs",
          .endpoint = arns + queue,
          .attributes = {{"RawMessageDelivery", "true"},
                         {"RedrivePolicy", R"({"deadLetterTargetArn":")" + arns + R"(dead"})"}},
          .confirmed = true};
}

/// As it is when its attributes were set one by one.
Topic with_policies(Topic topic) {
  for (auto& [id, subscription] : topic.subscriptions) {
    EXPECT_TRUE(read_attributes(subscription, core::PolicyFrom::client));
  }
  return topic;
}

/// A topic "t" with one subscriber, the queue "q", which the core no longer has; its dead letters
/// go to "dead".
struct SnsPublish : aws::testing::ActionTest {
  SnsPublish() {
    add_queue("q");
    add_queue("dead");
    Topic topic{.name = "t", .region = "eu-central-1", .incarnation = "i"};
    topic.subscriptions["one"] = raw_to_queue("one", "q");
    submitter.reader->put<core::Topic>(to_record(with_policies(topic), aws::testing::tenant));
    submitter.answer = [this](core::Command& command) -> core::Reply {
      const auto& items = command.get<core::PublishBatch>().items;
      queues.push_back(items.at(0).message->queue);
      if (queues.back() == "q") {
        core::BatchPublished gone;
        gone.items.emplace_back(fail(ErrorKind::not_found, "no such queue"));
        return gone;
      }
      if (failures > 0) {
        --failures;
        return fail(kind, "not now");
      }
      core::BatchPublished stored;
      stored.items.emplace_back(core::Published{});
      return stored;
    };
  }
  http::Response send() {
    return ask_by_form(publish,
                       "TopicArn=arn%3Aaws%3Asns%3Aeu-central-1%3A000000000000%3At&Message=m",
                       aws::Dialect::sns_query);
  }

  int failures = 0;  ///< of the copy for "dead"
  ErrorKind kind = ErrorKind::unavailable;
  std::vector<std::string> queues;  ///< of what the core was given
};

TEST_F(SnsPublish, ACopyForADeadLetterQueueIsSentAgainWhenTheCoreDidNotTakeIt) {
  failures = 3;

  EXPECT_EQ(send().status, 200);
  EXPECT_EQ(queues, (std::vector<std::string>{"q", "dead", "dead", "dead", "dead"}));
}

TEST_F(SnsPublish, ACopyThatIsNowhereIsNotAnsweredWithSuccess) {
  failures = 100;

  const http::Response busy = send();
  EXPECT_EQ(busy.status, 503) << busy.body;
  EXPECT_NE(busy.body.find("ServiceUnavailable"), std::string::npos) << busy.body;

  kind = ErrorKind::internal;
  const http::Response broken = send();
  EXPECT_EQ(broken.status, 500) << broken.body;
  EXPECT_NE(broken.body.find("<ErrorResponse"), std::string::npos) << broken.body;
}

TEST_F(SnsPublish, InABatchTheEntryWhoseCopyIsNowhereHasFailed) {
  failures = 100;

  const http::Response response = ask_by_form(
      publish_batch,
      "TopicArn=arn%3Aaws%3Asns%3Aeu-central-1%3A000000000000%3At"
      "&PublishBatchRequestEntries.member.1.Id=a&PublishBatchRequestEntries.member.1.Message=m",
      aws::Dialect::sns_query, "PublishBatch");
  EXPECT_EQ(response.status, 200) << response.body;
  EXPECT_NE(response.body.find("<Code>ServiceUnavailable</Code>"), std::string::npos)
      << response.body;
}

/// A FIFO topic with two subscribers, "q" and "other", in front of a core that no longer has "q"
/// and does with marks as the real one.
struct SnsFifoPublish : aws::testing::ActionTest {
  SnsFifoPublish() {
    for (const char* name : {"q", "other", "dead"}) {
      add_queue(name);
    }
    Topic topic{.name = "t.fifo", .region = "eu-central-1", .incarnation = "i"};
    for (const std::string name : {"q", "other"}) {
      topic.subscriptions[name] = raw_to_queue(name, name);
    }
    submitter.reader->put<core::Topic>(to_record(with_policies(topic), aws::testing::tenant));
    submitter.answer = [this](core::Command& command) -> core::Reply {
      const auto& items = command.get<core::PublishBatch>().items;
      const core::Message& mark = *items.at(0).message;
      EXPECT_TRUE(core::is_mark(mark));
      core::BatchPublished stored;
      const auto known = marks.find(mark.dedup_id);
      stored.items.emplace_back(known == marks.end() ? core::Published{mark.id}
                                                     : core::Published{known->second, true});
      if (known != marks.end()) {
        return stored;
      }
      std::vector<std::string> to;
      for (std::size_t i = 1; i < items.size(); ++i) {
        to.push_back(items[i].message->queue);
        stored.items.emplace_back(core::Published{});
      }
      if (std::ranges::find(to, "q") != to.end()) {
        return fail(ErrorKind::not_found, "no such queue");
      }
      marks[mark.dedup_id] = mark.id;
      accepted.insert(accepted.end(), to.begin(), to.end());
      return stored;
    };
  }
  http::Response send() {
    return ask_by_form(publish,
                       "TopicArn=arn%3Aaws%3Asns%3Aeu-central-1%3A000000000000%3At.fifo&Message=m"
                       "&MessageGroupId=g&MessageDeduplicationId=d",
                       aws::Dialect::sns_query);
  }

  std::map<std::string, core::MessageId> marks;
  std::vector<std::string> accepted;  ///< queues of copies
};

TEST_F(SnsFifoPublish, WhatIsSentAgainAfterAnErrorReachesEverybodyOnce) {
  const http::Response refused = send();
  EXPECT_EQ(refused.status, 503) << refused.body;
  EXPECT_NE(refused.body.find("ServiceUnavailable"), std::string::npos) << refused.body;
  EXPECT_TRUE(accepted.empty()) << "else it would be there twice";

  submitter.reader->rows<core::Queue>().erase({aws::testing::tenant, "q"});  // seen by now
  const http::Response again = send();
  EXPECT_EQ(again.status, 200) << again.body;
  EXPECT_EQ(std::multiset(accepted.begin(), accepted.end()),
            (std::multiset<std::string>{"dead", "other"}));

  EXPECT_EQ(send().body, again.body) << "a repetition";
  EXPECT_EQ(accepted.size(), 2U);
}

TEST_F(SnsFifoPublish, InABatchTheEntryThatWasNotTakenHasFailed) {
  const http::Response response =
      ask_by_form(publish_batch,
                  "TopicArn=arn%3Aaws%3Asns%3Aeu-central-1%3A000000000000%3At.fifo"
                  "&PublishBatchRequestEntries.member.1.Id=a"
                  "&PublishBatchRequestEntries.member.1.Message=m"
                  "&PublishBatchRequestEntries.member.1.MessageGroupId=g"
                  "&PublishBatchRequestEntries.member.1.MessageDeduplicationId=d",
                  aws::Dialect::sns_query, "PublishBatch");
  EXPECT_EQ(response.status, 200) << response.body;
  EXPECT_NE(response.body.find("<Code>ServiceUnavailable</Code>"), std::string::npos)
      << response.body;
}

TEST_F(SnsPublish, WhatGoesToAUrlIsKnownAsANotification) {
  options.gate_of = [](std::string_view) -> Result<std::string> { return "https://host:443"; };
  Topic topic{.name = "t", .region = "eu-central-1", .incarnation = "i"};
  topic.subscriptions["one"] = {.id = "one",
                                .protocol = "https",
                                .endpoint = "https://example.com/hook",
                                .attributes = {{"RawMessageDelivery", "true"}},
                                .confirmed = true};
  const auto exchange =
      make_exchange(std::make_shared<api::testing::FakeConnection>(), aws::Dialect::sns_query);
  const Incoming incoming{.message = "m"};
  FanOut fan_out(*exchange, topic, incoming, "id", "");
  ASSERT_TRUE(fan_out.choose());

  const FanOut::Copies all = fan_out.copies(nullptr, 1'000'000);
  ASSERT_EQ(all.items.size(), 1U);
  EXPECT_TRUE(all.items[0].message->notification);
  EXPECT_FALSE(core::made_by_qstash(*all.items[0].message));
}

TEST_F(SnsPublish, NoMoreCopiesAreMadeOnceTheyAreTooMuch) {
  Topic topic{.name = "t", .region = "eu-central-1", .incarnation = "i"};
  for (int i = 0; i < 10; ++i) {
    const std::string id = std::to_string(i);
    topic.subscriptions[id] = {.id = id,
                               .protocol = "sqs",
                               .endpoint = "arn:aws:sqs:eu-central-1:000000000000:q",
                               .attributes = {{"RawMessageDelivery", "true"}},
                               .confirmed = true};
  }
  const Incoming incoming{
      .message = "m",
      .attributes = {{"a", {.data_type = "String", .string_value = std::string(1000, 'x')}}}};
  const auto exchange =
      make_exchange(std::make_shared<api::testing::FakeConnection>(), aws::Dialect::sns_query);
  FanOut fan_out(*exchange, topic, incoming, "id", "");
  ASSERT_TRUE(fan_out.choose());

  const FanOut::Copies all = fan_out.copies(nullptr, 1'000'000);
  EXPECT_EQ(all.items.size(), 10U);
  const std::size_t one = all.bytes / 10;
  EXPECT_GE(one, 1000U);  // raw, so that it has the attributes
  EXPECT_EQ(fan_out.copies(nullptr, 2 * one).items.size(), 3U);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::sns
