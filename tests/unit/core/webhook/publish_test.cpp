#include <gtest/gtest.h>

#include <algorithm>

#include "base/clock_lean.h"
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

std::vector<std::string> urls_of(const Ran& ran) {
  std::vector<std::string> urls;
  for (const StartAttempt& start : ran.starts) {
    urls.push_back(start.message->url);
  }
  std::ranges::sort(urls);
  return urls;
}

TEST(PublishEvent, GoesToTheEndpointsThatItMatches) {
  struct Row {
    std::string_view name;
    EndpointFields fields;
    std::string type;
    std::vector<std::string> channels;
    bool gets;
  };
  EndpointFields all = to_host("a");
  EndpointFields paid = all;
  paid.event_types = {"paid", "lost"};
  EndpointFields of_channel = all;
  of_channel.channels = {"x", "y"};
  EndpointFields both = paid;
  both.channels = {"x"};
  EndpointFields disabled = all;
  disabled.disabled = true;
  const Row rows[] = {
      {"no filter", all, "paid", {}, true},
      {"its type", paid, "paid", {}, true},
      {"another type", paid, "open", {}, false},
      {"a channel in common", of_channel, "paid", {"q", "y"}, true},
      {"no channel in common", of_channel, "paid", {"q"}, false},
      {"no channels at all", of_channel, "paid", {}, false},
      {"channels, and it asks for none", all, "paid", {"x"}, true},
      {"type and channel", both, "paid", {"x"}, true},
      {"the channel alone", both, "open", {"x"}, false},
      {"disabled ones match too", disabled, "paid", {}, true},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Shop shop(Hosts{});
    make_event_types(shop, {"paid", "lost"});
    shop.add(row.fields);
    PublishEvent publish = Shop::event(row.type);
    publish.event.channels = row.channels;

    const auto stored = shop.run(std::move(publish)).only<EventStored>();

    EXPECT_EQ(stored.event->addressed.size(), row.gets ? 1U : 0U);
    EXPECT_EQ(shop.reader.rows<DeliveryRow>().size(), row.gets ? 1U : 0U);
    EXPECT_EQ(shop.reader.rows<Event>().size(), 1U);
  }
}

