/// The reference: a deliberately simple map-and-list program of what must be true, written from the
/// promises and not from the core's code. It is given the same operations in the same order and
/// what was written for them; it predicts every reply and judges every write and every start. It
/// knows nothing of windows, parking or turns: only which starts are allowed, and when one is owed.
///
/// Every change can be taken back: a crash rolls the model back to the batch that survived.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/command.h"
#include "core/effect.h"
#include "core/limits.h"
#include "sim/history.h"
#include "sim/op.h"
#include "store/store.h"

namespace hk::sim {

struct ModelMessage {
  std::shared_ptr<const core::Message> content{};
  core::Status status = core::Status::pending;
  std::uint32_t attempts = 0;
  Moment due{};
  bool cancel_requested = false;
  bool in_dlq = false;
  Moment finished_at{};
  Moment expires_at{never};
  std::uint32_t callbacks_open = 0;  ///< in a queue: callbacks of it that are not final
  /// Some attempt of it has begun, before a crash perhaps: it is under way until it ends.
  bool started = false;
  bool leased = false;
  core::Fence fence{};
  Moment lease_until{};

  [[nodiscard]] core::Seq seq() const { return content->id.seq; }
  [[nodiscard]] bool ordered() const { return !content->queue.empty(); }
  [[nodiscard]] bool has_state() const {
    return attempts > 0 || cancel_requested || core::is_final(status);
  }
};

struct ModelQueue {
  std::uint32_t parallelism = 1;
  bool paused = false;
  bool deleted = false;
  bool sweeping = false;  ///< the stored record says so: nothing of it starts
};
struct ModelFlow {
  std::uint32_t parallelism = 0;
  std::uint32_t rate = 0;
  Millis period{1000};
  bool paused = false;
  bool pinned_parallelism = false;
  bool pinned_rate = false;
  Moment window_start{};
  std::uint32_t window_count = 0;
  Moment last_use{};
};

struct KnownCron;
struct ModelSchedule {
  core::Schedule content{};
  core::ScheduleState state{};
  const KnownCron* cron = nullptr;
};

/// What a reply must be.
struct Expected {
  enum class Kind : std::uint8_t {
    done,
    published,
    canceled,
    tenant,
    inspected,
    flows,
    refused,
    fanned_out,
    batch,
    scheduled
  };
  Kind kind{};
  ErrorKind error{};
  core::MessageId id{};
  bool flag = false;  ///< deduplicated; running
  core::Fence fence{};
  std::string name{};      ///< of the schedule
  bool pending = false;    ///< inspected: it waits
  bool may_start = false;  ///< inspected: nothing that we know of holds it
  struct Flow {
    std::optional<ModelFlow> flow{};
    std::uint32_t running = 0;
    std::uint64_t waiting_max = 0;
  };
  std::map<std::string, Flow> flows{};
  std::string url{};  ///< part of a fan-out: where it goes
  std::vector<Expected> parts{};
};

class Model {
 public:
  explicit Model(const core::Limits& limits) : limits_(limits) {}
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  struct Step {
    store::BatchSeq batch = 0;  ///< the number that the batch has or would have
    Moment time{};
    std::span<const Op> ops{};
    const Decoded* written = nullptr;
  };
  /// One batch. Throws Violation. Returns what each operation must be answered.
  std::vector<Expected> apply(const Step& step);
  /// The batch that recovery writes.
  void recover(const Step& step);
  /// The process is gone, batches after `survivor` with it; leases are forgotten.
  void crashed(store::BatchSeq survivor);
  /// Batches up to this one cannot be lost any more.
  void synced(store::BatchSeq batch);

  void check_effects(const Decoded& written, std::span<const core::Effect> effects) const;
  /// Nothing that may start is left waiting. REQUIRES: the core says that it has nothing to do.
  void check_nothing_stranded(Moment time) const;
  /// No schedule is due. REQUIRES: the core says that it has nothing to do.
  void check_no_run_missed(Moment time) const;
  /// Tenants that could start something now, their own limits included but not the global one.
  [[nodiscard]] std::set<core::TenantId> tenants_with_work(Moment time) const;

  [[nodiscard]] const std::map<core::Seq, ModelMessage>& messages() const { return messages_; }
  [[nodiscard]] const std::map<Named, core::Dedup>& dedups() const { return dedups_; }
  [[nodiscard]] const std::map<Named, ModelQueue>& queues() const { return queues_; }
  [[nodiscard]] const std::map<Named, ModelFlow>& flows() const { return flows_; }
  [[nodiscard]] const std::map<Named, std::vector<core::Endpoint>>& groups() const {
    return groups_;
  }
  [[nodiscard]] const std::map<Named, ModelSchedule>& schedules() const { return schedules_; }
  [[nodiscard]] const std::map<core::TenantId, core::Counters>& counters() const {
    return counters_;
  }
  [[nodiscard]] const std::set<core::DeadLetterKey>& dead_letters() const { return dead_letters_; }
  [[nodiscard]] const std::set<core::TenantId>& tenants() const { return tenants_; }
  [[nodiscard]] std::uint32_t in_flight() const { return in_flight_; }
  [[nodiscard]] std::size_t lanes() const { return lanes_.size(); }
  [[nodiscard]] std::uint64_t pending() const { return pending_; }
  [[nodiscard]] Moment time() const { return time_; }
  [[nodiscard]] std::uint32_t epoch() const { return epoch_; }
  [[nodiscard]] bool lost(core::MessageId id) const;
  /// Messages of the queue that are not final.
  [[nodiscard]] std::uint64_t lag(const Named& queue) const;

