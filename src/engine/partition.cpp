#include "engine/partition.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/assert.h"
#include "base/sometimes.h"
#include "engine/message_cache.h"
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

}  // namespace

/// What the machine reads during one batch: the newest written state, taken when first needed, and
/// the cache for messages.
class Partition::BatchReader final : public core::Reader {
 public:
  BatchReader(store::Store& store, std::size_t cache_bytes) : store_(store), cache(cache_bytes) {}

  /// A batch was written: later reads must see it.
  void refresh() { view_.reset(); }

  std::shared_ptr<const core::Message> message(core::Seq seq) override {
    if (auto cached = cache.get(seq)) {
      return cached;
    }
    auto stored = view().message(seq);
    if (stored != nullptr) {
      cache.put(stored);
    }
    return stored;
  }
  std::optional<core::MessageState> state(core::Seq seq) override { return view().state(seq); }
  std::vector<core::Attempt> attempts(core::Seq seq) override { return view().attempts(seq); }
  std::optional<core::Dedup> dedup(core::TenantId tenant, std::string_view id) override {
    return view().dedup(tenant, id);
  }
  bool has_dead_letter(const core::DeadLetterKey& key) override {
    return view().has_dead_letter(key);
  }
  std::vector<core::LaneEntry> lane_entries(const core::LaneKey& lane,
                                            std::optional<core::LanePlace> after,
                                            std::size_t limit) override {
    return view().lane_entries(lane, after, limit);
  }
  std::vector<core::LaneRow> lane_rows(const std::optional<core::LaneKey>& after,
                                       std::size_t limit) override {
    return view().lane_rows(after, limit);
  }
  std::vector<std::shared_ptr<const core::Message>> messages_after(core::Seq after,
                                                                   std::size_t limit) override {
    return view().messages_after(after, limit);
  }
  core::Seq last_seq() override { return view().last_seq(); }
  /// Asked for again and again while much expires: reading on from the first one that is left
  /// spares walking over those that were deleted.
  std::vector<core::PutExpiry> expiries_until(Moment now, std::size_t limit) override {
    const store::TypedReader::ExpiryPlace end{now + Millis{1}, 0};
    auto found = view().expiries(expiries_from_, end, limit);
    if (!found.empty()) {
      expiries_from_ = {found.front().at, found.front().batch};
    } else if (limit > 0) {
      expiries_from_ = std::max(expiries_from_, end);
    }
    return found;
  }
  void written(const core::PutExpiry& put) {
    expiries_from_ = std::min(expiries_from_, {put.at, put.batch});
  }
  std::optional<core::Meta> meta() override { return view().meta(); }
  std::vector<core::Tenant> tenants() override { return view().tenants(); }
  std::vector<core::Queue> queues() override { return view().queues(); }
  std::vector<core::FlowKey> flow_keys() override { return view().flow_keys(); }
  std::vector<core::UrlGroup> url_groups() override { return view().url_groups(); }
  std::vector<std::pair<core::TenantId, core::Counters>> counters() override {
    return view().counters();
  }
  std::optional<core::Schedule> schedule(core::TenantId tenant, std::string_view id) override {
    return view().schedule(tenant, id);
  }
  std::optional<core::ScheduleState> schedule_state(core::TenantId tenant,
                                                    std::string_view id) override {
    return view().schedule_state(tenant, id);
  }
  std::vector<core::ScheduleDue> next_schedules(std::size_t limit) override {
    return view().next_schedules(limit);
  }
  std::vector<core::UrlGroup> url_groups(core::TenantId tenant) override {
    return view().url_groups(tenant);
  }
  std::optional<core::UrlGroup> url_group(core::TenantId tenant, std::string_view name) override {
    return view().url_group(tenant, name);
  }
  std::vector<core::Queue> queues(core::TenantId tenant) override { return view().queues(tenant); }
  std::optional<core::Queue> queue(core::TenantId tenant, std::string_view name) override {
    return view().queue(tenant, name);
  }
  std::optional<core::FlowKey> flow_key(core::TenantId tenant, std::string_view key) override {
    return view().flow_key(tenant, key);
  }
  std::vector<core::Schedule> schedules(core::TenantId tenant, std::string_view after,
                                        std::size_t limit) override {
    return view().schedules(tenant, after, limit);
  }
  std::optional<core::Document> document(core::TenantId tenant, std::string_view kind,
                                         std::string_view name) override {
    return view().document(tenant, kind, name);
  }
  std::vector<core::Document> documents(core::TenantId tenant, std::string_view kind,
                                        std::string_view after, std::size_t limit) override {
    return view().documents(tenant, kind, after, limit);
  }
  std::vector<core::DeadLetterKey> dead_letters(core::TenantId tenant,
                                                std::optional<core::DeadLetterKey> after,
                                                bool latest_first, std::size_t limit) override {
    return view().dead_letters(tenant, after, latest_first, limit);
  }
  std::vector<core::AppendEvents> events(core::TenantId tenant, Moment from, Moment to,
                                         std::optional<std::pair<Moment, std::uint64_t>> after,
                                         bool latest_first, std::size_t limit) override {
    return view().events(tenant, from, to, after, latest_first, limit);
  }

