#include "api/aws/input.h"

#include <gtest/gtest.h>

namespace hk::api::aws {
namespace HK_TEST_FILE {

Input json(std::string_view body) {
  auto input = Input::from_json(body);
  EXPECT_TRUE(input) << body;
  return std::move(*input);
}
Input form(std::string_view text, std::string_view action = "",
           Dialect dialect = Dialect::sqs_query) {
  auto parsed = QueryForm::parse(text);
  EXPECT_TRUE(parsed) << text;
  return Input::from_form(std::move(*parsed), dialect, action);
}
Input sns(std::string_view text) { return form(text, "", Dialect::sns_query); }

const Refusal none{};
const Refusal& or_none(const Refusal* refusal) { return refusal == nullptr ? none : *refusal; }

TEST(Input, ReadsTheSameFromBothProtocols) {
  Input inputs[] = {
      json(R"({"QueueUrl":"http://h/1/q","MaxNumberOfMessages":7,"Flag":true,
               "AttributeNames":["All","b"],"MessageAttributeNames":["x"],
               "MessageSystemAttributeNames":["s"],"TagKeys":["k1","k2"],"AWSAccountIds":["1"],
               "Actions":["SendMessage"],
               "Attributes":{"DelaySeconds":"5","Policy":""},"tags":{"a":"1"},
               "MessageAttributes":{"n":{"DataType":"Number","StringValue":"5"},
                                    "b":{"DataType":"Binary","BinaryValue":"AP8="}},
               "MessageSystemAttributes":{"AWSTraceHeader":{"DataType":"String","StringValue":"r"}},
               "Unknown":{"deep":[1]}})"),
      form("QueueUrl=http%3A%2F%2Fh%2F1%2Fq&MaxNumberOfMessages=7&Flag=true&AttributeName.1=All"
           "&AttributeName.2=b&MessageAttributeName.1=x&MessageSystemAttributeName.1=s&TagKey.1=k1"
           "&TagKey.2=k2&AWSAccountId.1=1&ActionName.1=SendMessage"
           "&Attribute.1.Name=DelaySeconds&Attribute.1.Value=5&Attribute.2.Name=Policy"
           "&Attribute.2.Value=&Tag.1.Key=a&Tag.1.Value=1"
           "&MessageAttribute.1.Name=n&MessageAttribute.1.Value.DataType=Number"
           "&MessageAttribute.1.Value.StringValue=5&MessageAttribute.2.Name=b"
           "&MessageAttribute.2.Value.DataType=Binary&MessageAttribute.2.Value.BinaryValue=AP8%3D"
           "&MessageSystemAttribute.1.Name=AWSTraceHeader"
           "&MessageSystemAttribute.1.Value.DataType=String"
           "&MessageSystemAttribute.1.Value.StringValue=r&Unknown.1=x"),
  };
  const std::string two_bytes("\0\xff", 2);

