#include "sim/history.h"

#include "core/move/document.h"
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

template <class T>
T key_of(std::optional<T> parsed, const Write& write) {
  if (!parsed) {
    throw Violation("readable", "key " + store::describe_key(write.table, write.key));
  }
  return std::move(*parsed);
}

void decode_put(const Write& write, Decoded& out) {
  switch (write.table) {
    case Table::meta: out.meta = read(store::decode_meta(write.value)); return;
    case Table::message:
      out.messages.push_back(std::make_shared<const core::Message>(read(
          store::decode_message(key_of(store::parse_seq_key(write.key), write), write.value))));
      return;
    case Table::state:
      out.states[key_of(store::parse_seq_key(write.key), write)] =
          read(store::decode_state(write.value));
      return;
    case Table::attempt:
      out.attempts.emplace_back(key_of(store::parse_attempt_key(write.key), write).first,
                                read(store::decode_attempt(write.value)));
      return;
    case Table::lane: {
      const auto key = key_of(store::parse_lane_entry_key(write.key), write);
      out.lane_entries[key.second.seq] = read(store::decode_lane_entry(key.second, write.value));
      return;
    }
    case Table::dedup:
      out.dedups[key_of(store::parse_named_key(write.key), write)] =
          read(store::decode_dedup(write.value));
      return;
    case Table::dead_letter:
      out.dead_letters[key_of(store::parse_dead_letter_key(write.key), write)] = true;
      return;
    case Table::event: {
      const auto key = key_of(store::parse_event_key(write.key), write);
      out.events.push_back(
          read(store::decode_events(key.tenant, key.time, key.batch, write.value)));
      return;
    }
    case Table::expiry: return;  // judged by the scan
    case Table::document: {
      const auto key = key_of(store::parse_named_key(write.key), write);
      const auto document = read(store::decode_document(key.first, key.second, write.value));
      if (document.kind == core::move_task_kind) {
        out.move_tasks[key] = key_of(core::to_move_task(document), write);
      }
      return;
    }
    case Table::queue: {
      const auto key = key_of(store::parse_named_key(write.key), write);
      out.queues[key] = read(store::decode_queue(key.first, key.second, write.value));
      return;
    }
    case Table::flow_key: {
      const auto key = key_of(store::parse_named_key(write.key), write);
      out.flow_keys[key] = read(store::decode_flow_key(key.first, key.second, write.value));
      return;
    }
    case Table::schedule: {
      const auto key = key_of(store::parse_named_key(write.key), write);
      out.schedules[key] = read(store::decode_schedule(key.first, key.second, write.value));
      return;
    }
    case Table::schedule_state:
      out.schedule_states[key_of(store::parse_named_key(write.key), write)] =
          read(store::decode_schedule_state(write.value));
      return;
    case Table::schedule_due: return;  // judged by verify
    case Table::url_group: {
      const auto key = key_of(store::parse_named_key(write.key), write);
      out.url_groups[key] = read(store::decode_url_group(key.first, key.second, write.value));
      return;
    }
    case Table::tenant: {
      const auto id = key_of(store::parse_tenant_key(write.key), write);
      out.tenants[id] = read(store::decode_tenant(id, write.value));
      return;
    }
    case Table::counters:
      out.counters[key_of(store::parse_tenant_key(write.key), write)] =
          read(store::decode_counters(write.value));
      return;
  }
}

void decode_erase(const Write& write, Decoded& out) {
  switch (write.table) {
    case Table::message:
      out.purged.push_back(key_of(store::parse_seq_key(write.key), write));
      return;
    case Table::dedup:
      out.dedups[key_of(store::parse_named_key(write.key), write)] = std::nullopt;
      return;
    case Table::dead_letter:
      out.dead_letters[key_of(store::parse_dead_letter_key(write.key), write)] = false;
      return;
    case Table::queue:
      out.queues[key_of(store::parse_named_key(write.key), write)] = std::nullopt;
      return;
    case Table::flow_key:
      out.flow_keys[key_of(store::parse_named_key(write.key), write)] = std::nullopt;
      return;
    case Table::url_group:
      out.url_groups[key_of(store::parse_named_key(write.key), write)] = std::nullopt;
      return;
    case Table::schedule:
      out.schedules[key_of(store::parse_named_key(write.key), write)] = std::nullopt;
      return;
    case Table::schedule_state:
      out.schedule_states[key_of(store::parse_named_key(write.key), write)] = std::nullopt;
      return;
    case Table::document: {
      const auto key = key_of(store::parse_named_key(write.key), write);
      if (key.second.starts_with(std::string(core::move_task_kind) + '/')) {
        out.move_tasks[key] = std::nullopt;
      }
      return;
    }
    case Table::lane:
      out.lane_entries[key_of(store::parse_lane_entry_key(write.key), write).second.seq] =
          std::nullopt;
      return;
    case Table::state: out.states.erase(key_of(store::parse_seq_key(write.key), write)); return;
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
