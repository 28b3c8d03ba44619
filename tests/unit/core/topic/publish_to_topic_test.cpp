#include <gtest/gtest.h>

#include <algorithm>

#include "unit/core/rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

Subscription to_queue(std::string id, std::string queue) {
  return {.id = std::move(id), .queue = std::move(queue), .protocol = "sqs"};
}
Subscription to_url(std::string id, std::string host) {
  return {.id = std::move(id), .url = host + "/hook", .host = host, .protocol = "https"};
}

Topic topic_with(std::vector<Subscription> subscriptions, bool fifo = false) {
  return {.tenant = tenant_one,
          .kind = TopicKind::sns,
          .name = "t",
          .subscriptions = std::move(subscriptions),
          .incarnation = "i",
          .version = 1,
          .fifo = fifo};
}

/// It is stored; the machine has not read it yet.
void put(Rig& rig, const Topic& topic) {
  rig.reader.put<Topic>(topic);
  rig.restart();
}

/// With everything made ready.
PublishToTopic publication(const std::string& text, std::vector<Attribute> attributes = {}) {
  PublishToTopic command{
      .tenant = tenant_one,
      .topic = "t",
      .attributes = std::move(attributes),
      .sender = "me",
      .headers = {{"X-Id", {.text = "[]", .places = {{1, Form::Hole::message_id}}}}},
      .raw_headers = {{"X-Raw", {.text = "yes"}}},
      .timeout = Millis{1000}};
  Wording wording{.text = text};
  EXPECT_TRUE(wording.subject.read_attributes(command.attributes));
  EXPECT_TRUE(wording.subject.read_body(text));
  wording.envelope =
      Form{.text = "<" + text + ":>", .places = {{text.size() + 2, Form::Hole::subscription}}};
  command.wordings.push_back(std::move(wording));
  return command;
}
PublishToTopic in_group(const std::string& text, std::string dedup_id, std::string group = "g") {
  PublishToTopic command = publication(text);
  command.group = std::move(group);
  command.dedup_id = std::move(dedup_id);
  return command;
}

CreatePullQueue queue(std::string name, bool fifo = false) {
  return {tenant_one, std::move(name), PullSettings{.fifo = fifo}};
}

/// "where: body" of every message, in the order of acceptance.
std::vector<std::string> stored(const Rig& rig) {
  std::vector<std::string> all;
  for (const auto& [seq, message] : rig.reader.rows<Message>()) {
    all.push_back((message->pull ? message->queue : message->url) + ": " + message->body);
  }
  return all;
}
using Stored = std::vector<std::string>;

TEST(PublishToTopic, MakesACopyForEachSubscriptionThatWantsIt) {
  Subscription enveloped = to_queue("b", "q2");
  enveloped.raw = false;
  Subscription waiting = to_queue("c", "q1");
  waiting.confirmed = false;
  Subscription filtered = to_queue("d", "q1");
  filtered.filter = R"({"a":["x"]})";
  Subscription by_body = to_queue("e", "q2");
  by_body.filter = R"({"n":[1]})";
  by_body.filter_scope = FilterScope::message_body;
  Rig rig;
  rig.run(queue("q1"), queue("q2"));
  put(rig, topic_with({to_queue("a", "q1"), enveloped, waiting, filtered, by_body,
                       to_url("f", "https://h:1")}));

  const Ran ran = rig.run(publication(R"({"n":1})", {{"a", "String", "x"}}));
  EXPECT_FALSE(ran.only<TopicPublished>().deduplicated);
  EXPECT_EQ(stored(rig), (Stored{R"(q1: {"n":1})", R"(q2: <{"n":1}:b>)", R"(q1: {"n":1})",
                                 R"(q2: {"n":1})", R"(https://h:1/hook: {"n":1})"}));
  EXPECT_EQ(rig.counts().accepted, 5U);
  EXPECT_EQ(ran.starts.size(), 1U);
  const Message& pushed = *rig.reader.rows<Message>().rbegin()->second;
  EXPECT_TRUE(pushed.notification);
  EXPECT_EQ(pushed.headers.back(), (Header{"X-Raw", "yes"}));
  const Message& pulled = *rig.reader.rows<Message>().begin()->second;
  EXPECT_EQ(pulled.pull->attributes, (std::vector<Attribute>{{"a", "String", "x"}}));
  EXPECT_EQ(pulled.pull->system, (std::vector<Header>{{"SenderId", "me"}}));

  rig.run(publication("m", {{"a", "String", "y"}})).only<TopicPublished>();
  EXPECT_EQ(stored(rig).size(), 8U) << "neither filter wants it";
}

TEST(PublishToTopic, GivesEachProtocolItsText) {
  Subscription pushed = to_url("b", "https://h:1");
  pushed.filter = R"({"n":[2]})";
  pushed.filter_scope = FilterScope::message_body;
  Rig rig;
  rig.run(queue("q"));
  put(rig, topic_with({to_queue("a", "q"), pushed}));
  PublishToTopic command = publication("for all");
  command.wordings.push_back(std::move(publication(R"({"n":2})").wordings.front()));
  command.wordings.back().protocol = "https";

  rig.run(std::move(command)).only<TopicPublished>();

  EXPECT_EQ(stored(rig), (Stored{"q: for all", R"(https://h:1/hook: {"n":2})"}));
}

