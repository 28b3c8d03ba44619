/// What is stored of webhooks: applications, event types, endpoints and their health, events and
/// their deliveries, tokens. Numbers of enums are on disk: never change or reuse one.
///
/// An application is a customer of the tenant. What is published to it is an Event; every endpoint
/// that it matches gets a delivery, which is a message (core/message.h) with a WebhookPart: it has
/// lanes, leases, retries and an end like all others. Its body is the event's, and where it goes is
/// the endpoint's to say: both are looked up when an attempt begins.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/message/record.h"

namespace hk::core::webhook {

/// Applications, endpoints, integrations and events are numbered by the core
/// (Progress::next_number()): later ones have higher numbers. The application 0 is hidden: its
/// endpoints get the server's own events about deliveries (operational webhooks).
using Number = std::uint64_t;
inline constexpr Number operational = 0;

using Metadata = std::map<std::string, std::string>;

/// What an id is made of beside its number: the same text at every time (id.h).
struct Made {
  Moment at{};
  std::uint64_t random = 0;
  friend bool operator==(const Made&, const Made&) = default;
};

struct Application {
  TenantId tenant{};
  Number number = 0;
  Made made{};
  std::string name{};
  std::string uid{};       ///< "" = none; unique in the tenant
  std::uint32_t rate = 0;  ///< deliveries a second over all endpoints; 0 = no limit
  Metadata metadata{};
  Moment updated_at{};
  std::uint64_t endpoints = 0;  ///< how many there are
  std::uint64_t disabled = 0;   ///< of them
  std::uint64_t tokens = 0;     ///< app tokens of sessions
  friend bool operator==(const Application&, const Application&) = default;
};
inline std::tuple<TenantId, Number> key_of(const Application& one) {
  return {one.tenant, one.number};
}

struct EventType {
  TenantId tenant{};
  std::string name{};
  std::string description{};
  std::string schemas{};  ///< JSON as given: {"1": {…}}; "" = none
  std::string group{};    ///< "" = none
  std::vector<std::string> feature_flags{};
  bool archived = false;
  bool deprecated = false;
  Moment created_at{};
  Moment updated_at{};
  friend bool operator==(const EventType&, const EventType&) = default;
};
inline std::tuple<const TenantId&, const std::string&> key_of(const EventType& one) {
  return {one.tenant, one.name};
}

enum class Order : std::uint8_t { none = 0, endpoint = 1, channel = 2, tag = 3 };
enum class HeaderSet : std::uint8_t { both = 0, svix = 1, webhook = 2 };

/// How an endpoint is delivered to. Of an endpoint: what it sets itself; what it does not is the
/// tenant's default, and what that does not is as here.
struct Delivery {
  std::vector<Millis> delays{};    ///< [i]: before attempt i + 1
  std::string preset{"standard"};  ///< "": `delays` are its own
  double jitter = 0.2;
  Millis retry_after_max{86'400'000};
  std::vector<std::uint32_t> give_up_statuses{};
  Millis timeout{30'000};
  HeaderSet header_set{};
  bool sign_standard = true;
  bool sign_stripe = false;
  std::string stripe_header{"Stripe-Signature"};
  Order order{};
  bool halt = false;  ///< order: a key stops at what has failed for good
  std::uint32_t parallelism = 32;
  struct Circuit {
    std::uint32_t failures = 20;
    Millis open{30'000};
    Millis open_max{300'000};
    friend bool operator==(const Circuit&, const Circuit&) = default;
  };
  std::optional<Circuit> circuit{Circuit{}};
  struct Disable {
    Millis after{432'000'000};
    std::uint32_t attempts_min = 10;
    std::uint32_t failures = 0;  ///< 0 = never by their number
    std::vector<std::uint32_t> warn_at{50, 70, 90};
    friend bool operator==(const Disable&, const Disable&) = default;
  };
  std::optional<Disable> disable{Disable{}};
  struct Hold {
    bool enabled = true;
    Millis ttl{604'800'000};
    std::uint64_t messages_max = 100'000;
    std::uint64_t bytes_max = 268'435'456;
    friend bool operator==(const Hold&, const Hold&) = default;
  };
  Hold hold{};
  std::uint32_t resume_rate = 0;  ///< 0 = the endpoint's rate, or a ramp
  friend bool operator==(const Delivery&, const Delivery&) = default;
};

/// The parts of Delivery that an endpoint, or the tenant's settings, have set themselves. Their
/// numbers are bits on disk.
enum class DeliveryPart : std::uint32_t {
  schedule = 0,  ///< preset and delays
  jitter = 1,
  retry_after_max = 2,
  give_up_statuses = 3,
  timeout = 4,
  header_set = 5,
  signing = 6,
  order = 7,
  halt = 8,
  parallelism = 9,
  circuit = 10,
  disable = 11,
  hold = 12,
  resume_rate = 13,
};
inline constexpr std::uint32_t all_delivery_parts = 0x3fff;
struct OwnDelivery {
  std::uint32_t set = 0;  ///< bit per DeliveryPart
  Delivery values{};      ///< those parts of it; the others are as in Delivery{}
  [[nodiscard]] bool has(DeliveryPart part) const {
    return (set >> static_cast<std::uint32_t>(part) & 1U) != 0;
  }
  friend bool operator==(const OwnDelivery&, const OwnDelivery&) = default;
};

/// Sealed by the adapter; the core reads nothing of it.
struct SigningSecret {
  enum class Kind : std::uint8_t { symmetric = 0, ed25519 = 1 };
  std::string sealed{};
  Kind kind{};
  Moment created_at{};
  Moment expires_at{never};  ///< the current one never does
  friend bool operator==(const SigningSecret&, const SigningSecret&) = default;
};

struct Endpoint {
  enum class Disabled : std::uint8_t { no = 0, manual = 1, failing = 2, gone = 3 };

  TenantId tenant{};
  Number application = 0;
  Number number = 0;
  Made made{};
  std::string uid{};  ///< "" = none; unique in the application
  std::string url{};
  std::string host{};  ///< of url, as in Message
  std::string description{};
  std::vector<std::string> event_types{};  ///< empty = all
  std::vector<std::string> channels{};     ///< empty = all
  std::uint32_t rate = 0;                  ///< a second; 0 = no limit
  std::vector<SigningSecret> secrets{};    ///< the current one first, then the latest first
  std::vector<Header> headers{};
  Metadata metadata{};
  Disabled disabled{};
  bool paused = false;
  OwnDelivery delivery{};
  Moment updated_at{};
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};
inline std::tuple<TenantId, Number, Number> key_of(const Endpoint& one) {
  return {one.tenant, one.application, one.number};
}

/// What changes about an endpoint by itself. One without a record is healthy and has nothing. That
/// of an application is the window of its rate alone.
struct Health {
  TenantId tenant{};
  Number endpoint = 0;
  Moment failing_since{};      ///< 0 = its last attempt succeeded
  std::uint32_t failures = 0;  ///< in a row
  std::uint32_t warned = 0;    ///< percent of the way to disabling that was announced
  Millis circuit_for{};        ///< how long it was last opened for; 0 = closed
  Moment shut_until{};         ///< by its circuit, or by Retry-After
  bool by_circuit = false;     ///< shut_until is
  std::uint64_t waiting = 0;   ///< deliveries that are not final
  std::uint64_t waiting_bytes = 0;
  std::uint32_t ramp = 0;           ///< released at so many a second after a resume; 0 = no ramp
  bool hold_announced = false;      ///< that what is held will be cancelled
  std::uint64_t hold_canceled = 0;  ///< of what was held, since it is shut
  Moment window_start{};            ///< of its rate: a restart must not grant it twice
  std::uint32_t window_count = 0;
  friend bool operator==(const Health&, const Health&) = default;
};
inline std::tuple<TenantId, Number> key_of(const Health& one) { return {one.tenant, one.endpoint}; }

/// What was published to an application.
struct Event {
  TenantId tenant{};
  Number application = 0;
  Number number = 0;
  Made made{};  ///< at: when it was accepted
  std::string event_type{};
  std::string event_id{};  ///< "" = none
  std::vector<std::string> channels{};
  std::vector<std::string> tags{};
  Moment deliver_at{};  ///< 0 = at once
  /// What is delivered, byte for byte. Gone when it was expunged or its time was over.
  std::string payload{};
  std::string shown{};  ///< the `payload` as it was given, if what is delivered is another text
  std::string content_type{};  ///< "" = application/json
  std::vector<Header> headers{};
  Moment payload_expires_at{};
  bool expunged = false;
  std::string other{};  ///< JSON: what was sent along and is kept only; "" = nothing
  Trace trace{};
  /// Whom it was addressed to, when it was published or by hand since, and the first delivery of
  /// each.
  struct Addressed {
    Number endpoint = 0;
    Seq delivery{};
    friend bool operator==(const Addressed&, const Addressed&) = default;
  };
  std::vector<Addressed> addressed{};
  friend bool operator==(const Event&, const Event&) = default;
};
inline std::tuple<TenantId, Number, Number> key_of(const Event& one) {
  return {one.tenant, one.application, one.number};
}

/// A delivery as its endpoint's list has it; the newest generation of an event is the last.
struct DeliveryRow {
  TenantId tenant{};
  Number endpoint = 0;
  Number event = 0;
  std::uint32_t generation = 0;
  Seq delivery{};  ///< the message
  friend bool operator==(const DeliveryRow&, const DeliveryRow&) = default;
};
inline std::tuple<TenantId, Number, Number, std::uint32_t> key_of(const DeliveryRow& one) {
  return {one.tenant, one.endpoint, one.event, one.generation};
}

/// An attempt as its endpoint's list has it, in the order of their ends. All of it is in the
/// Attempt of that delivery.
struct AttemptRow {
  TenantId tenant{};
  Number endpoint = 0;
  Moment ended_at{};
  Seq delivery{};
  std::uint32_t attempt = 0;
  Number event = 0;
  std::uint32_t status_code = 0;
  bool succeeded = false;
  bool manual = false;
  friend bool operator==(const AttemptRow&, const AttemptRow&) = default;
};
inline std::tuple<TenantId, Number, Moment, Seq, std::uint32_t> key_of(const AttemptRow& one) {
  return {one.tenant, one.endpoint, one.ended_at, one.delivery, one.attempt};
}

/// What happened to an endpoint in an hour: attempts by when they ended, deliveries by when they
/// were made.
struct Stats {
  TenantId tenant{};
  Number endpoint = 0;
  std::uint64_t hour = 0;  ///< since 1970
  std::uint64_t succeeded = 0;
  std::uint64_t failed = 0;
  std::uint64_t created = 0;
  std::uint64_t begun = 0;     ///< of `created`: had an attempt, or ended without one
  std::uint64_t settled = 0;   ///< of `created`: final
  std::uint64_t canceled = 0;  ///< of `settled`
  friend bool operator==(const Stats&, const Stats&) = default;
};
inline std::tuple<TenantId, Number, std::uint64_t> key_of(const Stats& one) {
  return {one.tenant, one.endpoint, one.hour};
}

/// What waits for an endpoint and is being cancelled, a bounded part per batch.
struct Sweep {
  TenantId tenant{};
  Number endpoint = 0;
  std::uint64_t number = 0;
  Number application = 0;
  Seq up_to{};  ///< what came later is left alone
  /// none: nothing is cancelled; what halts an order has failed.
  CancelReason reason{};
  std::string event_type{};  ///< "" = any; so the others
  std::string channel{};
  std::string tag{};
  std::uint64_t replay = 0;  ///< only what this one made; 0 = all
  Moment due_before{};       ///< only what has been due for so long; 0 = all
  friend bool operator==(const Sweep&, const Sweep&) = default;
};
inline std::tuple<TenantId, Number, std::uint64_t> key_of(const Sweep& one) {
  return {one.tenant, one.endpoint, one.number};
}

/// Texts that somebody chose, and what they name. Beside them the tokens of an application, by
/// their digests: number is 0.
struct Name {
  enum class Kind : std::uint32_t {
    application_uid = 1,
    endpoint_uid = 2,
    event_id = 3,
    token = 4,
  };

  TenantId tenant{};
  Kind kind{};
  Number scope = 0;  ///< the application; 0 for those of applications
  std::string name{};
  Number number = 0;
  friend bool operator==(const Name&, const Name&) = default;
};
inline std::tuple<TenantId, std::uint32_t, Number, const std::string&> key_of(const Name& one) {
  return {one.tenant, static_cast<std::uint32_t>(one.kind), one.scope, one.name};
}

/// What an app token may. Their numbers are bits on disk.
enum class Capability : std::uint32_t {
  view_base = 0,
  view_endpoint_secret = 1,
  manage_endpoint_secret = 2,
  manage_transformations = 3,
  create_attempts = 4,
  manage_endpoint = 5,
};
inline constexpr std::uint32_t all_capabilities = 0x3f;

/// A token of one application, found by its digest. An integration is a token with a name.
struct AppToken {
  TenantId tenant{};
  std::string digest{};
  Number application = 0;
  std::uint32_t capabilities = all_capabilities;
  std::vector<std::string> feature_flags{};  ///< of event types that it sees beside the others
  bool all_feature_flags = false;            ///< of an integration without any
  std::string session{};
  Moment created_at{};
  Moment expires_at{never};
  Number integration = 0;  ///< whose key it is; 0 = a session's
  friend bool operator==(const AppToken&, const AppToken&) = default;
};
inline std::tuple<const TenantId&, const std::string&> key_of(const AppToken& one) {
  return {one.tenant, one.digest};
}

struct Integration {
  TenantId tenant{};
  Number application = 0;
  Number number = 0;
  Made made{};
  std::string name{};
  std::vector<std::string> feature_flags{};
  std::string digest{};  ///< of its key; "" = it was never made
  Moment updated_at{};
  friend bool operator==(const Integration&, const Integration&) = default;
};
inline std::tuple<TenantId, Number, Number> key_of(const Integration& one) {
  return {one.tenant, one.application, one.number};
}

/// How many a tenant has.
struct Totals {
  TenantId tenant{};
  std::uint64_t applications = 0;
  std::uint64_t event_types = 0;  ///< archived ones among them
  friend bool operator==(const Totals&, const Totals&) = default;
};
inline TenantId key_of(const Totals& one) { return one.tenant; }

/// Of a tenant.
struct Settings {
  enum class SchemaCheck : std::uint8_t { off = 0, warn = 1, refuse = 2 };

  TenantId tenant{};
  OwnDelivery delivery{};  ///< defaults of endpoints
  bool known_types_only = false;
  SchemaCheck schema_check{};
  bool https_only = false;
  std::uint32_t payload_bytes_max = 1'048'576;
  std::uint32_t endpoints_max = 1000;  ///< of an application
  friend bool operator==(const Settings&, const Settings&) = default;
};
inline TenantId key_of(const Settings& one) { return one.tenant; }

}  // namespace hk::core::webhook
