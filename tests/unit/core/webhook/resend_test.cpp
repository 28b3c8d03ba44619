#include <gtest/gtest.h>

#include "unit/core/webhook/deliver.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

using namespace webhook;
using webhook::Application;
using webhook::Delivery;
using webhook::Endpoint;
using webhook::Event;
using webhook::Name;
using webhook::Stats;

constexpr Millis hour{3'600'000};

Resend resend_of(const Ran& sent, std::string endpoint = "a") {
  return {tenant_one, "shop", id_of(*sent.only<EventStored>().event), std::move(endpoint)};
}

TEST(Resend, SettlesTheDeliveryHoweverItStands) {
  struct Row {
    std::string_view name;
    int first;  ///< how the first attempt ends; -1: it is still on its way
    std::vector<Millis> delays;
    bool works;  ///< by hand
    Status becomes;
  };
  const Row rows[] = {
      {"waits for a retry, works", 500, {Millis{0}, hour}, true, Status::succeeded},
      {"waits for a retry, fails", 500, {Millis{0}, hour}, false, Status::pending},
      {"has failed, works", 500, {Millis{0}}, true, Status::succeeded},
      {"has failed, fails again", 500, {Millis{0}}, false, Status::failed},
      {"is on its way, works", -1, {Millis{0}, hour}, true, Status::succeeded},
      {"is on its way, fails", -1, {Millis{0}, hour}, false, Status::pending},
      {"has succeeded", 200, {Millis{0}}, true, Status::succeeded},
      {"has succeeded, fails now", 200, {Millis{0}}, false, Status::succeeded},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Shop shop;
    shop.set_delays("a", row.delays);
    const Ran sent = shop.send();
    const StartAttempt first = sent.starts.at(0);
    if (row.first >= 0) {
      shop.run(Shop::answer(first, row.first));
    }
    Ran ran = shop.run(resend_of(sent));
    ran.only<DeliveriesChanged>();
    ASSERT_EQ(ran.starts.size(), 1U);
    const StartAttempt by_hand = ran.starts[0];
    EXPECT_EQ(by_hand.webhook->attempt, "m1");
    EXPECT_EQ(by_hand.webhook->id, first.webhook->id);

    shop.run(Shop::answer(by_hand, row.works ? 200 : 500));

    const auto& states = shop.reader.rows<MessageState>();
    const auto state = states.find(first.id.seq);
    EXPECT_EQ(state == states.end() ? Status::pending : state->second.status, row.becomes);
    EXPECT_EQ(shop.reader.rows<DeadLetterKey>().size(), row.becomes == Status::failed ? 1U : 0U);
    EXPECT_EQ(shop.reader.rows<DeliveryRow>().size(), 1U);
    EXPECT_EQ(shop.health("a").waiting, row.becomes == Status::pending ? 1U : 0U);
    EXPECT_EQ(shop.counts().dead_letters, row.becomes == Status::failed ? 1U : 0U);
    EXPECT_TRUE(shop.counts().conserved());
    const Ran late = shop.run(Shop::answer(first, 500));
    EXPECT_EQ(late.replies.at(0).has_value(), row.first < 0 && !row.works);
    EXPECT_EQ(shop.run().starts.size(), 0U);
  }
}

TEST(Resend, ItsFailureUsesUpNothing) {
  Shop shop;
  shop.set_delays("a", {Millis{0}, hour, hour});
  const Ran sent = shop.send();
  shop.run(Shop::answer(sent.starts.at(0), 500));
  const Moment due = shop.state(sent.starts[0].id).due;
  const std::uint32_t failures = shop.health("a").failures;

  shop.run(Shop::answer(shop.run(resend_of(sent)).starts.at(0), 500));

  EXPECT_EQ(shop.state(sent.starts[0].id).due, due);
  EXPECT_EQ(shop.state(sent.starts[0].id).attempts, 1U);
  EXPECT_EQ(shop.health("a").failures, failures);
  EXPECT_EQ(shop.reader.rows<AttemptRow>().size(), 2U);
}

TEST(Resend, PassesByTheCircuitAndByOrder) {
  Shop shop;
  shop.set_delays("a", {Millis{0}, hour});
  shop.set("a", DeliveryPart::order, {.order = webhook::Order::endpoint});
  shop.set("a", DeliveryPart::circuit, {.circuit = Delivery::Circuit{.failures = 1}});
  const Ran sent = shop.send();
  shop.run(Shop::answer(sent.starts.at(0), 500));
  EXPECT_TRUE(shop.send().starts.empty());

  EXPECT_EQ(shop.run(resend_of(sent)).starts.size(), 1U);
}

TEST(Resend, ToWhomItWasNotAddressedMakesADelivery) {
  Shop shop;
  const Ran sent = shop.send();
  shop.add(to_host("b", "b"));

  const Ran ran = shop.run(resend_of(sent, "b"));

  ASSERT_EQ(ran.starts.size(), 1U);
  EXPECT_EQ(ran.starts[0].message->url, "https://b/in");
  EXPECT_EQ(shop.reader.rows<DeliveryRow>().size(), 2U);
  EXPECT_EQ(shop.reader.rows<Event>().begin()->second.addressed.size(), 2U);
  shop.run(Shop::answer(ran.starts[0], 500));
  EXPECT_EQ(shop.state(ran.starts[0].id).status, Status::failed);
}

