#include <gtest/gtest.h>

#include "unit/api/aws/actions.h"

namespace hk::api::sqs {
namespace HK_TEST_FILE {

/// A core that has the queues of `kept`, or else makes what it is asked for.
struct SqsQueues : aws::testing::ActionTest {
  SqsQueues() {
    submitter.answer = [this](core::Command& command) -> core::Reply {
      const auto* const create = command.get_if<core::CreatePullQueue>();
      if (command.is<core::CountQueue>()) {
        return core::QueueCounted{};
      }
      if (create == nullptr) {
        return core::Done{};
      }
      if (const auto known =
              submitter.reader->get<core::Queue>({aws::testing::tenant, create->name})) {
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
  for (const core::Queue& queue : submitter.reader->scan<core::Queue>()) {
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
  const core::Queue q = submitter.reader->rows<core::Queue>().at({aws::testing::tenant, "q"});

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
        R"({"FifoQueue":"true","HikyakuHaltAfter":"10"})",
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
  EXPECT_EQ(submitter.reader->rows<core::Queue>().at({aws::testing::tenant, "q"}).pull, q.pull);
}

TEST_F(SqsQueues, AnAttributeThatWasSetIsComparedWithWhatItWasSetTo) {
  ASSERT_EQ(create("q", R"({"HikyakuPushParallelism":"10","SqsManagedSseEnabled":"false"})").status,
            200);
  EXPECT_EQ(create("q", R"({"HikyakuPushParallelism":"10"})").status, 200);
  EXPECT_EQ(create("q", R"({"SqsManagedSseEnabled":"False"})").status, 200);
  EXPECT_EQ(create("q", R"({"SqsManagedSseEnabled":"true"})").status, 400);
}

/// Of a FIFO queue that halts, after changes of its attributes in any order.
TEST_F(SqsQueues, AQueueHaltsAfterTheReceivesOfItsPolicyOrOfItsOwn) {
  add_queue("dead.fifo", {.fifo = true});
  const std::string policy =
      R"("RedrivePolicy":"{\"deadLetterTargetArn\":\"arn:aws:sqs:eu-central-1:000000000000:)"
      R"(dead.fifo\",\"maxReceiveCount\":3}")";
  const std::string halt = R"("HikyakuOnFailure":"halt")";
  const std::string own = R"("HikyakuHaltAfter":"5")";
  const struct {
    std::vector<std::string> sets;  ///< the first one makes it
    std::uint32_t receives_max;     ///< 0: the server's
    std::string told;
  } rows[] = {
      {{halt}, 0, R"("HikyakuHaltAfter":"10")"},
      {{halt + "," + own}, 5, own},
      {{halt, own}, 5, own},
      {{own, halt}, 5, own},
      {{halt + "," + policy}, 3, "RedrivePolicy"},
      {{policy, halt}, 3, "RedrivePolicy"},
      {{halt + "," + own, policy}, 3, "RedrivePolicy"},
      {{halt + "," + own + "," + policy, R"("RedrivePolicy":"")"}, 5, own},
      {{halt + "," + policy, R"("RedrivePolicy":"")"}, 0, R"("HikyakuHaltAfter":"10")"},
      {{halt, policy, R"("RedrivePolicy":"")", own}, 5, own},
  };
  int number = 0;
  for (const auto& row : rows) {
    const std::string name = "q" + std::to_string(number++) + ".fifo";
    SCOPED_TRACE(name);
    EXPECT_EQ(create(name, R"({"FifoQueue":"true",)" + row.sets[0] + "}").status, 200);
    const auto queue = [&] {
      return &submitter.reader->rows<core::Queue>().at({aws::testing::tenant, name});
    };
    const std::string url = R"({"QueueUrl":"http://host/000000000000/)" + name + '"';
    for (std::size_t i = 1; i < row.sets.size(); ++i) {
      submitter.taken.clear();
      EXPECT_EQ(ask(set_queue_attributes, url + R"(,"Attributes":{)" + row.sets[i] + "}}").status,
                200);
      auto view = std::make_shared<api::testing::MemoryReader>();  // one view never changes
      view->rows<core::Queue>() = std::exchange(submitter.reader, view)->rows<core::Queue>();
      queue()->pull = submitter.taken.at(0).get<core::SetPullSettings>().settings;
    }
    EXPECT_TRUE(queue()->pull->halt);
    EXPECT_EQ(queue()->pull->receives_max, row.receives_max);
    EXPECT_EQ(queue()->pull->dead_letters_to.empty(), row.told != "RedrivePolicy");
    const std::string body = ask(get_queue_attributes, url + R"(,"AttributeNames":["All"]})").body;
    EXPECT_NE(body.find(row.told), std::string::npos) << body;
    EXPECT_EQ(body.find("RedrivePolicy") == std::string::npos, row.told != "RedrivePolicy") << body;
  }
  for (const std::string wrong : {"0", "1001", "x", ""}) {
    EXPECT_EQ(
        create("no.fifo", R"({"FifoQueue":"true","HikyakuHaltAfter":")" + wrong + R"("})").status,
        400)
        << wrong;
  }
  EXPECT_EQ(create("standard", R"({"HikyakuHaltAfter":"5"})").status, 400);
}

/// Attributes that hold JSON, with blanks in it so that it has that many bytes.
struct SqsPolicies : SqsQueues {
  static std::string padded(const std::string& json, std::size_t bytes) {
    return json.substr(0, json.size() - 1) + std::string(bytes - json.size(), ' ') + '}';
  }
  static std::string quoted(std::string text) {
    for (std::size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2) {
      text.insert(at, "\\");
    }
    return '"' + text + '"';
  }
  http::Response set(const std::string& name, const std::string& value) {
    return ask(set_queue_attributes, R"({"QueueUrl":"http://host/000000000000/q","Attributes":{")" +
                                         name + R"(":)" + quoted(value) + "}}");
  }
  http::Response permit() {
    return ask(add_permission, R"({"QueueUrl":"http://host/000000000000/q","Label":"l",
                                   "AWSAccountIds":["111111111111"],"Actions":["*"]})");
  }
};

TEST_F(SqsPolicies, AreKeptUpToALengthAndNotBeyondIt) {
  add_queue("q");
  add_queue("dead");
  struct Row {
    std::string name;
    std::string json;
    const char* error;
    int status;
  };
  const Row rows[] = {
      {"Policy", R"({"Statement":[]})", "OverLimit", 403},
      {"RedriveAllowPolicy", R"({"redrivePermission":"allowAll"})", "InvalidParameterValue", 400},
      {"RedrivePolicy",
       R"({"deadLetterTargetArn":"arn:aws:sqs:eu-central-1:000000000000:dead","maxReceiveCount":1})",
       "InvalidParameterValue", 400},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    submitter.taken.clear();
    const std::string attributes = "{\"" + row.name + "\":" + quoted(padded(row.json, 8'193)) + "}";
    for (const http::Response& response :
         {set(row.name, padded(row.json, 8'193)), create("new", attributes)}) {
      EXPECT_EQ(response.status, row.status) << response.body;
      EXPECT_NE(response.body.find(row.error), std::string::npos) << response.body;
    }
    EXPECT_TRUE(submitter.taken.empty());

    EXPECT_EQ(set(row.name, padded(row.json, 8'192)).status, 200);
    EXPECT_EQ(submitter.taken.size(), 1U);
  }
}

TEST_F(SqsPolicies, APermissionThatMakesThemTooLongIsRefused) {
  const std::string policy = R"({"Statement":[{"Sid":")" + std::string(8'100, 'x') + R"("}]})";
  add_queue("q", {.extra = {{"Policy", policy}}});

  const http::Response refused = permit();
  EXPECT_EQ(refused.status, 403) << refused.body;
  EXPECT_NE(refused.body.find("OverLimit"), std::string::npos) << refused.body;
  EXPECT_TRUE(submitter.taken.empty());

  submitter.reader->rows<core::Queue>().at({aws::testing::tenant, "q"}).pull->extra.clear();
  EXPECT_EQ(permit().status, 200);
}

/// "CreateQueue" and "TagQueue" with a tag, as the fields of a form: they may hold any byte.
struct SqsTags : SqsQueues {
  http::Response create_with(const std::string& tags) {
    return ask_by_form(create_queue, "QueueName=new&" + tags);
  }
  http::Response tag(const std::string& tags) {
    return ask_by_form(tag_queue, "QueueUrl=http%3A%2F%2Fhost%2F000000000000%2Fq&" + tags);
  }
  static std::string one(const std::string& key, const std::string& value) {
    return "Tag.1.Key=" + key + "&Tag.1.Value=" + value;
  }
  static std::string repeated(std::size_t count, const std::string& text) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i) {
      all += text;
    }
    return all;
  }
};

TEST_F(SqsTags, AreHeldToTheSameRulesByBothActionsThatTakeThem) {
  add_queue("q");
  std::string many;
  for (int i = 1; i <= 51; ++i) {
    const std::string n = std::to_string(i);
    many += "Tag." + n + ".Key=k" + n + "&Tag." + n + ".Value=v&";
  }
  const std::string rows[] = {
      one(std::string(129, 'k'), "v"),
      one("k", std::string(257, 'v')),
      one(repeated(129, "%C3%BC"), "v"),
      one("k", repeated(10'000, "%80")),  // continuation bytes of nothing
      one("k", "%80"),
      one("%FF", "v"),
      one("k", "%00"),
      one("k", "%EF%BF%BE"),
      many.substr(0, many.size() - 1),
  };
  for (const std::string& row : rows) {
    for (const http::Response& response : {create_with(row), tag(row)}) {
      EXPECT_EQ(response.status, 400) << row.substr(0, 100);
      EXPECT_NE(response.body.find("InvalidParameterValue"), std::string::npos) << response.body;
    }
  }
  EXPECT_TRUE(submitter.taken.empty());

  for (const std::string& row :
       {one(repeated(128, "%C3%BC"), repeated(256, "%C3%BC")), one("k", "")}) {
    submitter.reader->rows<core::Queue>().erase({aws::testing::tenant, "new"});
    EXPECT_EQ(create_with(row).status, 200) << row;
    EXPECT_EQ(
        submitter.reader->rows<core::Queue>().at({aws::testing::tenant, "new"}).pull->tags.size(),
        1U);
    EXPECT_EQ(tag(row).status, 200) << row;
  }
}

TEST_F(SqsQueues, TheIdOfAKeyIsBounded) {
  const auto with_key = [&](std::size_t bytes) {
    return create("q" + std::to_string(bytes),
                  R"({"KmsMasterKeyId":")" + std::string(bytes, 'k') + R"("})");
  };
  EXPECT_EQ(with_key(2048).status, 200);
  const http::Response refused = with_key(2049);
  EXPECT_EQ(refused.status, 400);
  EXPECT_NE(refused.body.find("InvalidAttributeValue"), std::string::npos) << refused.body;
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::sqs
