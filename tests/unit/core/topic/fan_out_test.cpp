#include <gtest/gtest.h>

#include "unit/core/rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

UpsertEndpoints group(const std::vector<std::string>& urls) {
  UpsertEndpoints command{.tenant = tenant_one, .group = "g"};
  for (const std::string& url : urls) {
    command.endpoints.push_back({.name = "to " + url, .url = url, .host = "http://" + url});
  }
  return command;
}

Message to_group(std::string dedup_id = {}) {
  Message message = message_to("");
  message.url.clear();
  message.topic = "g";
  message.dedup_id = std::move(dedup_id);
  return message;
}

/// "url" or "url again" for each message, in the order of the answer.
std::vector<std::string> told(const FannedOut& all) {
  std::vector<std::string> out;
  for (const FannedOut::One& one : all.messages) {
    out.push_back(one.url + (one.published.deduplicated ? " again" : ""));
  }
  return out;
}

TEST(FanOut, MakesOneMessagePerEndpointInTheGroupsOrder) {
  Rig rig;
  rig.run(group({"b", "a", "c"}));

  const Ran ran = rig.run(Rig::publishing(to_group()));

  const auto all = ran.only<FannedOut>();
  EXPECT_EQ(told(all), (std::vector<std::string>{"b", "a", "c"}));
  ASSERT_EQ(rig.reader.rows<Message>().size(), 3U);
  for (const FannedOut::One& one : all.messages) {
    const auto message = rig.reader.get<Message>(one.published.id.seq);
    ASSERT_NE(message, nullptr);
    EXPECT_EQ(message->id, one.published.id);
    EXPECT_EQ(message->url, one.url);
    EXPECT_EQ(message->host, "http://" + one.url);
    EXPECT_EQ(message->endpoint, "to " + one.url);
    EXPECT_EQ(message->topic, "g");
    EXPECT_EQ(message->body, "hello");
  }
  EXPECT_LT(all.messages[0].published.id.seq, all.messages[1].published.id.seq);
  EXPECT_EQ(ran.starts.size(), 3U);
  EXPECT_EQ(rig.counts().accepted, 3U);
}

TEST(FanOut, DecidesPerEndpointWhetherItIsADuplicate) {
  Rig rig;
  rig.run(group({"a"}));
  const auto first = rig.run(Rig::publishing(to_group("same"))).only<FannedOut>();
  rig.run(group({"b"}));

  const auto second = rig.run(Rig::publishing(to_group("same"))).only<FannedOut>();
  rig.restart();
  const auto third = rig.run(Rig::publishing(to_group("same"))).only<FannedOut>();

  EXPECT_EQ(told(second), (std::vector<std::string>{"a again", "b"}));
  EXPECT_EQ(second.messages[0].published.id, first.messages[0].published.id);
  EXPECT_EQ(told(third), (std::vector<std::string>{"a again", "b again"}));
  EXPECT_EQ(rig.reader.rows<Message>().size(), 2U);
}

TEST(FanOut, SharesItsDedupIdWithAPlainPublishToTheSameUrlOnly) {
  Rig rig;
  rig.run(group({"a", "b"}));
  Message plain = message_to("http://x");
  plain.url = "a";
  plain.dedup_id = "same";
  rig.publish(plain);

  const auto all = rig.run(Rig::publishing(to_group("same"))).only<FannedOut>();

  EXPECT_EQ(told(all), (std::vector<std::string>{"a again", "b"}));
}

TEST(FanOut, LaterChangesOfTheGroupDoNotTouchItsMessages) {
  struct Row {
    std::string_view name;
    Command change;
  };
  Row rows[] = {
      {"the group is deleted", DeleteTopic{tenant_one, TopicKind::url_group, "g"}},
      {"an endpoint is removed",
       RemoveEndpoints{.tenant = tenant_one, .group = "g", .endpoints = {{.url = "a"}}}},
      {"an endpoint has another url",
       UpsertEndpoints{.tenant = tenant_one,
                       .group = "g",
                       .endpoints = {{.name = "to a", .url = "z", .host = "http://z"}}}},
  };
  for (Row& row : rows) {
    SCOPED_TRACE(row.name);
    Rig rig;
    rig.run(group({"a", "b"}));
    Publish later = Rig::publishing(to_group());
    later.delay = Millis{100};
    rig.run(std::move(later));

    rig.run(std::move(row.change));
    rig.restart();
    rig.pass(Millis{100});
    const Ran ran = rig.run();

    ASSERT_EQ(ran.started(), seqs({1, 2}));
    EXPECT_EQ(ran.starts[0].message->url, "a");
    EXPECT_EQ(ran.starts[0].message->endpoint, "to a");
    EXPECT_EQ(ran.starts[1].message->url, "b");
  }
}