TEST(PublishToTopic, WhatHasNoPlaceGoesToTheDeadLettersOfItsSubscription) {
  Subscription gone = to_queue("a", "gone");
  gone.dead_letters_to = "dead";
  Subscription nowhere = to_queue("b", "gone");
  Subscription pushed_from = to_queue("c", "pushed");
  pushed_from.dead_letters_to = "gone";
  Subscription small = to_queue("d", "small");
  small.dead_letters_to = "dead";
  Subscription fifo = to_queue("e", "f");
  fifo.dead_letters_to = "dead";
  Rig rig;
  CreatePullQueue little = queue("small");
  little.settings.bytes_max = 3;
  rig.run(queue("q"), queue("dead"), std::move(little), queue("f", true),
          UpsertQueue{tenant_one, "pushed", 1});
  put(rig, topic_with({gone, nowhere, pushed_from, small, fifo, to_queue("f", "q")}));

  rig.run(publication("long")).only<TopicPublished>();
  EXPECT_EQ(stored(rig), (Stored{"dead: long", "dead: long", "dead: long", "q: long"}));

  rig.run(DeleteQueueCommand{tenant_one, "dead"}, publication("abc")).replies.at(1).value();
  EXPECT_EQ(std::ranges::count(stored(rig), "small: abc"), 1);
  EXPECT_EQ(std::ranges::count(stored(rig), "q: abc"), 1);
  EXPECT_EQ(std::ranges::count(stored(rig), "dead: abc"), 0) << "it was deleted just before";
}

TEST(PublishToTopic, ATextWithTooManyAttributesIsADeadLetterInItsEnvelope) {
  Subscription raw = to_queue("a", "q");
  raw.dead_letters_to = "dead";
  Rig rig;
  rig.run(queue("q"), queue("dead"));
  put(rig, topic_with({raw, to_url("b", "https://h:1")}));
  std::vector<Attribute> many;
  for (char c = 'a'; c < 'l'; ++c) {
    many.push_back({std::string(1, c), "String", "x"});
  }

  rig.run(publication("m", many)).only<TopicPublished>();

  EXPECT_EQ(stored(rig), (Stored{"dead: <m:a>", "https://h:1/hook: m"}));
}

TEST(PublishToTopic, ADeadLetterOfAUrlGoesToTheQueueOfItsSubscription) {
  Subscription pushed = to_url("a", "https://h:1");
  pushed.dead_letters_to = "dead";
  pushed.retries = RetryPolicy{0, TableDelay{}};
  Rig rig;
  rig.run(queue("dead"));
  put(rig, topic_with({pushed}));

  Ran ran = rig.run(publication("m"));
  ASSERT_EQ(ran.starts.size(), 1U);
  rig.run(Rig::outcome(ran.starts[0], false));

  EXPECT_EQ(stored(rig), (Stored{"https://h:1/hook: m", "dead: m"}));
}

TEST(PublishToTopic, IsRefusedAndNothingIsAccepted) {
  Subscription enveloped = to_queue("b", "q");
  enveloped.raw = false;
  Subscription filtered = to_queue("c", "q");
  filtered.filter = R"({"n":[1]})";
  filtered.filter_scope = FilterScope::message_body;
  struct Row {
    std::string_view name;
    std::function<void(PublishToTopic&)> change;
    bool fifo = false;
    ErrorKind refused;
  };
  const Row rows[] = {
      {"no such topic", [](auto& one) { one.topic = "g"; }, false, ErrorKind::not_found},
      {"of another tenant", [](auto& one) { one.tenant = TenantId{9}; }, false,
       ErrorKind::not_found},
      {"no envelope", [](auto& one) { one.wordings[0].envelope.reset(); }, false,
       ErrorKind::conflict},
      {"the body was not read", [](auto& one) { one.wordings[0].subject = {}; }, false,
       ErrorKind::conflict},
      {"no group", [](auto& one) { one.dedup_id = "d"; }, true, ErrorKind::invalid_argument},
      {"no dedup id", [](auto& one) { one.group = "g"; }, true, ErrorKind::invalid_argument},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Rig rig;
    rig.run(queue("q"), UpsertEndpoints{tenant_one, "g", {{.url = "u", .host = "http://u"}}});
    put(rig, topic_with({to_queue("a", "q"), enveloped, filtered}, row.fifo));
    PublishToTopic command = publication(R"({"n":1})");
    row.change(command);

    const Ran ran = rig.run(std::move(command));

    ASSERT_FALSE(ran.replies.at(0).has_value());
    EXPECT_EQ(ran.replies[0].error().kind, row.refused);
    EXPECT_TRUE(rig.reader.rows<Message>().empty());
    EXPECT_TRUE(rig.reader.rows<Dedup>().empty());
  }
}