  for (Input& input : inputs) {
    SCOPED_TRACE(&input == &inputs[0] ? "JSON" : "Query");
    using Texts = std::vector<std::string>;
    EXPECT_EQ(input.text("QueueUrl"), "http://h/1/q");
    EXPECT_EQ(input.required_text("QueueUrl"), "http://h/1/q");
    EXPECT_EQ(input.text("Absent"), std::nullopt);
    EXPECT_EQ(input.integer("MaxNumberOfMessages", 1, 10), 7);
    EXPECT_EQ(input.integer("Absent"), std::nullopt);
    EXPECT_EQ(input.boolean("Flag"), true);
    EXPECT_EQ(input.boolean("Absent"), std::nullopt);
    EXPECT_EQ(input.texts("AttributeNames"), (Texts{"All", "b"}));
    EXPECT_EQ(input.texts("MessageAttributeNames"), Texts{"x"});
    EXPECT_EQ(input.texts("MessageSystemAttributeNames"), Texts{"s"});
    EXPECT_EQ(input.texts("TagKeys"), (Texts{"k1", "k2"}));
    EXPECT_EQ(input.texts("AWSAccountIds"), Texts{"1"});
    EXPECT_EQ(input.texts("Actions"), Texts{"SendMessage"});
    EXPECT_EQ(input.map("Attributes"), (TextMap{{"DelaySeconds", "5"}, {"Policy", ""}}));
    EXPECT_EQ(input.map("tags"), (TextMap{{"a", "1"}}));
    EXPECT_EQ(input.attributes("MessageAttributes"),
              (MessageAttributes{{"n", {"Number", "5", {}, false}},
                                 {"b", {"Binary", {}, two_bytes, false}}}));
    EXPECT_EQ(input.attributes("MessageSystemAttributes"),
              (MessageAttributes{{"AWSTraceHeader", {"String", "r", {}, false}}}));
    EXPECT_TRUE(input.given("Attributes"));
    EXPECT_FALSE(input.given("Absent"));
    EXPECT_EQ(input.malformed(), nullptr);
    EXPECT_EQ(input.invalid(), nullptr);
  }
}

TEST(Input, EntriesOfABatchAreInputsOfTheirOwn) {
  Input inputs[] = {
      json(R"({"Entries":[{"Id":"a","MessageBody":"one","MessageAttributes":
                            {"k":{"DataType":"String","StringValue":"x"}}},
                          {"Id":"b","MessageBody":"","DelaySeconds":901}]})"),
      form("SendMessageBatchRequestEntry.1.Id=a&SendMessageBatchRequestEntry.1.MessageBody=one"
           "&SendMessageBatchRequestEntry.1.MessageAttribute.1.Name=k"
           "&SendMessageBatchRequestEntry.1.MessageAttribute.1.Value.DataType=String"
           "&SendMessageBatchRequestEntry.1.MessageAttribute.1.Value.StringValue=x"
           "&SendMessageBatchRequestEntry.2.Id=b&SendMessageBatchRequestEntry.2.MessageBody="
           "&SendMessageBatchRequestEntry.2.DelaySeconds=901",
           "SendMessageBatch"),
  };

  for (Input& input : inputs) {
    SCOPED_TRACE(&input == &inputs[0] ? "JSON" : "Query");
    std::vector<Input> entries = input.entries("Entries");
    ASSERT_EQ(entries.size(), 2U);
    EXPECT_EQ(entries[0].text("Id"), "a");
    EXPECT_EQ(entries[0].required_text("MessageBody"), "one");
    EXPECT_EQ(entries[0].attributes("MessageAttributes"),
              (MessageAttributes{{"k", {"String", "x", {}, false}}}));
    EXPECT_EQ(entries[0].invalid(), nullptr);
    EXPECT_EQ(entries[1].required_text("MessageBody"), "");
    EXPECT_EQ(entries[1].integer("DelaySeconds", 0, 900), std::nullopt);
    EXPECT_EQ(or_none(entries[1].invalid()).code, ErrorCode::missing_parameter);
    EXPECT_EQ(input.invalid(), nullptr);
    EXPECT_EQ(input.malformed(), nullptr);
  }
}

TEST(Input, EveryBatchOfSqsHasItsEntries) {
  for (const std::string action :
       {"SendMessageBatch", "DeleteMessageBatch", "ChangeMessageVisibilityBatch"}) {
    SCOPED_TRACE(action);
    Input input = form(action + "RequestEntry.1.Id=a&" + action + "RequestEntry.4.Id=b", action);
    std::vector<Input> entries = input.entries("Entries");
    ASSERT_EQ(entries.size(), 2U);
    EXPECT_EQ(entries[1].text("Id"), "b");
    EXPECT_TRUE(form(action + "RequestEntry=", action).entries("Entries").empty());
    EXPECT_TRUE(form(action + "RequestEntry=", action).given("Entries"));
    EXPECT_FALSE(form("a=b", action).given("Entries"));
  }
}

TEST(Input, ToleratesWhatOlderClientsSend) {
  EXPECT_EQ(form("AttributeName=All").texts("AttributeNames"), std::vector<std::string>{"All"});
  EXPECT_EQ(form("Attribute.Name=VisibilityTimeout&Attribute.Value=30").map("Attributes"),
            (TextMap{{"VisibilityTimeout", "30"}}));
  EXPECT_TRUE(form("AttributeName=").texts("AttributeNames").empty());
  EXPECT_EQ(form("DelaySeconds=").integer("DelaySeconds"), std::nullopt);
  EXPECT_EQ(form("Flag=TRUE").boolean("Flag"), true);
  EXPECT_EQ(json(R"({"QueueUrl":null})").text("QueueUrl"), std::nullopt);
  EXPECT_FALSE(json(R"({"QueueUrl":null})").given("QueueUrl"));
  EXPECT_EQ(json(R"({"N":5.0})").integer("N"), 5);
  EXPECT_TRUE(json(R"({"Attributes":{"a":null}})").map("Attributes").empty());
}

