#include "store/verify.h"

#include <algorithm>
#include <map>
#include <optional>

#include "store/codec.h"
#include "store/key.h"
#include "store/table_name.h"

namespace hk::store {
namespace {

constexpr std::size_t rows_per_read = 512;

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

std::string name_of(core::Seq seq) { return "message " + std::to_string(seq.value()); }

class Verifier {
 public:
  explicit Verifier(Reader& reader) : reader_(reader) {}

  Result<VerifyReport> run() {
    settings();
    lanes();
    dead_letters();
    messages();
    states();
    attempts();
    dedups();
    expiries();
    events();
    counters();
    if (error_) {
      return std::unexpected(*error_);
    }
    return std::move(report_);
  }

 private:
  void problem(std::string sentence) {
    if (++report_.problem_count <= problems_listed_max) {
      report_.problems.push_back(std::move(sentence));
    }
  }
  void check(bool holds, const std::string& sentence) {
    if (!holds) {
      problem(sentence);
    }
  }

  /// Damage becomes a problem; any other reason ends the whole check.
  void failed_read(Table table, const Error& error) {
    if (error.kind != ErrorKind::corruption) {
      error_ = error;
      return;
    }
    problem("Table " + std::string(table_name(table)) + " cannot be read: " + error.message + ".");
  }

  template <class Each>
  void scan(Table table, Each each) {
    std::string from;
    while (!error_) {
      auto entries = reader_.scan(table, from, "", rows_per_read);
      if (!entries) {
        failed_read(table, entries.error());
        return;
      }
      for (const Entry& entry : *entries) {
        ++report_.rows[static_cast<std::size_t>(table)];
        each(entry);
      }
      if (entries->size() < rows_per_read) {
        return;
      }
      from = after_key(entries->back().key);
    }
  }

  /// The decoded record, or nullopt and a problem.
  template <class T>
  std::optional<T> decoded(Table table, const std::string& key, Result<T> record) {
    if (!record) {
      problem(describe_key(table, key) + " does not decode: " + record.error().message + ".");
      return std::nullopt;
    }
    return std::move(*record);
  }
  template <class T>
  std::optional<T> parsed(Table table, const std::string& key, std::optional<T> parts) {
    check(parts.has_value(), describe_key(table, key) + " is not a key of that table.");
    return parts;
  }
  template <class T, class Decode>
  std::optional<T> find(Table table, const std::string& key, Decode decode) {
    auto value = reader_.get(table, key);
    if (!value) {
      failed_read(table, value.error());
      return std::nullopt;
    }
    if (!*value) {
      return std::nullopt;
    }
    auto record = decode(**value);
    return record ? std::optional<T>(std::move(*record)) : std::nullopt;  // its own scan reports it
  }
  std::optional<core::Message> find_message(core::Seq seq) {
    return find<core::Message>(Table::message, seq_key(seq), [seq](std::string_view value) {
      return decode_message(seq, value);
    });
  }
  std::optional<core::MessageState> find_state(core::Seq seq) {
    return find<core::MessageState>(Table::state, seq_key(seq), decode_state);
  }
  bool exists(Table table, const std::string& key) {
    auto value = reader_.get(table, key);
    if (!value) {
      failed_read(table, value.error());
    }
    return value && *value;
  }

