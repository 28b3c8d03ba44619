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

constexpr Millis minute{60'000};

TEST(WebhookAttempt, EndsAsItsEndpointSays) {
  struct Row {
    std::string_view name;
    int status;
    std::optional<Millis> retry_after;
    bool give_up;
    Status ends;
    Millis wait;  ///< before the next attempt
  };
  const Row rows[] = {
      {"delivered", 204, {}, false, Status::succeeded, {}},
      {"a server's error", 500, {}, false, Status::pending, Millis{5000}},
      {"no answer", 0, {}, false, Status::pending, Millis{5000}},
      {"redirected", 302, {}, false, Status::pending, Millis{5000}},
      {"not found", 404, {}, false, Status::pending, Millis{5000}},
      {"too many requests", 429, {}, false, Status::pending, Millis{5000}},
      {"asked to wait", 429, Millis{90'000}, false, Status::pending, Millis{90'000}},
      {"asked for less than its schedule", 503, Millis{1000}, false, Status::pending, Millis{5000}},
      {"asked for more than a day", 503, Millis{200'000'000}, false, Status::pending,
       Millis{86'400'000}},
      {"it wants no more", 489, {}, true, Status::failed, {}},
      {"a status that gives up", 418, {}, false, Status::failed, {}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Shop shop;
    shop.set_delays("a", {Millis{0}, Millis{5000}, Millis{7000}});
    shop.set("a", DeliveryPart::give_up_statuses, {.give_up_statuses = {418}});
    const StartAttempt start = shop.send().starts.at(0);
    CompleteAttempt end = Shop::answer(start, row.status, row.retry_after);
    end.give_up = row.give_up;

    shop.run(std::move(end)).only<Done>();

    const MessageState state = shop.state(start.id);
    EXPECT_EQ(state.status, row.ends);
    EXPECT_EQ(state.attempts, 1U);
    if (row.ends == Status::pending) {
      EXPECT_EQ(state.due, shop.now + row.wait);
      EXPECT_TRUE(shop.run().starts.empty());
      shop.pass(row.wait);
      EXPECT_EQ(shop.run().starts.size(), 1U);
    }
    EXPECT_EQ(shop.health("a").waiting, is_final(row.ends) ? 0U : 1U);
    EXPECT_TRUE(shop.counts().conserved());
  }
}

TEST(WebhookAttempt, UsesUpItsScheduleAndFails) {
  Shop shop;
  shop.set_delays("a", {Millis{0}, Millis{1000}, Millis{2000}});
  StartAttempt start = shop.send().starts.at(0);
  const MessageId id = start.id;
  for (const Millis wait : {Millis{1000}, Millis{2000}}) {
    shop.run(Shop::answer(start, 500));
    shop.pass(wait);
    start = shop.run().starts.at(0);
  }
  EXPECT_EQ(start.webhook->attempt, "3");

  shop.run(Shop::answer(start, 500));

  EXPECT_EQ(shop.state(id).status, Status::failed);
  EXPECT_TRUE(shop.state(id).in_dlq);
  EXPECT_EQ(shop.reader.rows<AttemptRow>().size(), 3U);
  EXPECT_EQ(shop.machine->in_memory(), 0U);
}

TEST(WebhookAttempt, OfAPresetWaitsAtLeastAMinuteAfterATimeout) {
  for (const bool timed_out : {true, false}) {
    SCOPED_TRACE(timed_out);
    Shop shop;
    const StartAttempt start = shop.send().starts.at(0);
    CompleteAttempt end = Shop::answer(start, 0);
    end.timed_out = timed_out;

    shop.run(std::move(end));

    const Millis wait = shop.state(start.id).due - shop.now;
    EXPECT_EQ(wait >= minute, timed_out);
    EXPECT_LE(wait, minute);
  }
}

TEST(WebhookAttempt, JitterStaysWithinItsPart) {
  bool sooner = false;
  bool later = false;
  Shop shop;
  for (int i = 0; i < 40; ++i) {
    const StartAttempt start = shop.send().starts.at(0);
    shop.run(Shop::answer(start, 500));
    const Millis wait = shop.state(start.id).due - shop.now;
    EXPECT_GE(wait, Millis{4000});
    EXPECT_LE(wait, Millis{6000});
    sooner = sooner || wait < Millis{5000};
    later = later || wait > Millis{5000};
    shop.run(ResumeEndpoint{tenant_one, "shop", "a"});  // it does not count to a circuit
  }
  EXPECT_TRUE(sooner);
  EXPECT_TRUE(later);
}

TEST(WebhookAttempt, ALateOutcomeChangesNothing) {
  Shop shop;
  shop.set_delays("a", {Millis{0}, Millis{5000}});
  const StartAttempt start = shop.send().starts.at(0);
  shop.run(Shop::answer(start, 500));

  const Ran ran = shop.run(Shop::answer(start, 200));

  ASSERT_FALSE(ran.replies.at(0).has_value());
  EXPECT_EQ(ran.replies[0].error().kind, ErrorKind::conflict);
  EXPECT_EQ(shop.state(start.id).status, Status::pending);
  EXPECT_EQ(shop.reader.rows<AttemptRow>().size(), 1U);
}

TEST(WebhookAttempt, IsCountedByItsHour) {
  Shop shop;
  shop.set_delays("a", {Millis{0}, Millis{1000}});
  const StartAttempt first = shop.send().starts.at(0);
  shop.run(Shop::answer(first, 500));
  shop.pass(Millis{1000});
  shop.run(Shop::answer(shop.run().starts.at(0), 200));
  shop.send();

  const Stats stats = shop.reader.rows<Stats>().begin()->second;

  EXPECT_EQ(stats.succeeded, 1U);
  EXPECT_EQ(stats.failed, 1U);
  EXPECT_EQ(stats.created, 2U);
  EXPECT_EQ(stats.begun, 1U);
  EXPECT_EQ(stats.settled, 1U);
  EXPECT_EQ(stats.canceled, 0U);
}

TEST(WebhookAttempt, OfAnOrderedEndpointWaitsForTheOneBefore) {
  Shop shop;
  shop.set_delays("a", {Millis{0}, Millis{1000}});
  shop.set("a", DeliveryPart::order, {.order = webhook::Order::endpoint});
  const StartAttempt first = shop.send().starts.at(0);
  const Ran second = shop.send();
  EXPECT_TRUE(second.starts.empty());
  shop.run(Shop::answer(first, 500));
  EXPECT_TRUE(shop.run().starts.empty());
  shop.pass(Millis{1000});
  const StartAttempt again = shop.run().starts.at(0);
  EXPECT_EQ(again.id, first.id);

  const Ran ran = shop.run(Shop::answer(again, 200));

  ASSERT_EQ(ran.starts.size(), 1U);
  EXPECT_EQ(ran.starts[0].id.seq, second.only<EventStored>().event->addressed.at(0).delivery);
  EXPECT_TRUE(shop.reader.rows<Queue>().empty());
}

TEST(WebhookAttempt, KeysOfAnOrderDoNotHoldUpEachOther) {
  Shop shop;
  shop.set("a", DeliveryPart::order, {.order = webhook::Order::channel});
  const auto of_channel = [](const char* channel) {
    PublishEvent publish = Shop::event();
    publish.event.channels = {channel};
    return publish;
  };
  EXPECT_EQ(shop.send(of_channel("x")).starts.size(), 1U);
  EXPECT_EQ(shop.send(of_channel("x")).starts.size(), 0U);
  EXPECT_EQ(shop.send(of_channel("y")).starts.size(), 1U);
  EXPECT_EQ(shop.send(Shop::event()).starts.size(), 1U);
}

TEST(WebhookAttempt, ThatHasFailedForGoodHaltsItsOrderIfItIsAskedTo) {
  struct Row {
    std::string_view name;
    Command goes_on;
    Status becomes;
  };
  Row rows[] = {
      {"resumed", ResumeEndpoint{tenant_one, "shop", "a"}, Status::failed},
      {"resent", Resend{tenant_one, "shop", "first", "a"}, Status::succeeded},
      {"cancelled", CancelMessage{}, Status::canceled},
  };
  for (Row& row : rows) {
    SCOPED_TRACE(row.name);
    Shop shop;
    shop.set_delays("a", {Millis{0}});
    shop.set("a", DeliveryPart::order, {.order = webhook::Order::endpoint});
    shop.set("a", DeliveryPart::halt, {.halt = true});
    const StartAttempt first = shop.send(Shop::event("paid", "first")).starts.at(0);
    const Seq second = shop.send().only<EventStored>().event->addressed.at(0).delivery;
    shop.run(Shop::answer(first, 500));
    shop.restart();
    shop.pass(1000 * minute);
    EXPECT_TRUE(shop.run().starts.empty());
    EXPECT_EQ(shop.held_by(first.id).at(0), "halted");

    if (row.becomes == Status::canceled) {
      row.goes_on = CancelMessage{.tenant = tenant_one, .id = first.id};
    }
    Ran ran = shop.run(std::move(row.goes_on));
    for (int i = 0; i < 4 && !shop.machine->leased(second); ++i) {
      for (const StartAttempt& start : ran.starts) {
        shop.run(Shop::answer(start, 200));
      }
      ran = shop.run();
    }

    EXPECT_TRUE(shop.machine->leased(second));
    EXPECT_EQ(shop.state(first.id).status, row.becomes);
  }
}

TEST(WebhookAttempt, LeavesNoFlowKeyBehind) {
  Shop shop;
  shop.run(Shop::answer(shop.send().starts.at(0), 200));

  EXPECT_TRUE(shop.reader.rows<FlowKey>().empty());
  EXPECT_EQ(shop.machine->lanes(), 0U);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
