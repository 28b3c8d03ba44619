#include "api/aws/output.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace hk::api::aws {
namespace HK_TEST_FILE {

using Write = void (*)(Output&);

std::string rendered(Dialect dialect, std::string_view action, Write write) {
  Output output(dialect, action);
  write(output);
  return std::move(output).finish("the-id").body;
}

std::string sqs_xml(std::string_view action, std::string_view inside) {
  const std::string name(action);
  return R"(<?xml version="1.0"?><)" + name +
         R"(Response xmlns="http://queue.amazonaws.com/doc/2012-11-05/">)" + std::string(inside) +
         "<ResponseMetadata><RequestId>the-id</RequestId></ResponseMetadata></" + name +
         "Response>";
}

struct Message {
  std::string_view id;
  std::string_view body;
};

TEST(Output, EachActionOfSqsIsRenderedInBothProtocols) {
  struct Row {
    std::string_view action;
    Write write;
    std::string_view json;
    std::string_view xml;
  };
  const Write batch = [](Output& out) {
    out.list("Successful", std::vector<std::string>{"a", "b"},
             [](Output& entry, const std::string& id) { entry.text("Id", id); });
    out.list("Failed", std::vector<std::string>{"c"}, [](Output& entry, const std::string& id) {
      entry.failure(id, {ErrorCode::queue_does_not_exist, "gone"});
    });
  };
  const std::string_view batch_json =
      R"({"Successful":[{"Id":"a"},{"Id":"b"}],"Failed":[{"Id":"c","SenderFault":true,)"
      R"("Code":"AWS.SimpleQueueService.NonExistentQueue","Message":"gone"}]})";
  const std::string failed =
      "<BatchResultErrorEntry><Id>c</Id><SenderFault>true</SenderFault>"
      "<Code>AWS.SimpleQueueService.NonExistentQueue</Code><Message>gone</Message>"
      "</BatchResultErrorEntry>";
  const auto batch_xml = [&failed](const std::string& name) {
    return "<" + name + "Result><" + name + "ResultEntry><Id>a</Id></" + name + "ResultEntry><" +
           name + "ResultEntry><Id>b</Id></" + name + "ResultEntry>" + failed + "</" + name +
           "Result>";
  };
  const std::string sent = batch_xml("SendMessageBatch");
  const std::string deleted = batch_xml("DeleteMessageBatch");
  const std::string changed = batch_xml("ChangeMessageVisibilityBatch");
  const Write nothing = [](Output&) {};
  const Row rows[] = {
      {"CreateQueue", [](Output& out) { out.text("QueueUrl", "http://h/1/q"); },
       R"({"QueueUrl":"http://h/1/q"})",
       "<CreateQueueResult><QueueUrl>http://h/1/q</QueueUrl></CreateQueueResult>"},
      {"ListQueues",
       [](Output& out) {
         out.texts("QueueUrls", {"u1", "u2"});
         out.text("NextToken", "t");
       },
       R"({"QueueUrls":["u1","u2"],"NextToken":"t"})",
       "<ListQueuesResult><QueueUrl>u1</QueueUrl><QueueUrl>u2</QueueUrl><NextToken>t</NextToken>"
       "</ListQueuesResult>"},
      {"ListQueues", [](Output& out) { out.texts("QueueUrls", {}); }, "{}", "<ListQueuesResult/>"},
      {"ListDeadLetterSourceQueues", [](Output& out) { out.texts("queueUrls", {"u1"}); },
       R"({"queueUrls":["u1"]})",
       "<ListDeadLetterSourceQueuesResult><QueueUrl>u1</QueueUrl>"
       "</ListDeadLetterSourceQueuesResult>"},
      {"GetQueueAttributes",
       [](Output& out) {
         out.map("Attributes", {{"DelaySeconds", "0"}, {"Policy", "<\"x\">"}});
       },
       R"({"Attributes":{"DelaySeconds":"0","Policy":"<\"x\">"}})",
       "<GetQueueAttributesResult><Attribute><Name>DelaySeconds</Name><Value>0</Value></Attribute>"
       "<Attribute><Name>Policy</Name><Value>&lt;&quot;x&quot;&gt;</Value></Attribute>"
       "</GetQueueAttributesResult>"},
      {"GetQueueAttributes", [](Output& out) { out.map("Attributes", {}); }, "{}",
       "<GetQueueAttributesResult/>"},
      {"ListQueueTags",
       [](Output& out) {
         out.map("Tags", {{"a", ""}});
       },
       R"({"Tags":{"a":""}})",
       "<ListQueueTagsResult><Tag><Key>a</Key><Value></Value></Tag></ListQueueTagsResult>"},
      {"SendMessage",
       [](Output& out) {
         out.text("MessageId", "m");
         out.text("MD5OfMessageBody", std::string("5"));
         out.text("MD5OfMessageAttributes", std::optional<std::string>("6"));
         out.text("MD5OfMessageSystemAttributes", std::optional<std::string>());
       },
       R"({"MessageId":"m","MD5OfMessageBody":"5","MD5OfMessageAttributes":"6"})",
       "<SendMessageResult><MessageId>m</MessageId><MD5OfMessageBody>5</MD5OfMessageBody>"
       "<MD5OfMessageAttributes>6</MD5OfMessageAttributes></SendMessageResult>"},
      {"ReceiveMessage",
       [](Output& out) {
         out.list("Messages", std::vector<Message>{{"m1", "a\r\n<b>"}, {"m2", "x"}},
                  [](Output& one, const Message& message) {
                    one.text("MessageId", message.id);
                    one.text("Body", message.body);
                    one.map("Attributes", {{"SentTimestamp", "1"}});
                    one.attributes("MessageAttributes",
                                   {{"b", {"Binary", {}, std::string("\0\xff", 2), false}},
                                    {"s", {"String.x", "v", {}, false}}});
                  });
       },
       R"({"Messages":[{"MessageId":"m1","Body":"a\r\n<b>","Attributes":{"SentTimestamp":"1"},)"
       R"("MessageAttributes":{"b":{"BinaryValue":"AP8=","DataType":"Binary"},)"
       R"("s":{"StringValue":"v","DataType":"String.x"}}},)"
       R"({"MessageId":"m2","Body":"x","Attributes":{"SentTimestamp":"1"},)"
       R"("MessageAttributes":{"b":{"BinaryValue":"AP8=","DataType":"Binary"},)"
       R"("s":{"StringValue":"v","DataType":"String.x"}}}]})",
       "<ReceiveMessageResult><Message><MessageId>m1</MessageId><Body>a&#xD;\n&lt;b&gt;</Body>"
       "<Attribute><Name>SentTimestamp</Name><Value>1</Value></Attribute>"
       "<MessageAttribute><Name>b</Name><Value><BinaryValue>AP8=</BinaryValue>"
       "<DataType>Binary</DataType></Value></MessageAttribute><MessageAttribute><Name>s</Name>"
       "<Value><StringValue>v</StringValue><DataType>String.x</DataType></Value>"
       "</MessageAttribute></Message><Message><MessageId>m2</MessageId><Body>x</Body>"
       "<Attribute><Name>SentTimestamp</Name><Value>1</Value></Attribute>"
       "<MessageAttribute><Name>b</Name><Value><BinaryValue>AP8=</BinaryValue>"
       "<DataType>Binary</DataType></Value></MessageAttribute><MessageAttribute><Name>s</Name>"
       "<Value><StringValue>v</StringValue><DataType>String.x</DataType></Value>"
       "</MessageAttribute></Message></ReceiveMessageResult>"},
      {"ReceiveMessage",
       [](Output& out) {
         out.list("Messages", std::vector<Message>{}, [](Output&, const Message&) {});
       },
       "{}", "<ReceiveMessageResult/>"},
      {"SendMessageBatch", batch, batch_json, sent},
      {"DeleteMessageBatch", batch, batch_json, deleted},
      {"ChangeMessageVisibilityBatch", batch, batch_json, changed},
      {"StartMessageMoveTask", [](Output& out) { out.text("TaskHandle", "h"); },
       R"({"TaskHandle":"h"})",
       "<StartMessageMoveTaskResult><TaskHandle>h</TaskHandle></StartMessageMoveTaskResult>"},
      {"CancelMessageMoveTask",
       [](Output& out) { out.integer("ApproximateNumberOfMessagesMoved", 12); },
       R"({"ApproximateNumberOfMessagesMoved":12})",
       "<CancelMessageMoveTaskResult><ApproximateNumberOfMessagesMoved>12"
       "</ApproximateNumberOfMessagesMoved></CancelMessageMoveTaskResult>"},
      {"ListMessageMoveTasks",
       [](Output& out) {
         out.list("Results", std::vector<int>{1}, [](Output& one, int) {
           one.text("Status", "RUNNING");
           one.integer("StartedTimestamp", 1767323045000);
         });
       },
       R"({"Results":[{"Status":"RUNNING","StartedTimestamp":1767323045000}]})",
       "<ListMessageMoveTasksResult><ListMessageMoveTasksResultEntry><Status>RUNNING</Status>"
       "<StartedTimestamp>1767323045000</StartedTimestamp></ListMessageMoveTasksResultEntry>"
       "</ListMessageMoveTasksResult>"},
      {"AddPermission", nothing, "{}", ""},
      {"RemovePermission", nothing, "{}", ""},
      {"ChangeMessageVisibility", nothing, "{}", ""},
      {"DeleteMessage", nothing, "{}", ""},
      {"DeleteQueue", nothing, "{}", ""},
      {"PurgeQueue", nothing, "{}", ""},
      {"SetQueueAttributes", nothing, "{}", ""},
      {"TagQueue", nothing, "{}", ""},
      {"UntagQueue", nothing, "{}", ""},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.action);
    EXPECT_EQ(rendered(Dialect::sqs_json, row.action, row.write), row.json);
    EXPECT_EQ(rendered(Dialect::sqs_query, row.action, row.write), sqs_xml(row.action, row.xml));
  }
}

