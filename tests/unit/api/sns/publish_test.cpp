#include <gtest/gtest.h>

#include "api/sns/actions.h"
#include "api/sns/topic.h"
#include "unit/api/aws/actions.h"

namespace hk::api::sns {
namespace {

/// A topic "t" with one subscriber, the queue "q", which the core no longer has; its dead letters
/// go to "dead".
struct SnsPublish : aws::testing::ActionTest {
  SnsPublish() {
    add_queue("q");
    add_queue("dead");
    Topic topic{.name = "t", .region = "eu-central-1", .incarnation = "i"};
    topic.subscriptions["one"] = {
        .id = "one",
        .protocol = "sqs",
        .endpoint = "arn:aws:sqs:eu-central-1:000000000000:q",
        .attributes = {{"RawMessageDelivery", "true"},
                       {"RedrivePolicy",
                        R"({"deadLetterTargetArn":"arn:aws:sqs:eu-central-1:000000000000:dead"})"}},
        .confirmed = true};
    submitter.reader->document_list.push_back(to_document(topic, aws::testing::tenant));
    submitter.answer = [this](core::Command& command) -> core::Reply {
      const auto& items = std::get<core::PublishBatch>(command).items;
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

}  // namespace
}  // namespace hk::api::sns
