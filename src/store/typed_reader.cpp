#include "store/typed_reader.h"

#include <algorithm>
#include <limits>

#include "base/assert.h"
#include "store/codec.h"
#include "store/key.h"
#include "store/table_name.h"

namespace hk::store {
namespace {

/// Rows of small tables fetched at once.
constexpr std::size_t piece = 256;

[[noreturn]] void corrupt(Table table, std::string_view key, std::string_view why) {
  throw core::CorruptRecord(describe_key(table, key) + ": " + std::string(why));
}

template <class T>
T checked(Result<T> decoded, Table table, std::string_view key) {
  if (!decoded) {
    corrupt(table, key, decoded.error().message);
  }
  return std::move(*decoded);
}

/// What a snapshot has read.
template <class T>
T given(Result<T> read, Table table, std::string_view key) {
  if (!read && read.error().kind != ErrorKind::corruption) {
    throw UnreadableRecord(describe_key(table, key) + ": " + read.error().message);
  }
  return checked(std::move(read), table, key);
}

template <class T>
T checked_key(std::optional<T> parsed, Table table, std::string_view key) {
  if (!parsed) {
    corrupt(table, key, "stored key cannot be read");
  }
  return std::move(*parsed);
}

/// The key of the first row that is later than every row of (tenant, time).
std::string after_time(core::TenantId tenant, Moment time) {
  return after_key(event_key(tenant, time, std::numeric_limits<std::uint64_t>::max()));
}

}  // namespace

TypedReader::TypedReader(std::shared_ptr<store::Reader> snapshot) : snapshot_(std::move(snapshot)) {
  HK_ASSERT(snapshot_ != nullptr);
}

std::optional<std::string> TypedReader::get(Table table, std::string_view key) {
  return given(snapshot_->get(table, key), table, key);
}

std::vector<Entry> TypedReader::scan(Table table, std::string_view from, std::string_view to,
                                     std::size_t limit, bool reverse) {
  return given(snapshot_->scan(table, from, to, limit, reverse), table, from);
}

template <class Each>
void TypedReader::for_each(Table table, Each each, std::string from, const std::string& to) {
  while (true) {
    const std::vector<Entry> entries = scan(table, from, to, piece);
    for (const Entry& entry : entries) {
      each(entry);
    }
    if (entries.size() < piece) {
      return;
    }
    from = after_key(entries.back().key);
  }
}

template <class Decode>
auto TypedReader::named(Table table, std::optional<core::TenantId> tenant, Decode decode) {
  using Record = typename decltype(decode(core::TenantId{}, {}, {}))::value_type;
  std::vector<Record> out;
  for_each(
      table,
      [&](const Entry& entry) {
        auto [owner, name] = checked_key(parse_named_key(entry.key), table, entry.key);
        out.push_back(checked(decode(owner, std::move(name), entry.value), table, entry.key));
      },
      tenant ? tenant_key(*tenant) : "", tenant ? prefix_end(tenant_key(*tenant)) : "");
  return out;
}

template <class Decode>
auto TypedReader::get_named(Table table, core::TenantId tenant, std::string_view name,
                            Decode decode) {
  using Record = typename decltype(decode(core::TenantId{}, {}, {}))::value_type;
  const std::string key = named_key(tenant, name);
  const auto value = get(table, key);
  if (!value) {
    return std::optional<Record>{};
  }
  return std::optional<Record>(checked(decode(tenant, std::string(name), *value), table, key));
}

std::shared_ptr<const core::Message> TypedReader::message(core::Seq seq) {
  const std::string key = seq_key(seq);
  const auto value = get(Table::message, key);
  if (!value) {
    return nullptr;
  }
  return std::make_shared<const core::Message>(
      checked(decode_message(seq, *value), Table::message, key));
}

std::optional<core::MessageState> TypedReader::state(core::Seq seq) {
  const std::string key = seq_key(seq);
  const auto value = get(Table::state, key);
  if (!value) {
    return std::nullopt;
  }
  return checked(decode_state(*value), Table::state, key);
}

std::vector<core::Attempt> TypedReader::attempts(core::Seq seq) {
  std::vector<core::Attempt> out;
  const std::string end = prefix_end(seq_key(seq));
  std::string from = seq_key(seq);
  while (true) {
    const auto entries = scan(Table::attempt, from, end, piece);
    for (const Entry& entry : entries) {
      out.push_back(checked(decode_attempt(entry.value), Table::attempt, entry.key));
    }
    if (entries.size() < piece) {
      return out;
    }
    from = after_key(entries.back().key);
  }
}

std::optional<core::Dedup> TypedReader::dedup(core::TenantId tenant, std::string_view id) {
  const std::string key = named_key(tenant, id);
  const auto value = get(Table::dedup, key);
  if (!value) {
    return std::nullopt;
  }
  return checked(decode_dedup(*value), Table::dedup, key);
}

bool TypedReader::has_dead_letter(const core::DeadLetterKey& key) {
  return get(Table::dead_letter, dead_letter_key(key)).has_value();
}

std::vector<core::LaneEntry> TypedReader::lane_entries(const core::LaneKey& lane,
                                                       std::optional<core::LanePlace> after,
                                                       std::size_t limit) {
  const std::string prefix = lane_prefix(lane);
  const std::string from = after ? after_key(lane_entry_key(lane, *after)) : prefix;
  std::vector<core::LaneEntry> out;
  for (const Entry& entry : scan(Table::lane, from, prefix_end(prefix), limit)) {
    const auto [entry_lane, place] =
        checked_key(parse_lane_entry_key(entry.key), Table::lane, entry.key);
    out.push_back(checked(decode_lane_entry(place, entry.value), Table::lane, entry.key));
  }
  return out;
}

std::vector<core::LaneRow> TypedReader::lane_rows(const std::optional<core::LaneKey>& after,
                                                  std::size_t limit) {
  const std::string from = after ? prefix_end(lane_prefix(*after)) : std::string();
  std::vector<core::LaneRow> out;
  for (const Entry& entry : scan(Table::lane, from, "", limit)) {
    auto [lane, place] = checked_key(parse_lane_entry_key(entry.key), Table::lane, entry.key);
    out.push_back(
        {std::move(lane), checked(decode_lane_entry(place, entry.value), Table::lane, entry.key)});
  }
  return out;
}

std::vector<std::shared_ptr<const core::Message>> TypedReader::messages_after(core::Seq after,
                                                                              std::size_t limit) {
  std::vector<std::shared_ptr<const core::Message>> out;
  for (const Entry& entry : scan(Table::message, after_key(seq_key(after)), "", limit)) {
    const core::Seq seq = checked_key(parse_seq_key(entry.key), Table::message, entry.key);
    out.push_back(std::make_shared<const core::Message>(
        checked(decode_message(seq, entry.value), Table::message, entry.key)));
  }
  return out;
}

core::Seq TypedReader::last_seq() {
  const auto indexed = meta().value_or(core::Meta{}).indexed_up_to;
  // Only behind the mark: what was purged before it may have left nothing but deleted rows.
  const auto last = scan(Table::message, after_key(seq_key(indexed)), "", 1, true);
  if (last.empty()) {
    return indexed;
  }
  const std::string& key = last.front().key;
  return std::max(indexed, checked_key(parse_seq_key(key), Table::message, key));
}

std::vector<core::PutExpiry> TypedReader::expiries_until(Moment now, std::size_t limit) {
  return expiries({}, {now + Millis{1}, 0}, limit);
}

std::vector<core::PutExpiry> TypedReader::expiries(const ExpiryPlace& from, const ExpiryPlace& to,
                                                   std::size_t limit) {
  std::vector<core::PutExpiry> out;
  const std::string end = expiry_key(to.first, to.second);
  for (const Entry& entry : scan(Table::expiry, expiry_key(from.first, from.second), end, limit)) {
    const auto [at, batch] = checked_key(parse_expiry_key(entry.key), Table::expiry, entry.key);
    out.push_back(checked(decode_expiry(at, batch, entry.value), Table::expiry, entry.key));
  }
  return out;
}

std::optional<core::Meta> TypedReader::meta() {
  const auto value = get(Table::meta, meta_key);
  if (!value) {
    return std::nullopt;
  }
  return checked(decode_meta(*value), Table::meta, meta_key);
}

std::vector<core::Tenant> TypedReader::tenants() {
  std::vector<core::Tenant> out;
  for_each(Table::tenant, [&out](const Entry& entry) {
    const auto id = checked_key(parse_tenant_key(entry.key), Table::tenant, entry.key);
    out.push_back(checked(decode_tenant(id, entry.value), Table::tenant, entry.key));
  });
  return out;
}

std::vector<core::Queue> TypedReader::queues() {
  return named(Table::queue, std::nullopt, decode_queue);
}
std::vector<core::Queue> TypedReader::queues(core::TenantId tenant) {
  return named(Table::queue, tenant, decode_queue);
}
std::optional<core::Queue> TypedReader::queue(core::TenantId tenant, std::string_view name) {
  return get_named(Table::queue, tenant, name, decode_queue);
}

std::vector<core::FlowKey> TypedReader::flow_keys() {
  return named(Table::flow_key, std::nullopt, decode_flow_key);
}
std::optional<core::FlowKey> TypedReader::flow_key(core::TenantId tenant, std::string_view key) {
  return get_named(Table::flow_key, tenant, key, decode_flow_key);
}

std::vector<core::UrlGroup> TypedReader::url_groups() {
  return named(Table::url_group, std::nullopt, decode_url_group);
}
std::vector<core::UrlGroup> TypedReader::url_groups(core::TenantId tenant) {
  return named(Table::url_group, tenant, decode_url_group);
}
std::optional<core::UrlGroup> TypedReader::url_group(core::TenantId tenant, std::string_view name) {
  return get_named(Table::url_group, tenant, name, decode_url_group);
}

std::optional<core::Schedule> TypedReader::schedule(core::TenantId tenant, std::string_view id) {
  return get_named(Table::schedule, tenant, id, decode_schedule);
}

std::vector<core::Schedule> TypedReader::schedules(core::TenantId tenant, std::string_view after,
                                                   std::size_t limit) {
  const std::string from = after.empty() ? tenant_key(tenant) : after_key(named_key(tenant, after));
  std::vector<core::Schedule> out;
  for (const Entry& entry : scan(Table::schedule, from, prefix_end(tenant_key(tenant)), limit)) {
    auto [owner, id] = checked_key(parse_named_key(entry.key), Table::schedule, entry.key);
    out.push_back(
        checked(decode_schedule(owner, std::move(id), entry.value), Table::schedule, entry.key));
  }
  return out;
}

std::optional<core::Document> TypedReader::document(core::TenantId tenant, std::string_view kind,
                                                    std::string_view name) {
  return get_named(Table::document, tenant, std::string(kind) + "/" + std::string(name),
                   decode_document);
}

std::vector<core::Document> TypedReader::documents(core::TenantId tenant, std::string_view kind,
                                                   std::string_view after, std::size_t limit) {
  const std::string prefix = std::string(kind) + "/";
  const std::string first = named_key(tenant, prefix + std::string(after));
  std::vector<core::Document> out;
  for (const Entry& entry : scan(Table::document, after.empty() ? first : after_key(first),
                                 prefix_end(named_key(tenant, prefix)), limit)) {
    auto [owner, name] = checked_key(parse_named_key(entry.key), Table::document, entry.key);
    out.push_back(
        checked(decode_document(owner, std::move(name), entry.value), Table::document, entry.key));
  }
  return out;
}

std::optional<core::ScheduleState> TypedReader::schedule_state(core::TenantId tenant,
                                                               std::string_view id) {
  const std::string key = named_key(tenant, id);
  const auto value = get(Table::schedule_state, key);
  if (!value) {
    return std::nullopt;
  }
  return checked(decode_schedule_state(*value), Table::schedule_state, key);
}

std::vector<core::ScheduleDue> TypedReader::next_schedules(std::size_t limit) {
  std::vector<core::ScheduleDue> out;
  for (const Entry& entry : scan(Table::schedule_due, "", "", limit)) {
    out.push_back(checked_key(parse_schedule_due_key(entry.key), Table::schedule_due, entry.key));
  }
  return out;
}

std::vector<std::pair<core::TenantId, core::Counters>> TypedReader::counters() {
  std::vector<std::pair<core::TenantId, core::Counters>> out;
  for_each(Table::counters, [&out](const Entry& entry) {
    const auto tenant = checked_key(parse_tenant_key(entry.key), Table::counters, entry.key);
    out.emplace_back(tenant, checked(decode_counters(entry.value), Table::counters, entry.key));
  });
  return out;
}

std::vector<core::DeadLetterKey> TypedReader::dead_letters(core::TenantId tenant,
                                                           std::optional<core::DeadLetterKey> after,
                                                           bool latest_first, std::size_t limit) {
  std::string from = tenant_key(tenant);
  std::string to = prefix_end(tenant_key(tenant));
  if (after) {
    (latest_first ? to : from) =
        latest_first ? dead_letter_key(*after) : after_key(dead_letter_key(*after));
  }
  std::vector<core::DeadLetterKey> out;
  for (const Entry& entry : scan(Table::dead_letter, from, to, limit, latest_first)) {
    out.push_back(checked_key(parse_dead_letter_key(entry.key), Table::dead_letter, entry.key));
  }
  return out;
}

std::vector<core::AppendEvents> TypedReader::events(
    core::TenantId tenant, Moment from, Moment to,
    std::optional<std::pair<Moment, std::uint64_t>> after, bool latest_first, std::size_t limit) {
  std::string first = event_key(tenant, std::max(from, Moment{}), 0);
  std::string end = after_time(tenant, to);
  if (to < Moment{} || to < from) {
    return {};
  }
  if (after) {
    const std::string last = event_key(tenant, after->first, after->second);
    if (latest_first) {
      end = std::min(end, last);
    } else {
      first = std::max(first, after_key(last));
    }
  }
  std::vector<core::AppendEvents> out;
  for (const Entry& entry : scan(Table::event, first, end, limit, latest_first)) {
    const EventKey key = checked_key(parse_event_key(entry.key), Table::event, entry.key);
    out.push_back(checked(decode_events(key.tenant, key.time, key.batch, entry.value), Table::event,
                          entry.key));
  }
  return out;
}

}  // namespace hk::store