TEST(Output, SnsHasMembersAndEntries) {
  struct Row {
    std::string_view action;
    Write write;
    std::string_view xml;
  };
  const Write nothing = [](Output&) {};
  const Row rows[] = {
      {"CreateTopic", [](Output& out) { out.text("TopicArn", "arn"); },
       "<CreateTopicResult><TopicArn>arn</TopicArn></CreateTopicResult>"},
      {"ListTopics",
       [](Output& out) {
         out.list("Topics", std::vector<std::string>{"a", "b"},
                  [](Output& one, const std::string& arn) { one.text("TopicArn", arn); });
       },
       "<ListTopicsResult><Topics><member><TopicArn>a</TopicArn></member><member><TopicArn>b"
       "</TopicArn></member></Topics></ListTopicsResult>"},
      {"ListTopics",
       [](Output& out) {
         out.list("Topics", std::vector<std::string>{}, [](Output&, const std::string&) {});
       },
       "<ListTopicsResult><Topics></Topics></ListTopicsResult>"},
      {"GetTopicAttributes",
       [](Output& out) {
         out.map("Attributes", {{"Owner", "1"}});
       },
       "<GetTopicAttributesResult><Attributes><entry><key>Owner</key><value>1</value></entry>"
       "</Attributes></GetTopicAttributesResult>"},
      {"ListTagsForResource",
       [](Output& out) {
         out.map("Tags", {{"a", "1"}});
       },
       "<ListTagsForResourceResult><Tags><member><Key>a</Key><Value>1</Value></member></Tags>"
       "</ListTagsForResourceResult>"},
      {"PublishBatch",
       [](Output& out) {
         out.list("Successful", std::vector<std::string>{"a"},
                  [](Output& one, const std::string& id) { one.text("Id", id); });
         out.list("Failed", std::vector<std::string>{"b"}, [](Output& one, const std::string& id) {
           one.failure(id, {ErrorCode::internal_error, "oh"});
         });
       },
       "<PublishBatchResult><Successful><member><Id>a</Id></member></Successful><Failed><member>"
       "<Id>b</Id><SenderFault>false</SenderFault><Code>InternalError</Code><Message>oh</Message>"
       "</member></Failed></PublishBatchResult>"},
      {"TagResource", nothing, "<TagResourceResult/>"},
      {"UntagResource", nothing, "<UntagResourceResult/>"},
      {"DeleteTopic", nothing, ""},
      {"SetTopicAttributes", nothing, ""},
      {"SetSubscriptionAttributes", nothing, ""},
      {"Unsubscribe", nothing, ""},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.action);
    const std::string name(row.action);
    EXPECT_EQ(rendered(Dialect::sns_query, row.action, row.write),
              R"(<?xml version="1.0"?><)" + name +
                  R"(Response xmlns="http://sns.amazonaws.com/doc/2010-03-31/">)" +
                  std::string(row.xml) +
                  "<ResponseMetadata><RequestId>the-id</RequestId></ResponseMetadata></" + name +
                  "Response>");
  }
}

