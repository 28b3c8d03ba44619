#include "api/sns/incoming.h"

#include <gtest/gtest.h>

namespace hk::api::sns {
namespace HK_TEST_FILE {

aws::Input input(std::string_view fields) {
  auto form = aws::QueryForm::parse(fields);
  EXPECT_TRUE(form) << fields;
  return aws::Input::from_form(std::move(*form), aws::Dialect::sns_query, "Publish");
}

Topic standard() { return {.name = "t"}; }
Topic fifo(bool by_content = false) {
  Topic topic{.name = "t.fifo"};
  if (by_content) {
    topic.attributes["ContentBasedDeduplication"] = "true";
  }
  return topic;
}

aws::Checked<Incoming> read(const Topic& topic, const std::string& fields) {
  aws::Input given = input(fields);
  return read_incoming(topic, given);
}

TEST(Incoming, IsReadWithAllItsParts) {
  const auto got = read(standard(),
                        "Message=m&Subject=s&MessageGroupId=g"
                        "&MessageAttributes.entry.1.Name=a"
                        "&MessageAttributes.entry.1.Value.DataType=String"
                        "&MessageAttributes.entry.1.Value.StringValue=v");

  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->message, "m");
  EXPECT_EQ(got->subject, "s");
  EXPECT_EQ(got->group, "g");
  EXPECT_EQ(got->dedup_id, "");
  EXPECT_EQ(got->attributes.at("a").value(), "v");
  EXPECT_TRUE(got->by_protocol.empty()) << "all get the message";
}

TEST(Incoming, GivesEachProtocolItsOwnText) {
  const auto got =
      read(standard(), R"(MessageStructure=json&Message={"default":"d","sqs":"q","number":1})");

  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->by_protocol, (aws::TextMap{{"default", "d"}, {"sqs", "q"}}));
}

TEST(Incoming, IsRefusedForWhatIsWrongInIt) {
  using aws::ErrorCode;
  const std::string attribute =
      "Message=m&MessageAttributes.entry.1.Name=a&MessageAttributes.entry.1.Value.DataType=";
  struct Row {
    const char* what;
    std::string fields;
    ErrorCode code;
  };
  for (const Row& row : {
           Row{"no message", "Subject=s", ErrorCode::missing_parameter},
           Row{"empty", "Message=", ErrorCode::sns_invalid_parameter},
           Row{"characters", "Message=%01", ErrorCode::sns_invalid_parameter},
           Row{"long", "Message=" + std::string(message_bytes_max + 1, 'x'),
               ErrorCode::sns_invalid_parameter},
           Row{"long subject", "Message=m&Subject=" + std::string(101, 'x'),
               ErrorCode::sns_invalid_parameter},
           Row{"empty subject", "Message=m&Subject=", ErrorCode::sns_invalid_parameter},
           Row{"subject of lines", "Message=m&Subject=a%0Ab", ErrorCode::sns_invalid_parameter},
           Row{"attribute type", attribute + "Text&MessageAttributes.entry.1.Value.StringValue=v",
               ErrorCode::sns_parameter_value_invalid},
           Row{"attribute value", attribute + "String", ErrorCode::sns_parameter_value_invalid},
           Row{"structure", "Message=m&MessageStructure=xml", ErrorCode::sns_invalid_parameter},
           Row{"not JSON", "Message=m&MessageStructure=json", ErrorCode::sns_invalid_parameter},
           Row{"no default", R"(Message={"sqs":"x"}&MessageStructure=json)",
               ErrorCode::sns_invalid_parameter},
           Row{"empty default", R"(Message={"default":""}&MessageStructure=json)",
               ErrorCode::sns_invalid_parameter},
           Row{"deduplication id", "Message=m&MessageDeduplicationId=d",
               ErrorCode::sns_invalid_parameter},
           Row{"group", "Message=m&MessageGroupId=a+b", ErrorCode::sns_invalid_parameter},
       }) {
    const auto got = read(standard(), row.fields);
    ASSERT_FALSE(got) << row.what;
    EXPECT_EQ(got.error().code, row.code) << row.what << ": " << got.error().message;
  }
  EXPECT_TRUE(read(standard(), "Message=" + std::string(message_bytes_max, 'x')));
  std::string subject;
  for (int i = 0; i < 100; ++i) {
    subject += "%C3%BC";  // two bytes each, one character
  }
  EXPECT_TRUE(read(standard(), "Message=m&Subject=" + subject));
}

TEST(Incoming, OfFifoTopicsHasAGroupAndADeduplicationId) {
  EXPECT_FALSE(read(fifo(), "Message=m&MessageDeduplicationId=d"));
  EXPECT_FALSE(read(fifo(), "Message=m&MessageGroupId=g"));
  EXPECT_EQ(read(fifo(), "Message=m&MessageGroupId=g&MessageDeduplicationId=d")->dedup_id, "d");
  EXPECT_EQ(read(fifo(true), "Message=same&MessageGroupId=g")->dedup_id,
            "0967115f2813a3541eaef77de9d9d5773f1c0c04314b0bbfe4ff3b3b1c55b5d5");
  EXPECT_EQ(read(fifo(true), "Message=m&MessageGroupId=g&MessageDeduplicationId=d")->dedup_id, "d");
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::sns
