#include "api/sns/notification.h"

#include <gtest/gtest.h>

namespace hk::api::sns {
namespace HK_TEST_FILE {

Notification notification() {
  return {.message_id = "id-1",
          .topic_arn = "arn:aws:sns:r:1:t",
          .message = "a \"message\" \xc3\xbc\n",
          .timestamp = "2026-01-02T03:04:05.678Z"};
}
const Signature signature{.version = "2", .text = "c2ln", .certificate_url = "http://h/c.pem"};

TEST(Envelope, HasItsMembersInTheOrderOfTheService) {
  Notification full = notification();
  full.subject = "s";
  aws::MessageAttributes attributes;
  attributes["b"] = {.data_type = "Binary", .binary_value = std::string("\0\xff", 2)};
  attributes["n"] = {.data_type = "Number.int", .string_value = "1"};

  EXPECT_EQ(core::filled(envelope(full, &signature, "http://h", attributes), "one", {}),
            R"({"Type":"Notification","MessageId":"id-1","TopicArn":"arn:aws:sns:r:1:t",)"
            R"("Subject":"s","Message":"a \"message\" )"
            "\xc3\xbc"
            R"(\n","Timestamp":"2026-01-02T03:04:05.678Z","SignatureVersion":"2",)"
            R"("Signature":"c2ln","SigningCertURL":"http://h/c.pem","UnsubscribeURL":)"
            R"("http://h/?Action=Unsubscribe&SubscriptionArn=arn:aws:sns:r:1:t:one",)"
            R"("MessageAttributes":{"b":{"Type":"Binary","Value":"AP8="},)"
            R"("n":{"Type":"Number.int","Value":"1"}}})");
}

TEST(Envelope, LeavesOutWhatIsNotThere) {
  Notification plain = notification();
  plain.message = "m";
  plain.message_id = "";  // the core's

  EXPECT_EQ(core::filled(envelope(plain, nullptr, "u", {}), "one", {core::Seq{7}, 1}),
            R"({"Type":"Notification","MessageId":"00000000-0000-0007-0000-000000000001",)"
            R"("SequenceNumber":"00000000000000000007",)"
            R"("TopicArn":"arn:aws:sns:r:1:t","Message":"m",)"
            R"("Timestamp":"2026-01-02T03:04:05.678Z","UnsubscribeURL":)"
            R"("u/?Action=Unsubscribe&SubscriptionArn=arn:aws:sns:r:1:t:one"})");
}

TEST(TextToSign, HasTheSubjectOnlyIfThereIsOne) {
  Notification one = notification();
  one.message = "m";
  const std::string rest =
      "Timestamp\n2026-01-02T03:04:05.678Z\nTopicArn\narn:aws:sns:r:1:t\nType\nNotification\n";

  EXPECT_EQ(text_to_sign(one), "Message\nm\nMessageId\nid-1\n" + rest);
  one.subject = "s";
  EXPECT_EQ(text_to_sign(one), "Message\nm\nMessageId\nid-1\nSubject\ns\n" + rest);
}

TEST(Confirmation, IsWrittenAndSignedAsTheServiceDoes) {
  const Confirmation one{.message_id = "i",
                         .token = "t",
                         .topic_arn = "a",
                         .message = "m",
                         .subscribe_url = subscribe_url("http://h", "a", "t"),
                         .timestamp = "w"};

  EXPECT_EQ(text_to_sign(one),
            "Message\nm\nMessageId\ni\nSubscribeURL\n"
            "http://h/?Action=ConfirmSubscription&TopicArn=a&Token=t\n"
            "Timestamp\nw\nToken\nt\nTopicArn\na\nType\nSubscriptionConfirmation\n");
  EXPECT_EQ(body_of(one, signature),
            R"({"Type":"SubscriptionConfirmation","MessageId":"i","Token":"t","TopicArn":"a",)"
            R"("Message":"m","SubscribeURL":)"
            R"("http://h/?Action=ConfirmSubscription&TopicArn=a&Token=t","Timestamp":"w",)"
            R"("SignatureVersion":"2","Signature":"c2ln","SigningCertURL":"http://h/c.pem"})");
}

TEST(Links, LeadToTheServerThatWasCalled) {
  EXPECT_EQ(unsubscribe_url("http://h:1", "arn:aws:sns:r:1:t:x"),
            "http://h:1/?Action=Unsubscribe&SubscriptionArn=arn:aws:sns:r:1:t:x");
  EXPECT_EQ(certificate_url("https://h"), "https://h/sns/certificate.pem");
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::sns
