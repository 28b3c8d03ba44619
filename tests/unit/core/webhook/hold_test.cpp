#include <gtest/gtest.h>

#include <algorithm>

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

constexpr Millis second{1000};

ChangeEndpoint set_disabled(bool disabled) {
  return {.tenant = tenant_one,
          .application_ref = "shop",
          .endpoint_ref = "a",
          .changes = {.disabled = disabled}};
}

Seq delivery_of(const Ran& sent) {
  return sent.only<EventStored>().event->addressed.at(0).delivery;
}

std::vector<Status> statuses(Shop& shop, const std::vector<Seq>& seqs) {
  std::vector<Status> all;
  for (const Seq seq : seqs) {
    const auto& states = shop.reader.rows<MessageState>();
    const auto found = states.find(seq);
    all.push_back(found == states.end() ? Status::pending : found->second.status);
  }
  return all;
}

TEST(Hold, WhatComesForAShutEndpointWaitsAndGoesWhenItOpens) {
  struct Row {
    std::string_view name;
    Command shut;
    Command open;
    std::string gate;
  };
  Row rows[] = {
      {"disabled", set_disabled(true), set_disabled(false), "endpoint_disabled"},
      {"paused", PauseEndpoint{tenant_one, "shop", "a"}, ResumeEndpoint{tenant_one, "shop", "a"},
       "endpoint_paused"},
  };
  for (Row& row : rows) {
    SCOPED_TRACE(row.name);
    Shop shop;
    shop.run(std::move(row.shut));
    const Ran first = shop.send();
    const Ran second_one = shop.send();
    EXPECT_TRUE(first.starts.empty());
    EXPECT_EQ(shop.held_by(shop.reader.rows<Message>().at(delivery_of(first))->id).at(0), row.gate);
    shop.restart();
    shop.pass(Millis{3'600'000});
    EXPECT_TRUE(shop.run().starts.empty());

    const Ran opened = shop.run(std::move(row.open));

    ASSERT_EQ(opened.starts.size(), 2U);
    EXPECT_EQ(opened.starts[0].id.seq, delivery_of(first));
    EXPECT_EQ(opened.starts[1].id.seq, delivery_of(second_one));
    EXPECT_EQ(opened.starts[0].fence.attempt, 1U);
  }
}

TEST(Hold, BothGatesMustBeOpen) {
  Shop shop;
  shop.run(set_disabled(true));
  shop.run(PauseEndpoint{tenant_one, "shop", "a"});
  shop.send();
  EXPECT_TRUE(shop.run(set_disabled(false)).starts.empty());

  const auto ran = shop.run(ResumeEndpoint{tenant_one, "shop", "a"});

  EXPECT_EQ(ran.only<DeliveriesChanged>().count, 1U);
  EXPECT_EQ(ran.starts.size(), 1U);
}

TEST(Hold, OneThatHoldsNothingMatchesNothingWhileItIsDisabled) {
  Shop shop;
  shop.set("a", DeliveryPart::hold, {.hold = {.enabled = false}});
  shop.run(set_disabled(true));

  EXPECT_TRUE(shop.send().only<EventStored>().event->addressed.empty());
}

TEST(Hold, SkippingCancelsWhatIsHeldAndNothingElse) {
  Shop shop;
  shop.run(PauseEndpoint{tenant_one, "shop", "a"});
  std::vector<Seq> held;
  for (int i = 0; i < 5; ++i) {
    held.push_back(delivery_of(shop.send()));
  }

  const Ran ran = shop.run(ResumeEndpoint{tenant_one, "shop", "a", true});

  EXPECT_EQ(ran.only<DeliveriesChanged>().count, 5U);
  EXPECT_TRUE(ran.starts.empty());
  const Seq later = delivery_of(shop.send());
  for (int i = 0; i < 5; ++i) {
    shop.run();
  }
  EXPECT_EQ(statuses(shop, held), std::vector<Status>(5, Status::canceled));
  EXPECT_EQ(shop.reader.rows<MessageState>().at(held[0]).cancel_reason, CancelReason::skipped);
  EXPECT_TRUE(shop.reader.rows<Sweep>().empty());
  EXPECT_TRUE(shop.machine->leased(later));
  EXPECT_EQ(shop.health("a").waiting, 1U);
}

TEST(Hold, TheOldestGoWhenThereAreTooMany) {
  Shop shop;
  shop.listen();
  shop.set("a", DeliveryPart::hold, {.hold = {.messages_max = 3, .bytes_max = 1'000'000}});
  shop.run(set_disabled(true));
  std::vector<Seq> held;
  for (int i = 0; i < 5; ++i) {
    held.push_back(delivery_of(shop.send()));
  }

  EXPECT_EQ(statuses(shop, held),
            (std::vector<Status>{Status::canceled, Status::canceled, Status::pending,
                                 Status::pending, Status::pending}));
  EXPECT_EQ(shop.reader.rows<MessageState>().at(held[0]).cancel_reason,
            CancelReason::hold_overflow);
  EXPECT_EQ(std::ranges::count(shop.told(), "endpoint.hold"), 2);  // before and after
  EXPECT_EQ(shop.health("a").waiting, 3U);
}

