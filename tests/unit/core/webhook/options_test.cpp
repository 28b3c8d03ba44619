#include "core/webhook/options.h"

#include <gtest/gtest.h>

#include <chrono>

namespace hk::core::webhook {
namespace HK_TEST_FILE {

using namespace std::chrono_literals;

TEST(WebhookOptions, PresetsHaveTheirDelays) {
  EXPECT_EQ(preset_names(), (std::vector<std::string_view>{"standard", "svix", "eight-step"}));
  ASSERT_NE(preset_delays("standard"), nullptr);
  EXPECT_EQ(*preset_delays("standard"),
            (std::vector<Millis>{0s, 5s, 5min, 30min, 2h, 5h, 10h, 14h, 20h, 24h}));
  EXPECT_EQ(preset_delays("svix")->size(), 8U);
  EXPECT_EQ(preset_delays("eight-step")->at(1), 1min);
  EXPECT_EQ(preset_delays("other"), nullptr);
  EXPECT_EQ(preset_delays(""), nullptr);
}

TEST(WebhookOptions, AnEndpointInheritsWhatItDoesNotSet) {
  Settings settings;
  settings.delivery = {.set = bit_of(DeliveryPart::timeout) | bit_of(DeliveryPart::circuit),
                       .values = {.timeout = 10s, .circuit = std::nullopt}};
  Endpoint endpoint;
  endpoint.delivery = {.set = bit_of(DeliveryPart::timeout) | bit_of(DeliveryPart::schedule),
                       .values = {.delays = {1s, 2s}, .preset = "", .timeout = 20s}};
  const Delivery now = effective(endpoint, settings);
  EXPECT_EQ(now.timeout, 20s);           // its own
  EXPECT_EQ(now.circuit, std::nullopt);  // the tenant's
  EXPECT_EQ(now.parallelism, 32U);       // the server's
  EXPECT_EQ(now.delays, (std::vector<Millis>{1s, 2s}));

  const Delivery of_others = effective(settings);
  EXPECT_EQ(of_others.timeout, 10s);
  EXPECT_EQ(of_others.delays, *preset_delays("standard"));
}

TEST(WebhookOptions, APresetOverridesOwnDelaysAndTheOtherWayRound) {
  Settings settings;
  settings.delivery = {.set = bit_of(DeliveryPart::schedule),
                       .values = {.delays = {1s}, .preset = ""}};
  Endpoint endpoint;
  endpoint.delivery = {.set = bit_of(DeliveryPart::schedule), .values = {.preset = "svix"}};
  EXPECT_EQ(effective(endpoint, settings).delays, *preset_delays("svix"));
  EXPECT_EQ(effective({}, settings).delays, std::vector<Millis>{1s});
}

TEST(WebhookOptions, EveryPartIsTakenAloneAndLeavesTheOthers) {
  const Delivery other{.delays = {1s},
                       .preset = "",
                       .jitter = 0.5,
                       .retry_after_max = 7ms,
                       .give_up_statuses = {400},
                       .timeout = 9s,
                       .header_set = HeaderSet::svix,
                       .sign_standard = false,
                       .sign_stripe = true,
                       .stripe_header = "X",
                       .order = Order::channel,
                       .halt = true,
                       .parallelism = 4,
                       .circuit = std::nullopt,
                       .disable = std::nullopt,
                       .hold = {.enabled = false},
                       .resume_rate = 14};
  Delivery all;
  for (std::uint32_t part = 0; all_delivery_parts >> part != 0; ++part) {
    SCOPED_TRACE(part);
    Delivery one;
    take_parts(one, other, 1U << part);
    EXPECT_NE(one, Delivery{});
    EXPECT_NE(one, other);
    take_parts(one, Delivery{}, 1U << part);
    EXPECT_EQ(one, Delivery{});
    take_parts(all, other, 1U << part);
  }
  EXPECT_EQ(all, other);
}

TEST(WebhookOptions, MergingSetsPartsAndGivesOthersBackToTheDefaults) {
  OwnDelivery own{.set = bit_of(DeliveryPart::timeout) | bit_of(DeliveryPart::halt),
                  .values = {.timeout = 9s, .halt = true}};
  merge(own, {.set = bit_of(DeliveryPart::jitter), .values = {.jitter = 0.1, .parallelism = 5}},
        bit_of(DeliveryPart::timeout));
  EXPECT_EQ(own, (OwnDelivery{.set = bit_of(DeliveryPart::halt) | bit_of(DeliveryPart::jitter),
                              .values = {.jitter = 0.1, .halt = true}}));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::webhook
