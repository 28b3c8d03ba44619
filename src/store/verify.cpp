#include "store/verify.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>

#include "core/topic/publication.h"
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

/// Of an application: endpoints, disabled ones among them, tokens of sessions.
struct Counted {
  std::array<std::uint64_t, 3> stored{};
  std::array<std::uint64_t, 3> counted{};
};

struct CountedTotals {
  std::pair<std::uint64_t, std::uint64_t> stored{};
  std::uint64_t applications = 0;
  std::uint64_t event_types = 0;
};

/// Rejected requests of a source.
struct Kept {
  core::QuarantineState said{};
  std::uint64_t items = 0;
  std::uint64_t bytes = 0;
};

/// Unfinished messages of a queue.
struct Lag {
  std::uint64_t stored = 0;
  std::uint64_t counted = 0;
};

std::string name_of(core::Seq seq) { return "message " + std::to_string(seq.value()); }
template <class R>
std::string name_of(const core::KeyOf<R>& key) {
  return describe_key(table_of<R>, encode_key<R>(key));
}

class Verifier : RowReader {
 public:
  explicit Verifier(Reader& reader) : RowReader(reader) {}

  Result<VerifyReport> run() {
    core::for_each_record([this]<class R>() { table<R>(); });
    lags();
    callbacks();
    if (error_) {
      return std::unexpected(*error_);
    }
    return std::move(report_);
  }

 private:
  /// Every row can be read, and keeps the rules of its kind.
  template <class R>
  void table() {
    scan(table_of<R>, [this](const Entry& entry) {
      if (is_no_record<R>(entry)) {
        return;
      }
      if (const auto key = key_of_row<R>(entry)) {
        rule(*key, record_of_row<R>(*key, entry));
      }
    });
    end(std::type_identity<R>{});
  }

  /// The pepper stands in the table of the meta record.
  template <class R>
  bool is_no_record(const Entry& entry) {
    if constexpr (std::is_same_v<R, core::Meta>) {
      if (entry.key == pepper_key) {
        if (const auto pepper = decode_pepper(entry.value); !pepper) {
          problem(describe_key(table_of<R>, entry.key) +
                  " does not decode: " + pepper.error().message + ".");
        }
        return true;
      }
    }
    return false;
  }

  // ---- what must hold of a row beside being readable; without a record it is not ----

  template <class R>
  void rule(const core::KeyOf<R>& /*key*/, const std::optional<R>& /*record*/) {}
  /// When all rows of a table were read.
  template <class R>
  static void end(std::type_identity<R> /*kind*/) {}

  void rule(const std::tuple<>& /*key*/, const std::optional<core::Meta>& meta) {
    meta_ = meta.value_or(core::Meta{});
    last_seq_ = meta_.indexed_up_to;
  }

  void rule(const core::KeyOf<core::Queue>& key, const std::optional<core::Queue>& queue) {
    if (queue) {
      lags_.emplace(key, Lag{.stored = queue->lag});
    }
  }

  void rule(const core::KeyOf<core::DelayedSecond>& key,
            const std::optional<core::DelayedSecond>& delayed) {
    const auto& [tenant, second, queue] = key;
    check(lags_.contains({tenant, queue}) && (!delayed || !delayed->slots.empty()), [&] {
      return name_of<core::DelayedSecond>(key) +
             " counts nothing, or of a queue that is not there.";
    });
  }

