/// Records that are written once per batch or per message beside it: dedup, events, expiry,
/// counters.
#include "store/codec.h"
#include "store/record_parts.h"

namespace hk::store {
namespace {

std::optional<core::EventKind> to_event_kind(std::uint32_t number) {
  const auto kind = static_cast<core::EventKind>(number);
  switch (kind) {
    case core::EventKind::created:
    case core::EventKind::active:
    case core::EventKind::error:
    case core::EventKind::retry:
    case core::EventKind::delivered:
    case core::EventKind::failed:
    case core::EventKind::cancel_requested:
    case core::EventKind::canceled: return number <= 0xff ? std::optional(kind) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

template <>
std::string Codec<core::Dedup>::encode(const core::Dedup& dedup) {
  const auto& [first, expires_at] = dedup;
  const auto& [seq, nonce] = first;
  records::Dedup record;
  record.set_seq(seq.value());
  record.set_nonce(nonce);
  record.set_expires_at(to_ms(expires_at));
  return serialize(record);
}

template <>
Result<core::Dedup> Codec<core::Dedup>::decode(core::KeyOf<core::Dedup> /*key*/,
                                               std::string_view value) {
  records::Dedup record;
  if (!parse(record, value)) {
    return broken_record("dedup entry");
  }
  return core::Dedup{.first = {core::Seq{record.seq()}, record.nonce()},
                     .expires_at = moment_from_ms(record.expires_at())};
}

template <>
std::string Codec<core::Events>::encode(const core::Events& append) {
  const auto& [tenant, time, batch, events] = append;
  const auto count = static_cast<int>(events.size());
  records::Events record;
  record.mutable_seq()->Reserve(count);
  record.mutable_kind()->Reserve(count);
  record.mutable_attempt()->Reserve(count);
  for (const auto& [seq, kind, attempt] : events) {
    record.add_seq(seq.value());
    record.add_kind(static_cast<std::uint32_t>(kind));
    record.add_attempt(attempt);
  }
  return serialize(record);
}

template <>
Result<core::Events> Codec<core::Events>::decode(core::KeyOf<core::Events> key,
                                                 std::string_view value) {
  records::Events record;
  if (!parse(record, value)) {
    return broken_record("events");
  }
  if (record.seq_size() != record.kind_size() || record.seq_size() != record.attempt_size()) {
    return broken_record("events with lists of different lengths");
  }
  const auto& [tenant, time, batch] = key;
  core::Events append{.tenant = tenant, .time = time, .batch = batch};
  append.events.reserve(static_cast<std::size_t>(record.seq_size()));
  for (int i = 0; i < record.seq_size(); ++i) {
    const auto kind = to_event_kind(record.kind(i));
    if (!kind) {
      return broken_record("event of unknown kind " + std::to_string(record.kind(i)));
    }
    append.events.push_back({core::Seq{record.seq(i)}, *kind, record.attempt(i)});
  }
  return append;
}

template <>
std::string Codec<core::Expiry>::encode(const core::Expiry& expiry) {
  const auto& [at, batch, messages, dedups, keys, events] = expiry;
  records::Expiry record;
  record.mutable_messages()->Reserve(static_cast<int>(messages.size()));
  for (const core::Seq seq : messages) {
    record.add_messages(seq.value());
  }
  for (const auto& [tenant, id] : dedups) {
    records::Expiry::DedupKey& key = *record.add_dedups();
    key.set_tenant(tenant.value());
    key.set_id(id);
  }
  for (const auto& [tenant, id] : keys) {
    records::Expiry::DedupKey& key = *record.add_keys();
    key.set_tenant(tenant.value());
    key.set_id(id);
  }
  for (const auto& [tenant, application, number] : events) {
    record.add_events(tenant.value());
    record.add_events(application);
    record.add_events(number);
  }
  return serialize(record);
}

template <>
Result<core::Expiry> Codec<core::Expiry>::decode(core::KeyOf<core::Expiry> key,
                                                 std::string_view value) {
  records::Expiry record;
  constexpr int parts_of_event = 3;
  if (!parse(record, value) || record.events_size() % parts_of_event != 0) {
    return broken_record("expiry");
  }
  const auto& [at, batch] = key;
  core::Expiry expiry{.at = at, .batch = batch};
  expiry.messages.reserve(static_cast<std::size_t>(record.messages_size()));
  for (const std::uint64_t seq : record.messages()) {
    expiry.messages.emplace_back(seq);
  }
  expiry.dedups.reserve(static_cast<std::size_t>(record.dedups_size()));
  for (records::Expiry::DedupKey& dedup : *record.mutable_dedups()) {
    expiry.dedups.emplace_back(core::TenantId{dedup.tenant()}, std::move(*dedup.mutable_id()));
  }
  expiry.keys.reserve(static_cast<std::size_t>(record.keys_size()));
  for (records::Expiry::DedupKey& one : *record.mutable_keys()) {
    expiry.keys.emplace_back(core::TenantId{one.tenant()}, std::move(*one.mutable_id()));
  }
  expiry.events.reserve(static_cast<std::size_t>(record.events_size() / parts_of_event));
  for (int i = 0; i < record.events_size(); i += parts_of_event) {
    expiry.events.emplace_back(core::TenantId{static_cast<std::uint32_t>(record.events(i))},
                               record.events(i + 1), record.events(i + 2));
  }
  return expiry;
}

template <>
std::string Codec<core::Counters>::encode(const core::Counters& counters) {
  const auto& [accepted, deduplicated, pending, succeeded, failed, canceled, dead_letters, attempts,
               purged] = counters;
  records::Counters record;
  record.set_accepted(accepted);
  record.set_deduplicated(deduplicated);
  record.set_pending(pending);
  record.set_succeeded(succeeded);
  record.set_failed(failed);
  record.set_canceled(canceled);
  record.set_dead_letters(dead_letters);
  record.set_attempts(attempts);
  record.set_purged(purged);
  return serialize(record);
}

template <>
Result<core::Counters> Codec<core::Counters>::decode(core::KeyOf<core::Counters> /*key*/,
                                                     std::string_view value) {
  records::Counters record;
  if (!parse(record, value)) {
    return broken_record("counters");
  }
  return core::Counters{.accepted = record.accepted(),
                        .deduplicated = record.deduplicated(),
                        .pending = record.pending(),
                        .succeeded = record.succeeded(),
                        .failed = record.failed(),
                        .canceled = record.canceled(),
                        .dead_letters = record.dead_letters(),
                        .attempts = record.attempts(),
                        .purged = record.purged()};
}

}  // namespace hk::store
