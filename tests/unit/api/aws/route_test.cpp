#include "api/aws/route.h"

#include <gtest/gtest.h>

#include "api/aws/names.h"
#include "api/aws/output.h"
#include "unit/api/aws/signer.h"

namespace hk::api::aws {
namespace HK_TEST_FILE {

using testing::Plan;
using testing::sign;

http::Request request(std::string method, std::string target, std::string body = "",
                      std::vector<net::Field> fields = {}) {
  http::Request made;
  made.method = std::move(method);
  made.target = std::move(target);
  made.body = std::move(body);
  made.fields = std::move(fields);
  return made;
}
http::Request json(std::string target, std::string_view operation, std::string body = "{}") {
  return request("POST", std::move(target), std::move(body),
                 {{"x-amz-target", std::string(operation)}});
}
http::Request for_service(std::string service, std::string body) {
  Plan plan;
  plan.service = std::move(service);
  plan.body = std::move(body);
  return sign(plan).request;
}

TEST(Route, TellsProtocolServiceAndAction) {
  struct Row {
    std::string_view name;
    http::Request request;
    Dialect dialect;
    std::string_view action;
  };
  const net::Field form{"Content-Type", "application/x-www-form-urlencoded"};
  const Row rows[] = {
      {"JSON", json("/", "AmazonSQS.SendMessage"), Dialect::sqs_json, "SendMessage"},
      {"JSON on a queue's path", json("/000000000000/q/", "AmazonSQS.SendMessage"),
       Dialect::sqs_json, "SendMessage"},
      {"JSON, an action nobody has", json("/", "AmazonSQS.Nope"), Dialect::sqs_json, "Nope"},
      {"form", request("POST", "/", "Action=ListQueues", {form}), Dialect::sqs_query, "ListQueues"},
      {"form without its content type", request("POST", "/", "Action=ListQueues"),
       Dialect::sqs_query, "ListQueues"},
      {"query string", request("GET", "/?Action=ListQueues"), Dialect::sqs_query, "ListQueues"},
      {"query string of a POST", request("POST", "/?Action=ListQueues"), Dialect::sqs_query,
       "ListQueues"},
      {"SNS by its version", request("POST", "/", "Action=ListTopics&Version=2010-03-31"),
       Dialect::sns_query, "ListTopics"},
      {"SNS by the scope", for_service("sns", "Action=ListTopics"), Dialect::sns_query,
       "ListTopics"},
      {"SQS by the scope", for_service("sqs", "Action=ListQueues&Version=2010-03-31"),
       Dialect::sqs_query, "ListQueues"},
      {"a link of SNS", request("GET", "/?Action=ConfirmSubscription&Token=x&TopicArn=y"),
       Dialect::sns_query, "ConfirmSubscription"},
      {"queue's path, its URL", request("POST", "/1/q", "Action=GetQueueUrl&QueueName=other"),
       Dialect::sqs_query, "GetQueueUrl"},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const auto routed = route(row.request);
    ASSERT_TRUE(routed);
    EXPECT_EQ(routed->dialect, row.dialect);
    EXPECT_EQ(routed->action, row.action);
  }
}

TEST(Route, RefusesWhatIsNoOperation) {
  struct Row {
    std::string_view name;
    http::Request request;
    ErrorCode code;
    Dialect told_in;
  };
  const Row rows[] = {
      {"nothing", request("POST", "/"), ErrorCode::no_operation, Dialect::sqs_query},
      {"GET without an action", request("GET", "/1/q"), ErrorCode::no_operation,
       Dialect::sqs_query},
      {"empty action", request("POST", "/", "Action="), ErrorCode::no_operation,
       Dialect::sqs_query},
      {"PUT", request("PUT", "/?Action=ListQueues"), ErrorCode::no_operation, Dialect::sqs_query},
      {"GET with a target", request("GET", "/", "", {{"X-Amz-Target", "AmazonSQS.ListQueues"}}),
       ErrorCode::no_operation, Dialect::sqs_query},
      {"target of another service", json("/", "DynamoDB_20120810.GetItem"),
       ErrorCode::unknown_operation, Dialect::sqs_json},
      {"target without an action", json("/", "AmazonSQS."), ErrorCode::unknown_operation,
       Dialect::sqs_json},
      {"CreateQueue on a queue's path", request("POST", "/1/q", "Action=CreateQueue&QueueName=x"),
       ErrorCode::unknown_operation, Dialect::sqs_query},
      {"ListQueues on a queue's path", request("GET", "/1/q/?Action=ListQueues"),
       ErrorCode::unknown_operation, Dialect::sqs_query},
      {"broken form", request("POST", "/", "Action=%"), ErrorCode::serialization,
       Dialect::sqs_query},
      {"broken form to SNS", for_service("sns", "Action=%"), ErrorCode::serialization,
       Dialect::sns_query},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const auto routed = route(row.request);
    ASSERT_FALSE(routed);
    EXPECT_EQ(routed.error().code, row.code);
    EXPECT_EQ(dialect_of(row.request), row.told_in);
  }
}

TEST(Route, ThePathNamesTheQueueUnlessAParameterDoes) {
  struct Row {
    std::string_view name;
    http::Request request;
    std::optional<std::string_view> url;
  };
  const Row rows[] = {
      {"path", request("POST", "/1/q", "Action=ReceiveMessage"), "/1/q"},
      {"path with a slash", request("POST", "/1/q/", "Action=ReceiveMessage"), "/1/q/"},
      {"parameter wins",
       request("POST", "/1/q", "Action=ReceiveMessage&QueueUrl=http%3A%2F%2Fh%2F1%2Fother"),
       "http://h/1/other"},
      {"neither", request("POST", "/", "Action=ReceiveMessage"), {}},
      {"GET", request("GET", "/1/q?Action=DeleteMessage"), "/1/q"},
      {"in JSON the body counts",
       json("/1/q", "AmazonSQS.ReceiveMessage", R"({"QueueUrl":"http://h/1/other"})"),
       "http://h/1/other"},
      {"in JSON the path does not", json("/1/q", "AmazonSQS.ReceiveMessage"), {}},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    auto routed = route(row.request);
    ASSERT_TRUE(routed);
    auto input = input_of(*routed, row.request);
    ASSERT_TRUE(input);
    EXPECT_EQ(input->text("QueueUrl"), row.url);
  }
}

TEST(Route, ABodyThatIsNotJsonIsRefusedWhenItIsRead) {
  const auto made = json("/", "AmazonSQS.SendMessage", "Action=x");
  auto routed = route(made);
  ASSERT_TRUE(routed);

  const auto input = input_of(*routed, made);
  ASSERT_FALSE(input);
  EXPECT_EQ(input.error().code, ErrorCode::serialization);
}

/// An action as they are all written: it knows no protocol.
Checked<void> change_visibility_batch(Input& input, Output& output) {
  const std::string_view url = input.required_text("QueueUrl");
  std::vector<Input> entries = input.entries("Entries");
  std::vector<std::string> done;
  std::vector<std::pair<std::string, Refusal>> failed;
  for (Input& entry : entries) {
    const std::string id(entry.required_text("Id"));
    (void)entry.required_text("ReceiptHandle");
    (void)entry.integer("VisibilityTimeout", 0, 43'200);
    if (entry.invalid() != nullptr) {
      failed.emplace_back(id, *entry.invalid());
    } else {
      done.push_back(id);
    }
  }
  if (input.malformed() != nullptr) {
    return std::unexpected(*input.malformed());
  }
  if (entries.empty()) {
    return refuse(ErrorCode::empty_batch_request, "There are no entries.");
  }
  if (parse_queue_url(url) != QueueRef{"000000000000", "q"}) {
    return refuse(ErrorCode::queue_does_not_exist, "There is no such queue.");
  }
  output.list("Successful", done, [](Output& out, const std::string& id) { out.text("Id", id); });
  output.list("Failed", failed, [](Output& out, const std::pair<std::string, Refusal>& entry) {
    out.failure(entry.first, entry.second);
  });
  return {};
}

std::string whole_way(const http::Request& made) {
  auto routed = route(made);
  if (!routed) {
    return error_response(dialect_of(made), routed.error(), "id").body;
  }
  auto input = input_of(*routed, made);
  Output output(routed->dialect, routed->action);
  const auto done =
      input ? change_visibility_batch(*input, output) : std::unexpected(input.error());
  return done ? std::move(output).finish("id").body
              : error_response(routed->dialect, done.error(), "id").body;
}

TEST(Action, IsWrittenOnceForBothProtocols) {
  const std::string action = "ChangeMessageVisibilityBatch";
  const std::string entry = action + "RequestEntry.";

  EXPECT_EQ(whole_way(json("/", "AmazonSQS." + action,
                           R"({"QueueUrl":"http://h/000000000000/q","Entries":[
                               {"Id":"a","ReceiptHandle":"h","VisibilityTimeout":0},
                               {"Id":"b","ReceiptHandle":"h","VisibilityTimeout":43201}]})")),
            R"({"Successful":[{"Id":"a"}],"Failed":[{"Id":"b","SenderFault":true,)"
            R"("Code":"InvalidParameterValue","Message":"Value 43201 for parameter )"
            R"(VisibilityTimeout is invalid. Reason: Must be between 0 and 43200."}]})");
  const std::string xml = whole_way(
      request("POST", "/000000000000/q",
              "Action=" + action + "&" + entry + "1.Id=a&" + entry + "1.ReceiptHandle=h&" + entry +
                  "1.VisibilityTimeout=0&" + entry + "2.Id=b&" + entry + "2.ReceiptHandle=h&" +
                  entry + "2.VisibilityTimeout=43201"));
  EXPECT_NE(xml.find("<ChangeMessageVisibilityBatchResult>"
                     "<ChangeMessageVisibilityBatchResultEntry><Id>a</Id>"
                     "</ChangeMessageVisibilityBatchResultEntry><BatchResultErrorEntry><Id>b</Id>"
                     "<SenderFault>true</SenderFault><Code>InvalidParameterValue</Code>"),
            std::string::npos)
      << xml;
  EXPECT_EQ(
      whole_way(json("/", "AmazonSQS." + action, R"({"QueueUrl":"q","Entries":[]})")),
      R"({"__type":"com.amazonaws.sqs#EmptyBatchRequest","message":"There are no entries."})");
  EXPECT_EQ(whole_way(json("/", "AmazonSQS." + action, R"({"QueueUrl":"q","Entries":[{"Id":1}]})")),
            R"({"__type":"com.amazon.coral.service#SerializationException",)"
            R"("message":"Id must be a string."})");
}