  void rule(const core::KeyOf<core::LaneRow>& key, const std::optional<core::LaneRow>& row) {
    const auto& [lane, place] = key;
    indexed_.push_back(place.seq.value());
    const auto where = [&] { return "The index entry " + name_of<core::LaneRow>(key); };
    const auto message = find<core::Message>(place.seq);
    if (!message) {
      problem(where() + " belongs to " + name_of(place.seq) + ", which is not there.");
      return;
    }
    check(core::lane_of(*message) == lane,
          [&] { return where() + " is not in the lane of " + name_of(place.seq) + "."; });
    const auto state = find<core::MessageState>(place.seq);
    const bool final = state && core::is_final(state->status);
    const bool held = final && lane.ordered() && state->callbacks_open > 0;
    check(!final || held,
          [&] { return where() + " belongs to " + name_of(place.seq) + ", which is final."; });
    check(!row || (row->entry.finished == held && (!held || row->entry.started)), [&] {
      return where() + " does not say of " + name_of(place.seq) +
             " whether it holds its slot for its callbacks.";
    });
    const Moment due = lane.ordered() ? Moment{} : state ? state->due : message->not_before;
    check(place.due == due,
          [&] { return where() + " is not at the due time of " + name_of(place.seq) + "."; });
  }
  void end(std::type_identity<core::LaneRow> /*kind*/) {
    std::ranges::sort(indexed_);
    for (auto twice = std::ranges::adjacent_find(indexed_); twice != indexed_.end();
         twice = std::adjacent_find(twice + 1, indexed_.end())) {
      problem(name_of(core::Seq{*twice}) + " has more than one index entry.");
    }
  }

  void rule(const core::KeyOf<core::DeadLetterKey>& key,
            const std::optional<core::DeadLetterKey>& /*letter*/) {
    const auto& [tenant, failed_at, seq] = key;
    dead_letters_.push_back(seq.value());
    const auto message = find<core::Message>(seq);
    const auto state = find<core::MessageState>(seq);
    check(message && message->tenant == tenant && state && state->in_dlq &&
              state->status == core::Status::failed && state->finished_at == failed_at,
          [&] {
            return "The dead letter " + name_of<core::DeadLetterKey>(key) + " of " + name_of(seq) +
                   " is not what that message's state says.";
          });
  }
  void end(std::type_identity<core::DeadLetterKey> /*kind*/) { std::ranges::sort(dead_letters_); }