TEST(Resend, IsRefusedForWhatIsWrongWithIt) {
  using Why = Refused::Why;
  struct Row {
    std::string_view name;
    Resend command;
    Why why;
  };
  Shop shop;
  EndpointFields off = to_host("off", "off");
  off.disabled = true;
  shop.add(off);
  shop.send(Shop::event("paid", "e1"));
  shop.send(Shop::event("paid", "e2"));
  shop.run(ExpungeEvents{tenant_one, "shop", {"e2"}});
  const Row rows[] = {
      {"no application", {tenant_one, "none", "e1", "a"}, Why::application_not_found},
      {"no endpoint", {tenant_one, "shop", "e1", "none"}, Why::endpoint_not_found},
      {"no event", {tenant_one, "shop", "e9", "a"}, Why::event_not_found},
      {"its payload is gone", {tenant_one, "shop", "e2", "a"}, Why::payload_gone},
      {"disabled", {tenant_one, "shop", "e1", "off"}, Why::endpoint_disabled},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(shop.run(Resend{row.command}).only<Refused>().why, row.why);
  }
}

TEST(DeadLetterOfAWebhook, GoesBackToWorkAsANewGeneration) {
  Shop shop;
  shop.set_delays("a", {Millis{0}});
  const Ran sent = shop.send();
  shop.run(Shop::answer(sent.starts.at(0), 500));
  const DeadLetterKey letter = shop.reader.rows<DeadLetterKey>().begin()->second;

  const Ran ran = shop.run(RetryDeadLetter{.tenant = tenant_one, .key = letter});

  ASSERT_EQ(ran.starts.size(), 1U);
  EXPECT_EQ(ran.only<Published>().id, ran.starts[0].id);
  EXPECT_EQ(ran.starts[0].webhook->id, sent.starts[0].webhook->id);
  EXPECT_TRUE(shop.reader.rows<DeadLetterKey>().empty());
  EXPECT_EQ(shop.reader.rows<DeliveryRow>().size(), 2U);
}

// ---- expunging and keeping ----

TEST(Expunge, ThePayloadIsInNoRecordAndWhatWaitsIsCancelled) {
  Shop shop({"a", "b"});
  shop.run(PauseEndpoint{tenant_one, "shop", "a"});
  PublishEvent publish = Shop::event("paid", "e1");
  publish.event.payload = R"({"secret":"xyzzy"})";
  publish.event.shown = "xyzzy";
  const Ran sent = shop.send(std::move(publish));
  ASSERT_EQ(sent.starts.size(), 1U);

  const auto done = shop.run(ExpungeEvents{tenant_one, "shop", {"e1", "none"}});

  EXPECT_EQ(done.only<EventsExpunged>().found, (std::vector<bool>{true, false}));
  const Event& event = shop.reader.rows<Event>().begin()->second;
  EXPECT_TRUE(event.expunged);
  EXPECT_EQ(event.payload + event.shown, "");
  const MessageState held =
      shop.reader.rows<MessageState>().at(sent.only<EventStored>().event->addressed.at(0).delivery);
  EXPECT_EQ(held.status, Status::canceled);
  EXPECT_EQ(held.cancel_reason, CancelReason::payload_expunged);
  shop.run(Shop::answer(sent.starts[0], 500));
  EXPECT_EQ(shop.state(sent.starts[0].id).status, Status::canceled);
}

TEST(Expunge, OfAnAttemptNothingIsLeftOfTheAnswer) {
  Shop shop;
  shop.set_delays("a", {Millis{0}, Millis{1000}});
  const Ran sent = shop.send(Shop::event("paid", "e1"));
  CompleteAttempt end = Shop::answer(sent.starts.at(0), 500);
  end.attempt.response_body = "first";
  shop.run(std::move(end));
  shop.pass(Millis{1000});
  end = Shop::answer(shop.run().starts.at(0), 200);
  end.attempt.response_body = "second";
  shop.run(std::move(end));
  const Number event = sent.only<EventStored>().event->number;
  const Seq seq = sent.starts[0].id.seq;

  for (const std::uint32_t attempt : {1U, 2U}) {
    shop.run(ExpungeAttempt{tenant_one, "shop", event, seq, attempt}).only<Done>();
  }

  EXPECT_EQ(shop.state(sent.starts[0].id).last->response_body, "EXPUNGED");
  EXPECT_EQ(shop.reader.rows<Attempt>().begin()->second.response_body, "EXPUNGED");
  EXPECT_EQ(shop.run(ExpungeAttempt{tenant_one, "shop", event, seq, 3}).only<Refused>().why,
            Refused::Why::attempt_not_found);
}

TEST(Retention, PayloadsAndEventsGoWhenTheirTimeIsOver) {
  Shop shop;
  PublishEvent publish = Shop::event("paid", "e1");
  publish.event.payload_expires_at = shop.now + hour;
  const Ran sent = shop.send(std::move(publish));
  shop.run(Shop::answer(sent.starts.at(0), 200));
  shop.pass(hour + Millis{2000});
  shop.run();
  shop.run();
  EXPECT_TRUE(shop.reader.rows<Event>().begin()->second.expunged);

  for (int day = 0; day < 95; ++day) {
    shop.pass(24 * hour);
    shop.run();
    shop.run();
  }

  EXPECT_TRUE(shop.reader.rows<Event>().empty());
  EXPECT_TRUE(shop.reader.rows<Message>().empty());
  EXPECT_TRUE(shop.reader.rows<DeliveryRow>().empty());
  EXPECT_TRUE(shop.reader.rows<AttemptRow>().empty());
  EXPECT_FALSE(shop.reader.get<Name>({tenant_one, static_cast<std::uint32_t>(Name::Kind::event_id),
                                      sent.only<EventStored>().event->application, "e1"}));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
