#include <gtest/gtest.h>

#include "unit/core/rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

Subscription to_queue(std::string id, std::string queue = "q") {
  return {.id = std::move(id), .queue = std::move(queue), .protocol = "sqs"};
}
Subscription to_url(std::string id, std::string token = "secret") {
  return {.id = std::move(id),
          .url = "http://h:1/hook",
          .host = "http://h:1",
          .protocol = "http",
          .retries = RetryPolicy{1, TableDelay{{Millis{7}}}},
          .token = std::move(token)};
}

Subscribe subscribing(Subscription one, bool invited = true) {
  Subscribe command{.tenant = tenant_one, .topic = "t", .subscription = std::move(one)};
  if (invited) {
    command.invitation = std::make_unique<Message>();
    command.invitation->body = "confirm?";
    command.invitation->timeout = Millis{1000};
  }
  return command;
}
ConfirmSubscription confirming(std::string token) {
  return {.tenant = tenant_one, .topic = "t", .token = std::move(token)};
}

struct SubscriptionTest : ::testing::Test {
  SubscriptionTest() {
    rig.run(CreateTopic{{.tenant = tenant_one, .name = "t", .incarnation = "i"}}).only<TopicMade>();
  }
  [[nodiscard]] const Topic& topic() const {
    return rig.reader.rows<Topic>().at({tenant_one, "!t"});
  }
  [[nodiscard]] const Subscription& only() const { return topic().subscriptions.at(0); }
  [[nodiscard]] std::size_t messages() const { return rig.reader.rows<Message>().size(); }
  ErrorKind refused(Command command) {
    const Topic before = topic();
    const std::size_t sent = messages();
    const Ran ran = rig.run(std::move(command));
    EXPECT_EQ(topic(), before);
    EXPECT_EQ(messages(), sent);
    EXPECT_FALSE(ran.replies.at(0).has_value());
    return ran.replies[0] ? ErrorKind::internal : ran.replies[0].error().kind;
  }

  Rig rig;
};

TEST_F(SubscriptionTest, OfAQueueIsConfirmedAtOnce) {
  const auto subscribed = rig.run(subscribing(to_queue("a"), false)).only<Subscribed>();

  EXPECT_FALSE(subscribed.existed);
  EXPECT_EQ(subscribed.id, "a");
  EXPECT_EQ(subscribed.topic->topic, topic());
  EXPECT_TRUE(only().confirmed && only().confirmed_by_owner);
  EXPECT_EQ(messages(), 0U);
}

TEST_F(SubscriptionTest, OfAUrlWaitsAndIsAskedInTheSameBatch) {
  const Ran ran = rig.run(subscribing(to_url("a")));

  EXPECT_FALSE(ran.only<Subscribed>().existed);
  EXPECT_FALSE(only().confirmed || only().confirmed_by_owner);
  EXPECT_EQ(only().token_made, rig.now);
  ASSERT_EQ(messages(), 1U);
  const Message& asked = *rig.reader.rows<Message>().begin()->second;
  EXPECT_EQ(asked.url, "http://h:1/hook");
  EXPECT_EQ(asked.host, "http://h:1");
  EXPECT_EQ(asked.body, "confirm?");
  EXPECT_EQ(asked.retry, *to_url("").retries);
  EXPECT_TRUE(asked.notification);
  EXPECT_EQ(ran.starts.size(), 1U);
}

TEST_F(SubscriptionTest, ThatIsThereIsNotMadeTwice) {
  rig.run(subscribing(to_url("a")), subscribing(to_queue("b"), false));
  const Topic before = topic();

  const auto waiting = rig.run(subscribing(to_url("c"))).only<Subscribed>();
  EXPECT_TRUE(waiting.existed);
  EXPECT_EQ(waiting.id, "a");
  EXPECT_EQ(messages(), 2U) << "it is asked again";
  const auto confirmed = rig.run(subscribing(to_queue("d"), false)).only<Subscribed>();
  EXPECT_TRUE(confirmed.existed);
  EXPECT_EQ(confirmed.id, "b");

  EXPECT_EQ(topic(), before);
  EXPECT_EQ(messages(), 2U);
}

TEST_F(SubscriptionTest, IsRefusedWhenSomethingWasNotAsTheClientSawIt) {
  rig.run(subscribing(to_url("a")));
  Subscription raw = to_url("b");
  raw.raw = false;
  Subscription filtered = to_queue("b");
  filtered.filter = "nonsense";
  Subscribe elsewhere = subscribing(to_queue("a"), false);
  elsewhere.topic = "u";

  EXPECT_EQ(refused(subscribing(raw)), ErrorKind::conflict) << "it is set otherwise";
  EXPECT_EQ(refused(subscribing(to_url("b", "other"))), ErrorKind::conflict);
  EXPECT_EQ(refused(subscribing(to_url("b"), false)), ErrorKind::conflict) << "not prepared";
  EXPECT_EQ(refused(subscribing(filtered, false)), ErrorKind::invalid_argument);
  EXPECT_EQ(refused(std::move(elsewhere)), ErrorKind::not_found);
}

