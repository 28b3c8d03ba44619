/// What tests of deliveries share: an application with endpoints on a Rig, and how attempts end.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "unit/core/webhook/support.h"

namespace hk::core::testing {

using Hosts = std::vector<std::string>;

/// One application, "shop", with an endpoint for each host; the host is the endpoint's uid.
class Shop : public Rig {
 public:
  explicit Shop(const Hosts& hosts = {"a"}, const Limits& given = {}) : Rig(given) {
    make_application(*this, {.name = "Shop", .uid = "shop"});
    for (const std::string& host : hosts) {
      add(to_host(host, host));
    }
  }

  webhook::Endpoint add(webhook::EndpointFields fields) {
    return make_endpoint(*this, "shop", std::move(fields));
  }
  /// Its delivery options.
  void set(const std::string& endpoint, webhook::OwnDelivery own) {
    run(webhook::ChangeDelivery{tenant_one, "shop", endpoint, std::move(own)})
        .only<webhook::EndpointStored>();
  }
  void set(const std::string& endpoint, webhook::DeliveryPart part, webhook::Delivery values) {
    set(endpoint, {.set = 1U << static_cast<unsigned>(part), .values = std::move(values)});
  }
  /// Waits before each attempt, exact.
  void set_delays(const std::string& endpoint, std::vector<Millis> delays) {
    webhook::Delivery values{.delays = std::move(delays), .preset = "", .jitter = 0};
    set(endpoint, {.set = 1U << static_cast<unsigned>(webhook::DeliveryPart::schedule) |
                          1U << static_cast<unsigned>(webhook::DeliveryPart::jitter),
                   .values = std::move(values)});
  }

  static webhook::PublishEvent event(std::string type = "paid", std::string event_id = {}) {
    return {.application_ref = "shop",
            .event = {.tenant = tenant_one,
                      .event_type = std::move(type),
                      .event_id = std::move(event_id),
                      .payload = R"({"n":1})"}};
  }
  /// And what has started with it.
  Ran send(webhook::PublishEvent publish = event()) {
    Ran ran = run(std::move(publish));
    static_cast<void>(ran.only<webhook::EventStored>());
    return ran;
  }

  static CompleteAttempt answer(const StartAttempt& start, int status,
                                std::optional<Millis> retry_after = {}) {
    return {
        .id = start.id,
        .fence = start.fence,
        .attempt = {.response_status = status, .error = status == 0 ? "connection refused" : ""},
        .delivered = status >= 200 && status < 300,
        .retry_after = retry_after};
  }

  [[nodiscard]] std::shared_ptr<const webhook::Endpoint> endpoint(const std::string& uid) {
    for (const auto& [key, one] : reader.rows<webhook::Endpoint>()) {
      if (one.uid == uid) {
        return std::make_shared<const webhook::Endpoint>(one);
      }
    }
    return nullptr;
  }
  [[nodiscard]] webhook::Health health(const std::string& uid) {
    return webhook::health_of(reader, tenant_one, endpoint(uid)->number);
  }
  [[nodiscard]] MessageState state(MessageId id) { return reader.rows<MessageState>().at(id.seq); }
  /// Of a message that waits: the names of the gates that hold it.
  std::vector<std::string> held_by(MessageId id) {
    std::vector<std::string> gates;
    for (const Hold& hold : run(Inspect{tenant_one, id}).only<Inspected>().holds) {
      gates.push_back(hold.gate);
    }
    return gates;
  }
  /// Types of the events that were told so far, in their order.
  [[nodiscard]] std::vector<std::string> told() {
    std::vector<std::string> types;
    for (const auto& [key, one] : reader.rows<webhook::Event>()) {
      if (one.application == webhook::operational) {
        types.push_back(one.event_type);
      }
    }
    return types;
  }
  /// Somebody listens to what is told.
  void listen() { make_endpoint(*this, "", to_host("ops", "ops")); }

  /// Time goes on to what is next to be done, at most so often, until something starts.
  Ran wait_for_start(int steps = 200) {
    for (int step = 0; step < steps; ++step) {
      const auto at = machine->wake_at();
      if (!at) {
        break;
      }
      now = std::max(now, *at);
      Ran ran = run();
      if (!ran.starts.empty()) {
        return ran;
      }
    }
    return {};
  }
};

}  // namespace hk::core::testing
