#include "store/verify.h"

#include <algorithm>
#include <map>
#include <optional>

#include "core/message/mark.h"
#include "store/row_reader.h"

namespace hk::store {
namespace {

/// What the messages of a tenant add up to.
struct Recount {
  std::uint64_t messages = 0;
  std::uint64_t pending = 0;
  std::uint64_t succeeded = 0;
  std::uint64_t failed = 0;
  std::uint64_t canceled = 0;
  std::uint64_t dead_letters = 0;
  std::uint64_t attempts = 0;
};

/// Unfinished messages of a queue.
struct Lag {
  std::uint64_t stored = 0;
  std::uint64_t counted = 0;
};

std::string name_of(core::Seq seq) { return "message " + std::to_string(seq.value()); }

class Verifier : RowReader {
 public:
  explicit Verifier(Reader& reader) : RowReader(reader) {}

  Result<VerifyReport> run() {
    settings();
    documents();
    lanes();
    dead_letters();
    messages();
    lags();
    states();
    attempts();
    dedups();
    expiries();
    events();
    counters();
    callbacks();
    schedules();
    if (error_) {
      return std::unexpected(*error_);
    }
    return std::move(report_);
  }

 private:
  void settings() {
    scan(Table::meta, [this](const Entry& entry) {
      if (entry.key == pepper_key) {
        decoded(Table::meta, entry.key, decode_pepper(entry.value));
        return;
      }
      check(entry.key == meta_key,
            [&] { return describe_key(Table::meta, entry.key) + " is unknown."; });
      if (auto meta = decoded(Table::meta, entry.key, decode_meta(entry.value))) {
        meta_ = *meta;
      }
    });
    last_seq_ = meta_.indexed_up_to;
    scan(Table::tenant, [this](const Entry& entry) {
      if (const auto id = parsed(Table::tenant, entry.key, parse_tenant_key(entry.key))) {
        decoded(Table::tenant, entry.key, decode_tenant(*id, entry.value));
      }
    });
    scan(Table::queue, [this](const Entry& entry) {
      if (auto key = parsed(Table::queue, entry.key, parse_named_key(entry.key))) {
        auto queue =
            decoded(Table::queue, entry.key, decode_queue(key->first, key->second, entry.value));
        if (queue) {
          lags_.emplace(*key, Lag{.stored = queue->lag});
        }
      }
    });
    scan(Table::flow_key, [this](const Entry& entry) {
      if (auto key = parsed(Table::flow_key, entry.key, parse_named_key(entry.key))) {
        decoded(Table::flow_key, entry.key, decode_flow_key(key->first, key->second, entry.value));
      }
    });
    scan(Table::url_group, [this](const Entry& entry) {
      if (auto key = parsed(Table::url_group, entry.key, parse_named_key(entry.key))) {
        decoded(Table::url_group, entry.key,
                decode_url_group(key->first, key->second, entry.value));
      }
    });
  }

  void documents() {
    scan(Table::document, [this](const Entry& entry) {
      if (auto key = parsed(Table::document, entry.key, parse_named_key(entry.key))) {
        decoded(Table::document, entry.key, decode_document(key->first, key->second, entry.value));
      }
    });
  }

  void lanes() {
    scan(Table::lane, [this](const Entry& entry) {
      const auto key = parsed(Table::lane, entry.key, parse_lane_entry_key(entry.key));
      if (!key) {
        return;
      }
      const auto& [lane, place] = *key;
      const auto record = decoded(Table::lane, entry.key, decode_lane_entry(place, entry.value));
      indexed_.push_back(place.seq.value());
      const auto where = [&] { return "The index entry " + describe_key(Table::lane, entry.key); };
      const auto message = find_message(place.seq);
      if (!message) {
        problem(where() + " belongs to " + name_of(place.seq) + ", which is not there.");
        return;
      }
      check(core::lane_of(*message) == lane,
            [&] { return where() + " is not in the lane of " + name_of(place.seq) + "."; });
      const auto state = find_state(place.seq);
      const bool final = state && core::is_final(state->status);
      const bool held = final && lane.ordered() && state->callbacks_open > 0;
      check(!final || held,
            [&] { return where() + " belongs to " + name_of(place.seq) + ", which is final."; });
      check(!record || (record->finished == held && (!held || record->started)), [&] {
        return where() + " does not say of " + name_of(place.seq) +
               " whether it holds its slot for its callbacks.";
      });
      const Moment due = lane.ordered() ? Moment{} : state ? state->due : message->not_before;
      check(place.due == due,
            [&] { return where() + " is not at the due time of " + name_of(place.seq) + "."; });
    });
    std::ranges::sort(indexed_);
    for (auto twice = std::ranges::adjacent_find(indexed_); twice != indexed_.end();
         twice = std::adjacent_find(twice + 1, indexed_.end())) {
      problem(name_of(core::Seq{*twice}) + " has more than one index entry.");
    }
  }