TEST(Input, ReadsTheFormsOfSns) {
  Input input = sns(
      "Name=t&Attributes.entry.1.key=FifoTopic&Attributes.entry.1.value=true"
      "&Tags.member.1.Key=a&Tags.member.1.Value=1&TagKeys.member.1=k&TagKeys.member.2=l"
      "&MessageAttributes.entry.1.Name=n&MessageAttributes.entry.1.Value.DataType=String"
      "&MessageAttributes.entry.1.Value.StringValue=v"
      "&PublishBatchRequestEntries.member.1.Id=x"
      "&PublishBatchRequestEntries.member.1.MessageAttributes.entry.1.Name=m"
      "&PublishBatchRequestEntries.member.1.MessageAttributes.entry.1.Value.DataType=Binary"
      "&PublishBatchRequestEntries.member.1.MessageAttributes.entry.1.Value.BinaryValue=AA%3D%3D"
      "&PublishBatchRequestEntries.member.2.Id=y");

  EXPECT_EQ(input.text("Name"), "t");
  EXPECT_EQ(input.map("Attributes"), (TextMap{{"FifoTopic", "true"}}));
  EXPECT_EQ(input.map("Tags"), (TextMap{{"a", "1"}}));
  EXPECT_EQ(input.texts("TagKeys"), (std::vector<std::string>{"k", "l"}));
  EXPECT_EQ(input.attributes("MessageAttributes"),
            (MessageAttributes{{"n", {"String", "v", {}, false}}}));
  std::vector<Input> entries = input.entries("PublishBatchRequestEntries");
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].attributes("MessageAttributes"),
            (MessageAttributes{{"m", {"Binary", {}, std::string(1, '\0'), false}}}));
  EXPECT_EQ(entries[1].text("Id"), "y");
  EXPECT_EQ(input.invalid(), nullptr);
}

TEST(Input, ABodyThatIsNotAJsonObjectIsASerializationException) {
  for (const std::string_view body : {"", "[]", "1", "\"x\"", "null", "{", "{\"a\":}", "{}x",
                                      "Action=SendMessage", "{\"a\":\"\xff\"}"}) {
    SCOPED_TRACE(body);
    const auto input = Input::from_json(body);
    ASSERT_FALSE(input);
    EXPECT_EQ(input.error().code, ErrorCode::serialization);
  }
}

TEST(Input, AMemberOfAWrongTypeIsMalformed) {
  struct Row {
    std::string_view body;
    void (*read)(Input&);
  };
  const auto text = [](Input& input) { (void)input.text("X"); };
  const auto integer = [](Input& input) { (void)input.integer("X"); };
  const auto boolean = [](Input& input) { (void)input.boolean("X"); };
  const auto texts = [](Input& input) { (void)input.texts("X"); };
  const auto map = [](Input& input) { (void)input.map("X"); };
  const auto attributes = [](Input& input) { (void)input.attributes("X"); };
  const auto entries = [](Input& input) { (void)input.entries("X"); };
  const Row rows[] = {
      {R"({"X":1})", text},
      {R"({"X":["a"]})", text},
      {R"({"X":"1"})", integer},
      {R"({"X":1.5})", integer},
      {R"({"X":1e300})", integer},
      {R"({"X":18446744073709551615})", integer},
      {R"({"X":true})", integer},
      {R"({"X":"true"})", boolean},
      {R"({"X":0})", boolean},
      {R"({"X":"a"})", texts},
      {R"({"X":[1]})", texts},
      {R"({"X":[null]})", texts},
      {R"({"X":["a"]})", map},
      {R"({"X":{"a":1}})", map},
      {R"({"X":[]})", attributes},
      {R"({"X":{"a":"b"}})", attributes},
      {R"({"X":{"a":{"DataType":1}}})", attributes},
      {R"({"X":{"a":{"DataType":"String","StringValue":1}}})", attributes},
      {R"({"X":{"a":{"DataType":"Binary","BinaryValue":"not base64"}}})", attributes},
      {R"({"X":{"a":{"DataType":"Binary","BinaryValue":"AP8"}}})", attributes},
      {R"({"X":{"a":{"DataType":"String","StringListValues":"x"}}})", attributes},
      {R"({"X":{}})", entries},
      {R"({"X":["a"]})", entries},
      {R"({"X":[{},null]})", entries},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.body);
    Input input = json(row.body);
    row.read(input);
    ASSERT_NE(input.malformed(), nullptr);
    EXPECT_EQ(input.malformed()->code, ErrorCode::serialization);
    EXPECT_EQ(input.invalid(), nullptr);
  }
}

