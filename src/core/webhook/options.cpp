#include "core/webhook/options.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace hk::core::webhook {

namespace {

using namespace std::chrono_literals;

struct Preset {
  std::string_view name;
  std::vector<Millis> delays;
};

const std::array<Preset, 3>& presets() {
  static const std::array<Preset, 3> all{
      {{"standard", {0s, 5s, 5min, 30min, 2h, 5h, 10h, 14h, 20h, 24h}},
       {"svix", {0s, 5s, 5min, 30min, 2h, 5h, 10h, 10h}},
       {"eight-step", {0s, 1min, 5min, 1h, 2h, 4h, 8h, 12h}}}};
  return all;
}

void take_part(Delivery& to, const Delivery& from, DeliveryPart part) {
  switch (part) {
    case DeliveryPart::schedule:
      to.preset = from.preset;
      to.delays = from.delays;
      break;
    case DeliveryPart::jitter: to.jitter = from.jitter; break;
    case DeliveryPart::retry_after_max: to.retry_after_max = from.retry_after_max; break;
    case DeliveryPart::give_up_statuses: to.give_up_statuses = from.give_up_statuses; break;
    case DeliveryPart::timeout: to.timeout = from.timeout; break;
    case DeliveryPart::header_set: to.header_set = from.header_set; break;
    case DeliveryPart::signing:
      to.sign_standard = from.sign_standard;
      to.sign_stripe = from.sign_stripe;
      to.stripe_header = from.stripe_header;
      break;
    case DeliveryPart::order: to.order = from.order; break;
    case DeliveryPart::halt: to.halt = from.halt; break;
    case DeliveryPart::parallelism: to.parallelism = from.parallelism; break;
    case DeliveryPart::circuit: to.circuit = from.circuit; break;
    case DeliveryPart::disable: to.disable = from.disable; break;
    case DeliveryPart::hold: to.hold = from.hold; break;
    case DeliveryPart::resume_rate: to.resume_rate = from.resume_rate; break;
  }
}

Delivery with_delays(Delivery delivery) {
  if (const auto* const delays = preset_delays(delivery.preset)) {
    delivery.delays = *delays;
  }
  return delivery;
}

}  // namespace

const std::vector<Millis>* preset_delays(std::string_view preset) {
  const auto found = std::ranges::find(presets(), preset, &Preset::name);
  return found == presets().end() ? nullptr : &found->delays;
}

std::vector<std::string_view> preset_names() {
  std::vector<std::string_view> names;
  for (const Preset& one : presets()) {
    names.push_back(one.name);
  }
  return names;
}

void take_parts(Delivery& to, const Delivery& from, std::uint32_t parts) {
  for (std::uint32_t part = 0; all_delivery_parts >> part != 0; ++part) {
    if ((parts >> part & 1U) != 0) {
      take_part(to, from, static_cast<DeliveryPart>(part));
    }
  }
}

Delivery effective(const Settings& settings) {
  return with_delays(settings.delivery.values);  // what it does not set is as in Delivery{}
}

Delivery effective(const Endpoint& endpoint, const Settings& settings) {
  Delivery delivery = settings.delivery.values;
  take_parts(delivery, endpoint.delivery.values, endpoint.delivery.set);
  return with_delays(std::move(delivery));
}

void merge(OwnDelivery& own, const OwnDelivery& change, std::uint32_t inherit) {
  const std::uint32_t kept = own.set & ~inherit & all_delivery_parts;
  const std::uint32_t given = change.set & all_delivery_parts;
  Delivery values;
  take_parts(values, own.values, kept);
  take_parts(values, change.values, given);
  own = {.set = kept | given, .values = std::move(values)};
}

}  // namespace hk::core::webhook