TEST(Route, OnlyLinksOfSnsGoWithoutASignature) {
  Plan signed_link;
  signed_link.method = "GET";
  signed_link.service = "sns";
  signed_link.parameters = {{"Action", "Unsubscribe"}};
  struct Row {
    std::string_view name;
    http::Request request;
    bool free;
  };
  const Row rows[] = {
      {"confirm", request("GET", "/?Action=ConfirmSubscription&TopicArn=a&Token=b"), true},
      {"unsubscribe", request("GET", "/?Action=Unsubscribe&SubscriptionArn=a"), true},
      {"posted", request("POST", "/?Action=Unsubscribe&SubscriptionArn=a"), false},
      {"another action", request("GET", "/?Action=ListTopics&Version=2010-03-31"), false},
      {"an action of SQS", request("GET", "/?Action=ListQueues"), false},
      {"signed", sign(signed_link).request, false},
      {"badly signed", request("GET", "/?Action=Unsubscribe&X-Amz-Signature=00"), false},
      {"another scheme",
       request("GET", "/?Action=Unsubscribe", "", {{"Authorization", "Bearer x"}}), false},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const auto routed = route(row.request);
    ASSERT_TRUE(routed);
    EXPECT_EQ(is_unsigned_link(*routed, row.request), row.free);
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::aws