 private:
  struct LaneView {
    std::set<std::pair<Moment, core::Seq>>
        waiting{};                ///< ordered: started and not leased; else all
    std::set<core::Seq> fresh{};  ///< ordered: never started
    std::uint32_t under_way = 0;  ///< ordered: started and not ended, callbacks included
  };

  // model.cpp
  template <class Change>
  void update(core::Seq seq, Change change);
  template <class Map>
  void save(Map& map, const typename Map::key_type& key);
  void add_to_views(const ModelMessage& message);
  void take_from_views(const ModelMessage& message);
  core::Counters& counts(core::TenantId tenant);
  ModelMessage* find(core::TenantId tenant, core::MessageId id);
  void begin(const Step& step);

  // model_rules.cpp
  Expected decide(const Op& op);
  Expected publish(const Op& op);
  Expected publish(const Op& op, core::Message message);
  Expected publish_batch(const Op& op);
  Expected change_group(const Op& op);
  Expected cancel(const Op& op);
  Expected dead_letter(const Op& op, bool again);
  Expected queue(const Op& op);
  Expected pause_flow(const Op& op);
  Expected inspect(const Op& op);
  void use_flow(const core::Message& message, const std::optional<core::FlowKey>& given);
  core::MessageId accept(core::Message want);
  void end_attempt(core::Seq seq, bool delivered, bool give_up, std::optional<Millis> retry_after,
                   int status);
  void finish(core::Seq seq, core::Status status);
  void finish_leftover_cancels();
  void expire_leases();
  void purge();
  void start(core::TenantId tenant, const core::EventRef& event);
  void event(core::TenantId tenant, core::Seq seq, core::EventKind kind, std::uint32_t attempt = 0);

  // model_callbacks.cpp
  void call_back(core::Seq seq, const std::optional<core::Callback>& to, const std::string& result);
  void callback_ended(const core::Message& callback);

  // model_limits.cpp
  Expected delete_queue(const Op& op);
  Expected pin_flow(const Op& op);
  Expected unpin_flow(const Op& op);
  Expected reset_flow(const Op& op);
  Expected inspect_flows(const Op& op);
  ModelQueue& use_queue(const Named& key);
  [[nodiscard]] bool swept(const core::Message& message) const;
  void sweep();
  void compare_queues();
  void compare_flows();

  // model_schedules.cpp
  Expected schedule(const Op& op);
  Expected delete_schedule(const Op& op);
  Expected pause_schedule(const Op& op);
  void run_schedules();
  void run_schedule(const Named& key);
  void compare_schedules() const;

  // model_check.cpp
  void compare_written();
  [[nodiscard]] bool host_open(const ModelMessage& message) const;
  [[nodiscard]] bool flow_open(const ModelMessage& message, Moment time) const;
  [[nodiscard]] const ModelMessage* owed(const core::LaneKey& key, const LaneView& lane,
                                         Moment time) const;

  const core::Limits limits_;
  std::map<core::Seq, ModelMessage> messages_;
  std::map<Named, core::Dedup> dedups_;
  std::map<Named, ModelQueue> queues_;
  std::map<Named, ModelFlow> flows_;
  std::map<Named, core::Seq> deleted_up_to_;  ///< nothing of the queue up to it starts, ever
  std::map<Named, std::vector<core::Endpoint>> groups_;  ///< in order; none is empty
  std::map<Named, ModelSchedule> schedules_;
  std::map<core::TenantId, core::Counters> counters_;
  std::set<core::DeadLetterKey> dead_letters_;
  std::set<core::TenantId> tenants_;
  core::Seq last_seq_{};
  std::uint32_t epoch_ = 0;
  Moment time_{};
  Moment last_event_{};  ///< no later event may have an earlier time, whatever the clocks do

  // Views of messages_, kept by update().
  std::map<core::LaneKey, LaneView> lanes_;
  std::set<std::pair<Moment, core::Seq>> leases_;
  std::map<core::TenantId, std::uint32_t> tenant_in_flight_;
  std::map<Named, std::uint32_t> host_in_flight_;
  std::map<Named, std::uint32_t> flow_in_flight_;
  std::map<Named, std::uint64_t> flow_pending_;
  std::map<Named, std::uint64_t> lags_;
  std::uint32_t in_flight_ = 0;
  std::uint64_t pending_ = 0;

  // Of the batch that is being judged.
  const Decoded* written_ = nullptr;
  std::size_t next_message_ = 0;
  std::set<core::Seq> changed_;
  std::set<Named> changed_queues_;
  std::set<Named> changed_flows_;
  std::set<Named> changed_groups_;
  std::set<Named> changed_schedules_;
  std::set<Named> changed_dedups_;
  std::set<core::TenantId> changed_counts_;
  std::map<core::DeadLetterKey, bool> changed_dead_letters_;
  std::multiset<std::tuple<core::TenantId, core::Seq, core::EventKind, std::uint32_t>> events_;

  struct Undo {
    store::BatchSeq batch = 0;
    std::function<void()> back{};
  };
  std::vector<Undo> undo_;
  store::BatchSeq batch_ = 0;
};

void check_flows(const core::FlowKeysInspected& got, const Expected& expected);
std::string name_of(core::Seq seq);
std::string describe(const ModelMessage& message);

}  // namespace hk::sim
