#include "engine/partition.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/assert.h"
#include "base/sometimes.h"
#include "engine/cached_messages.h"
#include "store/codec.h"
#include "store/crash_point.h"
#include "store/store.h"
#include "store/typed_reader.h"

HK_SOMETIMES_DECLARE(command_left_for_the_next_batch)

namespace hk::engine {
namespace {

/// The disk's fault may pass; a record that is not what was written does not.
Error error_of(const core::CorruptRecord& broken) {
  const bool unread = dynamic_cast<const store::UnreadableRecord*>(&broken) != nullptr;
  return {unread ? ErrorKind::internal : ErrorKind::corruption, broken.what()};
}

/// Expiries are asked for again and again from the first one on, while much expires: reading on
/// from the first one that is left spares walking over those that were deleted.
class RememberedExpiries final : public core::TableView<core::Expiry> {
 public:
  explicit RememberedExpiries(core::TableView<core::Expiry>& stored) : stored_(stored) {}

  std::optional<core::Expiry> get(const core::KeyOf<core::Expiry>& key) override {
    return stored_.get(key);
  }
  std::vector<core::Expiry> scan(const core::Range<core::Expiry>& range, std::size_t limit,
                                 core::Order order) override {
    const bool from_the_first = range.begin().parts == 0 && order == core::Order::ascending;
    if (!from_the_first) {
      return stored_.scan(range, limit, order);
    }
    auto rest = range;
    auto found = std::apply(
        [&](const auto&... place) { return stored_.scan(rest.from(place...), limit, order); },
        first_);
    if (!found.empty()) {
      first_ = core::own_key(found.front());
    } else if (limit > 0 && range.end().parts > 0 && !range.end().past) {
      first_ = std::max(first_, range.end().key);
    }
    return found;
  }
  void written(const core::Expiry& put) { first_ = std::min(first_, core::own_key(put)); }

 private:
  core::TableView<core::Expiry>& stored_;
  core::KeyOf<core::Expiry> first_{};  ///< no expiry has a place before it
};

}  // namespace

/// What the machine reads during one batch: the newest written state, taken when first needed.
class Partition::BatchReader final : public store::TypedReader {
 public:
  BatchReader(store::Store& store, std::size_t cache_bytes)
      : store_(store),
        messages(table<core::Message>(), cache_bytes),
        expiries(table<core::Expiry>()) {
    read_from<core::Message>(messages);
    read_from<core::Expiry>(expiries);
  }

  /// A batch was written: later reads must see it.
  void refresh() { newest_.reset(); }

 private:
  store::Reader& snapshot() override {
    if (newest_ == nullptr) {
      newest_ = store_.snapshot();
    }
    return *newest_;
  }

  store::Store& store_;
  std::unique_ptr<store::Reader> newest_;

 public:
  CachedMessages messages;
  RememberedExpiries expiries;
};

Partition::Partition(const core::Limits& limits, store::Store& store, Rng& rng, core::Zones& zones,
                     std::size_t cache_bytes, core::PartitionId id, core::PushHosts push_hosts,
                     core::Sealing sealing)
    : store_(store),
      reader_(std::make_unique<BatchReader>(store, cache_bytes)),
      machine_(std::make_unique<core::Machine>(limits, rng, zones, id, std::move(push_hosts),
                                               std::move(sealing))),
      last_batch_(store.last_written()) {}

Partition::~Partition() = default;

Result<Moment> Partition::stored_time() const {
  try {
    const auto meta = reader_->get<core::Meta>({});
    reader_->refresh();
    return meta ? meta->time : Moment{};
  } catch (const core::CorruptRecord& broken) {
    return std::unexpected(error_of(broken));
  }
}

Result<std::vector<core::TenantId>> Partition::stored_tenants() const {
  try {
    std::vector<core::TenantId> ids;
    for (const core::Tenant& tenant : reader_->scan<core::Tenant>()) {
      ids.push_back(tenant.id);
    }
    reader_->refresh();
    return ids;
  } catch (const core::CorruptRecord& broken) {
    return std::unexpected(error_of(broken));
  }
}

Result<void> Partition::open(Moment now, const core::Term& term) {
  try {
    if (auto recovered = machine_->recover(*reader_, now, term); !recovered) {
      reader_->refresh();
      return recovered;
    }
  } catch (const core::CorruptRecord& broken) {
    return std::unexpected(error_of(broken));
  }
  auto output = machine_->take();
  HK_ASSERT(output.effects.empty());
  store::crash_point(store::CrashPoint::epoch_unwritten);
  Written written;
  if (auto done = write(output, written); !done) {
    return std::unexpected(done.error());
  }
  reader_->refresh();
  return {};
}

Result<Partition::Written> Partition::run(Moment now, std::vector<Submission>& commands) {
  Written written;
  written.replies.reserve(commands.size());
  core::Batch::Output output;
  try {
    machine_->begin(now, *reader_);
    for (executed_ = 0; executed_ < commands.size() && !machine_->is_full(); ++executed_) {
      written.replies.push_back(machine_->execute(std::move(commands[executed_].command)));
    }
    if (executed_ < commands.size()) {
      HK_SOMETIMES(command_left_for_the_next_batch);
    }
    machine_->advance();
    output = machine_->take();
  } catch (const core::CorruptRecord& broken) {
    // Nothing of this batch was written, but what memory now believes cannot be trusted.
    return std::unexpected(error_of(broken));
  }
  if (auto done = write(output, written); !done) {
    return std::unexpected(done.error());
  }
  const auto rest = commands.begin() + static_cast<std::ptrdiff_t>(executed_);
  std::vector<Submission> later(std::make_move_iterator(rest),
                                std::make_move_iterator(commands.end()));
  commands.erase(rest, commands.end());
  written.answered = std::exchange(commands, std::move(later));
  written.effects = std::move(output.effects);
  settle_late(std::move(output.late), written);
  reader_->refresh();
  return written;
}

/// Receives that have no reply yet stay here; those that have one now are answered with this batch.
void Partition::settle_late(std::vector<core::Batch::Late> late, Written& written) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < written.answered.size(); ++i) {
    const core::Reply& reply = written.replies[i];
    if (const auto* later = reply ? reply->get_if<core::Later>() : nullptr) {
      waiting_.insert_or_assign(later->receiver, std::move(written.answered[i]));
      continue;
    }
    if (kept != i) {
      written.answered[kept] = std::move(written.answered[i]);
      written.replies[kept] = std::move(written.replies[i]);
    }
    ++kept;
  }
  written.answered.resize(kept);
  written.replies.resize(kept);
  for (core::Batch::Late& one : late) {
    auto found = waiting_.extract(one.receiver);
    HK_ASSERT(!found.empty());
    written.answered.push_back(std::move(found.mapped()));
    written.replies.push_back(std::move(one.reply));
  }
}