TEST(Hold, WhatHasWaitedForTooLongIsCancelledAndAnnounced) {
  Shop shop;
  shop.listen();
  shop.set("a", DeliveryPart::hold, {.hold = {.ttl = Millis{100'000}}});
  shop.run(set_disabled(true));
  const Seq old = delivery_of(shop.send());
  shop.pass(Millis{50'000});
  const Seq young = delivery_of(shop.send());
  const auto told = [&] { return std::ranges::count(shop.told(), "endpoint.hold"); };
  const auto until = [&](Millis passed) {
    const Moment end = shop.now + passed;
    for (int i = 0; i < 1000 && shop.now < end; ++i) {
      shop.pass(second);
      shop.run();
    }
  };
  until(Millis{30'000});
  EXPECT_EQ(told(), 0);
  until(Millis{15'000});
  EXPECT_EQ(told(), 1);
  EXPECT_EQ(statuses(shop, {old}), std::vector<Status>{Status::pending});
  shop.restart();

  until(Millis{12'000});

  EXPECT_EQ(statuses(shop, {old, young}), (std::vector<Status>{Status::canceled, Status::pending}));
  EXPECT_EQ(shop.reader.rows<MessageState>().at(old).cancel_reason, CancelReason::hold_expired);
  EXPECT_GE(told(), 2);
}

TEST(Hold, ManyAreReleasedFasterAndFaster) {
  Shop shop;
  shop.run(set_disabled(true));
  for (int i = 0; i < 400; ++i) {
    shop.run(Shop::event());
  }
  shop.set("a", DeliveryPart::parallelism, {.parallelism = 1000});

  std::size_t started = shop.run(set_disabled(false)).starts.size();
  EXPECT_GT(started, 0U);
  const auto in_a_second = [&] {
    std::size_t count = 0;
    for (int i = 0; i < 100; ++i) {
      shop.pass(Millis{10});
      for (const StartAttempt& start : shop.run().starts) {
        shop.run(Shop::answer(start, 200));
        ++count;
      }
    }
    return count;
  };
  const std::size_t first = in_a_second();
  const std::size_t second_one = in_a_second();

  EXPECT_LE(started + first, 55U);
  EXPECT_GE(started + first, 40U);
  EXPECT_GT(second_one, first);
  in_a_second();
  in_a_second();
  in_a_second();
  EXPECT_EQ(shop.health("a").ramp, 0U);
}

TEST(Sweep, EndsWhatWaitsForADeletedEndpointAcrossRestarts) {
  Limits limits;
  limits.sweeps_per_batch = 2;
  Shop shop({"a", "b"}, limits);
  shop.run(PauseEndpoint{tenant_one, "shop", "a"});
  shop.run(PauseEndpoint{tenant_one, "shop", "b"});
  std::vector<Seq> held;
  for (int i = 0; i < 7; ++i) {
    held.push_back(delivery_of(shop.send()));
  }

  shop.run(DeleteEndpoint{tenant_one, "shop", "a"}).only<Done>();

  for (int i = 0; i < 20; ++i) {
    shop.restart();
    EXPECT_TRUE(shop.run().starts.empty());
  }
  EXPECT_EQ(statuses(shop, held), std::vector<Status>(7, Status::canceled));
  EXPECT_EQ(shop.reader.rows<MessageState>().at(held[6]).cancel_reason,
            CancelReason::endpoint_deleted);
  EXPECT_EQ(shop.health("b").waiting, 7U);
  EXPECT_TRUE(shop.reader.rows<Sweep>().empty());
}

TEST(Sweep, CancelsOnlyWhatIsMeant) {
  struct Row {
    std::string_view name;
    CancelWaiting what;
    bool first;
    bool second;
  };
  const auto cancel = [](std::string type, std::string channel, std::string tag) {
    return CancelWaiting{tenant_one,         "shop",        "a", std::move(type),
                         std::move(channel), std::move(tag)};
  };
  const Row rows[] = {
      {"all", cancel("", "", ""), true, true},
      {"a type", cancel("paid", "", ""), true, false},
      {"a channel", cancel("", "y", ""), false, true},
      {"a tag", cancel("", "", "t"), true, false},
      {"what nothing is", cancel("paid", "y", ""), false, false},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Shop shop;
    shop.run(PauseEndpoint{tenant_one, "shop", "a"});
    PublishEvent one = Shop::event("paid");
    one.event.channels = {"x"};
    one.event.tags = {"t"};
    PublishEvent two = Shop::event("open");
    two.event.channels = {"y"};
    const Seq first = delivery_of(shop.send(std::move(one)));
    const Seq second_one = delivery_of(shop.send(std::move(two)));

    shop.run(CancelWaiting{row.what});
    shop.run();
    shop.run();

    EXPECT_EQ(statuses(shop, {first})[0] == Status::canceled, row.first);
    EXPECT_EQ(statuses(shop, {second_one})[0] == Status::canceled, row.second);
    EXPECT_TRUE(shop.reader.rows<Sweep>().empty());
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
