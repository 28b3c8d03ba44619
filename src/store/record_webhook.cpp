/// Applications, event types, endpoints and what belongs to them.
#include <bit>
#include <tuple>
#include <utility>

#include "core/webhook/options.h"
#include "store/codec.h"
#include "store/record_parts.h"
#include "store/webhook_parts.h"

namespace hk::store {

namespace webhook = core::webhook;

void write_made(Wire& wire, std::uint32_t field, const webhook::Made& made) {
  const auto& [at, random] = made;
  wire.record(field, [&] {
    wire.moment(1, at);
    wire.fixed(2, random);
  });
}
bool read_made(const WireReader& made_in, webhook::Made& made) {
  return read_fields(made_in.text(), [&made](const WireReader& in) {
    switch (in.field()) {
      case 1: made.at = read_moment(in); break;
      case 2: made.random = in.number(); break;
      default: break;
    }
    return true;
  });
}

bool read_header(const WireReader& header_in, std::vector<core::Header>& headers) {
  core::Header& header = headers.emplace_back();
  return read_fields(header_in.text(), [&header](const WireReader& in) {
    switch (in.field()) {
      case 1: header.name = in.text(); break;
      case 2: header.value = in.text(); break;
      default: break;
    }
    return true;
  });
}

namespace {

void write_metadata(Wire& wire, std::uint32_t field, const webhook::Metadata& metadata) {
  for (const auto& [name, value] : metadata) {
    wire.record(field, [&] {
      wire.text(1, name);
      wire.text(2, value);
    });
  }
}
bool read_metadata(const WireReader& in, webhook::Metadata& metadata) {
  std::vector<core::Header> one;
  if (!read_header(in, one)) {
    return false;
  }
  metadata[std::move(one.front().name)] = std::move(one.front().value);
  return true;
}

template <class Number>
void write_numbers(Wire& wire, std::uint32_t field, const std::vector<Number>& numbers) {
  if (!numbers.empty()) {
    wire.record(field, [&] {
      for (const Number one : numbers) {
        wire.packed(static_cast<std::int64_t>(one));
      }
    });
  }
}

bool has_part(std::uint32_t set, webhook::DeliveryPart part) {
  return (set & webhook::bit_of(part)) != 0;
}

void write_circuit(Wire& wire, const webhook::Delivery::Circuit& circuit) {
  const auto& [failures, open, open_max] = circuit;
  wire.number(1, failures);
  wire.integer(2, open.count());
  wire.integer(3, open_max.count());
}
bool read_circuit(const WireReader& circuit_in, webhook::Delivery::Circuit& circuit) {
  circuit = {.failures = 0, .open = {}, .open_max = {}};
  return read_fields(circuit_in.text(), [&circuit](const WireReader& in) {
    switch (in.field()) {
      case 1: circuit.failures = number32(in); break;
      case 2: circuit.open = read_millis(in); break;
      case 3: circuit.open_max = read_millis(in); break;
      default: break;
    }
    return true;
  });
}

void write_disable(Wire& wire, const webhook::Delivery::Disable& disable) {
  const auto& [after, attempts_min, failures, warn_at] = disable;
  wire.integer(1, after.count());
  wire.number(2, attempts_min);
  wire.number(3, failures);
  write_numbers(wire, 4, warn_at);
}
bool read_disable(const WireReader& disable_in, webhook::Delivery::Disable& disable) {
  disable = {.after = {}, .attempts_min = 0, .failures = 0, .warn_at = {}};
  return read_fields(disable_in.text(), [&disable](const WireReader& in) {
    switch (in.field()) {
      case 1: disable.after = read_millis(in); break;
      case 2: disable.attempts_min = number32(in); break;
      case 3: disable.failures = number32(in); break;
      case 4: return read_numbers(in, disable.warn_at);
      default: break;
    }
    return true;
  });
}

void write_hold(Wire& wire, const webhook::Delivery::Hold& hold) {
  const auto& [enabled, ttl, messages_max, bytes_max] = hold;
  wire.number(1, enabled ? 1 : 0);
  wire.integer(2, ttl.count());
  wire.number(3, messages_max);
  wire.number(4, bytes_max);
}
bool read_hold(const WireReader& hold_in, webhook::Delivery::Hold& hold) {
  hold = {.enabled = false, .ttl = {}, .messages_max = 0, .bytes_max = 0};
  return read_fields(hold_in.text(), [&hold](const WireReader& in) {
    switch (in.field()) {
      case 1: hold.enabled = read_flag(in); break;
      case 2: hold.ttl = read_millis(in); break;
      case 3: hold.messages_max = in.number(); break;
      case 4: hold.bytes_max = in.number(); break;
      default: break;
    }
    return true;
  });
}

/// Only what it sets itself: the rest is what the server's defaults are when it is read.
void write_delivery(Wire& wire, std::uint32_t field, const webhook::OwnDelivery& own) {
  using Part = webhook::DeliveryPart;
  const auto& [set, values] = own;
  if (set == 0) {
    return;
  }
  const auto& [delays, preset, jitter, retry_after_max, give_up_statuses, timeout, header_set,
               sign_standard, sign_stripe, stripe_header, order, halt, parallelism, circuit,
               disable, hold, resume_rate] = values;
  const auto number = [&](Part part, std::uint32_t to, auto value) {
    if (has_part(set, part)) {
      wire.number(to, static_cast<std::uint64_t>(value));
    }
  };
  wire.record(field, [&] {
    wire.number(1, set);
    if (has_part(set, Part::schedule)) {
      std::vector<std::int64_t> counts;
      for (const Millis delay : delays) {
        counts.push_back(delay.count());
      }
      write_numbers(wire, 2, counts);
      wire.text(3, preset);
    }
    if (has_part(set, Part::jitter)) {
      wire.real(4, jitter);
    }
    number(Part::retry_after_max, 5, retry_after_max.count());
    if (has_part(set, Part::give_up_statuses)) {
      write_numbers(wire, 6, give_up_statuses);
    }
    number(Part::timeout, 7, timeout.count());
    number(Part::header_set, 8, header_set);
    number(Part::signing, 9, sign_standard ? 1 : 0);
    number(Part::signing, 10, sign_stripe ? 1 : 0);
    if (has_part(set, Part::signing)) {
      wire.text(11, stripe_header);
    }
    number(Part::order, 12, order);
    number(Part::halt, 13, halt ? 1 : 0);
    number(Part::parallelism, 14, parallelism);
    if (has_part(set, Part::circuit) && circuit) {
      wire.record(15, [&] { write_circuit(wire, *circuit); });
    }
    if (has_part(set, Part::disable) && disable) {
      wire.record(16, [&] { write_disable(wire, *disable); });
    }
    if (has_part(set, Part::hold)) {
      wire.record(17, [&] { write_hold(wire, hold); });
    }
    number(Part::resume_rate, 18, resume_rate);
  });
}

/// What is zero is not there: a part that is set begins with zeros, not with the defaults.
webhook::Delivery zeroed() {
  return {.preset = {},
          .jitter = 0,
          .retry_after_max = {},
          .timeout = {},
          .sign_standard = false,
          .stripe_header = {},
          .parallelism = 0,
          .circuit = std::nullopt,
          .disable = std::nullopt,
          .hold = {.enabled = false, .ttl = {}, .messages_max = 0, .bytes_max = 0}};
}

bool read_delivery_field(const WireReader& in, webhook::Delivery& values) {
  switch (in.field()) {
    case 2: {
      std::vector<std::int64_t> counts;
      const bool whole = read_numbers(in, counts);
      for (const std::int64_t ms : counts) {
        values.delays.emplace_back(ms);
      }
      return whole;
    }
    case 3: values.preset = in.text(); return true;
    case 4: values.jitter = std::bit_cast<double>(in.number()); return true;
    case 5: values.retry_after_max = read_millis(in); return true;
    case 6: return read_numbers(in, values.give_up_statuses);
    case 7: values.timeout = read_millis(in); return true;
    case 8:
      return read_enum(in, values.header_set, webhook::HeaderSet::both,
                       webhook::HeaderSet::webhook);
    case 9: values.sign_standard = read_flag(in); return true;
    case 10: values.sign_stripe = read_flag(in); return true;
    case 11: values.stripe_header = in.text(); return true;
    case 12: return read_enum(in, values.order, webhook::Order::none, webhook::Order::tag);
    case 13: values.halt = read_flag(in); return true;
    case 14: values.parallelism = number32(in); return true;
    case 15: return read_circuit(in, values.circuit.emplace());
    case 16: return read_disable(in, values.disable.emplace());
    case 17: return read_hold(in, values.hold);
    case 18: values.resume_rate = number32(in); return true;
    default: return true;
  }
}

bool read_delivery(const WireReader& delivery_in, webhook::OwnDelivery& own) {
  webhook::Delivery values = zeroed();
  const bool whole = read_fields(delivery_in.text(), [&](const WireReader& in) {
    if (in.field() == 1) {
      own.set = number32(in) & webhook::all_delivery_parts;
      return true;
    }
    return read_delivery_field(in, values);
  });
  webhook::take_parts(own.values, values, own.set);
  return whole;
}

void write_secret(Wire& wire, const webhook::SigningSecret& secret) {
  const auto& [sealed, kind, created_at, expires_at] = secret;
  wire.text(1, sealed);
  wire.number(2, static_cast<std::uint64_t>(kind));
  wire.moment(3, created_at);
  wire.moment(4, expires_at);
}
bool read_secret(const WireReader& secret_in, std::vector<webhook::SigningSecret>& secrets) {
  using Kind = webhook::SigningSecret::Kind;
  webhook::SigningSecret& secret = secrets.emplace_back();
  secret.expires_at = {};
  return read_fields(secret_in.text(), [&secret](const WireReader& in) {
    switch (in.field()) {
      case 1: secret.sealed = in.text(); break;
      case 2: return read_enum(in, secret.kind, Kind::symmetric, Kind::ed25519);
      case 3: secret.created_at = read_moment(in); break;
      case 4: secret.expires_at = read_moment(in); break;
      default: break;
    }
    return true;
  });
}

}  // namespace

template <>
std::string Codec<webhook::Application>::encode(const webhook::Application& application) {
  const auto& [tenant, number, made, name, uid, rate, metadata, updated_at, endpoints, disabled,
               tokens] = application;
  std::string out;
  Wire wire(out);
  write_made(wire, 1, made);
  wire.text(2, name);
  wire.text(3, uid);
  wire.number(4, rate);
  write_metadata(wire, 5, metadata);
  wire.moment(6, updated_at);
  wire.number(7, endpoints);
  wire.number(8, disabled);
  wire.number(9, tokens);
  return out;
}

template <>
Result<webhook::Application> Codec<webhook::Application>::decode(
    core::KeyOf<webhook::Application> key, std::string_view value) {
  webhook::Application application;
  std::tie(application.tenant, application.number) = key;
  const bool whole = read_fields(value, [&application](const WireReader& in) {
    switch (in.field()) {
      case 1: return read_made(in, application.made);
      case 2: application.name = in.text(); break;
      case 3: application.uid = in.text(); break;
      case 4: application.rate = number32(in); break;
      case 5: return read_metadata(in, application.metadata);
      case 6: application.updated_at = read_moment(in); break;
      case 7: application.endpoints = in.number(); break;
      case 8: application.disabled = in.number(); break;
      case 9: application.tokens = in.number(); break;
      default: break;
    }
    return true;
  });
  if (!whole) {
    return broken_record("application");
  }
  return application;
}

template <>
std::string Codec<webhook::EventType>::encode(const webhook::EventType& type) {
  const auto& [tenant, name, description, schemas, group, feature_flags, archived, deprecated,
               created_at, updated_at] = type;
  std::string out;
  Wire wire(out);
  wire.text(1, description);
  wire.text(2, schemas);
  wire.text(3, group);
  wire.items(4, feature_flags);
  wire.number(5, archived ? 1 : 0);
  wire.number(6, deprecated ? 1 : 0);
  wire.moment(7, created_at);
  wire.moment(8, updated_at);
  return out;
}

template <>
Result<webhook::EventType> Codec<webhook::EventType>::decode(core::KeyOf<webhook::EventType> key,
                                                             std::string_view value) {
  webhook::EventType type;
  std::tie(type.tenant, type.name) = std::move(key);
  const bool whole = read_fields(value, [&type](const WireReader& in) {
    switch (in.field()) {
      case 1: type.description = in.text(); break;
      case 2: type.schemas = in.text(); break;
      case 3: type.group = in.text(); break;
      case 4: type.feature_flags.emplace_back(in.text()); break;
      case 5: type.archived = read_flag(in); break;
      case 6: type.deprecated = read_flag(in); break;
      case 7: type.created_at = read_moment(in); break;
      case 8: type.updated_at = read_moment(in); break;
      default: break;
    }
    return true;
  });
  if (!whole) {
    return broken_record("event type");
  }
  return type;
}

template <>
std::string Codec<webhook::Endpoint>::encode(const webhook::Endpoint& endpoint) {
  const auto& [tenant, application, number, made, uid, url, host, description, event_types,
               channels, rate, secrets, headers, metadata, disabled, paused, delivery, updated_at] =
      endpoint;
  std::string out;
  Wire wire(out);
  write_made(wire, 1, made);
  wire.text(2, uid);
  wire.text(3, url);
  wire.text(4, host);
  wire.text(5, description);
  wire.items(6, event_types);
  wire.items(7, channels);
  wire.number(8, rate);
  for (const webhook::SigningSecret& secret : secrets) {
    wire.record(9, [&] { write_secret(wire, secret); });
  }
  wire.headers(10, headers);
  write_metadata(wire, 11, metadata);
  wire.number(12, static_cast<std::uint64_t>(disabled));
  wire.number(13, paused ? 1 : 0);
  write_delivery(wire, 14, delivery);
  wire.moment(15, updated_at);
  return out;
}

template <>
Result<webhook::Endpoint> Codec<webhook::Endpoint>::decode(core::KeyOf<webhook::Endpoint> key,
                                                           std::string_view value) {
  using Disabled = webhook::Endpoint::Disabled;
  webhook::Endpoint endpoint;
  std::tie(endpoint.tenant, endpoint.application, endpoint.number) = key;
  const bool whole = read_fields(value, [&endpoint](const WireReader& in) {
    switch (in.field()) {
      case 1: return read_made(in, endpoint.made);
      case 2: endpoint.uid = in.text(); break;
      case 3: endpoint.url = in.text(); break;
      case 4: endpoint.host = in.text(); break;
      case 5: endpoint.description = in.text(); break;
      case 6: endpoint.event_types.emplace_back(in.text()); break;
      case 7: endpoint.channels.emplace_back(in.text()); break;
      case 8: endpoint.rate = number32(in); break;
      case 9: return read_secret(in, endpoint.secrets);
      case 10: return read_header(in, endpoint.headers);
      case 11: return read_metadata(in, endpoint.metadata);
      case 12: return read_enum(in, endpoint.disabled, Disabled::no, Disabled::gone);
      case 13: endpoint.paused = read_flag(in); break;
      case 14: return read_delivery(in, endpoint.delivery);
      case 15: endpoint.updated_at = read_moment(in); break;
      default: break;
    }
    return true;
  });
  if (!whole) {
    return broken_record("endpoint");
  }
  return endpoint;
}

template <>
std::string Codec<webhook::Name>::encode(const webhook::Name& name) {
  std::string out;
  Wire(out).number(1, name.number);
  return out;
}

template <>
Result<webhook::Name> Codec<webhook::Name>::decode(core::KeyOf<webhook::Name> key,
                                                   std::string_view value) {
  using Kind = webhook::Name::Kind;
  auto& [tenant, kind, scope, text] = key;
  webhook::Name name{
      .tenant = tenant, .kind = static_cast<Kind>(kind), .scope = scope, .name = std::move(text)};
  const bool whole = read_fields(value, [&name](const WireReader& in) {
    if (in.field() == 1) {
      name.number = in.number();
    }
    return true;
  });
  if (!whole || kind < static_cast<std::uint32_t>(Kind::application_uid) ||
      kind > static_cast<std::uint32_t>(Kind::token)) {
    return broken_record("name");
  }
  return name;
}

template <>
std::string Codec<webhook::AppToken>::encode(const webhook::AppToken& token) {
  const auto& [tenant, digest, application, capabilities, feature_flags, all_feature_flags, session,
               created_at, expires_at, integration] = token;
  std::string out;
  Wire wire(out);
  wire.number(1, application);
  wire.number(2, capabilities);
  wire.items(3, feature_flags);
  wire.number(4, all_feature_flags ? 1 : 0);
  wire.text(5, session);
  wire.moment(6, created_at);
  wire.moment(7, expires_at);
  wire.number(8, integration);
  return out;
}

template <>
Result<webhook::AppToken> Codec<webhook::AppToken>::decode(core::KeyOf<webhook::AppToken> key,
                                                           std::string_view value) {
  webhook::AppToken token{.capabilities = 0, .expires_at = {}};
  std::tie(token.tenant, token.digest) = std::move(key);
  const bool whole = read_fields(value, [&token](const WireReader& in) {
    switch (in.field()) {
      case 1: token.application = in.number(); break;
      case 2: token.capabilities = number32(in) & webhook::all_capabilities; break;
      case 3: token.feature_flags.emplace_back(in.text()); break;
      case 4: token.all_feature_flags = read_flag(in); break;
      case 5: token.session = in.text(); break;
      case 6: token.created_at = read_moment(in); break;
      case 7: token.expires_at = read_moment(in); break;
      case 8: token.integration = in.number(); break;
      default: break;
    }
    return true;
  });
  if (!whole) {
    return broken_record("app token");
  }
  return token;
}

template <>
std::string Codec<webhook::Integration>::encode(const webhook::Integration& integration) {
  const auto& [tenant, application, number, made, name, feature_flags, digest, updated_at] =
      integration;
  std::string out;
  Wire wire(out);
  write_made(wire, 1, made);
  wire.text(2, name);
  wire.items(3, feature_flags);
  wire.text(4, digest);
  wire.moment(5, updated_at);
  return out;
}

template <>
Result<webhook::Integration> Codec<webhook::Integration>::decode(
    core::KeyOf<webhook::Integration> key, std::string_view value) {
  webhook::Integration integration;
  std::tie(integration.tenant, integration.application, integration.number) = key;
  const bool whole = read_fields(value, [&integration](const WireReader& in) {
    switch (in.field()) {
      case 1: return read_made(in, integration.made);
      case 2: integration.name = in.text(); break;
      case 3: integration.feature_flags.emplace_back(in.text()); break;
      case 4: integration.digest = in.text(); break;
      case 5: integration.updated_at = read_moment(in); break;
      default: break;
    }
    return true;
  });
  if (!whole) {
    return broken_record("integration");
  }
  return integration;
}

template <>
std::string Codec<webhook::Settings>::encode(const webhook::Settings& settings) {
  const auto& [tenant, delivery, known_types_only, schema_check, https_only, payload_bytes_max,
               endpoints_max] = settings;
  std::string out;
  Wire wire(out);
  write_delivery(wire, 1, delivery);
  wire.number(2, known_types_only ? 1 : 0);
  wire.number(3, static_cast<std::uint64_t>(schema_check));
  wire.number(4, https_only ? 1 : 0);
  wire.number(5, payload_bytes_max);
  wire.number(6, endpoints_max);
  return out;
}

template <>
Result<webhook::Settings> Codec<webhook::Settings>::decode(core::KeyOf<webhook::Settings> tenant,
                                                           std::string_view value) {
  using SchemaCheck = webhook::Settings::SchemaCheck;
  webhook::Settings settings{.tenant = tenant, .payload_bytes_max = 0, .endpoints_max = 0};
  const bool whole = read_fields(value, [&settings](const WireReader& in) {
    switch (in.field()) {
      case 1: return read_delivery(in, settings.delivery);
      case 2: settings.known_types_only = read_flag(in); break;
      case 3: return read_enum(in, settings.schema_check, SchemaCheck::off, SchemaCheck::refuse);
      case 4: settings.https_only = read_flag(in); break;
      case 5: settings.payload_bytes_max = number32(in); break;
      case 6: settings.endpoints_max = number32(in); break;
      default: break;
    }
    return true;
  });
  if (!whole) {
    return broken_record("settings of webhooks");
  }
  return settings;
}

template <>
std::string Codec<webhook::Totals>::encode(const webhook::Totals& totals) {
  const auto& [tenant, applications, event_types] = totals;
  std::string out;
  Wire wire(out);
  wire.number(1, applications);
  wire.number(2, event_types);
  return out;
}

template <>
Result<webhook::Totals> Codec<webhook::Totals>::decode(core::KeyOf<webhook::Totals> tenant,
                                                       std::string_view value) {
  webhook::Totals totals{.tenant = tenant};
  const bool whole = read_fields(value, [&totals](const WireReader& in) {
    switch (in.field()) {
      case 1: totals.applications = in.number(); break;
      case 2: totals.event_types = in.number(); break;
      default: break;
    }
    return true;
  });
  if (!whole) {
    return broken_record("totals of webhooks");
  }
  return totals;
}

}  // namespace hk::store