  void dead_letters() {
    scan(Table::dead_letter, [this](const Entry& entry) {
      const auto key = parsed(Table::dead_letter, entry.key, parse_dead_letter_key(entry.key));
      if (!key) {
        return;
      }
      dead_letters_.push_back(key->seq.value());
      const auto message = find_message(key->seq);
      const auto state = find_state(key->seq);
      check(message && message->tenant == key->tenant && state && state->in_dlq &&
                state->status == core::Status::failed && state->finished_at == key->failed_at,
            [&] {
              return "The dead letter " + describe_key(Table::dead_letter, entry.key) + " of " +
                     name_of(key->seq) + " is not what that message's state says.";
            });
    });
    std::ranges::sort(dead_letters_);
  }

  void messages() {
    scan(Table::message, [this](const Entry& entry) {
      const auto seq = parsed(Table::message, entry.key, parse_seq_key(entry.key));
      if (!seq) {
        return;
      }
      last_seq_ = std::max(last_seq_, *seq);
      const auto message = decoded(Table::message, entry.key, decode_message(*seq, entry.value));
      if (message) {
        count(*message, find_state(*seq));
      }
    });
  }

  void count(const core::Message& message, const std::optional<core::MessageState>& state) {
    const core::Seq seq = message.id.seq;
    Recount& recount = recounts_[message.tenant];
    ++recount.messages;
    recount.attempts += state ? state->attempts : 0;
    const bool in_dlq = state && state->in_dlq;
    recount.dead_letters += in_dlq ? 1 : 0;
    check(!in_dlq || std::ranges::binary_search(dead_letters_, seq.value()),
          [&] { return name_of(seq) + " should be in the dead-letter queue and is not."; });
    const bool final = state && core::is_final(state->status);
    const bool waits = state && state->callbacks_open > 0;
    check(!waits || !message.queue.empty(),
          [&] { return name_of(seq) + " waits for callbacks without being in a queue."; });
    check(!waits || !final || std::ranges::binary_search(indexed_, seq.value()), [&] {
      return name_of(seq) + " waits for its callbacks, but the next start would not know.";
    });
    if (waits) {
      awaited_[seq] = state->callbacks_open;
    }
    // A dead letter that is sent again was final before: nobody waits for it a second time.
    if (!final && message.callback_of.seq != core::Seq{} && message.replay_of.seq == core::Seq{}) {
      ++open_callbacks_[message.callback_of.seq];
    }
    switch (state ? state->status : core::Status::pending) {
      case core::Status::succeeded: ++recount.succeeded; return;
      case core::Status::failed: ++recount.failed; return;
      case core::Status::canceled: ++recount.canceled; return;
      case core::Status::pending:
      case core::Status::running: ++recount.pending; break;
    }
    ++report_.unfinished;
    if (!message.queue.empty()) {
      const auto lag = lags_.find({message.tenant, message.queue});
      check(lag != lags_.end(), [&] {
        return name_of(seq) + " waits in queue " + message.queue + ", which is not there.";
      });
      if (lag != lags_.end()) {
        ++lag->second.counted;
      }
    }
    if (std::ranges::binary_search(indexed_, seq.value())) {
      return;
    }
    // The next start looks at messages after indexed_up_to that have no state record, and at lanes.
    const bool young = !state && seq > meta_.indexed_up_to;
    report_.without_index += young ? 1 : 0;
    check(young, [&] {
      return name_of(seq) + " is unfinished but in no lane: it would never be delivered.";
    });
  }

  void states() {
    scan(Table::state, [this](const Entry& entry) {
      if (const auto seq = parsed(Table::state, entry.key, parse_seq_key(entry.key))) {
        decoded(Table::state, entry.key, decode_state(entry.value));
        check(exists(Table::message, seq_key(*seq)),
              [&] { return "There is a state of " + name_of(*seq) + ", which is not there."; });
      }
    });
  }

