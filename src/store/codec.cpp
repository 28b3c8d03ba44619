#include "store/codec.h"

#include <algorithm>
#include <limits>

#include "base/assert.h"
#include "store/key.h"
#include "store/record.h"

namespace hk::store {
namespace {

class Encoder {
 public:
  explicit Encoder(std::vector<Write>& out) : out_(out) {}

  void operator()(const core::PutMessage& m) {
    const auto& [message] = m;
    HK_ASSERT(message != nullptr);
    put(Table::message, seq_key(message->id.seq), encode_message(*message));
  }
  void operator()(const core::PutState& m) {
    const auto& [seq, state] = m;
    put(Table::state, seq_key(seq), encode_state(state));
  }
  void operator()(const core::PutAttempt& m) {
    const auto& [seq, attempt] = m;
    put(Table::attempt, attempt_key(seq, attempt.fence.attempt), encode_attempt(attempt));
  }
  void operator()(const core::PutLaneEntry& m) {
    const auto& [lane, entry] = m;
    put(Table::lane, lane_entry_key(lane, entry.place), encode_lane_entry(entry));
  }
  void operator()(const core::DeleteLaneEntry& m) {
    const auto& [lane, place] = m;
    erase(Table::lane, lane_entry_key(lane, place));
  }
  void operator()(const core::PutDedup& m) {
    const auto& [tenant, id, dedup] = m;
    put(Table::dedup, named_key(tenant, id), encode_dedup(dedup));
  }
  void operator()(const core::DeleteDedup& m) {
    const auto& [tenant, id] = m;
    erase(Table::dedup, named_key(tenant, id));
  }
  void operator()(const core::PutDeadLetter& m) {
    put(Table::dead_letter, dead_letter_key(m.key), {});  // the key says everything
  }
  void operator()(const core::DeleteDeadLetter& m) {
    erase(Table::dead_letter, dead_letter_key(m.key));
  }
  void operator()(const core::AppendEvents& m) {
    put(Table::event, event_key(m.tenant, m.time, m.batch), encode_events(m));
  }
  void operator()(const core::PutExpiry& m) {
    put(Table::expiry, expiry_key(m.at, m.batch), encode_expiry(m));
  }
  void operator()(const core::DeleteExpiry& m) {
    const auto& [at, batch] = m;
    erase(Table::expiry, expiry_key(at, batch));
  }
  void operator()(const core::PurgeMessage& m) {
    const auto& [seq, has_attempts] = m;
    erase(Table::message, seq_key(seq));
    erase(Table::state, seq_key(seq));
    if (has_attempts) {
      // Every attempt of this message and no other's: numbers stay far below the largest.
      erase_range(Table::attempt, attempt_key(seq, 0),
                  attempt_key(seq, std::numeric_limits<std::uint32_t>::max()));
    }
  }
  void operator()(const core::PurgeEvents& m) {
    const auto& [tenant, before] = m;
    // A time before 1970 would wrap around in the key: it stands for an empty range.
    erase_range(Table::event, event_key(tenant, Moment{}, 0),
                event_key(tenant, std::max(before, Moment{}), 0));
  }
  void operator()(const core::PutQueue& m) {
    put(Table::queue, named_key(m.queue.tenant, m.queue.name), encode_queue(m.queue));
  }
  void operator()(const core::DeleteQueue& m) {
    const auto& [tenant, name] = m;
    erase(Table::queue, named_key(tenant, name));
  }
  void operator()(const core::PutFlowKey& m) {
    put(Table::flow_key, named_key(m.flow_key.tenant, m.flow_key.key), encode_flow_key(m.flow_key));
  }
  void operator()(const core::DeleteFlowKey& m) {
    const auto& [tenant, key] = m;
    erase(Table::flow_key, named_key(tenant, key));
  }
  void operator()(const core::PutUrlGroup& m) {
    put(Table::url_group, named_key(m.group.tenant, m.group.name), encode_url_group(m.group));
  }
  void operator()(const core::DeleteUrlGroup& m) {
    const auto& [tenant, name] = m;
    erase(Table::url_group, named_key(tenant, name));
  }
  void operator()(const core::PutSchedule& m) {
    put(Table::schedule, named_key(m.schedule.tenant, m.schedule.id), encode_schedule(m.schedule));
  }
  void operator()(const core::PutScheduleState& m) {
    const auto& [tenant, id, state, previous_next_at] = m;
    if (previous_next_at != never && previous_next_at != state.next_at) {
      erase(Table::schedule_due, schedule_due_key({previous_next_at, tenant, id}));
    }
    put(Table::schedule_state, named_key(tenant, id), encode_schedule_state(state));
    if (state.next_at != never) {
      put(Table::schedule_due, schedule_due_key({state.next_at, tenant, id}), {});
    }
  }
  void operator()(const core::DeleteSchedule& m) {
    const auto& [tenant, id, next_at] = m;
    erase(Table::schedule, named_key(tenant, id));
    erase(Table::schedule_state, named_key(tenant, id));
    if (next_at != never) {
      erase(Table::schedule_due, schedule_due_key({next_at, tenant, id}));
    }
  }
  void operator()(const core::PutDocument& m) {
    const core::Document& document = m.document;
    put(Table::document, named_key(document.tenant, document.kind + "/" + document.name),
        encode_document(document));
  }
  void operator()(const core::DeleteDocument& m) {
    const auto& [tenant, kind, name] = m;
    erase(Table::document, named_key(tenant, kind + "/" + name));
  }
  void operator()(const core::PutTenant& m) {
    put(Table::tenant, tenant_key(m.tenant.id), encode_tenant(m.tenant));
  }
  void operator()(const core::PutCounters& m) {
    const auto& [tenant, counters] = m;
    put(Table::counters, tenant_key(tenant), encode_counters(counters));
  }
  void operator()(const core::PutMeta& m) {
    put(Table::meta, std::string(meta_key), encode_meta(m.meta));
  }

 private:
  void put(Table table, std::string key, std::string value) {
    out_.push_back({Write::Kind::put, table, std::move(key), std::move(value)});
  }
  void erase(Table table, std::string key) {
    out_.push_back({Write::Kind::erase, table, std::move(key), {}});
  }
  void erase_range(Table table, std::string from, std::string to) {
    out_.push_back({Write::Kind::erase_range, table, std::move(from), std::move(to)});
  }

  std::vector<Write>& out_;
};

}  // namespace

void encode(const core::Mutation& mutation, std::vector<Write>& out) {
  std::visit(Encoder{out}, mutation);
}

}  // namespace hk::store
