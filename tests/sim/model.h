/// The reference: a deliberately simple map-and-list program of what must be true, written from the
/// promises and not from the core's code. It is given the same operations in the same order and
/// what was written for them; it predicts every reply and judges every write and every start. It
/// knows nothing of windows, parking or turns: only which starts are allowed, and when one is owed.
///
/// Every change can be taken back: a crash rolls the model back to the batch that survived.
#pragma once

#include <deque>
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
#include "sim/model_ledger.h"
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
  /// Pulled ones: attempts are receives, `due` is when it is visible, `started` that it was
  /// received.
  Moment first_received_at{};
  std::uint32_t forgiven = 0;  ///< receives that do not count any more
  Moment received_at{};
  std::uint64_t received_in_life = 0;
  bool pushed = false;      ///< on the wire, under `fence`; until then it is not visible
  std::string push_host{};  ///< where to
  /// What the holder of its last lease has said that it came to; none: nobody has said anything.
  std::optional<std::string> told{};

  [[nodiscard]] core::Seq seq() const { return content->id.seq; }
  [[nodiscard]] bool ordered() const { return !content->queue.empty(); }
  [[nodiscard]] bool pulled() const { return content->pull.has_value(); }
  [[nodiscard]] bool has_state() const {
    if (pulled()) {
      return core::is_final(status);
    }
    return attempts > 0 || cancel_requested || core::is_final(status);
  }
};

struct ModelQueue {
  std::uint32_t parallelism = 1;
  bool paused = false;
  bool deleted = false;
  bool sweeping = false;  ///< the stored record says so: nothing of it starts
  Moment created_at{};
  std::optional<core::PullSettings> pull{};
  Moment changed_at{};  ///< the settings above
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

/// Of one source, oldest first; only the last may run.
struct ModelMoves {
  std::vector<core::Task> tasks{};
  std::uint64_t credit = 0;  ///< of the running one's rate, in thousandths of a message
  Moment credited_at{};
  [[nodiscard]] bool running() const {
    return !tasks.empty() && tasks.back().status == core::Task::Status::running;
  }
};

struct KnownCron;
struct ModelSchedule {
  core::Schedule content{};
  core::ScheduleState state{};
  const KnownCron* cron = nullptr;
};

/// What a reply must be.
struct Expected {
  static constexpr std::uint64_t unknown = ~std::uint64_t{0};
  enum class Kind : std::uint8_t {
    done,
    later,  ///< check_hand_outs() judges it
    published,
    canceled,
    tenant,
    inspected,
    flows,
    refused,
    fanned_out,
    batch,
    scheduled,
    queue_made,
    counted,
    settled,
    task_started,
    move_canceled,
    moves_listed,
    halted_listed,
    topic_made,
    subscribed,
    topic_published,
    key_claimed,
    key_changed,
    once_executed,  ///< parts: what its command must be answered
    once_replayed,
    once_reused,
    job_ended,
    transacted,
    ledger,
    source_stored,  ///< number: its version; flag: its target is not there
    inbound,        ///< flag: a repeat
    rejected,       ///< flag: it was kept
    released
  };
  Kind kind{};
  ErrorKind error{};
  core::MessageId id{};
  bool flag = false;  ///< deduplicated; running
  core::Fence fence{};
  std::string name{};  ///< of the schedule, of the subscription
  /// Topic of SNS as it is then.
  std::shared_ptr<const core::Topic> topic{};
  std::shared_ptr<const core::IdempotencyKey> key{};  ///< as it is then
  core::KeyClaimed::Outcome claim{};
  core::KeyChanged::Outcome change{};
  core::JobEnded ended{};
  struct Refused {
    std::size_t at = 0;
    bool of_precondition = false;
  };
  std::optional<Refused> not_done{};  ///< transacted: why nothing was
  bool pending = false;               ///< inspected: it waits
  bool may_start = false;             ///< inspected: nothing that we know of holds it
  struct Flow {
    std::optional<ModelFlow> flow{};
    std::uint32_t running = 0;
    std::uint64_t waiting_max = 0;
  };
  std::map<std::string, Flow> flows{};
  std::string url{};  ///< part of a fan-out: where it goes
  std::vector<Expected> parts{};
  std::optional<core::PullSettings> pull{};
  std::vector<core::QuarantineReleased::One> released{};
  std::uint64_t lag = 0;            ///< counted
  bool pulled = false;              ///< inspected: of a message that nobody sends
  std::uint64_t number = 0;         ///< task_started: of the task; move_canceled: what it moved
  std::vector<core::Task> tasks{};  ///< moves_listed
  bool either = false;  ///< done, or not_found: only memory knows whether a group has stopped yet
  struct Halted {
    core::HaltedListed::One one{};
    bool surely = false;
  };
  std::vector<Halted> halted{};  ///< halted_listed
  std::shared_ptr<const LedgerAnswer> ledger{};
};
inline Expected refused(ErrorKind kind) { return {.kind = Expected::Kind::refused, .error = kind}; }

class Model {
 public:
  /// Messages get numbers of that origin, beginning behind its first.
  explicit Model(const core::Limits& limits, core::Origin origin = {})
      : limits_(limits), last_seq_(core::make_seq(origin, 0)), ledger_(limits_, ledger_ties()) {}
  /// The server's share of the places for attempts is another one from its next batch on.
  void set_places(std::uint32_t places) { limits_.global_parallelism = places; }
  /// From the next start on nothing may be pushed to that host; "": to any.
  void forbid(std::string host) { forbidden_ = std::move(host); }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  struct Step {
    store::BatchSeq batch = 0;  ///< the number that the batch has or would have
    Moment time{};
    std::span<const Op> ops{};
    const Decoded* written = nullptr;
    std::span<const core::Effect> effects{};  ///< none: the write has failed
  };
  /// To a receive, of this batch or an earlier one.
  struct Answer {
    core::ReceiverId receiver{};
    const core::Reply* reply = nullptr;
  };
  /// One batch. Throws Violation. Returns what each operation must be answered.
  std::vector<Expected> apply(const Step& step);
  /// The batch that recovery writes.
  void recover(const Step& step);
  /// The process is gone, batches after `survivor` with it; leases are forgotten.
  void crashed(store::BatchSeq survivor);
  /// A drain has begun: from now on nothing starts and nothing is handed out.
  void drain() { draining_ = true; }
  /// Batches up to this one cannot be lost any more.
  void synced(store::BatchSeq batch);

