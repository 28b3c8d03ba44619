#include "sim/scan.h"

#include <algorithm>

#include "sim/trace.h"
#include "store/codec.h"
#include "store/key.h"
#include "store/table_name.h"

namespace hk::sim {

namespace {

using store::Table;

std::vector<store::Entry> entries_of(store::Reader& reader, Table table) {
  auto entries = reader.scan(table, "", "", 1'000'000, false);
  require(entries.has_value(), "readable", "a table cannot be read");
  return std::move(*entries);
}

template <class T>
T readable(Result<T> result) {
  require(result.has_value(), "readable", result ? "" : result.error().message);
  return std::move(*result);
}

template <class R>
struct Found {
  core::KeyOf<R> key{};
  R record{};
};
template <class R>
std::vector<Found<R>> all(store::Reader& reader) {
  std::vector<Found<R>> rows;
  for (const store::Entry& entry : entries_of(reader, store::table_of<R>)) {
    const auto key = store::decode_key<R>(entry.key);
    require(key.has_value(), "readable",
            "key " + store::describe_key(store::table_of<R>, entry.key));
    rows.push_back({*key, readable(store::Codec<R>::decode(*key, entry.value))});
  }
  return rows;
}
template <class R>
std::vector<R> records_of(store::Reader& reader) {
  std::vector<R> records;
  for (auto& [key, record] : all<R>(reader)) {
    records.push_back(std::move(record));
  }
  return records;
}
/// A key of tenant and name.
Named pair_of(const std::tuple<core::TenantId, std::string>& key) {
  return {std::get<0>(key), std::get<1>(key)};
}

void scan_messages(store::Reader& reader, const Model& model) {
  auto want = model.messages().begin();
  for (const auto& [seq, message] : all<core::Message>(reader)) {
    require(want != model.messages().end() && want->first == seq, "I9 history",
            name_of(seq) + " is stored but should not be, or another is missing before it");
    require(message == *want->second.content, "I9 history",
            name_of(seq) + " is not what was accepted");
    ++want;
  }
  require(want == model.messages().end(), "I2 present", "a message is missing");

  std::map<core::Seq, std::uint32_t> rows;
  for (const auto& [key, attempt] : all<core::Attempt>(reader)) {
    const auto [seq, number] = key;
    require(number == ++rows[seq], "I10 state", "attempts of " + name_of(seq) + " have a gap");
    require(model.messages().contains(seq), "purge", "attempts outlive " + name_of(seq));
  }
  std::map<core::Seq, core::MessageState> states;
  for (auto& [seq, state] : all<core::MessageState>(reader)) {
    states[seq] = std::move(state);
  }
  for (const auto& [seq, message] : model.messages()) {
    const auto state = states.find(seq);
    require((state != states.end()) == message.has_state(), "I10 state",
            name_of(seq) + " should " + (message.has_state() ? "" : "not ") + "have a state");
    require(rows[seq] == (message.attempts > 0 && !message.pulled() ? message.attempts - 1 : 0),
            "I10 state", name_of(seq) + " has another number of attempts stored");
    if (state == states.end()) {
      continue;
    }
    const core::MessageState& got = state->second;
    require(got.status == message.status && got.attempts == message.attempts &&
                got.cancel_requested == message.cancel_requested && got.in_dlq == message.in_dlq &&
                got.callbacks_open == message.callbacks_open &&
                (core::is_final(message.status) || got.due == message.due),
            "I10 state", name_of(seq) + " is stored in another state");
    states.erase(state);
  }
  require(states.empty(), "I10 state", "a state without a message");
}

void scan_lanes(store::Reader& reader, const Model& model, const core::Meta& meta) {
  std::set<core::Seq> indexed;
  for (const auto& [key, row] : all<core::LaneRow>(reader)) {
    const auto& [lane, got] = row;
    const core::LanePlace place = got.place;
    const auto found = model.messages().find(place.seq);
    require(found != model.messages().end() &&
                (!core::is_final(found->second.status) || found->second.callbacks_open > 0),
            "index", name_of(place.seq) + " has an index entry but waits for nothing");
    const ModelMessage& message = found->second;
    require(indexed.insert(place.seq).second, "index", name_of(place.seq) + " is indexed twice");
    if (message.pulled()) {
      const core::Message& content = *message.content;
      require(!got.finished && lane == core::lane_of(content) &&
                  place.due == (lane.ordered() ? Moment{} : content.not_before) &&
                  got.not_before == message.due && got.attempts == message.attempts &&
                  got.started == message.started && got.forgiven == message.forgiven &&
                  got.first_received_at == message.first_received_at,
              "index", describe(message) + " has a wrong index entry");
      continue;
    }
    require(got.finished == core::is_final(message.status), "index",
            name_of(place.seq) + " is final, or is not, and its entry says otherwise");
    if (got.finished) {
      require(lane == core::lane_of(*message.content) && place.due == Moment{} && got.started,
              "index", name_of(place.seq) + " holds its slot with a wrong index entry");
      continue;
    }
    require(lane == core::lane_of(*message.content) &&
                place.due == (message.ordered() ? Moment{} : message.due) &&
                got.not_before == message.due && got.attempts == message.attempts &&
                got.cancel_requested == message.cancel_requested,
            "index", name_of(place.seq) + " has a wrong index entry");
    // A start is not stored: an entry from before it may still say that no slot is held.
    require(!message.ordered() || message.attempts == 0 || got.started, "index",
            name_of(place.seq) + " has lost its slot");
  }
  for (const auto& [seq, message] : model.messages()) {
    require((core::is_final(message.status) && message.callbacks_open == 0) ||
                indexed.contains(seq) ||
                (seq > meta.indexed_up_to && !message.has_state() &&
                 !(message.pulled() && message.started)),
            "index", name_of(seq) + " waits and nothing would find it after a restart");
  }
}

void scan_settings(store::Reader& reader, const Model& model) {
  std::size_t queues = 0;
  for (const auto& [name, got] : all<core::Queue>(reader)) {
    const Named key = pair_of(name);
    const auto found = model.queues().find(key);
    require(found != model.queues().end() && got.parallelism == found->second.parallelism &&
                got.paused == found->second.paused && got.deleted == found->second.deleted &&
                got.pull == found->second.pull,
            "settings", "queue " + key.second + " is not as it was set");
    require(got.lag == model.lag(key), "lag", "of queue " + key.second + " is not what waits");
    ++queues;
  }
  require(queues == model.queues().size(), "settings", "a queue is missing");
  std::size_t flows = 0;
  for (const auto& [name, got] : all<core::FlowKey>(reader)) {
    const Named key = pair_of(name);
    const auto found = model.flows().find(key);
    require(found != model.flows().end() && got.parallelism == found->second.parallelism &&
                got.rate == found->second.rate && got.period == found->second.period &&
                got.paused == found->second.paused &&
                got.pinned_parallelism == found->second.pinned_parallelism &&
                got.pinned_rate == found->second.pinned_rate,
            "settings", "flow key " + key.second + " is not as it was set");
    require(found->second.rate == 0 || (got.window_count == found->second.window_count &&
                                        got.window_start == found->second.window_start),
            "rate", "the window of flow key " + key.second + " would be granted again");
    ++flows;
  }
  require(flows == model.flows().size(), "settings", "a flow key is missing");
  std::size_t groups = 0;
  std::size_t topics = 0;
  for (const auto& [name, got] : all<core::Topic>(reader)) {
    const Named key = pair_of(name);
    if (got.kind == core::TopicKind::sns) {
      const auto topic = model.topics().find(key);
      require(topic != model.topics().end() && got == topic->second, "settings",
              "topic " + key.second + " is not as it was set");
      ++topics;
      continue;
    }
    const auto found = model.groups().find(key);
    require(found != model.groups().end() && got.subscriptions == subscriptions_of(found->second),
            "settings", "URL group " + key.second + " is not as it was set");
    ++groups;
  }
  require(groups == model.groups().size(), "settings", "a URL group is missing");
  require(topics == model.topics().size(), "settings", "a topic is missing");
  std::size_t tenants = 0;
  for (const auto& [id, got] : all<core::Tenant>(reader)) {
    const auto found = model.tenants().find(id);
    require(found != model.tenants().end() && got == found->second, "settings",
            "tenant " + std::to_string(id.value()) + " is not as it was set");
    ++tenants;
  }
  require(tenants == model.tenants().size(), "settings", "a tenant is missing");
}

void scan_schedules(store::Reader& reader, const Model& model) {
  std::size_t schedules = 0;
  for (const auto& [name, schedule] : all<core::Schedule>(reader)) {
    const Named key = pair_of(name);
    const auto found = model.schedules().find(key);
    require(found != model.schedules().end() && schedule == found->second.content, "schedules",
            "schedule " + key.second + " is stored differently");
    const auto state =
        readable(reader.get(Table::schedule_state, store::encode_key<core::ScheduleState>(name)));
    require(state.has_value() && readable(store::Codec<core::ScheduleState>::decode(
                                     name, *state)) == found->second.state,
            "schedules", "the state of schedule " + key.second + " is stored differently");
    ++schedules;
  }
  require(schedules == model.schedules().size(), "schedules", "a schedule is missing");
}

void scan_moves(store::Reader& reader, const Model& model) {
  std::map<Named, std::vector<core::Task>> stored;
  for (const auto& [key, task] : all<core::Task>(reader)) {
    if (task.kind() == core::Task::Kind::move) {
      stored[{task.tenant, task.subject()}].push_back(task);
    }
  }
  require(std::ranges::equal(stored, model.moves(),
                             [](const auto& got, const auto& want) {
                               return got.first == want.first && got.second == want.second.tasks;
                             }),
          "moves", "tasks are stored differently");
}

void scan_cancels(store::Reader& reader, const Model& model) {
  std::map<core::KeyOf<core::Task>, core::Task> stored;
  for (const auto& [key, task] : all<core::Task>(reader)) {
    if (task.kind() == core::Task::Kind::cancel) {
      stored.emplace(key, task);
    }
  }
  require(stored == model.cancels(), "cancels", "bulk actions are stored differently");
}

/// What is over may still be stored, but not without a timer that ends it.
void scan_keys(store::Reader& reader, const Model& model) {
  std::set<std::pair<Moment, Named>> timers;
  for (const auto& [key, timer] : all<core::Timer>(reader)) {
    timers.insert({timer.due, {timer.tenant, timer.key}});
  }
  std::set<std::pair<Moment, Named>> expiries;
  for (const auto& [key, expiry] : all<core::Expiry>(reader)) {
    for (const Named& one : expiry.keys) {
      expiries.insert({expiry.at, one});
    }
  }
  std::size_t keys = 0;
  std::size_t once = 0;
  for (const auto& [id, got] : all<core::IdempotencyKey>(reader)) {
    if (got.space == core::api_space) {
      const auto want = model.once().find({got.tenant, got.key});
      require(want != model.once().end() && got == want->second, "once",
              "key " + got.key + " is stored differently");
      const Moment at{std::chrono::ceil<std::chrono::seconds>(got.expires_at.time_since_epoch())};
      require(expiries.contains({at, pair_of(id)}), "once",
              "key " + got.key + " would stay for ever");
      ++once;
      continue;
    }
    const auto want = model.keys().find({got.tenant, got.key});
    require(
        want != model.keys().end() ? same_key(got, want->second) : got.expires_at <= model.time(),
        "keys", "key " + got.key + " is stored differently");
    require(got.timer_at <= got.expires_at && timers.contains({got.timer_at, pair_of(id)}), "keys",
            "key " + got.key + " would stay for ever");
    keys += want != model.keys().end() ? 1 : 0;
  }
  require(keys == model.keys().size(), "keys", "a key is missing");
  require(once == model.once().size(), "once", "a key is missing");
}

void scan_counters(store::Reader& reader, const Model& model) {
  std::map<core::TenantId, core::Counters> recount;
  for (const auto& [seq, message] : model.messages()) {
    core::Counters& count = recount[message.content->tenant];
    count.pending += core::is_final(message.status) ? 0 : 1;
    count.dead_letters += message.in_dlq ? 1 : 0;
  }
  for (const auto& [tenant, got] : all<core::Counters>(reader)) {
    const auto want = model.counters().find(tenant);
    require(got.conserved(), "I1 conservation", "of a tenant");
    require(want != model.counters().end() && got == want->second, "I1 counters",
            "stored ones are not what they count");
    require(
        got.pending == recount[tenant].pending && got.dead_letters == recount[tenant].dead_letters,
        "I1 counters", "a recount gives another number");
  }
}

}  // namespace

void scan_store(store::Reader& reader, const Model& model) {
  const auto stored = all<core::Meta>(reader);
  require(stored.size() == 1, "readable", "no meta record");
  const core::Meta& meta = stored.front().record;
  require(meta.epoch == model.epoch(), "I7 fences rise", "another epoch is stored");
  scan_messages(reader, model);
  scan_lanes(reader, model, meta);
  scan_settings(reader, model);
  scan_schedules(reader, model);
  scan_moves(reader, model);
  scan_cancels(reader, model);
  scan_keys(reader, model);
  scan_counters(reader, model);
  model.compare_sources_with(records_of<core::Source>(reader),
                             records_of<core::SourceEvent>(reader),
                             records_of<core::Quarantined>(reader));

  std::set<core::DeadLetterKey> letters;
  for (const auto& [key, letter] : all<core::DeadLetterKey>(reader)) {
    letters.insert(letter);
  }
  require(letters == model.dead_letters(), "dead letters once", "the list is another");

  std::set<core::Seq> expiring;
  std::set<core::Seq> looked_at_later;
  std::set<Named> forgotten;
  for (const auto& [key, record] : all<core::Expiry>(reader)) {
    looked_at_later.insert(record.messages.begin(), record.messages.end());
    for (const core::Seq seq : record.messages) {
      const auto found = model.messages().find(seq);
      if (found != model.messages().end() && record.at >= found->second.expires_at) {
        expiring.insert(seq);
      }
    }
    forgotten.insert(record.dedups.begin(), record.dedups.end());
  }
  for (const auto& [seq, message] : model.messages()) {
    require(!core::is_final(message.status) || message.expires_at == never ||
                expiring.contains(seq) || message.callbacks_open > 0,
            "retention", name_of(seq) + " would never be purged");
    require(!message.pulled() || core::is_final(message.status) || looked_at_later.contains(seq),
            "retention", name_of(seq) + " would stay in its queue for ever");
  }
  std::set<Named> dedups;
  for (const auto& [name, dedup] : all<core::Dedup>(reader)) {
    const Named key = pair_of(name);
    const auto found = model.dedups().find(key);
    require(found != model.dedups().end() && dedup == found->second, "I6 dedup",
            "dedup id " + key.second + " is stored differently");
    require(forgotten.contains(key), "retention",
            "dedup id " + key.second + " would stay for ever");
    dedups.insert(key);
  }
  require(dedups.size() == model.dedups().size(), "I6 dedup", "a dedup id is missing");
}

void scan_for_leftovers(store::Reader& reader) {
  for (const Table table :
       {Table::message, Table::state, Table::attempt, Table::lane, Table::dedup, Table::dead_letter,
        Table::event, Table::expiry, Table::idempotency, Table::timer, Table::schedule,
        Table::schedule_state, Table::schedule_due}) {
    const auto entries = entries_of(reader, table);
    require(entries.empty(), "retention",
            std::to_string(entries.size()) + " left in " + std::string(store::table_name(table)) +
                (entries.empty() ? "" : ", first " + store::describe_key(table, entries[0].key)));
  }
}

}  // namespace hk::sim
