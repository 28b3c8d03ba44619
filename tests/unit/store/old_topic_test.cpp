#include "store/old_topic.h"

#include <gtest/gtest.h>

#include "core/reader.h"
#include "core/topic/read_topic.h"

namespace hk::store {
namespace HK_TEST_FILE {

using namespace core;
constexpr TenantId tenant_one{1};

/// As it was written before topics were the core's.
Document old() {
  return {.tenant = tenant_one,
          .kind = "sns_topic",
          .name = "t.fifo",
          .fields = {{"Region", "r"},
                     {"Incarnation", "i"},
                     {"attribute/DisplayName", "a/b"},
                     {"attribute/FifoThroughputScope", "MessageGroup"},
                     {"tag/k/1", "v"},
                     {"subscription/one/Protocol", "sqs"},
                     {"subscription/one/Endpoint", "arn:aws:sqs:r:1:q"},
                     {"subscription/one/Confirmed", "true"},
                     {"subscription/one/Authenticated", "true"},
                     {"subscription/one/AuthenticateOnUnsubscribe", "false"},
                     {"subscription/one/attribute/FilterPolicy", R"({"a":{"b":["x"]}})"},
                     {"subscription/one/attribute/FilterPolicyScope", "MessageBody"},
                     {"subscription/one/attribute/RawMessageDelivery", "true"},
                     {"subscription/one/attribute/RedrivePolicy",
                      R"({"deadLetterTargetArn":"arn:aws:sqs:r:1:dead"})"},
                     {"subscription/two/Protocol", "https"},
                     {"subscription/two/Endpoint", "https://Host/x?y"},
                     {"subscription/two/Confirmed", "false"},
                     {"subscription/two/Token", "secret"},
                     {"subscription/two/TokenMade", "1700000000000"},
                     {"subscription/two/attribute/DeliveryPolicy",
                      R"({"healthyRetryPolicy":{"numRetries":1}})"}},
          .version = 7,
          .created_at = moment_from_ms(5)};
}

TEST(OldTopic, BecomesATopic) {
  const Topic topic = old_topic(old());

  EXPECT_EQ(
      topic,
      (Topic{.tenant = tenant_one,
             .kind = TopicKind::sns,
             .name = "t.fifo",
             .subscriptions =
                 {{.id = "one",
                   .queue = "q",
                   .protocol = "sqs",
                   .filter = R"({"a":{"b":["x"]}})",
                   .filter_scope = FilterScope::message_body,
                   .dead_letters_to = "dead",
                   .confirmed_by_owner = true,
                   .extra = {{"FilterPolicyScope", "MessageBody"},
                             {"RedrivePolicy", R"({"deadLetterTargetArn":"arn:aws:sqs:r:1:dead"})"},
                             {"Endpoint", "arn:aws:sqs:r:1:q"}}},
                  {.id = "two",
                   .url = "https://Host/x?y",
                   .host = "https://host:443",
                   .protocol = "https",
                   .raw = false,
                   .confirmed = false,
                   .retries = RetryPolicy{1, TableDelay{{Millis{20'000}}}},
                   .token = "secret",
                   .token_made = moment_from_ms(1'700'000'000'000),
                   .extra = {{"DeliveryPolicy", R"({"healthyRetryPolicy":{"numRetries":1}})"}}}},
             .options = {{"Region", "r"},
                         {"DisplayName", "a/b"},
                         {"FifoThroughputScope", "MessageGroup"}},
             .tags = {{"k/1", "v"}},
             .created_at = moment_from_ms(5),
             .updated_at = moment_from_ms(5),
             .incarnation = "i",
             .version = 7,
             .fifo = true,
             .dedup_by_group = true}));
}

TEST(OldTopic, ItsDestinationIsThatOfItsUrl) {
  struct Row {
    std::string_view url;
    std::string_view host;
  };
  for (const Row& row :
       {Row{"http://a", "http://a:80"}, Row{"HTTP://A/b:1", "http://a:80"},
        Row{"https://a?x=y:1", "https://a:443"}, Row{"http://a:81/", "http://a:81"},
        Row{"http://[::1]/", "http://[::1]:80"}, Row{"http://[::1]:81/", "http://[::1]:81"}}) {
    Document document{.name = "t",
                      .fields = {{"subscription/x/Protocol", "http"},
                                 {"subscription/x/Endpoint", std::string(row.url)}}};
    EXPECT_EQ(old_topic(document).subscriptions.at(0).host, row.host) << row.url;
  }
}

TEST(OldTopic, ThatIsNoneIsNotTakenForOne) {
  Document document = old();
  document.fields.push_back({"subscription/x", ""});
  EXPECT_THROW(old_topic(document), CorruptRecord);
  document = old();
  document.fields.push_back({"subscription/one/attribute/RedrivePolicy", "nonsense"});
  EXPECT_THROW(old_topic(document), CorruptRecord);
  document = old();
  document.fields.push_back({"subscription/one/attribute/FilterPolicy", "nonsense"});
  EXPECT_THROW(ReadTopic::read_stored(old_topic(document)), CorruptRecord);
}

TEST(OldTopic, IsReadThoughAPolicyInItIsBeyondALimitOfToday) {
  std::string policy = R"({"a":[{"anything-but":["x")";
  for (int i = 0; i < 200; ++i) {
    policy += ",\"" + std::to_string(i) + '"';
  }
  Document document = old();
  document.fields.push_back({"subscription/two/attribute/FilterPolicy", policy + "]}]}"});

  EXPECT_TRUE(ReadTopic::read_stored(old_topic(document))->filters.at(1));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::store
