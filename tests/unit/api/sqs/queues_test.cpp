#include <gtest/gtest.h>

#include "unit/api/aws/actions.h"

namespace hk::api::sqs {
namespace {

/// A core that has the queues of `kept`, or else makes what it is asked for.
struct SqsQueues : aws::testing::ActionTest {
  SqsQueues() {
    submitter.answer = [this](core::Command& command) -> core::Reply {
      const auto* const create = std::get_if<core::CreatePullQueue>(&command);
      if (create == nullptr) {
        return core::Done{};
      }
      auto& kept = submitter.reader->queue_list;
      const auto known = std::ranges::find(kept, create->name, &core::Queue::name);
      if (known != kept.end()) {
        return core::QueueMade{true, *known};
      }
      return core::QueueMade{false, add_queue(create->name, create->settings)};
    };
  }
  http::Response create(const std::string& name, const std::string& attributes) {
    return ask(create_queue, R"({"QueueName":")" + name + R"(","Attributes":)" + attributes + "}");
  }
};

TEST_F(SqsQueues, TheWordsOfAFifoQueueAreTakenInAnyCase) {
  for (const std::string word : {"true", "True", "TRUE"}) {
    EXPECT_EQ(create(word + ".fifo", R"({"FifoQueue":")" + word + R"("})").status, 200) << word;
  }
  for (const core::Queue& queue : submitter.reader->queue_list) {
    EXPECT_TRUE(queue.pull->fifo) << queue.name;
  }
  EXPECT_EQ(create("no.fifo", R"({"FifoQueue":"False"})").status, 400);
  EXPECT_EQ(create("plain", R"({"FifoQueue":"True"})").status, 400);

  // Saying it again of one that is.
  EXPECT_EQ(ask(set_queue_attributes,
                R"({"QueueUrl":"http://host/000000000000/true.fifo","Attributes":
                    {"FifoQueue":"True"}})")
                .status,
            200);
}

TEST_F(SqsQueues, AQueueIsTheSameWhenEachAttributeGivenIsWhatItHasAnyway) {
  ASSERT_EQ(create("q", R"({"VisibilityTimeout":"7"})").status, 200);
  ASSERT_EQ(create("f.fifo", R"({"FifoQueue":"true"})").status, 200);
  const core::Queue q = submitter.reader->queue_list[0];

  for (const std::string same :
       {R"({})", R"({"VisibilityTimeout":"7","SqsManagedSseEnabled":"true"})",
        R"({"SqsManagedSseEnabled":"TRUE"})", R"({"HikyakuPushParallelism":"10"})",
        R"({"KmsDataKeyReusePeriodSeconds":"300"})", R"({"HikyakuExtendedLimits":"false"})",
        R"({"RedrivePolicy":"","Policy":"","KmsMasterKeyId":"","HikyakuPushUrl":""})"}) {
    const http::Response response = create("q", same);
    EXPECT_EQ(response.status, 200) << same << response.body;
    EXPECT_NE(response.body.find("http://host/000000000000/q"), std::string::npos);
  }
  for (const std::string same :
       {R"({"FifoQueue":"True","FifoThroughputLimit":"perQueue"})",
        R"({"FifoQueue":"true","DeduplicationScope":"queue","HikyakuOnFailure":"deadLetter"})"}) {
    EXPECT_EQ(create("f.fifo", same).status, 200) << same;
  }

  for (const auto& [other, name] : std::initializer_list<std::pair<std::string, std::string>>{
           {R"({"VisibilityTimeout":"7","SqsManagedSseEnabled":"false"})", "SqsManagedSseEnabled"},
           {R"({"HikyakuPushParallelism":"11"})", "HikyakuPushParallelism"},
           {R"({"KmsDataKeyReusePeriodSeconds":"301"})", "KmsDataKeyReusePeriodSeconds"},
           {R"({"KmsMasterKeyId":"k"})", "KmsMasterKeyId"},
           {R"({"VisibilityTimeout":"8"})", "VisibilityTimeout"}}) {
    const http::Response response = create("q", other);
    EXPECT_EQ(response.status, 400) << other;
    EXPECT_NE(response.body.find("QueueNameExists"), std::string::npos) << response.body;
    EXPECT_NE(response.body.find("attribute " + name), std::string::npos) << response.body;
  }
  EXPECT_EQ(submitter.reader->queue_list[0].pull, q.pull);
}

TEST_F(SqsQueues, AnAttributeThatWasSetIsComparedWithWhatItWasSetTo) {
  ASSERT_EQ(create("q", R"({"HikyakuPushParallelism":"10","SqsManagedSseEnabled":"false"})").status,
            200);
  EXPECT_EQ(create("q", R"({"HikyakuPushParallelism":"10"})").status, 200);
  EXPECT_EQ(create("q", R"({"SqsManagedSseEnabled":"False"})").status, 200);
  EXPECT_EQ(create("q", R"({"SqsManagedSseEnabled":"true"})").status, 400);
}

}  // namespace
}  // namespace hk::api::sqs
