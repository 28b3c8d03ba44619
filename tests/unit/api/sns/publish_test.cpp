#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "api/sns/actions.h"
#include "api/sns/topic.h"
#include "core/topic/publication.h"
#include "unit/api/aws/actions.h"

namespace hk::api::sns {
namespace HK_TEST_FILE {

constexpr const char* arn = "arn%3Aaws%3Asns%3Aeu-central-1%3A000000000000%3A";

Subscription raw_to_queue(const std::string& id) {
  return {.id = id,
          .protocol = "sqs",
          .endpoint = "arn:aws:sqs:eu-central-1:000000000000:" + id,
          .attributes = {{"RawMessageDelivery", "true"}},
          .confirmed = true};
}

/// What was given to the core, and how much of it was ready.
struct Given {
  std::string topic{};
  std::string text{};
  bool enveloped = false;
  std::string group{};
  std::string dedup_id{};
  std::map<std::string, std::string> texts{};  ///< by protocol
};

struct SnsPublish : aws::testing::ActionTest {
  SnsPublish() {
    submitter.answer = [this](core::Command& command) -> core::Reply {
      const auto* const publish = command.get_if<core::PublishToTopic>();
      if (publish == nullptr) {
        return core::Done{};  // a signing key is kept
      }
      const core::Wording& wording = publish->wordings.front();
      given.push_back({publish->topic, wording.text, wording.envelope.has_value(), publish->group,
                       publish->dedup_id});
      for (const core::Wording& one : publish->wordings) {
        given.back().texts[one.protocol] = one.text;
      }
      if (!errors.empty()) {
        const ErrorKind kind = errors.front();
        errors.erase(errors.begin());
        return fail(kind, "why");
      }
      return core::TopicPublished{{core::Seq{7}, 1}, false};
    };
  }
  void put(const std::string& name, std::vector<Subscription> subscriptions) {
    Topic topic{.name = name, .region = "eu-central-1", .incarnation = "i"};
    for (Subscription& one : subscriptions) {
      EXPECT_TRUE(read_attributes(one));
      topic.subscriptions[one.id] = one;
    }
    submitter.reader->put<core::Topic>(to_record(topic, aws::testing::tenant));
  }
  http::Response send(const std::string& name, const std::string& rest = "") {
    return ask_by_form(publish, "TopicArn=" + (arn + name) + "&Message=m" + rest,
                       aws::Dialect::sns_query);
  }

  std::vector<Given> given;
  std::vector<ErrorKind> errors;  ///< of the next answers
};

TEST_F(SnsPublish, NothingIsSignedWhereNobodyNeedsIt) {
  put("t", {raw_to_queue("a")});

  const http::Response response = send("t");

  EXPECT_EQ(response.status, 200) << response.body;
  EXPECT_NE(response.body.find("<MessageId>"), std::string::npos);
  EXPECT_EQ(response.body.find("<SequenceNumber>"), std::string::npos);
  ASSERT_EQ(given.size(), 1U);
  EXPECT_EQ(given[0].text, "m");
  EXPECT_FALSE(given[0].enveloped);
}

TEST_F(SnsPublish, AFilterThatSaysNoNeedsNoSignatureEither) {
  Subscription filtered = raw_to_queue("a");
  filtered.attributes = {{"FilterPolicy", R"({"a":["x"]})"}};
  put("t", {filtered});

  EXPECT_EQ(send("t").status, 200);

  ASSERT_EQ(given.size(), 1U);
  EXPECT_FALSE(given[0].enveloped);
}

TEST_F(SnsPublish, EachProtocolHasItsText) {
  put("t", {raw_to_queue("a")});
  const std::string structured =
      "TopicArn=" + (arn + std::string("t")) +
      R"(&MessageStructure=json&Message={"default":"d","sqs":"q","lambda":"l","number":1})";

  EXPECT_EQ(ask_by_form(publish, structured, aws::Dialect::sns_query).status, 200);

  ASSERT_EQ(given.size(), 1U);
  EXPECT_EQ(given[0].texts, (std::map<std::string, std::string>{{"", "d"}, {"sqs", "q"}}));
}

TEST_F(SnsPublish, WhatIsRefusedIsToldInTheWordsOfSns) {
  put("t", {raw_to_queue("a")});
  struct Row {
    ErrorKind kind;
    int status;
    std::string_view code;
  };
  for (const Row& row : {Row{ErrorKind::not_found, 404, "NotFound"},
                         Row{ErrorKind::invalid_argument, 400, "InvalidParameter"},
                         Row{ErrorKind::unavailable, 503, "ServiceUnavailable"},
                         Row{ErrorKind::internal, 500, "InternalError"}}) {
    errors = {row.kind};
    const http::Response response = send("t");
    EXPECT_EQ(response.status, row.status) << response.body;
    EXPECT_NE(response.body.find(row.code), std::string::npos) << response.body;
  }
  EXPECT_EQ(send("other").status, 404);
}

TEST_F(SnsPublish, InABatchTheEntryThatWasNotTakenHasFailed) {
  put("t", {raw_to_queue("a")});
  errors = {ErrorKind::unavailable};

  const http::Response response = ask_by_form(publish_batch,
                                              "TopicArn=" + (arn + std::string("t")) +
                                                  "&PublishBatchRequestEntries.member.1.Id=a"
                                                  "&PublishBatchRequestEntries.member.1.Message=m"
                                                  "&PublishBatchRequestEntries.member.2.Id=b"
                                                  "&PublishBatchRequestEntries.member.2.Message=n",
                                              aws::Dialect::sns_query, "PublishBatch");

  EXPECT_EQ(response.status, 200) << response.body;
  EXPECT_NE(response.body.find("<Code>ServiceUnavailable</Code>"), std::string::npos);
  EXPECT_NE(response.body.find("<Id>b</Id><MessageId>"), std::string::npos) << response.body;
}

TEST_F(SnsPublish, OfAFifoTopicIsKnownByWhatTheCoreGaveIt) {
  put("t.fifo", {raw_to_queue("a")});

  const http::Response response = send("t.fifo", "&MessageGroupId=g&MessageDeduplicationId=d");

  EXPECT_EQ(response.status, 200) << response.body;
  EXPECT_NE(response.body.find("<MessageId>00000000-0000-0007-0000-000000000001<"),
            std::string::npos)
      << response.body;
  EXPECT_NE(response.body.find("<SequenceNumber>00000000000000000007<"), std::string::npos);
  ASSERT_EQ(given.size(), 1U);
  EXPECT_EQ(given[0].group, "g");
  EXPECT_EQ(given[0].dedup_id, "d");
  EXPECT_TRUE(given[0].enveloped) << "so that it is never sent again behind others";
}

TEST_F(SnsPublish, IsSentAgainWithEverythingWhenTheTopicHasChanged) {
  put("t.fifo", {raw_to_queue("a")});
  errors = {ErrorKind::conflict};
  EXPECT_EQ(send("t.fifo", "&MessageGroupId=g&MessageDeduplicationId=d").status, 200);
  EXPECT_EQ(given.size(), 2U);

  given.clear();
  errors = {ErrorKind::conflict, ErrorKind::conflict};
  EXPECT_EQ(send("t.fifo", "&MessageGroupId=g&MessageDeduplicationId=d").status, 400);
  EXPECT_EQ(given.size(), 2U) << "not for ever";
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::sns