  void check_effects(const Decoded& written, std::span<const core::Effect> effects) const;
  /// Nothing that may start is left waiting. REQUIRES: the core says that it has nothing to do.
  void check_nothing_stranded(Moment time) const;
  /// Receivers are answered in their order, in time, and with what they may have. `late_max`: the
  /// longest that the server can be busy with something else.
  void check_hand_outs(std::span<const Answer> answers, std::span<const core::Effect> effects,
                       Millis late_max);
  /// Nobody waits for what is there. REQUIRES: the core says that it has nothing to do.
  void check_nobody_waits_in_vain(Moment time) const;
  /// What is too old goes, whatever else is too old. REQUIRES: the core says that it has nothing to
  /// do.
  void check_nothing_outlives_its_retention(Moment time);
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
  /// Of idempotency, by name. Their timers are the machine's.
  [[nodiscard]] const std::map<Named, core::IdempotencyKey>& keys() const { return keys_; }
  /// What claims that have waited must be answered with the last batch.
  [[nodiscard]] const std::map<core::ReceiverId, Expected>& late_claims() const {
    return late_claims_;
  }
  /// When one that waits must be looked at again.
  [[nodiscard]] std::optional<Moment> next_look() const;
  struct KeyWaiter {
    Op op{};
    Moment until{};
  };
  [[nodiscard]] const LedgerModel& ledger() const { return ledger_; }
  [[nodiscard]] const std::map<Named, std::vector<KeyWaiter>>& key_waiters() const {
    return key_waiters_;
  }
  /// Inbound sources, by id.
  [[nodiscard]] const std::map<Named, core::Source>& sources() const { return sources_; }
  void compare_sources_with(const std::vector<core::Source>& sources,
                            const std::vector<core::SourceEvent>& events,
                            const std::vector<core::Quarantined>& requests) const;
  [[nodiscard]] bool nothing_of_sources() const {
    return source_events_.empty() && quarantined_.empty();
  }
  /// Of writes that take effect once, by key.
  [[nodiscard]] const std::map<Named, core::IdempotencyKey>& once() const { return once_; }
  /// Of SNS, by what they are stored under.
  [[nodiscard]] const std::map<Named, core::Topic>& topics() const { return topics_; }
  [[nodiscard]] const std::map<Named, ModelMoves>& moves() const { return moves_; }
  using TaskKey = core::KeyOf<core::Task>;
  [[nodiscard]] const std::map<TaskKey, core::Task>& cancels() const { return cancels_; }
  [[nodiscard]] const std::map<Named, ModelSchedule>& schedules() const { return schedules_; }
  [[nodiscard]] const std::map<core::TenantId, core::Counters>& counters() const {
    return counters_;
  }
  [[nodiscard]] const std::set<core::DeadLetterKey>& dead_letters() const { return dead_letters_; }
  [[nodiscard]] const std::map<core::TenantId, core::Tenant>& tenants() const { return tenants_; }
  [[nodiscard]] std::uint32_t in_flight() const { return in_flight_; }
  /// Messages that are in a queue and were received before.
  [[nodiscard]] std::uint64_t received() const { return received_; }
  [[nodiscard]] std::uint64_t pending() const { return pending_; }
  [[nodiscard]] Moment time() const { return time_; }
  [[nodiscard]] std::uint32_t epoch() const { return epoch_; }
  [[nodiscard]] bool lost(core::MessageId id) const;
  /// It is there, and receivers pull from it.
  [[nodiscard]] bool has_pull_queue(const Named& queue) const;
  /// Groups of the queue that wait for somebody to decide.
  [[nodiscard]] std::vector<std::string> stopped_groups(const Named& queue) const;
  /// Messages of the queue that are not final.
  [[nodiscard]] std::uint64_t lag(const Named& queue) const;