  void attempts() {
    scan(Table::attempt, [this](const Entry& entry) {
      const auto key = parsed(Table::attempt, entry.key, parse_attempt_key(entry.key));
      if (!key) {
        return;
      }
      const auto& [seq, number] = *key;
      const auto attempt = decoded(Table::attempt, entry.key, decode_attempt(entry.value));
      check(!attempt || attempt->fence.attempt == number, [&] {
        return "Attempt " + std::to_string(number) + " of " + name_of(seq) + " has another number.";
      });
      const auto state = find_state(seq);
      check(state && number < state->attempts, [&] {
        return "Attempt " + std::to_string(number) + " is not an earlier attempt of " +
               name_of(seq) + ".";
      });
    });
  }

  void dedups() {
    scan(Table::dedup, [this](const Entry& entry) {
      const auto key = parsed(Table::dedup, entry.key, parse_named_key(entry.key));
      if (!key) {
        return;
      }
      const auto dedup = decoded(Table::dedup, entry.key, decode_dedup(entry.value));
      if (!dedup) {
        return;
      }
      if (core::may_be_mark(key->second)) {
        return;
      }
      check(dedup->first.seq <= last_seq_ && dedup->first.seq != core::Seq{}, [&] {
        return describe_key(Table::dedup, entry.key) + " names a message that was never accepted.";
      });
      const auto message = find_message(dedup->first.seq);  // it may have been purged before
      check(!message || (message->id == dedup->first && message->tenant == key->first &&
                         message->dedup_id == key->second),
            [&] {
              return describe_key(Table::dedup, entry.key) + " names " + name_of(dedup->first.seq) +
                     ", which has another id.";
            });
    });
  }

  void expiries() {
    scan(Table::expiry, [this](const Entry& entry) {
      if (const auto key = parsed(Table::expiry, entry.key, parse_expiry_key(entry.key))) {
        decoded(Table::expiry, entry.key, decode_expiry(key->first, key->second, entry.value));
      }
    });
  }

  void events() {
    std::optional<EventKey> previous;
    scan(Table::event, [this, &previous](const Entry& entry) {
      const auto key = parsed(Table::event, entry.key, parse_event_key(entry.key));
      if (!key) {
        return;
      }
      const auto where = [&] { return describe_key(Table::event, entry.key); };
      check(!previous || previous->tenant != key->tenant || previous->batch < key->batch,
            [&] { return where() + " was written before the batch of events that it follows."; });
      previous = key;
      const auto batch = decoded(Table::event, entry.key,
                                 decode_events(key->tenant, key->time, key->batch, entry.value));
      if (!batch) {
        return;
      }
      check(!batch->events.empty(), [&] { return where() + " holds no events."; });
      for (const core::EventRef& event : batch->events) {
        check(event.seq <= last_seq_ && event.seq != core::Seq{}, [&] {
          return where() + " refers to " + name_of(event.seq) + ", which was never accepted.";
        });
      }
    });
  }

  void lags() {
    for (const auto& [key, lag] : lags_) {
      check(lag.stored == lag.counted, [&] {
        return "Tenant " + std::to_string(key.first.value()) + ": the lag of queue " + key.second +
               " is " + std::to_string(lag.stored) + ", but " + std::to_string(lag.counted) +
               " were counted.";
      });
    }
  }

  void counters() {
    std::map<core::TenantId, core::Counters> stored;
    scan(Table::counters, [this, &stored](const Entry& entry) {
      const auto tenant = parsed(Table::counters, entry.key, parse_tenant_key(entry.key));
      const auto counters = decoded(Table::counters, entry.key, decode_counters(entry.value));
      if (tenant && counters) {
        stored[*tenant] = *counters;
        recounts_.try_emplace(*tenant);
      }
    });
    for (const auto& [tenant, recount] : recounts_) {
      compare(tenant, stored[tenant], recount);
    }
  }