  void settings() {
    scan(Table::meta, [this](const Entry& entry) {
      check(entry.key == meta_key, describe_key(Table::meta, entry.key) + " is unknown.");
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
        decoded(Table::queue, entry.key, decode_queue(key->first, key->second, entry.value));
      }
    });
    scan(Table::flow_key, [this](const Entry& entry) {
      if (auto key = parsed(Table::flow_key, entry.key, parse_named_key(entry.key))) {
        decoded(Table::flow_key, entry.key, decode_flow_key(key->first, key->second, entry.value));
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
      decoded(Table::lane, entry.key, decode_lane_entry(place, entry.value));
      indexed_.push_back(place.seq.value());
      const std::string where = "The index entry " + describe_key(Table::lane, entry.key);
      const auto message = find_message(place.seq);
      if (!message) {
        problem(where + " belongs to " + name_of(place.seq) + ", which is not there.");
        return;
      }
      check(core::lane_of(*message) == lane,
            where + " is not in the lane of " + name_of(place.seq) + ".");
      const auto state = find_state(place.seq);
      check(!state || !core::is_final(state->status),
            where + " belongs to " + name_of(place.seq) + ", which is final.");
      const Moment due = lane.ordered() ? Moment{} : state ? state->due : message->not_before;
      check(place.due == due, where + " is not at the due time of " + name_of(place.seq) + ".");
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
            "The dead letter " + describe_key(Table::dead_letter, entry.key) + " of " +
                name_of(key->seq) + " is not what that message's state says.");
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
          name_of(seq) + " should be in the dead-letter queue and is not.");
    switch (state ? state->status : core::Status::pending) {
      case core::Status::succeeded: ++recount.succeeded; return;
      case core::Status::failed: ++recount.failed; return;
      case core::Status::canceled: ++recount.canceled; return;
      case core::Status::pending:
      case core::Status::running: ++recount.pending; break;
    }
    ++report_.unfinished;
    if (std::ranges::binary_search(indexed_, seq.value())) {
      return;
    }
    // The next start looks at messages after indexed_up_to that have no state record, and at lanes.
    const bool young = !state && seq > meta_.indexed_up_to;
    report_.without_index += young ? 1 : 0;
    check(young, name_of(seq) + " is unfinished but in no lane: it would never be delivered.");
  }

  void states() {
    scan(Table::state, [this](const Entry& entry) {
      if (const auto seq = parsed(Table::state, entry.key, parse_seq_key(entry.key))) {
        decoded(Table::state, entry.key, decode_state(entry.value));
        check(exists(Table::message, seq_key(*seq)),
              "There is a state of " + name_of(*seq) + ", which is not there.");
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
      check(!attempt || attempt->fence.attempt == number,
            "Attempt " + std::to_string(number) + " of " + name_of(seq) + " has another number.");
      const auto state = find_state(seq);
      check(state && number < state->attempts, "Attempt " + std::to_string(number) +
                                                   " is not an earlier attempt of " + name_of(seq) +
                                                   ".");
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
      check(dedup->first.seq <= last_seq_ && dedup->first.seq != core::Seq{},
            describe_key(Table::dedup, entry.key) + " names a message that was never accepted.");
      const auto message = find_message(dedup->first.seq);  // it may have been purged before
      check(!message || (message->id == dedup->first && message->tenant == key->first &&
                         message->dedup_id == key->second),
            describe_key(Table::dedup, entry.key) + " names " + name_of(dedup->first.seq) +
                ", which has another id.");
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
      const std::string where = describe_key(Table::event, entry.key);
      check(!previous || previous->tenant != key->tenant || previous->batch < key->batch,
            where + " was written before the batch of events that it follows.");
      previous = key;
      const auto batch = decoded(Table::event, entry.key,
                                 decode_events(key->tenant, key->time, key->batch, entry.value));
      if (!batch) {
        return;
      }
      check(!batch->events.empty(), where + " holds no events.");
      for (const core::EventRef& event : batch->events) {
        check(event.seq <= last_seq_ && event.seq != core::Seq{},
              where + " refers to " + name_of(event.seq) + ", which was never accepted.");
      }
    });
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
      check(holds, "Tenant " + std::to_string(tenant.value()) + ": the counter " +
                       std::string(what) + " is " + std::to_string(stored) + ", but " +
                       std::to_string(counted) + " were counted.");
    };
    check(counters.conserved(), "Tenant " + std::to_string(tenant.value()) +
                                    ": accepted is not pending + succeeded + failed + canceled.");
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

  Reader& reader_;
  VerifyReport report_;
  std::optional<Error> error_;
  core::Meta meta_;
  core::Seq last_seq_{};
  std::vector<std::uint64_t> indexed_;       ///< sorted when lanes() is done
  std::vector<std::uint64_t> dead_letters_;  ///< sorted when dead_letters() is done
  std::map<core::TenantId, Recount> recounts_;
};

}  // namespace

Result<VerifyReport> verify(Reader& reader) { return Verifier(reader).run(); }

}  // namespace hk::store