 private:
  struct LaneView {
    std::set<std::pair<Moment, core::Seq>>
        waiting{};                ///< ordered: started and not leased; else all
    std::set<core::Seq> fresh{};  ///< ordered: never started
    std::uint32_t under_way = 0;  ///< ordered: started and not ended, callbacks included
  };

  /// Of a queue that is pulled from: what of it is not final.
  struct PullLane {
    std::set<core::Seq> all{};
    std::set<std::pair<Moment, core::Seq>> by_due{};
  };
  struct Waiter {
    core::ReceiverId receiver{};
    std::uint32_t max = 1;
    std::optional<Millis> visibility{};
    Moment until{};
    std::string attempt_id{};
  };
  /// What a receive with an attempt id was given.
  struct Given {
    struct One {
      core::Receipt receipt{};
      Moment lease_until{};
    };
    std::string attempt_id{};
    Moment until{};
    std::vector<One> messages{};
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
  core::MessageId take_in(const std::shared_ptr<const core::Message>& got, core::Message want);
  void end_attempt(core::Seq seq, bool delivered, bool give_up, std::optional<Millis> retry_after,
                   int status, std::optional<std::string> told = {});
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

  // model_pull.cpp
  Expected make_pull_queue(const Op& op);
  Expected set_pull_queue(const Op& op);
  Expected purge_queue(const Op& op);
  Expected count_queue(const Op& op);
  Expected receive(const Op& op);
  Expected stop_receiving(const Op& op);
  Expected delete_received(const Op& op);
  Expected change_visibility(const Op& op);
  Expected give_back(const Op& op);
  ModelQueue* find_pull_queue(const Named& key);
  const ModelMessage* held(const Named& queue, const core::Receipt& receipt);
  [[nodiscard]] std::optional<ErrorKind> fit_queue(const Op& op, core::Message& message);
  [[nodiscard]] std::vector<std::string> dedup_scopes(const core::Message& message, Millis window);
  [[nodiscard]] static Moment due_by_queue(const ModelQueue& queue, const core::Message& message);
  [[nodiscard]] bool may_be_visible(const ModelMessage& message, const ModelQueue& queue) const;
  void absorb_other_delays();
  void end_waits(const Named& queue);
  void finish_canceled(core::Seq seq);
  void end_pulled(core::Seq seq);
  [[nodiscard]] bool moved_now(core::Seq seq) const;
  void judge(const core::Events& events, std::size_t at,
             std::map<core::Seq, std::uint32_t>& to_come);
  void check_may_go(core::TenantId tenant, core::Seq seq);
  const ModelQueue* dead_letter_queue(const ModelMessage& message);
  void hand_out_one(core::TenantId tenant, const core::EventRef& event, bool last);
  void move_one(core::TenantId tenant, core::Seq from, core::Seq to);
  void give_up(core::Seq from, const std::shared_ptr<const core::Message>& got);