std::vector<Submission> Partition::take_waiting() {
  std::vector<Submission> all;
  for (auto& [receiver, submission] : std::exchange(waiting_, {})) {
    all.push_back(std::move(submission));
  }
  return all;
}

void Partition::note(const core::Put<core::MessageState>& put, Outcomes& outcomes) {
  const core::MessageState& state = put.record();
  if (state.status == core::Status::succeeded) {
    if (const auto message = reader_->messages.cached(put.key())) {
      outcomes.delivered_after.push_back(state.finished_at - message->created_at);
    }
  } else if (state.status == core::Status::failed) {
    outcomes.dead_lettered += state.in_dlq ? 1 : 0;  // leaving the queue is written the same way
  } else if (state.status == core::Status::pending && state.attempts > 0 &&
             !state.cancel_requested) {
    ++outcomes.retried;
  }
}

/// `left`: the place in the order of runs that was given up last.
void Partition::note(const core::Put<core::ScheduleState>& put,
                     const core::KeyOf<core::ScheduleDue>& left, Outcomes& outcomes) {
  const auto& [at, tenant, id] = left;
  const core::ScheduleState& state = put.record();
  if (put.key() != std::tie(tenant, id) || state.last_at < at) {
    return;  // made, paused or resumed
  }
  ++(state.error.empty() ? outcomes.schedules_run : outcomes.schedule_run_errors);
}

Result<void> Partition::write(core::Batch::Output& output, Written& written) {
  written.mutations = output.mutations.size();
  if (!output.mutations.empty()) {
    std::vector<store::Write> writes;
    writes.reserve(output.mutations.size() + 8);
    for (const core::Mutation& mutation : output.mutations) {
      store::encode(mutation, writes);
    }
    for (const store::Write& one : writes) {
      written.bytes += one.key.size() + one.value.size();
    }
    const auto batch = store_.write(writes);
    if (!batch) {
      return std::unexpected(batch.error());
    }
    last_batch_ = *batch;
    core::KeyOf<core::ScheduleDue> left{never, {}, {}};
    for (core::Mutation& mutation : output.mutations) {
      if (auto* put = std::get_if<core::Put<core::Message>>(&mutation)) {
        written.outcomes.called_back += put->row->callback_of.seq != core::Seq{} ? 1 : 0;
        reader_->messages.written(std::move(put->row));
      } else if (const auto* state = std::get_if<core::Put<core::MessageState>>(&mutation)) {
        note(*state, written.outcomes);
        if (core::is_final(state->record().status)) {
          reader_->messages.erase(state->key());
        }
      } else if (auto* due = std::get_if<core::Erase<core::ScheduleDue>>(&mutation)) {
        left = std::move(due->key);
      } else if (const auto* run = std::get_if<core::Put<core::ScheduleState>>(&mutation)) {
        note(*run, left, written.outcomes);
        std::get<Moment>(left) = never;
      } else if (const auto* expiry = std::get_if<core::Put<core::Expiry>>(&mutation)) {
        reader_->expiries.written(expiry->record());
      } else if (const auto* purged = std::get_if<core::Erase<core::Message>>(&mutation)) {
        // Reading a finished message had brought it back: without its state it would look pending.
        reader_->messages.erase(purged->key);
      }
    }
  }
  written.batch = last_batch_;
  return {};
}

void Partition::forget_view() { reader_->refresh(); }

std::optional<Moment> Partition::wake_at() const { return machine_->wake_at(); }

}  // namespace hk::engine