TEST(FanOut, KeepsTheGroupsOrderInAQueue) {
  Rig rig;
  rig.run(group({"c", "b", "a"}));
  Message message = to_group();
  message.queue = "q";

  Ran ran = rig.run(Rig::publishing(message));

  for (const std::string_view url : {"c", "b", "a"}) {
    ASSERT_EQ(ran.starts.size(), 1U);
    EXPECT_EQ(ran.starts[0].message->url, url);
    ran = rig.run(Rig::outcome(ran.starts[0], true));
  }
  EXPECT_EQ(rig.counts().succeeded, 3U);
}

TEST(FanOut, IsRefusedAsAWhole) {
  struct Row {
    std::string_view name;
    Message message;
    ErrorKind refused;
  };
  Message nowhere = to_group();
  nowhere.topic = "unknown";
  Message unreadable = to_group();
  unreadable.retry.delay = ExpressionDelay{"retried +"};
  Message delayed = to_group();
  delayed.queue = "q";
  delayed.not_before = moment_from_ms(9'000'000);
  Message stranger = to_group();
  stranger.tenant = TenantId{9};
  const Row rows[] = {
      {"to a group that is not there", nowhere, ErrorKind::not_found},
      {"with a policy that cannot be read", unreadable, ErrorKind::invalid_argument},
      {"delayed in a queue", delayed, ErrorKind::invalid_argument},
      {"of a tenant that is not there", stranger, ErrorKind::not_found},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Rig rig;
    rig.run(group({"a", "b"}));

    const Ran ran = rig.run(Rig::publishing(row.message));

    ASSERT_FALSE(ran.replies.at(0).has_value());
    EXPECT_EQ(ran.replies[0].error().kind, row.refused);
    EXPECT_TRUE(rig.reader.rows<Message>().empty());
    EXPECT_TRUE(rig.reader.rows<Queue>().empty());
    EXPECT_TRUE(rig.reader.rows<Dedup>().empty());
  }
}

TEST(FanOut, IsBoundedInBytes) {
  Rig rig;
  std::vector<std::string> urls(1000);
  for (std::size_t i = 0; i < urls.size(); ++i) {
    urls[i] = std::to_string(i);
  }
  rig.run(group(urls));
  Message message = to_group();
  message.body.assign(std::size_t{140} * 1024, 'x');

  const Ran ran = rig.run(Rig::publishing(message));

  ASSERT_FALSE(ran.replies.at(0).has_value());
  EXPECT_EQ(ran.replies[0].error().kind, ErrorKind::invalid_argument);
  EXPECT_TRUE(rig.reader.rows<Message>().empty());
}

TEST(FanOut, EachMessageEndsOnItsOwnAndARetriedDeadLetterGoesToItsEndpointAlone) {
  Rig rig;
  rig.run(group({"a", "b"}));
  const Ran ran = rig.run(Rig::publishing(to_group()));
  ASSERT_EQ(ran.starts.size(), 2U);
  rig.run(Rig::outcome(ran.starts[0], true), Rig::outcome(ran.starts[1], false));
  ASSERT_EQ(rig.reader.rows<DeadLetterKey>().size(), 1U);

  const Ran again = rig.run(RetryDeadLetter{tenant_one, rig.reader.scan<DeadLetterKey>().front()});

  ASSERT_EQ(again.starts.size(), 1U);
  EXPECT_EQ(again.starts[0].message->url, "b");
  EXPECT_EQ(again.starts[0].message->topic, "g");
  EXPECT_EQ(again.starts[0].message->endpoint, "to b");
  EXPECT_EQ(rig.counts().succeeded, 1U);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