  // model_endings.cpp
  Expected end_job(const Op& op);
  [[nodiscard]] bool holds(const Op& op, const ModelMessage& message) const;
  [[nodiscard]] core::Status shown_status(const ModelMessage& message) const;

  // model_transact.cpp
  struct Planned;
  Expected transact(const Op& op);
  [[nodiscard]] bool is_so(core::TenantId tenant, const core::Precondition& condition);
  [[nodiscard]] bool may_end(const Op& op, ModelMessage& job);
  [[nodiscard]] bool may_publish(const Op& op);
  [[nodiscard]] bool may_do(const Op& op, Planned& planned);

  // model_push.cpp
  Expected push_ended(const Op& op);
  static Millis again_after(std::uint32_t receives, std::optional<Millis> wanted);
  void check_push(const ModelMessage& before, Moment until) const;
  void put_on_the_wire(core::Seq seq);
  void expire_pushes();
  void count_push(const ModelMessage& message, bool on);
  [[nodiscard]] std::string push_host(const Named& queue) const;
  [[nodiscard]] const ModelMessage* owed_push(const Named& queue, Moment time) const;
  void check_pushed(const core::StartAttempt& start) const;

  // model_fair.cpp
  void note_depth(const core::LaneKey& key, const PullLane& lane);
  [[nodiscard]] std::size_t out_of(const PullLane& lane) const;
  void check_fair(const ModelMessage& message) const;

  // model_receive_again.cpp
  bool hand_out_again(const Named& key, const core::PullSettings& settings, const Op& op);
  void note_attempt(const Named& queue, const Waiter& waiter, const core::Received& out);
  void forget_attempts(const Named& queue);
  bool check_handed_out_again(const core::Received& out);

  // model_halt.cpp
  Expected list_halted(const Op& op);
  Expected resolve_halted(const Op& op);
  void retry_halted(core::Seq seq);
  void skip_halted(core::Seq seq);
  [[nodiscard]] bool resolved_now(const ModelMessage& message, const Op& op);
  [[nodiscard]] bool failed_for_good(const ModelMessage& message) const;
  [[nodiscard]] bool stops(const ModelMessage& message) const;
  [[nodiscard]] bool surely_stopped(const ModelMessage& message) const;

  // model_moves.cpp
  Expected start_move(const Op& op);
  Expected cancel_move(const Op& op);
  Expected list_moves(const Op& op);
  void move_and_end();
  std::size_t move_back(core::TenantId tenant, core::Seq from, core::Seq to, core::Seq behind);
  void spend_credit(ModelMoves& moves);
  void end_moves();
  void end_moves_of(const Named& source);
  void check_nothing_left(const core::Task& task) const;
  [[nodiscard]] bool has_nowhere_to_go(const core::Task& task, const std::string& reason);
  [[nodiscard]] const core::Task* find_move(const core::KeyOf<core::Task>& key) const;
  void change_move(const core::Task& task);
  void compare_moves() const;

  // model_cancels.cpp
  Expected start_cancel(const Op& op);
  [[nodiscard]] bool selected_by_a_task(core::Seq seq) const;
  void cancel_by_tasks();
  void go_on_with_cancels();
  void forget_cancel(const TaskKey& key, const core::Task& task);
  void check_none_left(const core::Task& task) const;

  // model_pull_check.cpp
  void compare_lane_entries() const;

  // model_retention.cpp
  [[nodiscard]] Moment ends_at(const ModelMessage& message) const;
  void note_end(const ModelMessage& message);

  // model_keys.cpp
  Expected claim_key(const Op& op);
  Expected claim_or_wait(const Op& op);
  Expected stop_claiming(const Op& op);
  void answer_claims();
  Expected change_key(const Op& op);
  Expected delete_key(const Op& op);
  void put_key(core::IdempotencyKey key);
  void forget_keys();
  void compare_keys() const;

  // model_once.cpp
  Expected once(const Op& op);
  void forget_once(const Named& name);
  void compare_once() const;

