#include "sim/history.h"

#include "sim/trace.h"
#include "store/codec.h"
#include "store/key.h"
#include "store/table_name.h"

namespace hk::sim {

namespace {

using store::Table;
using store::Write;

template <class T>
T read(Result<T> result) {
  if (!result) {
    throw Violation("readable", result.error().message);
  }
  return std::move(*result);
}

template <class R>
core::KeyOf<R> key_in(const Write& write) {
  auto parsed = store::decode_key<R>(write.key);
  if (!parsed) {
    throw Violation("readable", "key " + store::describe_key(write.table, write.key));
  }
  return std::move(*parsed);
}
template <class R>
R record_in(const Write& write) {
  return read(store::Codec<R>::decode(key_in<R>(write), write.value));
}
/// For tables whose keys are tenant and name.
template <class R>
Named name_in(const Write& write) {
  auto [tenant, name] = key_in<R>(write);
  return {tenant, std::move(name)};
}

void decode_put(const Write& write, Decoded& out) {
  switch (write.table) {
    case Table::meta: out.meta = record_in<core::Meta>(write); return;
    case Table::message:
      out.messages.push_back(
          std::make_shared<const core::Message>(record_in<core::Message>(write)));
      return;
    case Table::state:
      out.states[key_in<core::MessageState>(write)] = record_in<core::MessageState>(write);
      return;
    case Table::attempt:
      out.attempts.emplace_back(std::get<core::Seq>(key_in<core::Attempt>(write)),
                                record_in<core::Attempt>(write));
      return;
    case Table::lane: {
      core::LaneEntry entry = record_in<core::LaneRow>(write).entry;
      out.lane_entries[entry.place.seq] = std::move(entry);
      return;
    }
    case Table::dedup:
      out.dedups[name_in<core::Dedup>(write)] = record_in<core::Dedup>(write);
      return;
    case Table::dead_letter: out.dead_letters[record_in<core::DeadLetterKey>(write)] = true; return;
    case Table::event: out.events.push_back(record_in<core::Events>(write)); return;
    case Table::task: out.tasks[key_in<core::Task>(write)] = record_in<core::Task>(write); return;
    case Table::queue:
      out.queues[name_in<core::Queue>(write)] = record_in<core::Queue>(write);
      return;
    case Table::flow_key:
      out.flow_keys[name_in<core::FlowKey>(write)] = record_in<core::FlowKey>(write);
      return;
    case Table::idempotency:
      out.keys[name_in<core::IdempotencyKey>(write)] = record_in<core::IdempotencyKey>(write);
      return;
    case Table::timer: out.timers_set.push_back(record_in<core::Timer>(write)); return;
    case Table::source:
      out.sources[name_in<core::Source>(write)] = record_in<core::Source>(write);
      return;
    case Table::source_event:
      out.source_events[key_in<core::SourceEvent>(write)] = record_in<core::SourceEvent>(write);
      return;
    case Table::quarantine:
      out.quarantined[key_in<core::Quarantined>(write)] = record_in<core::Quarantined>(write);
      return;
    case Table::schedule:
      out.schedules[name_in<core::Schedule>(write)] = record_in<core::Schedule>(write);
      return;
    case Table::schedule_state:
      out.schedule_states[name_in<core::ScheduleState>(write)] =
          record_in<core::ScheduleState>(write);
      return;
    case Table::url_group:
      out.url_groups[name_in<core::Topic>(write)] = record_in<core::Topic>(write);
      return;
    case Table::tenant:
      out.tenants[key_in<core::Tenant>(write)] = record_in<core::Tenant>(write);
      return;
    case Table::counters:
      out.counters[key_in<core::Counters>(write)] = record_in<core::Counters>(write);
      return;
    case Table::ledger_book:
      out.ledger_books[name_in<core::ledger::Book>(write)] = record_in<core::ledger::Book>(write);
      return;
    case Table::ledger_log: {
      core::ledger::Segment segment = record_in<core::ledger::Segment>(write);
      for (core::ledger::Record& one : segment.records) {
        out.ledger_records[{segment.tenant, segment.book, one.seq}] = std::move(one);
      }
      return;
    }
    case Table::ledger_account:
      out.ledger_accounts[key_in<core::ledger::Account>(write)] =
          record_in<core::ledger::Account>(write);
      return;
    case Table::ledger_outcome:
      out.ledger_outcomes[key_in<core::ledger::Outcome>(write)] =
          record_in<core::ledger::Outcome>(write);
      return;
    case Table::ledger_hold: out.ledger_holds[key_in<core::ledger::OpenHold>(write)] = true; return;
    case Table::ledger_monitor:
      out.ledger_monitors[key_in<core::ledger::Monitor>(write)] =
          record_in<core::ledger::Monitor>(write);
      return;
    default: return;  // judged by the scan or by verify
  }
}

void decode_erase(const Write& write, Decoded& out) {
  switch (write.table) {
    case Table::message: out.purged.push_back(key_in<core::Message>(write)); return;
    case Table::dedup: out.dedups[name_in<core::Dedup>(write)] = std::nullopt; return;
    case Table::dead_letter:
      out.dead_letters[record_in<core::DeadLetterKey>(write)] = false;
      return;
    case Table::queue: out.queues[name_in<core::Queue>(write)] = std::nullopt; return;
    case Table::flow_key: out.flow_keys[name_in<core::FlowKey>(write)] = std::nullopt; return;
    case Table::url_group: out.url_groups[name_in<core::Topic>(write)] = std::nullopt; return;
    case Table::idempotency: out.keys[name_in<core::IdempotencyKey>(write)] = std::nullopt; return;
    case Table::timer: out.timers_gone.push_back(record_in<core::Timer>(write)); return;
    case Table::source: out.sources[name_in<core::Source>(write)] = std::nullopt; return;
    case Table::source_event:
      out.source_events[key_in<core::SourceEvent>(write)] = std::nullopt;
      return;
    case Table::quarantine:
      out.quarantined[key_in<core::Quarantined>(write)] = std::nullopt;
      return;
    case Table::schedule: out.schedules[name_in<core::Schedule>(write)] = std::nullopt; return;
    case Table::schedule_state:
      out.schedule_states[name_in<core::ScheduleState>(write)] = std::nullopt;
      return;
    case Table::task: out.tasks[key_in<core::Task>(write)] = std::nullopt; return;
    case Table::lane:
      out.lane_entries[std::get<core::LanePlace>(key_in<core::LaneRow>(write)).seq] = std::nullopt;
      return;
    case Table::state: out.states.erase(key_in<core::MessageState>(write)); return;
    case Table::ledger_hold:
      out.ledger_holds[key_in<core::ledger::OpenHold>(write)] = false;
      return;
    case Table::ledger_monitor:
      out.ledger_monitors[key_in<core::ledger::Monitor>(write)] = std::nullopt;
      return;
    default: return;
  }
}

}  // namespace

Decoded decode(std::span<const Write> batch) {
  Decoded out;
  out.writes = batch.size();
  for (const Write& write : batch) {
    if (write.kind == Write::Kind::put) {
      decode_put(write, out);
    } else if (write.kind == Write::Kind::erase) {
      decode_erase(write, out);
    }
  }
  return out;
}

class RecordingStore::FailingReader final : public store::Reader {
 public:
  FailingReader(RecordingStore& store, std::unique_ptr<store::Reader> below)
      : store_(store), below_(std::move(below)) {}

