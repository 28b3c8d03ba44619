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
using Disabled = Endpoint::Disabled;

constexpr Millis hour{3'600'000};

Delivery::Circuit circuit_of(std::uint32_t failures) {
  return {.failures = failures, .open = Millis{10'000}, .open_max = Millis{40'000}};
}

/// Fails so many deliveries, each once.
void fail_some(Shop& shop, int count, int status = 500) {
  for (int i = 0; i < count; ++i) {
    const Ran ran = shop.send();
    ASSERT_EQ(ran.starts.size(), 1U);
    shop.run(Shop::answer(ran.starts[0], status));
  }
}

TEST(WebhookCircuit, OpensAfterSoManyFailuresAndSendsOneProbe) {
  Shop shop;
  shop.set_delays("a", {Millis{0}, hour});
  shop.set("a", DeliveryPart::circuit, {.circuit = circuit_of(3)});
  fail_some(shop, 3);
  const auto first = shop.send();
  const auto second = shop.send();
  EXPECT_TRUE(first.starts.empty());
  const Seq waiting = first.only<EventStored>().event->addressed.at(0).delivery;
  const MessageId id = shop.reader.rows<Message>().at(waiting)->id;
  EXPECT_EQ(shop.held_by(id).at(0), "endpoint_circuit");
  shop.pass(Millis{9999});
  EXPECT_TRUE(shop.run().starts.empty());
  shop.pass(Millis{1});

  const Ran probe = shop.run();

  ASSERT_EQ(probe.starts.size(), 1U);
  EXPECT_EQ(probe.starts[0].id, id);
  const Ran after = shop.run(Shop::answer(probe.starts[0], 200));
  EXPECT_EQ(after.starts.size(), 1U);
  EXPECT_EQ(shop.health("a").circuit_for, Millis{0});
  EXPECT_EQ(shop.health("a").failures, 0U);
}