  // model_sources.cpp
  core::Source* source_of(const Op& op);
  Expected put_source(const Op& op);
  Expected delete_source(const Op& op);
  Expected receive_inbound(const Op& op);
  Expected quarantine(const Op& op);
  Expected release(const Op& op);
  Expected drop_quarantined(const Op& op);
  [[nodiscard]] const core::Dedup* first_of(const core::Source& source,
                                            const std::string& event_id) const;
  Expected take_event(core::Source& source, const Op& op, const std::string& event_id,
                      bool unverified);
  void take_out(core::Source& source, core::KeyOf<core::Quarantined> key);
  void forget_of_sources();
  [[nodiscard]] bool of_deleted_source(const Named& dedup) const;
  void compare_sources() const;

  // model_ledger_events.cpp
  LedgerModel::Ties ledger_ties();
  Expected apply_to_ledger(const Op& op);
  void send_ledger_event(const ledger::Subscription& to, const LedgerEvent& event);

  // model_topics.cpp
  Expected create_topic(const Op& op);
  Expected set_topic(const Op& op);
  Expected subscribe(const Op& op);
  Expected confirm_subscription(const Op& op);
  Expected unsubscribe(const Op& op);
  Expected set_subscription(const Op& op);
  void put_topic(core::Topic topic);
  [[nodiscard]] core::Topic without_lapsed(const core::Topic& topic) const;
  void invite(const core::Topic& topic, const core::Subscription& subscription);
  Expected delete_topic(const Op& op);
  Expected publish_to_topic(const Op& op);
  void copy(const Op& op, const core::Topic& topic, const core::Subscription& subscription);

  // model_schedules.cpp
  Expected change_tenant(const Op& op);
  Expected set_limits(const Op& op);
  Expected schedule(const Op& op);
  Expected delete_schedule(const Op& op);
  Expected pause_schedule(const Op& op);
  void run_schedules();
  void run_schedule(const Named& key);
  void compare_schedules() const;

  // model_check.cpp
  void compare_written();
  void check_places(const ModelMessage& message, const std::string& host);
  [[nodiscard]] std::uint32_t places_of(const core::Message& content) const;
  [[nodiscard]] bool within_share(std::uint64_t held, std::uint64_t limit,
                                  std::uint64_t taken) const;
  [[nodiscard]] bool tenant_open(core::TenantId tenant) const;
  [[nodiscard]] bool host_open(core::TenantId tenant, const std::string& host) const;
  [[nodiscard]] bool flow_open(const ModelMessage& message, Moment time) const;
  [[nodiscard]] const ModelMessage* owed(const core::LaneKey& key, const LaneView& lane,
                                         Moment time) const;

  core::Limits limits_;
  std::map<core::Seq, ModelMessage> messages_;
  std::map<Named, core::Dedup> dedups_;
  std::map<Named, ModelQueue> queues_;
  std::map<Named, ModelFlow> flows_;
  std::map<Named, core::Seq> deleted_up_to_;  ///< nothing of the queue up to it starts, ever
  std::map<Named, std::vector<core::Endpoint>> groups_;  ///< in order; none is empty
  std::map<Named, core::IdempotencyKey> keys_;
  std::map<Named, core::IdempotencyKey> once_;
  std::map<Named, core::Source> sources_;  ///< by id
  std::map<core::KeyOf<core::SourceEvent>, core::SourceEvent> source_events_;
  std::map<core::KeyOf<core::Quarantined>, core::Quarantined> quarantined_;
  std::uint64_t last_token_ = 0;
  std::map<Named, core::Topic> topics_;  ///< of SNS, by what they are stored under
  std::uint64_t last_topic_number_ = 0;  ///< of what was published to FIFO topics
  std::map<Named, ModelSchedule> schedules_;
  std::map<Named, ModelMoves> moves_;
  std::map<TaskKey, core::Task> cancels_;
  std::map<core::TenantId, core::Counters> counters_;
  std::set<core::DeadLetterKey> dead_letters_;
  std::map<core::TenantId, core::Tenant> tenants_;
  core::Seq last_seq_{};
  std::uint32_t epoch_ = 0;
  Moment time_{};
  Moment last_event_{};  ///< no later event may have an earlier time, whatever the clocks do

  LedgerModel ledger_;