  Result<std::optional<std::string>> get(Table table, std::string_view key) override {
    if (fails()) {
      return unread();
    }
    return below_->get(table, key);
  }
  Result<std::vector<store::Entry>> scan(Table table, std::string_view from, std::string_view to,
                                         std::size_t limit, bool reverse) override {
    if (fails()) {
      return unread();
    }
    return below_->scan(table, from, to, limit, reverse);
  }

 private:
  bool fails() {
    if (store_.reads_until_failure_ == 0 || --store_.reads_until_failure_ > 0) {
      return false;
    }
    store_.read_failed_ = true;
    return true;
  }
  static std::unexpected<Error> unread() {
    return fail(ErrorKind::internal, "simulated: the disk did not give it out");
  }

  RecordingStore& store_;
  const std::unique_ptr<store::Reader> below_;
};

std::unique_ptr<store::Reader> RecordingStore::snapshot() {
  return std::make_unique<FailingReader>(*this, below_.snapshot());
}

Result<store::BatchSeq> RecordingStore::write(std::span<const store::Write> batch) {
  last_.assign(batch.begin(), batch.end());
  if (dies_before_write && dies_before_write()) {
    return fail(ErrorKind::unknown_outcome, "simulated: the server died before the write");
  }
  return below_.write(batch);
}

std::vector<store::Write> RecordingStore::take() { return std::exchange(last_, {}); }

}  // namespace hk::sim