TEST(Output, SaysWhatItIsInItsHeaders) {
  Output json(Dialect::sqs_json, "DeleteQueue");
  Output xml(Dialect::sqs_query, "DeleteQueue");
  const http::Response as_json = std::move(json).finish("the-id");
  const http::Response as_xml = std::move(xml).finish("the-id");

  EXPECT_EQ(as_json.status, 200);
  EXPECT_EQ(as_json.content_type, "application/x-amz-json-1.0");
  EXPECT_EQ(as_xml.content_type, "text/xml");
  for (const http::Response* response : {&as_json, &as_xml}) {
    ASSERT_EQ(response->fields.size(), 1U);
    EXPECT_EQ(response->fields[0].name, "x-amzn-RequestId");
    EXPECT_EQ(response->fields[0].value, "the-id");
  }
}

TEST(Output, TenLargeMessagesComeOutWhole) {
  std::string body(1024 * 1024, 'x');
  for (std::size_t i = 0; i < body.size(); i += 100) body[i] = '\r';
  for (std::size_t i = 50; i < body.size(); i += 100) body[i] = '"';
  const std::vector<Message> messages(10, Message{"m", body});
  const auto write = [](Output& one, const Message& message) { one.text("Body", message.body); };

  Output json(Dialect::sqs_json, "ReceiveMessage");
  json.list("Messages", messages, write);
  Output xml(Dialect::sqs_query, "ReceiveMessage");
  xml.list("Messages", messages, write);

  const boost::json::value parsed = boost::json::parse(std::move(json).finish("id").body);
  const auto& list = parsed.at("Messages").as_array();
  ASSERT_EQ(list.size(), 10U);
  EXPECT_EQ(std::string_view(list[9].at("Body").as_string()), body);
  const std::string text = std::move(xml).finish("id").body;
  EXPECT_EQ(text.find('\r'), std::string::npos);
  EXPECT_GT(text.size(), 10 * body.size());
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::aws