 private:
  store::TypedReader& view() {
    if (!view_) {
      view_ = std::make_unique<store::TypedReader>(store_.snapshot());
    }
    return *view_;
  }

  store::Store& store_;
  std::unique_ptr<store::TypedReader> view_;
  store::TypedReader::ExpiryPlace expiries_from_{};  ///< no expiry has a place before it

 public:
  MessageCache cache;
};

Partition::Partition(const core::Limits& limits, store::Store& store, Rng& rng, core::Zones& zones,
                     std::size_t cache_bytes)
    : store_(store),
      reader_(std::make_unique<BatchReader>(store, cache_bytes)),
      machine_(std::make_unique<core::Machine>(limits, rng, zones)),
      last_batch_(store.last_written()) {}

Partition::~Partition() = default;

Result<Moment> Partition::stored_time() const {
  try {
    const auto meta = reader_->meta();
    reader_->refresh();
    return meta ? meta->time : Moment{};
  } catch (const core::CorruptRecord& broken) {
    return std::unexpected(error_of(broken));
  }
}

Result<void> Partition::open(Moment now) {
  try {
    machine_->recover(*reader_, now);
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
  reader_->refresh();
  return written;
}

void Partition::note(const core::PutState& put, Outcomes& outcomes) {
  const core::MessageState& state = put.state;
  if (state.status == core::Status::succeeded) {
    if (const auto message = reader_->cache.get(put.seq)) {
      outcomes.delivered_after.push_back(state.finished_at - message->created_at);
    }
  } else if (state.status == core::Status::failed) {
    outcomes.dead_lettered += state.in_dlq ? 1 : 0;  // leaving the queue is written the same way
  } else if (state.status == core::Status::pending && state.attempts > 0 &&
             !state.cancel_requested) {
    ++outcomes.retried;
  }
}

void Partition::note(const core::PutScheduleState& put, Outcomes& outcomes) {
  if (put.state.last_at < put.previous_next_at) {
    return;  // made, paused or resumed
  }
  ++(put.state.error.empty() ? outcomes.schedules_run : outcomes.schedule_run_errors);
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
    for (core::Mutation& mutation : output.mutations) {
      if (auto* put = std::get_if<core::PutMessage>(&mutation)) {
        written.outcomes.called_back += put->message->callback_of.seq != core::Seq{} ? 1 : 0;
        reader_->cache.put(std::move(put->message));
      } else if (const auto* state = std::get_if<core::PutState>(&mutation)) {
        note(*state, written.outcomes);
        if (core::is_final(state->state.status)) {
          reader_->cache.erase(state->seq);
        }
      } else if (const auto* schedule = std::get_if<core::PutScheduleState>(&mutation)) {
        note(*schedule, written.outcomes);
      } else if (const auto* expiry = std::get_if<core::PutExpiry>(&mutation)) {
        reader_->written(*expiry);
      } else if (const auto* purged = std::get_if<core::PurgeMessage>(&mutation)) {
        // Reading a finished message had brought it back: without its state it would look pending.
        reader_->cache.erase(purged->seq);
      }
    }
  }
  written.batch = last_batch_;
  return {};
}

void Partition::forget_view() { reader_->refresh(); }

std::optional<Moment> Partition::wake_at() const { return machine_->wake_at(); }

}  // namespace hk::engine