TEST(PublishToTopic, NoMoreCopiesAreMadeOnceTheyAreTooMuch) {
  std::vector<Subscription> many;
  for (int i = 0; i < 600; ++i) {
    many.push_back(to_queue(std::to_string(i), "q"));
  }
  Rig rig;
  rig.run(queue("q"));
  put(rig, topic_with(std::move(many)));

  const Ran ran = rig.run(publication(std::string(std::size_t{250} * 1024, 'x')));

  ASSERT_FALSE(ran.replies.at(0).has_value());
  EXPECT_EQ(ran.replies[0].error().kind, ErrorKind::invalid_argument);
  EXPECT_TRUE(rig.reader.rows<Message>().empty());
}

TEST(PublishToTopic, OfAFifoTopicIsAcceptedOnceInItsWindowWhoeverIsSubscribed) {
  Rig rig;
  rig.run(queue("q.fifo", true), queue("q"));
  put(rig, topic_with({to_queue("a", "q.fifo"), to_queue("b", "q")}, true));

  const auto first = rig.run(in_group("m", "d")).only<TopicPublished>();
  EXPECT_FALSE(first.deduplicated);
  EXPECT_EQ(stored(rig), (Stored{"q.fifo: m", "q: m"}));
  const Message& ordered = *rig.reader.rows<Message>().begin()->second;
  EXPECT_EQ(ordered.group, "g");
  EXPECT_EQ(ordered.pull->system,
            (std::vector<Header>{{"MessageDeduplicationId", "d"}, {"SenderId", "me"}}));
  EXPECT_EQ(rig.reader.rows<Message>().rbegin()->second->group, "") << "the queue has no order";
  EXPECT_TRUE(rig.reader.rows<Dedup>().contains({tenant_one, "batch topic i d"}));

  put(rig, topic_with({}, true));
  const auto again = rig.run(in_group("other", "d")).only<TopicPublished>();
  EXPECT_TRUE(again.deduplicated);
  EXPECT_EQ(again.id, first.id);
  EXPECT_EQ(rig.counts().deduplicated, 1U);
  EXPECT_FALSE(rig.run(in_group("m", "e")).only<TopicPublished>().deduplicated);
  EXPECT_TRUE(rig.run(in_group("m", "e")).only<TopicPublished>().deduplicated)
      << "one of nothing counts, too";

  rig.pass(Millis{300'000});
  EXPECT_FALSE(rig.run(in_group("m", "d")).only<TopicPublished>().deduplicated)
      << "the window is over";
}

TEST(PublishToTopic, ATopicThatIsMadeAgainHasSeenNothing) {
  Rig rig;
  put(rig, topic_with({}, true));
  rig.run(in_group("m", "d")).only<TopicPublished>();
  rig.run(DeleteTopic{tenant_one, TopicKind::sns, "t"},
          CreateTopic{{.tenant = tenant_one, .name = "t", .incarnation = "j", .fifo = true}});

  EXPECT_FALSE(rig.run(in_group("m", "d")).only<TopicPublished>().deduplicated);
}

TEST(PublishToTopic, AGroupMayHaveItsOwnDedupIds) {
  Rig rig;
  Topic by_group = topic_with({}, true);
  by_group.dedup_by_group = true;
  put(rig, by_group);

  EXPECT_FALSE(rig.run(in_group("m", "d", "a")).only<TopicPublished>().deduplicated);
  EXPECT_FALSE(rig.run(in_group("m", "d", "b")).only<TopicPublished>().deduplicated);
  EXPECT_TRUE(rig.run(in_group("m", "d", "a")).only<TopicPublished>().deduplicated);
  EXPECT_TRUE(rig.reader.rows<Dedup>().contains({tenant_one, "batch topic i a d"}));
}

TEST(PublishToTopic, SequenceNumbersRiseWhateverTheClockDoes) {
  Rig rig;
  put(rig, topic_with({}, true));
  std::uint64_t last = static_cast<std::uint64_t>(to_ms(rig.now)) * 1'000'000 - 1;
  int next = 0;
  const auto rises = [&] {
    const auto got = rig.run(in_group("m", std::to_string(next++))).only<TopicPublished>();
    EXPECT_GT(got.id.seq.value(), last);
    last = got.id.seq.value();
  };
  rises();
  rises();
  rig.restart();
  rises();
  rig.now -= Millis{60'000};
  rises();
  rig.restart();
  rises();
  rig.pass(Millis{120'000});
  rises();
  EXPECT_GE(last, static_cast<std::uint64_t>(to_ms(rig.now)) * 1'000'000);
}

TEST(Form, IsFilledInItsPlaces) {
  const MessageId id{Seq{7}, 255};
  const Form form{.text = "abc",
                  .places = {{0, Form::Hole::subscription},
                             {1, Form::Hole::sequence_number},
                             {3, Form::Hole::message_id}}};

  EXPECT_EQ(filled(form, "s", id), "sa00000000000000000007bc00000000-0000-0007-0000-0000000000ff");
  EXPECT_EQ(filled({.text = "plain"}, "s", id), "plain");
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