TEST(PublishEvent, SendsWhatWasGivenToEachOfThem) {
  Shop shop({"a", "b"});

  const Ran ran = shop.send();

  EXPECT_EQ(urls_of(ran), (Hosts{"https://a/in", "https://b/in"}));
  const StartAttempt& start = ran.starts.at(0);
  EXPECT_EQ(start.message->body, R"({"n":1})");
  ASSERT_NE(start.webhook, nullptr);
  EXPECT_EQ(start.webhook->id, id_of(*ran.only<EventStored>().event));
  EXPECT_EQ(start.webhook->attempt, "1");
  ASSERT_EQ(start.webhook->secrets.size(), 1U);
  EXPECT_EQ(start.lease_until, shop.now + outlasting(Millis{30'000}) + shop.limits.lease_grace);
  EXPECT_TRUE(shop.reader.rows<Message>().at(start.id.seq)->body.empty());
}

TEST(PublishEvent, IsRefusedForWhatIsWrongWithIt) {
  using Why = Refused::Why;
  struct Row {
    std::string_view name;
    PublishEvent publish;
    Why why;
    std::string detail;
  };
  PublishEvent elsewhere = Shop::event();
  elsewhere.application_ref = "nowhere";
  PublishEvent hidden = Shop::event();
  hidden.application_ref = "";
  PublishEvent large = Shop::event();
  large.event.payload.assign(2000, 'x');
  PublishEvent only_nobody = Shop::event();
  only_nobody.only_endpoint_ref = "nobody";
  PublishEvent only_disabled = Shop::event();
  only_disabled.only_endpoint_ref = "off";
  const Row rows[] = {
      {"no application", elsewhere, Why::application_not_found, ""},
      {"the hidden application", hidden, Why::application_not_found, ""},
      {"too large", large, Why::payload_too_large, "1000"},
      {"a type that is not known", Shop::event("strange"), Why::event_type_unknown, "strange"},
      {"an eventId that is taken", Shop::event("paid", "first"), Why::event_id_taken, "first"},
      {"only to one that is not there", only_nobody, Why::endpoint_not_found, ""},
      {"only to one that is disabled", only_disabled, Why::endpoint_disabled, ""},
  };
  Shop shop;
  make_event_types(shop, {"paid"});
  shop.run(PutSettings{{.tenant = tenant_one, .known_types_only = true, .payload_bytes_max = 1000}})
      .only<Done>();
  EndpointFields off = to_host("off", "off");
  off.disabled = true;
  shop.add(off);
  shop.send(Shop::event("paid", "first"));
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const Ran ran = shop.run(PublishEvent{row.publish});
    const auto refused = ran.only<Refused>();
    EXPECT_EQ(refused.why, row.why);
    EXPECT_EQ(refused.detail, row.detail);
    EXPECT_EQ(shop.reader.rows<Event>().size(), 1U);
  }
}

TEST(PublishEvent, MakesItsApplicationInTheSameBatchOnce) {
  Rig rig;
  PublishEvent publish = Shop::event();
  publish.application = ApplicationFields{.name = "New", .uid = "shop"};

  const Ran ran = rig.run(PublishEvent{publish}, PublishEvent{publish});

  ASSERT_EQ(ran.replies.size(), 2U);
  EXPECT_TRUE(ran.replies[0]->is<EventStored>());
  EXPECT_TRUE(ran.replies[1]->is<EventStored>());
  EXPECT_EQ(rig.reader.rows<Application>().size(), 1U);
  EXPECT_EQ(rig.reader.rows<Event>().size(), 2U);
}

TEST(PublishEvent, SeesAnEndpointOfTheSameBatch) {
  Shop shop(Hosts{});

  const Ran ran =
      shop.run(CreateEndpoint{tenant_one, "shop", to_host("a"), secret()}, Shop::event());

  EXPECT_EQ(ran.starts.size(), 1U);
}

TEST(PublishEvent, WaitsUntilItsTime) {
  Shop shop;
  PublishEvent publish = Shop::event();
  publish.event.deliver_at = shop.now + Millis{5000};
  EXPECT_TRUE(shop.send(std::move(publish)).starts.empty());
  shop.pass(Millis{4999});
  EXPECT_TRUE(shop.run().starts.empty());

  shop.pass(Millis{1});

  EXPECT_EQ(shop.run().starts.size(), 1U);
}

TEST(PublishEvent, WaitsForTheFirstStepOfTheSchedule) {
  Shop shop;
  shop.set_delays("a", {Millis{3000}, Millis{1000}});
  EXPECT_TRUE(shop.send().starts.empty());
  shop.pass(Millis{2999});
  EXPECT_TRUE(shop.run().starts.empty());

  shop.pass(Millis{1});

  EXPECT_EQ(shop.run().starts.size(), 1U);
}

TEST(PublishEvent, FollowsTheEndpointAtTheTimeOfTheAttempt) {
  Shop shop;
  PublishEvent publish = Shop::event();
  publish.event.deliver_at = shop.now + Millis{5000};
  shop.send(std::move(publish));
  shop.run(ChangeEndpoint{
      .tenant = tenant_one,
      .application_ref = "shop",
      .endpoint_ref = "a",
      .changes = {.url = std::pair{std::string("https://b/in"), std::string("https://b:443")}}});
  shop.pass(Millis{5000});

  const Ran ran = shop.run();

  EXPECT_EQ(urls_of(ran), (Hosts{"https://b/in"}));
}

TEST(PublishEvent, IsDeliveredAfterARestart) {
  Shop shop({"a", "b"});
  EXPECT_EQ(shop.send().starts.size(), 2U);
  shop.restart();

  const Ran again = shop.run();

  EXPECT_EQ(urls_of(again), (Hosts{"https://a/in", "https://b/in"}));
  EXPECT_EQ(again.starts.at(0).fence.attempt, 1U);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