  // Views of messages_, kept by update().
  std::map<core::LaneKey, LaneView> lanes_;
  std::set<std::pair<Moment, core::Seq>> leases_;
  std::map<core::TenantId, std::uint32_t> tenant_places_;
  std::map<Named, std::uint32_t> host_places_;
  std::map<Named, std::uint32_t> flow_in_flight_;
  std::map<Named, std::uint64_t> flow_pending_;
  std::map<Named, std::uint64_t> lags_;
  std::map<core::LaneKey, PullLane> pull_lanes_;  ///< none is empty
  std::set<std::pair<Moment, core::Seq>> push_leases_;
  std::map<Named, std::uint32_t> pushed_;  ///< by queue
  /// Lanes that had as many messages since the start as memory may not hold: of those it may not
  /// know all that is visible, nor all that is out.
  std::set<core::LaneKey> deep_;
  std::uint64_t received_ = 0;
  std::uint32_t in_flight_ = 0;
  std::uint32_t places_ = 0;  ///< of what is in flight
  std::uint64_t pending_ = 0;

  // What goes with the process: first come, first served.
  std::map<Named, std::vector<Waiter>> waiters_;
  std::map<Named, std::vector<KeyWaiter>> key_waiters_;  ///< by key; some are empty
  /// Of each source: rejected requests that were kept in that second.
  std::map<Named, std::pair<Moment, std::size_t>> kept_in_second_;
  bool draining_ = false;
  std::string forbidden_;                      ///< host
  std::set<core::ReceiverId> told_gone_;       ///< their queue was deleted in this batch
  std::set<core::ReceiverId> went_away_;       ///< in this batch
  std::map<Named, std::vector<Given>> given_;  ///< in the order in which it was given
  std::map<core::ReceiverId, Given> again_;    ///< who must get what it got before, in this batch
  std::map<core::Seq, core::ReceiverId> holders_;  ///< who was given it last
  std::uint64_t life_ = 1;                         ///< of the process
  Moment last_batch_{};                            ///< the time of the batch before
  std::deque<Moment> idle_;  ///< some moments at which the core had nothing to do

  // When to look whether something is gone. What has another end by then is noted again.
  std::set<std::pair<Moment, core::Seq>> ends_;
  std::set<std::pair<Moment, Named>> dedup_ends_;

  // Of the batch that is being judged.
  const Decoded* written_ = nullptr;
  std::map<std::pair<core::Seq, std::uint32_t>, const core::StartAttempt*> pushes_now_;
  std::size_t next_message_ = 0;
  std::set<core::Seq> changed_;
  std::set<core::Seq> handed_out_;
  std::set<Named> changed_queues_;
  std::set<Named> changed_flows_;
  std::set<Named> changed_groups_;
  std::set<Named> changed_topics_;
  std::set<Named> changed_keys_;
  std::set<Named> changed_once_;
  std::set<Named> changed_sources_;
  std::set<core::KeyOf<core::SourceEvent>> changed_source_events_;
  std::set<core::KeyOf<core::Quarantined>> changed_quarantined_;
  std::map<core::ReceiverId, Expected> late_claims_;
  std::set<Named> changed_schedules_;
  std::set<Named> changed_dedups_;
  std::set<core::KeyOf<core::Task>> changed_moves_;
  std::set<TaskKey> changed_cancels_;
  std::vector<core::Seq> canceled_by_tasks_;
  std::vector<core::Seq> perhaps_by_tasks_;  ///< or with their queue
  std::map<Named, core::Seq> last_moved_;
  /// Queues of which something was received and not hidden: it is out until its receive is
  /// answered.
  std::set<Named> not_hidden_;
  /// Sources of tasks that failed: a message was taken out, and put back as if it had been
  /// received.
  std::set<Named> taken_in_vain_;
  /// Groups that one of several operators of this batch has let go on: which of them is not known.
  std::set<core::LaneKey> resolved_in_doubt_;
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
/// The key of a write, of what it is stored under; none: it is a handler's.
std::optional<std::string> once_name(const std::string& id);
/// As the endpoints of a URL group are stored.
/// But for the timer, which is the machine's own.
bool same_key(core::IdempotencyKey got, const core::IdempotencyKey& want);
std::vector<core::Subscription> subscriptions_of(const std::vector<core::Endpoint>& endpoints);
std::string name_of(core::Seq seq);
std::string describe(const ModelMessage& message);

}  // namespace hk::sim