TEST(Input, AnEntryOfAWrongTypeSpoilsTheWholeRequest) {
  Input input = json(R"({"Entries":[{"Id":"a"},{"Id":5}]})");
  std::vector<Input> entries = input.entries("Entries");
  ASSERT_EQ(entries.size(), 2U);

  EXPECT_EQ(entries[0].text("Id"), "a");
  EXPECT_EQ(input.malformed(), nullptr);
  EXPECT_EQ(entries[1].text("Id"), std::nullopt);
  EXPECT_NE(input.malformed(), nullptr);
}

TEST(Input, WhatAFormCannotTellByTypeIsAnInvalidValue) {
  struct Row {
    std::string_view form;
    void (*read)(Input&);
    ErrorCode code;
  };
  const auto integer = [](Input& input) { (void)input.integer("X"); };
  const auto boolean = [](Input& input) { (void)input.boolean("X"); };
  const auto map = [](Input& input) { (void)input.map("Attributes"); };
  const auto attributes = [](Input& input) { (void)input.attributes("MessageAttributes"); };
  constexpr ErrorCode invalid = ErrorCode::invalid_parameter_value;
  const Row rows[] = {
      {"X=five", integer, invalid},
      {"X=5x", integer, invalid},
      {"X=5.0", integer, invalid},
      {"X=99999999999999999999", integer, invalid},
      {"X=yes", boolean, invalid},
      {"Attribute.1.Value=a", map, ErrorCode::missing_parameter},
      {"Attribute.1.Name=a", map, ErrorCode::missing_parameter},
      {"MessageAttribute.1.Value.DataType=String", attributes, ErrorCode::missing_parameter},
      {"MessageAttribute.1.Name=a&MessageAttribute.1.Value.BinaryValue=%21", attributes, invalid},
      {"MessageAttribute.1.Name=a&MessageAttribute.2.Name=a", attributes, invalid},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.form);
    Input input = form(row.form);
    row.read(input);
    EXPECT_EQ(input.malformed(), nullptr);
    ASSERT_NE(input.invalid(), nullptr);
    EXPECT_EQ(input.invalid()->code, row.code);
  }
}

TEST(Input, ListsOfValuesAreNoticed) {
  Input inputs[] = {
      json(R"({"MessageAttributes":{"a":{"DataType":"String","StringListValues":["x"]}}})"),
      json(R"({"MessageAttributes":{"a":{"DataType":"Binary","BinaryListValues":["AA=="]}}})"),
      form("MessageAttribute.1.Name=a&MessageAttribute.1.Value.DataType=String"
           "&MessageAttribute.1.Value.StringListValue.1=x"),
  };
  for (Input& input : inputs) {
    EXPECT_TRUE(input.attributes("MessageAttributes").at("a").has_list);
  }
  EXPECT_FALSE(json(R"({"MessageAttributes":{"a":{"DataType":"String","StringValue":"x",
                        "StringListValues":[],"BinaryListValues":null}}})")
                   .attributes("MessageAttributes")
                   .at("a")
                   .has_list);
}

TEST(Input, RemembersTheFirstFaultOnly) {
  Input input = json(R"({"A":11,"B":-1})");

  EXPECT_EQ(input.integer("A", 1, 10), std::nullopt);
  EXPECT_EQ(input.integer("B", 1, 10), std::nullopt);
  EXPECT_EQ(input.required_text("C"), "");
  EXPECT_EQ(or_none(input.invalid()),
            (Refusal{ErrorCode::invalid_parameter_value,
                     "Value 11 for parameter A is invalid. Reason: Must be between 1 and 10."}));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::aws