  void compare(core::TenantId tenant, const core::Counters& counters, const Recount& recount) {
    const auto numbers = [this, tenant](std::string_view what, std::uint64_t stored,
                                        std::uint64_t counted, bool holds) {
      check(holds, [&] {
        return "Tenant " + std::to_string(tenant.value()) + ": the counter " + std::string(what) +
               " is " + std::to_string(stored) + ", but " + std::to_string(counted) +
               " were counted.";
      });
    };
    check(counters.conserved(), [&] {
      return "Tenant " + std::to_string(tenant.value()) +
             ": accepted is not pending + succeeded + failed + canceled.";
    });
    numbers("pending", counters.pending, recount.pending, counters.pending == recount.pending);
    numbers("dead_letters", counters.dead_letters, recount.dead_letters,
            counters.dead_letters == recount.dead_letters);
    numbers("accepted less purged", counters.accepted - counters.purged, recount.messages,
            counters.accepted - counters.purged == recount.messages);
    // Purged messages are in the counters only.
    numbers("succeeded", counters.succeeded, recount.succeeded,
            counters.succeeded >= recount.succeeded);
    numbers("failed", counters.failed, recount.failed, counters.failed >= recount.failed);
    numbers("canceled", counters.canceled, recount.canceled, counters.canceled >= recount.canceled);
    numbers("attempts", counters.attempts, recount.attempts, counters.attempts >= recount.attempts);
  }

  /// A source in a queue counts its callbacks that are not final; nobody else does, and a cancelled
  /// one has stopped to.
  void callbacks() {
    for (const auto& [source, count] : awaited_) {
      const auto open = open_callbacks_.find(source);
      const std::uint64_t found = open == open_callbacks_.end() ? 0 : open->second;
      check(found == count, [&] {
        return name_of(source) + " waits for " + std::to_string(count) + " callbacks, but " +
               std::to_string(found) + " are not final.";
      });
    }
    for (const auto& [source, count] : open_callbacks_) {
      if (awaited_.contains(source)) {
        continue;
      }
      const auto message = find_message(source);  // it may have been purged before
      const auto state = find_state(source);
      check(
          !message || message->queue.empty() || (state && state->status == core::Status::canceled),
          [&] {
            return name_of(source) + " does not wait for its callbacks, but " +
                   std::to_string(count) + " are not final.";
          });
    }
  }

  void schedules() {
    scan(Table::schedule, [this](const Entry& entry) {
      if (auto key = parsed(Table::schedule, entry.key, parse_named_key(entry.key))) {
        decoded(Table::schedule, entry.key, decode_schedule(key->first, key->second, entry.value));
        check(exists(Table::schedule_state, entry.key), [&] {
          return describe_key(Table::schedule, entry.key) + " has no state: it would never run.";
        });
      }
    });
    scan(Table::schedule_state, [this](const Entry& entry) {
      const auto key = parsed(Table::schedule_state, entry.key, parse_named_key(entry.key));
      const auto state =
          decoded(Table::schedule_state, entry.key, decode_schedule_state(entry.value));
      if (!key || !state) {
        return;
      }
      const auto where = [&] { return describe_key(Table::schedule_state, entry.key); };
      check(exists(Table::schedule, entry.key),
            [&] { return where() + " is of a schedule that is not there."; });
      check(state->next_at == never ||
                exists(Table::schedule_due,
                       schedule_due_key({state->next_at, key->first, key->second})),
            [&] { return where() + " is not in the order of runs: it would never run."; });
    });
    scan(Table::schedule_due, [this](const Entry& entry) {
      const auto due = parsed(Table::schedule_due, entry.key, parse_schedule_due_key(entry.key));
      if (!due) {
        return;
      }
      const auto state = find<core::ScheduleState>(
          Table::schedule_state, named_key(due->tenant, due->id), decode_schedule_state);
      check(state && state->next_at == due->at, [&] {
        return describe_key(Table::schedule_due, entry.key) +
               " is not the next run of that schedule.";
      });
    });
  }

  core::Meta meta_;
  core::Seq last_seq_{};
  std::vector<std::uint64_t> indexed_;       ///< sorted when lanes() is done
  std::vector<std::uint64_t> dead_letters_;  ///< sorted when dead_letters() is done
  std::map<core::TenantId, Recount> recounts_;
  std::map<core::Seq, std::uint64_t> awaited_;         ///< by sources in queues
  std::map<core::Seq, std::uint64_t> open_callbacks_;  ///< not final, by their source
  std::map<std::pair<core::TenantId, std::string>, Lag> lags_;
};

}  // namespace

Result<VerifyReport> verify(Reader& reader) { return Verifier(reader).run(); }

}  // namespace hk::store