  void rule(core::Seq seq, const std::optional<core::Message>& message) {
    last_seq_ = std::max(last_seq_, seq);
    if (message) {
      count(*message, find<core::MessageState>(seq));
    }
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
    if (!message.queue.empty() && !message.webhook) {
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

  void rule(core::Seq seq, const std::optional<core::MessageState>& /*state*/) {
    check(exists<core::Message>(seq),
          [&] { return "There is a state of " + name_of(seq) + ", which is not there."; });
  }

  void rule(const core::KeyOf<core::Task>& key, const std::optional<core::Task>& task) {
    if (!task) {
      return;
    }
    const bool running =
        task->status == core::Task::Status::running || task->status == core::Task::Status::paused;
    check(running == (task->ended_at == Moment{}) && task->up_to <= last_seq_, [&] {
      return name_of<core::Task>(key) + " does not say how far it goes, or whether it has ended.";
    });
    check(task->kind() != core::Task::Kind::move || lags_.contains({task->tenant, task->subject()}),
          [&] { return name_of<core::Task>(key) + " is of a queue that is not there."; });
  }

  void rule(const core::KeyOf<core::Attempt>& key, const std::optional<core::Attempt>& attempt) {
    const auto& [seq, number] = key;
    const auto name = [&] { return "Attempt " + std::to_string(number); };
    check(!attempt || attempt->fence.attempt == number,
          [&] { return name() + " of " + name_of(seq) + " has another number."; });
    const auto state = find<core::MessageState>(seq);
    check(state && number < state->attempts,
          [&] { return name() + " is not an earlier attempt of " + name_of(seq) + "."; });
  }

  void rule(const core::KeyOf<core::Dedup>& key, const std::optional<core::Dedup>& dedup) {
    const auto& [tenant, id] = key;
    if (!dedup || core::may_be_topic_dedup_id(id)) {
      return;
    }
    if (id.starts_with(core::source_dedup_prefix)) {
      check(dedup->first.seq <= last_seq_ && dedup->first.seq != core::Seq{}, [&] {
        return name_of<core::Dedup>(key) + " names a message that was never accepted.";
      });
      return;
    }
    check(dedup->first.seq <= last_seq_ && dedup->first.seq != core::Seq{},
          [&] { return name_of<core::Dedup>(key) + " names a message that was never accepted."; });
    const auto message = find<core::Message>(dedup->first.seq);  // it may have been purged before
    check(!message ||
              (message->id == dedup->first && message->tenant == tenant && message->dedup_id == id),
          [&] {
            return name_of<core::Dedup>(key) + " names " + name_of(dedup->first.seq) +
                   ", which has another id.";
          });
  }

  void rule(const core::KeyOf<core::Events>& key, const std::optional<core::Events>& events) {
    const core::TenantId tenant = std::get<0>(key);
    const std::uint64_t batch = std::get<2>(key);
    const auto where = [&] { return name_of<core::Events>(key); };
    check(!events_before_ || std::get<0>(*events_before_) != tenant ||
              std::get<2>(*events_before_) < batch,
          [&] { return where() + " was written before the batch of events that it follows."; });
    events_before_ = key;
    if (!events) {
      return;
    }
    check(!events->events.empty(), [&] { return where() + " holds no events."; });
    for (const core::EventRef& event : events->events) {
      check(event.seq <= last_seq_ && event.seq != core::Seq{}, [&] {
        return where() + " refers to " + name_of(event.seq) + ", which was never accepted.";
      });
    }
  }

  void rule(core::TenantId tenant, const std::optional<core::Counters>& counters) {
    if (counters) {
      counters_[tenant] = *counters;
      recounts_.try_emplace(tenant);
    }
  }
  void end(std::type_identity<core::Counters> /*kind*/) {
    for (const auto& [tenant, recount] : recounts_) {
      compare(tenant, counters_[tenant], recount);
    }
  }

  void rule(const core::KeyOf<core::Schedule>& key,
            const std::optional<core::Schedule>& /*schedule*/) {
    check(exists<core::ScheduleState>(key),
          [&] { return name_of<core::Schedule>(key) + " has no state: it would never run."; });
  }
  void rule(const core::KeyOf<core::ScheduleState>& key,
            const std::optional<core::ScheduleState>& state) {
    if (!state) {
      return;
    }
    const auto& [tenant, id] = key;
    const auto where = [&] { return name_of<core::ScheduleState>(key); };
    check(exists<core::Schedule>(key),
          [&] { return where() + " is of a schedule that is not there."; });
    check(state->next_at == never || exists<core::ScheduleDue>({state->next_at, tenant, id}),
          [&] { return where() + " is not in the order of runs: it would never run."; });
  }
  void rule(const core::KeyOf<core::ScheduleDue>& key,
            const std::optional<core::ScheduleDue>& /*due*/) {
    const auto& [at, tenant, id] = key;
    const auto state = find<core::ScheduleState>({tenant, id});
    check(state && state->next_at == at, [&] {
      return name_of<core::ScheduleDue>(key) + " is not the next run of that schedule.";
    });
  }

  // ---- webhooks ----

  [[nodiscard]] bool is_application(core::TenantId tenant, std::uint64_t number) const {
    return number == core::webhook::operational || applications_.contains({tenant, number});
  }
  /// What is chosen by its owner leads back to what has it.
  bool leads_to(core::TenantId tenant, core::webhook::Name::Kind kind, std::uint64_t scope,
                const std::string& text, std::uint64_t number) {
    const auto name = find<core::webhook::Name>(
        core::KeyOf<core::webhook::Name>{tenant, static_cast<std::uint32_t>(kind), scope, text});
    return text.empty() || (name && name->number == number);
  }

  void rule(const core::KeyOf<core::webhook::Application>& key,
            const std::optional<core::webhook::Application>& application) {
    const auto& [tenant, number] = key;
    Counted& counted = applications_[key];
    ++totals_[tenant].applications;
    if (!application) {
      return;
    }
    counted.stored = {application->endpoints, application->disabled, application->tokens};
    check(leads_to(tenant, core::webhook::Name::Kind::application_uid, 0, application->uid, number),
          [&] {
            return name_of<core::webhook::Application>(key) + " is not found by its uid " +
                   application->uid + ".";
          });
  }
  void rule(const core::KeyOf<core::webhook::EventType>& key,
            const std::optional<core::webhook::EventType>& /*type*/) {
    ++totals_[std::get<0>(key)].event_types;
  }
  void rule(const core::KeyOf<core::webhook::Endpoint>& key,
            const std::optional<core::webhook::Endpoint>& endpoint) {
    const auto& [tenant, application, number] = key;
    const auto where = [&] { return name_of<core::webhook::Endpoint>(key); };
    check(is_application(tenant, application),
          [&] { return where() + " is of an application that is not there."; });
    if (!endpoint) {
      return;
    }
    if (const auto owner = applications_.find({tenant, application});
        owner != applications_.end()) {
      ++owner->second.counted[0];
      owner->second.counted[1] +=
          endpoint->disabled != core::webhook::Endpoint::Disabled::no ? 1 : 0;
    }
    check(leads_to(tenant, core::webhook::Name::Kind::endpoint_uid, application, endpoint->uid,
                   number),
          [&] { return where() + " is not found by its uid " + endpoint->uid + "."; });
  }
  void rule(const core::KeyOf<core::webhook::Name>& key,
            const std::optional<core::webhook::Name>& name) {
    using Kind = core::webhook::Name::Kind;
    if (!name) {
      return;
    }
    const auto& [tenant, kind, scope, text, number] = *name;
    bool there = false;
    switch (kind) {
      case Kind::application_uid: {
        const auto found = find<core::webhook::Application>(
            core::KeyOf<core::webhook::Application>{tenant, number});
        there = found && found->uid == text;
        break;
      }
      case Kind::endpoint_uid: {
        const auto found = find<core::webhook::Endpoint>(
            core::KeyOf<core::webhook::Endpoint>{tenant, scope, number});
        there = found && found->uid == text;
        break;
      }
      case Kind::event_id: {
        const auto found =
            find<core::webhook::Event>(core::KeyOf<core::webhook::Event>{tenant, scope, number});
        there = found && found->event_id == text;
        break;
      }
      case Kind::token: {
        const auto found =
            find<core::webhook::AppToken>(core::KeyOf<core::webhook::AppToken>{tenant, text});
        there = found && found->application == scope && found->integration == 0;
        break;
      }
    }
    check(there, [&] {
      return name_of<core::webhook::Name>(key) + " names what is not there, or has another name.";
    });
  }
  void rule(const core::KeyOf<core::webhook::AppToken>& key,
            const std::optional<core::webhook::AppToken>& token) {
    if (!token) {
      return;
    }
    const auto where = [&] { return name_of<core::webhook::AppToken>(key); };
    const auto owner = applications_.find({token->tenant, token->application});
    check(owner != applications_.end(),
          [&] { return where() + " is of an application that is not there."; });
    if (token->integration == 0) {
      if (owner != applications_.end()) {
        ++owner->second.counted[2];
      }
      check(leads_to(token->tenant, core::webhook::Name::Kind::token, token->application,
                     token->digest, 0),
            [&] { return where() + " is not in the list of its application."; });
      return;
    }
    const auto integration =
        find<core::webhook::Integration>(core::KeyOf<core::webhook::Integration>{
            token->tenant, token->application, token->integration});
    check(integration && integration->digest == token->digest,
          [&] { return where() + " is not the key of its integration."; });
  }
  void rule(const core::KeyOf<core::webhook::Integration>& key,
            const std::optional<core::webhook::Integration>& integration) {
    const auto& [tenant, application, number] = key;
    check(applications_.contains({tenant, application}), [&] {
      return name_of<core::webhook::Integration>(key) + " is of an application that is not there.";
    });
    check(!integration || integration->digest.empty() ||
              exists<core::webhook::AppToken>(
                  core::KeyOf<core::webhook::AppToken>{tenant, integration->digest}),
          [&] {
            return name_of<core::webhook::Integration>(key) + " has a key that opens nothing.";
          });
  }
  void rule(core::TenantId tenant, const std::optional<core::webhook::Totals>& totals) {
    if (totals) {
      totals_[tenant].stored = {totals->applications, totals->event_types};
    }
  }
  void end(std::type_identity<core::webhook::Totals> /*kind*/) {
    for (const auto& [tenant, totals] : totals_) {
      check(totals.stored == std::pair(totals.applications, totals.event_types), [&] {
        return "Tenant " + std::to_string(tenant.value()) +
               " has not as many applications or event types as are counted for it.";
      });
    }
    for (const auto& [key, application] : applications_) {
      check(application.stored == application.counted, [&] {
        return name_of<core::webhook::Application>(key) +
               " has not as many endpoints, disabled ones or tokens as it says.";
      });
    }
  }

  // ---- inbound sources ----

  void rule(const core::KeyOf<core::Source>& key, const std::optional<core::Source>& source) {
    if (!source) {
      return;
    }
    quarantines_.emplace(key, Kept{.said = source->quarantine});
    for (const std::string& name : {source->name, source->id}) {
      const auto found = find<core::SourceName>(name);
      check(found && found->tenant == source->tenant && found->id == source->id &&
                found->version == source->version,
            [&] {
              return name_of<core::Source>(key) + " is not found by " + name +
                     ": its requests would be refused.";
            });
    }
  }
  void rule(const std::string& name, const std::optional<core::SourceName>& found) {
    check(!found || exists<core::Source>({found->tenant, found->id}),
          [&] { return name_of<core::SourceName>(name) + " is of a source that is not there."; });
  }
  void rule(const core::KeyOf<core::SourceEvent>& key,
            const std::optional<core::SourceEvent>& /*event*/) {
    const core::Seq seq = std::get<2>(key);
    check(seq <= last_seq_ && seq != core::Seq{}, [&] {
      return name_of<core::SourceEvent>(key) + " names a message that was never accepted.";
    });
  }
  void rule(const core::KeyOf<core::Quarantined>& key,
            const std::optional<core::Quarantined>& request) {
    const auto& [tenant, source, number] = key;
    const auto kept = quarantines_.find({tenant, source.name});
    if (kept == quarantines_.end() || !request) {
      return;  // of a source that was deleted: it goes
    }
    check(number >= kept->second.said.first && number < kept->second.said.next, [&] {
      return name_of<core::Quarantined>(key) + " has a number that its source does not know.";
    });
    ++kept->second.items;
    kept->second.bytes += request->bytes();
  }
  void end(std::type_identity<core::Quarantined> /*kind*/) {
    for (const auto& [key, kept] : quarantines_) {
      check(kept.items == kept.said.items && kept.bytes == kept.said.bytes, [&] {
        return name_of<core::Source>(key) + " counts " + std::to_string(kept.said.items) +
               " rejected requests with " + std::to_string(kept.said.bytes) + " bytes, but " +
               std::to_string(kept.items) + " with " + std::to_string(kept.bytes) + " were found.";
      });
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
      const auto message = find<core::Message>(source);  // it may have been purged before
      const auto state = find<core::MessageState>(source);
      check(
          !message || message->queue.empty() || (state && state->status == core::Status::canceled),
          [&] {
            return name_of(source) + " does not wait for its callbacks, but " +
                   std::to_string(count) + " are not final.";
          });
    }
  }

  void lags() {
    for (const auto& [key, lag] : lags_) {
      check(lag.stored == lag.counted, [&] {
        const auto& [tenant, name] = key;
        return "Tenant " + std::to_string(tenant.value()) + ": the lag of queue " + name + " is " +
               std::to_string(lag.stored) + ", but " + std::to_string(lag.counted) +
               " were counted.";
      });
    }
  }

  core::Meta meta_;
  core::Seq last_seq_{};
  std::vector<std::uint64_t> indexed_;       ///< sorted when all are read
  std::vector<std::uint64_t> dead_letters_;  ///< sorted when all are read
  std::map<core::TenantId, Recount> recounts_;
  std::map<core::Seq, std::uint64_t> awaited_;         ///< by sources in queues
  std::map<core::Seq, std::uint64_t> open_callbacks_;  ///< not final, by their source
  std::map<core::KeyOf<core::Queue>, Lag> lags_;
  std::map<core::KeyOf<core::Source>, Kept> quarantines_;
  std::map<core::TenantId, core::Counters> counters_;
  std::optional<core::KeyOf<core::Events>> events_before_;
  std::map<core::KeyOf<core::webhook::Application>, Counted> applications_;
  std::map<core::TenantId, CountedTotals> totals_;
};

}  // namespace

Result<VerifyReport> verify(Reader& reader) { return Verifier(reader).run(); }

}  // namespace hk::store
