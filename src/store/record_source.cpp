/// Inbound sources, their events, and what was rejected.
#include <utility>

#include "store/codec.h"
#include "store/record_parts.h"

namespace hk::store {

template <>
std::string Codec<core::Source>::encode(const core::Source& source) {
  const auto& [tenant, id, name, enabled, secrets, dedup_window, settings, version, created_at,
               updated_at, stats, quarantine, upkeep_at] = source;
  records::Source record;
  record.set_name(name);
  record.set_enabled(enabled);
  for (const auto& [secret_id, sealed, hint, made_at, expires_at] : secrets) {
    records::SourceSecret& secret = *record.add_secrets();
    secret.set_id(secret_id);
    secret.set_sealed(sealed);
    secret.set_hint(hint);
    secret.set_created_at(to_ms(made_at));
    secret.set_expires_at(to_ms(expires_at));
  }
  record.set_dedup_window(dedup_window.count());
  record.set_settings(settings);
  record.set_version(version);
  record.set_created_at(to_ms(created_at));
  record.set_updated_at(to_ms(updated_at));
  const auto& [accepted, duplicates, invalid, quarantined, dropped, last_accepted_at] = stats;
  record.set_accepted(accepted);
  record.set_duplicates(duplicates);
  record.set_invalid(invalid);
  record.set_quarantined(quarantined);
  record.set_dropped(dropped);
  record.set_last_accepted_at(to_ms(last_accepted_at));
  const auto& [next, first, items, bytes] = quarantine;
  record.set_quarantine_next(next);
  record.set_quarantine_first(first);
  record.set_quarantine_items(items);
  record.set_quarantine_bytes(bytes);
  record.set_upkeep_at(to_ms(upkeep_at));
  return serialize(record);
}

template <>
Result<core::Source> Codec<core::Source>::decode(core::KeyOf<core::Source> key,
                                                 std::string_view value) {
  records::Source record;
  if (!parse(record, value)) {
    return broken_record("source");
  }
  auto& [tenant, id] = key;
  core::Source source{.tenant = tenant,
                      .id = std::move(id),
                      .name = std::move(*record.mutable_name()),
                      .enabled = record.enabled(),
                      .dedup_window = Millis{record.dedup_window()},
                      .settings = std::move(*record.mutable_settings()),
                      .version = record.version(),
                      .created_at = moment_from_ms(record.created_at()),
                      .updated_at = moment_from_ms(record.updated_at()),
                      .stats = {.accepted = record.accepted(),
                                .duplicates = record.duplicates(),
                                .invalid = record.invalid(),
                                .quarantined = record.quarantined(),
                                .dropped = record.dropped(),
                                .last_accepted_at = moment_from_ms(record.last_accepted_at())},
                      .quarantine = {.next = record.quarantine_next(),
                                     .first = record.quarantine_first(),
                                     .items = record.quarantine_items(),
                                     .bytes = record.quarantine_bytes()},
                      .upkeep_at = moment_from_ms(record.upkeep_at())};
  for (records::SourceSecret& secret : *record.mutable_secrets()) {
    source.secrets.push_back({.id = std::move(*secret.mutable_id()),
                              .sealed = std::move(*secret.mutable_sealed()),
                              .hint = std::move(*secret.mutable_hint()),
                              .created_at = moment_from_ms(secret.created_at()),
                              .expires_at = moment_from_ms(secret.expires_at())});
  }
  return source;
}

template <>
std::string Codec<core::SourceName>::encode(const core::SourceName& one) {
  const auto& [name, tenant, id, version] = one;
  records::SourceName record;
  record.set_tenant(tenant.value());
  record.set_id(id);
  record.set_version(version);
  return serialize(record);
}

template <>
Result<core::SourceName> Codec<core::SourceName>::decode(core::KeyOf<core::SourceName> key,
                                                         std::string_view value) {
  records::SourceName record;
  if (!parse(record, value)) {
    return broken_record("name of a source");
  }
  return core::SourceName{.name = std::move(key),
                          .tenant = core::TenantId{record.tenant()},
                          .id = std::move(*record.mutable_id()),
                          .version = record.version()};
}

template <>
std::string Codec<core::SourceEvent>::encode(const core::SourceEvent& event) {
  const auto& [tenant, source, message, event_id, event_type, received_at, bytes, duplicates,
               unverified] = event;
  records::SourceEvent record;
  record.set_nonce(message.nonce);
  record.set_event_id(event_id);
  record.set_event_type(event_type);
  record.set_received_at(to_ms(received_at));
  record.set_bytes(bytes);
  record.set_duplicates(duplicates);
  record.set_unverified(unverified);
  return serialize(record);
}

template <>
Result<core::SourceEvent> Codec<core::SourceEvent>::decode(core::KeyOf<core::SourceEvent> key,
                                                           std::string_view value) {
  records::SourceEvent record;
  if (!parse(record, value)) {
    return broken_record("event of a source");
  }
  auto& [tenant, source, seq] = key;
  return core::SourceEvent{.tenant = tenant,
                           .source = std::move(source.name),
                           .message = {seq, record.nonce()},
                           .event_id = std::move(*record.mutable_event_id()),
                           .event_type = std::move(*record.mutable_event_type()),
                           .received_at = moment_from_ms(record.received_at()),
                           .bytes = record.bytes(),
                           .duplicates = record.duplicates(),
                           .unverified = record.unverified()};
}

template <>
std::string Codec<core::Quarantined>::encode(const core::Quarantined& request) {
  const auto& [tenant, source, number, nonce, received_at, method, target, headers, body, remote,
               code, message, details] = request;
  records::Quarantined record;
  record.set_nonce(nonce);
  record.set_received_at(to_ms(received_at));
  record.set_method(method);
  record.set_target(target);
  set_headers(*record.mutable_headers(), headers);
  record.set_body(body);
  record.set_remote(remote);
  record.set_code(code);
  record.set_message(message);
  record.set_details(details);
  return serialize(record);
}

template <>
Result<core::Quarantined> Codec<core::Quarantined>::decode(core::KeyOf<core::Quarantined> key,
                                                           std::string_view value) {
  records::Quarantined record;
  if (!parse(record, value)) {
    return broken_record("rejected request");
  }
  auto& [tenant, source, number] = key;
  return core::Quarantined{.tenant = tenant,
                           .source = std::move(source.name),
                           .number = number,
                           .nonce = record.nonce(),
                           .received_at = moment_from_ms(record.received_at()),
                           .method = std::move(*record.mutable_method()),
                           .target = std::move(*record.mutable_target()),
                           .headers = take_headers(*record.mutable_headers()),
                           .body = std::move(*record.mutable_body()),
                           .remote = std::move(*record.mutable_remote()),
                           .code = std::move(*record.mutable_code()),
                           .message = std::move(*record.mutable_message()),
                           .details = std::move(*record.mutable_details())};
}

}  // namespace hk::store