TEST(Subscribe, IsRefusedWhenTheTopicIsFull) {
  Limits limits;
  limits.subscriptions_max = 1;
  Rig rig(limits);
  rig.run(CreateTopic{{.tenant = tenant_one, .name = "t"}}, subscribing(to_queue("a"), false));

  const Ran ran = rig.run(subscribing(to_url("b")));

  ASSERT_FALSE(ran.replies.at(0).has_value());
  EXPECT_EQ(ran.replies[0].error().kind, ErrorKind::quota_reached);
  EXPECT_TRUE(rig.reader.rows<Message>().empty()) << "nobody is asked";
}

TEST_F(SubscriptionTest, AreInTheOrderOfTheirIds) {
  for (const char* const id : {"b", "c", "a"}) {
    rig.run(subscribing(to_queue(id, id), false));
  }
  EXPECT_EQ(topic().subscriptions.at(0).id, "a");
  EXPECT_EQ(topic().subscriptions.at(2).id, "c");
}

TEST_F(SubscriptionTest, IsConfirmedByWhoeverHasItsToken) {
  rig.run(subscribing(to_url("a")), subscribing(to_queue("b"), false));
  EXPECT_EQ(refused(confirming("guess")), ErrorKind::invalid_argument);
  EXPECT_EQ(refused(confirming("")), ErrorKind::invalid_argument) << "queues have none";

  for (int i = 0; i < 2; ++i) {
    const auto confirmed = rig.run(confirming("secret")).only<Subscribed>();
    EXPECT_EQ(confirmed.id, "a");
    EXPECT_EQ(confirmed.topic->topic, topic());
    EXPECT_EQ(topic().version, 4U) << "once";
  }
  EXPECT_TRUE(only().confirmed);
  EXPECT_FALSE(only().confirmed_by_owner);
}

TEST_F(SubscriptionTest, LapsesWhenItIsNotConfirmedInTime) {
  rig.run(subscribing(to_url("a")));
  rig.pass(rig.limits.confirmation_time);
  EXPECT_EQ(refused(confirming("secret")), ErrorKind::invalid_argument);

  const auto again = rig.run(subscribing(to_url("b", "other"))).only<Subscribed>();

  EXPECT_FALSE(again.existed);
  ASSERT_EQ(topic().subscriptions.size(), 1U) << "the one before went by the way";
  EXPECT_EQ(only().id, "b");
  rig.pass(rig.limits.confirmation_time - Millis{1});
  rig.run(confirming("other")).only<Subscribed>();
  rig.pass(Millis{1});
  rig.run(Unsubscribe{tenant_one, "t", "none"}).only<Done>();
  EXPECT_EQ(only().id, "b") << "what is confirmed stays";
}

TEST_F(SubscriptionTest, EndsForAnybodyUnlessItsOwnerAskedToDoThat) {
  const Unsubscribe by_link{tenant_one, "t", "a"};
  rig.run(subscribing(to_url("a")));
  ConfirmSubscription wish = confirming("secret");
  wish.owner_ends_it = true;
  rig.run(std::move(wish)).only<Subscribed>();
  rig.run(Unsubscribe(by_link)).only<Done>();
  EXPECT_TRUE(topic().subscriptions.empty()) << "it was not the owner who wished so";

  rig.run(subscribing(to_url("a")));
  wish = {tenant_one, "t", "secret", true, true};
  rig.run(std::move(wish)).only<Subscribed>();
  EXPECT_TRUE(only().confirmed_by_owner);
  EXPECT_EQ(refused(Unsubscribe(by_link)), ErrorKind::permission_denied);
  rig.run(Unsubscribe{tenant_one, "t", "a", true}).only<Done>();
  EXPECT_TRUE(topic().subscriptions.empty());

  rig.run(Unsubscribe(by_link)).only<Done>();
  rig.run(Unsubscribe{tenant_one, "gone", "a"}).only<Done>();
}

TEST_F(SubscriptionTest, ChangesInWhatIsSetAlone) {
  rig.run(subscribing(to_url("a")));
  const Subscription before = only();
  Subscription wanted{.id = "a", .raw = false, .filter = R"({"a":["x"]})"};
  wanted.dead_letters_to = "dead";
  SetSubscription setting{tenant_one, "t", "i", 2, wanted};

  rig.run(SetSubscription(setting)).only<Done>();

  Subscription after = before;
  after.raw = false;
  after.filter = wanted.filter;
  after.dead_letters_to = "dead";
  after.retries.reset();
  EXPECT_EQ(only(), after);
  EXPECT_EQ(refused(SetSubscription(setting)), ErrorKind::conflict) << "of another version";
  setting.version = 3;
  setting.subscription.filter = "nonsense";
  EXPECT_EQ(refused(SetSubscription(setting)), ErrorKind::invalid_argument);
  setting.subscription.id = "b";
  EXPECT_EQ(refused(SetSubscription(setting)), ErrorKind::not_found);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
