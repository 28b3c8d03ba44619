/// How an endpoint is delivered to, as JSON: read as a merge (RFC 7396) into what it is now, and
/// written whole. Any thread.
#pragma once

#include "api/svix/input.h"
#include "base/json.h"
#include "core/webhook/options.h"

namespace hk::api::webhooks {

namespace webhook = core::webhook;

/// What a merge comes to. null takes an option back: the default counts again; of circuit and
/// disable it means that there is none.
struct DeliveryChange {
  webhook::OwnDelivery set{};
  std::uint32_t inherit = 0;  ///< bit per DeliveryPart
};
DeliveryChange read_delivery_change(svix::Input& in, const webhook::Delivery& now);

void write_delivery(JsonWriter& json, const webhook::Delivery& delivery);

}  // namespace hk::api::webhooks