TEST(WebhookCircuit, StaysOpenTwiceAsLongAfterEachProbeThatFails) {
  Shop shop;
  shop.set_delays("a", {Millis{0}, hour});
  shop.set("a", DeliveryPart::circuit, {.circuit = circuit_of(1)});
  fail_some(shop, 1);
  for (int i = 0; i < 3; ++i) {
    shop.send();
  }
  for (const Millis open : {Millis{10'000}, Millis{20'000}, Millis{40'000}, Millis{40'000}}) {
    SCOPED_TRACE(open.count());
    shop.restart();  // it is remembered
    shop.pass(open - Millis{1});
    EXPECT_TRUE(shop.run().starts.empty());
    shop.pass(Millis{1});
    const Ran probe = shop.run();
    if (probe.starts.empty()) {
      break;  // all that waited was sent once
    }
    ASSERT_EQ(probe.starts.size(), 1U);
    shop.run(Shop::answer(probe.starts[0], 500));
  }
  EXPECT_EQ(shop.health("a").circuit_for, Millis{40'000});
}

TEST(WebhookCircuit, FailuresThatWereOnTheirWayDoNotOpenItLonger) {
  Shop shop;
  shop.set_delays("a", {Millis{0}, hour});
  shop.set("a", DeliveryPart::circuit, {.circuit = circuit_of(1)});
  const StartAttempt one = shop.send().starts.at(0);
  const StartAttempt two = shop.send().starts.at(0);
  shop.run(Shop::answer(one, 500));

  shop.run(Shop::answer(two, 500));

  EXPECT_EQ(shop.health("a").circuit_for, Millis{10'000});
}

TEST(WebhookGate, IsShutForAsLongAsTheEndpointAsks) {
  Shop shop;
  const StartAttempt start = shop.send().starts.at(0);
  shop.run(Shop::answer(start, 503, Millis{7000}));
  const Ran waits = shop.send();
  EXPECT_TRUE(waits.starts.empty());
  const Seq seq = waits.only<EventStored>().event->addressed.at(0).delivery;
  EXPECT_EQ(shop.held_by(shop.reader.rows<Message>().at(seq)->id), (Hosts{"endpoint_throttled"}));
  shop.restart();
  shop.pass(Millis{6999});
  EXPECT_TRUE(shop.run().starts.empty());

  shop.pass(Millis{1});

  EXPECT_EQ(shop.run().starts.size(), 2U);
}

TEST(WebhookGate, LetsAsManyThroughAsItsRatesSay) {
  struct Row {
    std::string_view name;
    std::uint32_t endpoint_rate;
    std::uint32_t application_rate;
    std::size_t at_once;
    std::size_t in_a_second;  ///< at most, with those at once
  };
  const Row rows[] = {
      {"no limit", 0, 0, 30, 30},     {"one a second", 1, 0, 1, 2},
      {"ten a second", 10, 0, 1, 11}, {"the application's", 0, 5, 1, 6},
      {"the lower one", 20, 5, 1, 6},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Shop shop(Hosts{});
    EndpointFields fields = to_host("a", "a");
    fields.rate = row.endpoint_rate;
    shop.add(fields);
    shop.run(ChangeApplication{.tenant = tenant_one,
                               .application_ref = "shop",
                               .changes = {.rate = row.application_rate}});
    std::size_t started = 0;
    for (int i = 0; i < 30; ++i) {
      started += shop.send().starts.size();
    }
    EXPECT_EQ(started, row.at_once);
    for (int i = 0; i < 1000; ++i) {
      shop.pass(Millis{1});
      if (i == 500) {
        shop.restart();  // grants nothing twice; what ran starts again, and is not counted
        break;
      }
      started += shop.run().starts.size();
    }
    EXPECT_LE(started, row.in_a_second);
    EXPECT_GE(started, row.at_once);
  }
}

TEST(WebhookGate, HalvesWhatItSendsAtOnceAndGrowsAgain) {
  Shop shop;
  shop.set_delays("a", {Millis{0}, hour});
  shop.set("a", DeliveryPart::parallelism, {.parallelism = 4});
  std::vector<StartAttempt> running;
  for (int i = 0; i < 8; ++i) {
    for (StartAttempt& start : shop.send().starts) {
      running.push_back(std::move(start));
    }
  }
  ASSERT_EQ(running.size(), 4U);

  EXPECT_EQ(shop.run(Shop::answer(running[0], 429)).starts.size(), 0U);
  EXPECT_EQ(shop.run(Shop::answer(running[1], 500)).starts.size(), 0U);  // two at once now
  EXPECT_EQ(shop.run(Shop::answer(running[2], 200)).starts.size(), 2U);  // three
}

TEST(WebhookHealth, DisablesByItsRule) {
  struct Row {
    std::string_view name;
    Delivery::Disable rule;
    std::vector<Millis> at;  ///< failures, since the first
    Disabled becomes;
    std::vector<std::string> told;
  };
  const Delivery::Disable by_time{
      .after = 10 * hour, .attempts_min = 3, .failures = 0, .warn_at = {50, 90}};
  const Delivery::Disable by_count{
      .after = 1000 * hour, .attempts_min = 3, .failures = 4, .warn_at = {50}};
  const Row rows[] = {
      {"long enough, often enough",
       by_time,
       {{}, hour, 10 * hour},
       Disabled::failing,
       {"endpoint.disabled"}},
      {"long enough, too seldom", by_time, {{}, 10 * hour}, Disabled::no, {"endpoint.failing"}},
      {"often enough, not for long", by_time, {{}, hour, 2 * hour, 3 * hour}, Disabled::no, {}},
      {"warned at each step, once",
       by_time,
       {{}, 5 * hour, 6 * hour, 9 * hour},
       Disabled::no,
       {"endpoint.failing", "endpoint.failing"}},
      {"by number",
       by_count,
       {{}, hour, hour, hour},
       Disabled::failing,
       {"endpoint.failing", "endpoint.disabled"}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Shop shop;
    shop.set("a", DeliveryPart::circuit, {.circuit = std::nullopt});
    shop.set_delays("a", {Millis{0}, 1000 * hour});
    shop.set("a", DeliveryPart::disable, {.disable = row.rule});
    shop.listen();
    const Moment began = shop.now;
    for (const Millis at : row.at) {
      shop.now = began + at;
      const Ran ran = shop.send();
      for (const StartAttempt& start : ran.starts) {
        if (start.message->url.find("ops") == std::string::npos) {
          shop.run(Shop::answer(start, 500));
        }
      }
      shop.restart();  // neither resets nor hastens it
    }
    EXPECT_EQ(shop.endpoint("a")->disabled, row.becomes);
    EXPECT_EQ(shop.told(), row.told);
  }
}

TEST(WebhookHealth, OneThatIsGoneIsDisabledAndItsDeliveryIsHeld) {
  Shop shop;
  shop.set_delays("a", {Millis{0}, Millis{1000}});
  shop.listen();
  const StartAttempt start = shop.send().starts.at(0);

  shop.run(Shop::answer(start, 410));

  EXPECT_EQ(shop.endpoint("a")->disabled, Disabled::gone);
  EXPECT_EQ(shop.told(), (Hosts{"endpoint.disabled"}));
  shop.pass(hour);
  EXPECT_TRUE(shop.run().starts.empty());
  EXPECT_EQ(shop.state(start.id).status, Status::pending);
  EXPECT_EQ(shop.held_by(start.id), (Hosts{"endpoint_disabled"}));
}

TEST(WebhookHealth, ASuccessClearsAll) {
  Shop shop;
  shop.set_delays("a", {Millis{0}, hour});
  fail_some(shop, 5);
  EXPECT_EQ(shop.health("a").failures, 5U);
  const StartAttempt start = shop.send().starts.at(0);

  shop.run(Shop::answer(start, 200));

  const Health health = shop.health("a");
  EXPECT_EQ(health.failures, 0U);
  EXPECT_EQ(health.failing_since, Moment{});
  EXPECT_EQ(health.waiting, 5U);
}

TEST(WebhookHealth, TellsOfADeliveryThatFailsAndOfItsEnd) {
  struct Row {
    std::string_view name;
    std::size_t fails;  ///< of six attempts
    Hosts told;
  };
  const Row rows[] = {
      {"works at once", 0, {}},
      {"works after three", 3, {}},
      {"works after four", 4, {"message.attempt.failing", "message.attempt.recovered"}},
      {"works at last", 5, {"message.attempt.failing", "message.attempt.recovered"}},
      {"never works", 6, {"message.attempt.failing", "message.attempt.exhausted"}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Shop shop;
    std::vector<Millis> delays(6, Millis{1000});
    delays.front() = Millis{0};
    shop.set_delays("a", delays);
    shop.listen();
    Ran ran = shop.send();
    for (std::size_t attempt = 0; attempt < 6; ++attempt) {
      for (const StartAttempt& start : ran.starts) {
        const bool is_told = start.message->url == "https://ops/in";
        shop.run(Shop::answer(start, is_told || attempt >= row.fails ? 200 : 500));
      }
      shop.pass(Millis{1000});
      ran = shop.run();
    }
    EXPECT_EQ(shop.told(), row.told);
  }
}

TEST(WebhookHealth, OfOperationalEndpointsNothingIsTold) {
  Shop shop;
  shop.listen();
  Ran ran = shop.run(DeleteEndpoint{tenant_one, "shop", "a"});
  ASSERT_EQ(ran.starts.size(), 1U);

  shop.run(Shop::answer(ran.starts[0], 410));

  EXPECT_EQ(shop.endpoint("ops")->disabled, Disabled::gone);
  EXPECT_EQ(shop.told(), (Hosts{"endpoint.deleted"}));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
