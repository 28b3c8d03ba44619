/// The deterministic machine: commands in, replies, mutations and effects out. It does no I/O,
/// reads no clock and takes no lock: time, randomness and a reader are handed to it, so that a
/// simulator can run it for a million hours and a bug replays from its seed.
///
/// Use, by one thread (engine/partition.h, or the simulator):
///   recover(reader, now) once; then for every batch
///   begin(now, reader); execute(command)…; advance(); output = take();
///   write output.mutations atomically; once they are durable, release the replies and the effects.
/// The reader given to begin() shows all earlier batches. The rules themselves stand one command
/// per file in message/, queue/, group/, schedule/ and tenant/.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/random.h"
#include "core/batch.h"
#include "core/command.h"
#include "core/lane/scheduler.h"
#include "core/limits.h"
#include "core/pull/delayed.h"
#include "core/schedule/zones.h"

namespace hk::core {

class Machine {
 public:
  Machine(const Limits& limits, Rng& rng, Zones& zones);
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine();

  /// Rebuilds what is in memory from the store and decides what must be written first (the new
  /// epoch, index entries of messages too young to have one): take() it before anything else. Reads
  /// a bounded part of the store whatever the backlog.
  void recover(Reader& reader, Moment now);

  void begin(Moment now, Reader& reader);
  Reply execute(Command command);
  /// What came so far is enough for one batch: copies of large bodies that their commands do not
  /// carry, such as a retried dead letter's.
  [[nodiscard]] bool is_full() const { return batch_.body_bytes() >= limits_.batch_bytes; }
  /// Timers, leases that ran out, index entries, clean-up; then starts what may start.
  void advance();
  Batch::Output take();

  /// When advance() has something to do although no command came; nullopt: never. A time that has
  /// passed means: at once.
  [[nodiscard]] std::optional<Moment> wake_at() const;

  /// A drain begins: nothing new starts or is handed out, waits end empty; what runs may end.
  void stop_starting() { starting_ = false; }

  [[nodiscard]] std::uint32_t epoch() const { return meta_.epoch; }
  [[nodiscard]] std::uint32_t in_flight() const { return scheduler_.in_flight(); }
  [[nodiscard]] std::size_t in_memory() const { return live_.size(); }
  [[nodiscard]] std::size_t lanes() const { return scheduler_.lane_count(); }
  [[nodiscard]] std::size_t pull_queues() const { return scheduler_.pull_queue_count(); }
  [[nodiscard]] const std::map<TenantId, Counters>& counters() const { return counters_; }
  [[nodiscard]] bool leased(Seq seq) const;

 private:
  using QueueKey = std::pair<TenantId, std::string>;

  // One command a file.
  Reply decide(Publish command);
  Reply decide(PublishBatch command);
  Reply decide(CompleteAttempt command);
  Reply decide(const CancelMessage& command);
  Reply decide(const RetryDeadLetter& command);
  Reply decide(const DeleteDeadLetterCommand& command);
  Reply decide(const UpsertQueue& command);
  Reply decide(const DeleteQueueCommand& command);
  Reply decide(CreatePullQueue command);
  Reply decide(SetPullSettings command);
  Reply decide(const PurgeQueue& command);
  Reply decide(const Receive& command);
  Reply decide(const StopReceiving& command);
  Reply decide(const DeleteReceived& command);
  Reply decide(const ChangeVisibility& command);
  Reply decide(const GiveBack& command);
  Reply decide(const CountQueue& command);
  Reply decide(StartMoveTask command);
  Reply decide(const CancelMoveTask& command);
  Reply decide(const ListMoveTasks& command);
  Reply decide(const ListHalted& command);
  Reply decide(const ResolveHalted& command);
  Reply decide(PutDocumentCommand command);
  Reply decide(const DeleteDocumentCommand& command);
  Reply decide(UpsertEndpoints command);
  Reply decide(const RemoveEndpoints& command);
  Reply decide(SetGroupOptions command);
  Reply decide(const DeleteUrlGroupCommand& command);
  Reply decide(UpsertSchedule command);
  Reply decide(const DeleteScheduleCommand& command);
  Reply decide(const SetSchedulePaused& command);
  Reply decide(const SetFlowKeyPaused& command);
  Reply decide(const PinFlowKey& command);
  Reply decide(const UnpinFlowKey& command);
  Reply decide(const ResetFlowRate& command);
  Reply decide(const InspectFlowKeys& command);
  Reply decide(const UpsertTenant& command);
  Reply decide(const Inspect& command);

  // message/publish.cpp
  Result<Published> publish(Publish command);
  Reply fan_out(Publish command);

  // message/accept.cpp
  MessageId accept(std::shared_ptr<Message> message);
  Live& keep(std::unique_ptr<Live> live);
  void wait_in_lane(Live& live);
  void index(Live& live);
  void unindex(Live& live);
  void forget(Live& live);
  Lane& lane_for(const LaneKey& key);
  /// Made if need be; one that is being deleted begins anew.
  Queue& queue_for(TenantId tenant, const std::string& name);
  void use_queue_settings(const Queue& queue);
  FlowKey& flow_key_for(TenantId tenant, const std::string& key);
  void store_flow_key(FlowKey& flow_key);

  // message/cancel_message.cpp
  void cancel_waiting(Live& live, MessageState state);

  // message/complete_attempt.cpp
  void end_attempt(Live& live, Attempt attempt, bool delivered, bool give_up,
                   std::optional<Millis> retry_after);
  void finish(Live& live, MessageState state, Status status);
  void plan_retry(Live& live, const Message& message, MessageState state, Millis delay);
  void retire(Seq seq, const LaneKey& lane, MessageState& state, Status status);

  // message/cancel_message.cpp
  /// Why a message ends that nobody delivered.
  enum class Why : std::uint8_t { asked, swept, expired };
  bool cancel(Seq seq, const LaneKey& lane, MessageState state, Why why);

  // queue/delete_queue.cpp
  struct IndexWalk;
  void begin_sweep(Queue& queue);
  void go_on_sweeping(const Queue& queue);
  void sweep_queues();
  bool sweep(const Queue& queue, IndexWalk& walk, std::size_t& budget);
  void drop_if_over(const Queue& queue);
  void leave_queue(Seq seq, const LaneKey& lane);

  // queue/index_walk.cpp
  bool walk_index(IndexWalk& walk, const Queue& queue, Seq up_to, std::size_t& budget,
                  const std::function<void(const LaneKey&, const LaneEntry&)>& visit);

  // queue/pin_flow_key.cpp, queue/inspect_flow_keys.cpp, queue/forget_flow_keys.cpp
  [[nodiscard]] Result<void> check_flow_key(TenantId tenant, const std::string& key) const;
  void restart_window(const FlowKey& flow_key);
  FlowKeyView view_of(const FlowKey& flow_key, std::size_t& budget);
  void forget_idle_flow_keys();
  [[nodiscard]] Moment forget_at(const FlowKey& flow_key);
  void check_flow_key_later(const std::pair<TenantId, std::string>& key);

  // pull/
  struct Waiter;
  Queue* find_pull_queue(TenantId tenant, const std::string& name);
  Result<void> check_pull(Publish& command);
  struct DedupScopes {
    std::string now{};
    std::string before{};  ///< "": the same
  };
  DedupScopes pull_dedup_scopes(const Message& message, Millis window);
  std::optional<Dedup> find_duplicate(Publish& command);
  void hand_out();
  /// How much a batch may still take out of queues.
  struct MoveRoom {
    std::size_t messages = 0;      ///< without handing it out: too old, to the dead letters, back
    std::size_t bytes = 0;         ///< likewise
    std::size_t handed_bytes = 0;  ///< to hand it out

    [[nodiscard]] bool is_used_up() const {
      return messages == 0 || bytes == 0 || handed_bytes == 0;
    }
    void take(const Message& message);
    void hand_out(const Message& message);
  };
  [[nodiscard]] MoveRoom room_for_moves() const {
    return {limits_.moves_per_batch, limits_.moved_bytes_per_batch, limits_.batch_bytes};
  }
  bool hand_out_to(const Queue& queue, PullQueue& pull, const Waiter& waiter, MoveRoom& room);
  void answer_late();
  void end_waiters(const Queue& queue);
  bool must_not_be_handed_out(const Queue& queue, Live& live, const Message& message);
  void lease_to(Live& live, const Waiter& waiter, Millis visibility);
  void hide_until(Live& live, Moment until);
  void become_visible(Live& live);
  static Moment kept_until(const Queue& queue, const Message& message);
  void expire_pulled(Seq seq);
  void finish_pulled(Live& live, Status status, MessageState state = {});
  void move_to(const Queue& target, Live& live, const Queue& source);
  std::optional<LaneEntry> find_entry(const Message& message);
  void explain_shares(const Message& message, const TenantLanes& owner,
                      std::vector<Hold>& holds) const;
  void inspect_pulled(const Message& message, Inspected& answer);

  static HandOut::One handed_out(const Live& live, std::shared_ptr<const Message> message);

  // pull/receive_again.cpp
  bool hand_out_again(const Queue& queue, const Receive& command);
  void note_attempt(const Queue& queue, const std::string& id, const std::vector<Live*>& given);
  void forget_attempts(const QueueKey& queue);

  // pull/halt.cpp
  bool failed_for_good(const Queue& queue, const Live& live);
  bool stops_its_group(const Live& live);
  void halt_if_failed(Live& live);
  void go_on(Live& live);
  void settings_changed(const Queue& queue);

  // pull/retime.cpp
  struct Retime;
  void begin_retime(const Queue& queue, Seq up_to);
  void retime_if_needed(const Queue& queue, const PullSettings& before);
  void retime_queues();
  bool retime(const Queue& queue, Retime& retime, std::size_t& budget);
  void retime_one(const Queue& queue, const LaneKey& lane, LaneEntry entry);
  void recover_retimes(TenantId tenant);

  // pull/count.cpp
  void now_delayed(const Message& message);
  void no_longer_delayed(Seq seq, const LaneKey& lane);
  void change_delayed(const QueueKey& queue, Moment before, Moment due);
  void forget_delayed();
  void forget_delayed_of(const QueueKey& queue);
  void write_delayed();
  void recover_delayed(TenantId tenant);

  // pull/move_task.cpp
  struct MoveRun;
  void run_moves();
  void move_some(MoveTask& task, MoveRun& run, std::size_t& budget, MoveRoom& room);
  bool move_back(Live& live, MoveTask& task, MoveRoom& room);
  void end_move(MoveTask& task, MoveTask::Status status, const char* reason);
  void end_moves_of(const Queue& queue);
  void look_again(const LaneKey& lane, Seq freed);
  void recover_moves(TenantId tenant);
  [[nodiscard]] std::optional<Moment> next_move() const;
  [[nodiscard]] bool is_paused(const QueueKey& key) const;
  struct Held;
  Result<Held> find_held(const Queue& queue, const Receipt& receipt);

  // message/callback.cpp
  void call_back(const Message& source, const Callback& to, MessageState& state);
  void tell_of_attempt(const Live& live, MessageState& state);
  void tell_of_failure(const Live& live, MessageState& state);
  void cut_answer(const Live& live, MessageState& state) const;
  void hold_for_callbacks(Live& live);
  void callback_ended(Seq callback);
  bool awaits_callbacks(Seq source);

  // schedule/
  Result<Moment> next_run(const std::string& cron);
  void put_schedule_state(TenantId tenant, const std::string& id, ScheduleState state,
                          Moment previous_next_at);
  void run_schedules();
  void read_due_schedules();
  std::size_t run_schedule(const ScheduleDue& due);
  Reply publish_run(Schedule schedule);

  // recover.cpp
  void recover_lanes(Reader& reader);

  // advance.cpp
  void expire_leases();
  void refill_lanes();
  void read_lane(Lane& lane);
  void fill_lane(Lane& lane, const std::vector<LaneEntry>& entries, bool more);
  Live* remember(Lane& lane, const LaneEntry& entry);
  void index_young();
  void purge_expired();
  void purge_events();
  void start_attempts();
  void write_meta();

  Counters& counters(TenantId tenant);
  Live* find_live(Seq seq);
  /// The message if it is this tenant's and the id is right in all its bits.
  std::shared_ptr<const Message> find_message(TenantId tenant, MessageId id);

  const Limits limits_;
  Rng& rng_;
  Zones& zones_;
  Batch batch_;
  Scheduler scheduler_;

  std::unordered_map<Seq, std::unique_ptr<Live>> live_;
  std::set<std::pair<Moment, Seq>> leases_;  ///< by the time they run out
  /// Messages in the order of acceptance that may not have an index entry yet.
  struct Young {
    Seq seq{};
    Moment accepted_at{};
  };
  std::deque<Young> young_;

  Meta meta_{};
  Meta meta_written_{};
  bool meta_wanted_ = false;
  bool starting_ = true;
  Seq last_seq_{};
  std::uint64_t batch_number_ = 0;
  Moment next_expiry_check_{};
  Moment next_event_purge_{};
  Moment next_schedule_at_{never};  ///< no other run is earlier; there may be none at that time
  std::deque<ScheduleDue> due_schedules_;  ///< read, and waiting for their batch; bounded

  std::map<TenantId, Tenant> tenants_;
  std::map<std::pair<TenantId, std::string>, Queue> queues_;
  std::set<std::pair<TenantId, std::string>> dirty_queues_;  ///< those not in queues_ are gone
  /// How far one has come along the index of a queue.
  struct IndexWalk {
    LaneKey lane{};
    std::optional<LanePlace> after{};
  };
  std::map<QueueKey, IndexWalk> sweeps_;  ///< of queues that are deleted or purged
  QueueKey swept_last_{};                 ///< the next one's turn comes
  /// How far a changed queue's messages have been told of the change.
  struct Retime {
    IndexWalk walk{};
    Seq up_to{};
  };
  std::map<QueueKey, Retime> retimes_;
  QueueKey retimed_last_{};  ///< as swept_last_
  Seq index_wanted_{};       ///< messages up to this one get their index entry at once
  /// A Receive that is not answered yet.
  struct Waiter {
    ReceiverId receiver{};
    std::uint32_t max = 1;
    std::optional<Millis> visibility{};
    Moment until{};
    std::string attempt_id{};
  };
  /// By queue, first come, first served. None of them is empty.
  std::map<std::pair<TenantId, std::string>, std::list<Waiter>> waiters_;
  std::set<std::tuple<Moment, TenantId, std::string, ReceiverId>> waits_;  ///< by their ends
  /// What receives with an attempt id were given lately: enough to give it again.
  struct Given {
    struct One {
      Receipt receipt{};
      Moment lease_until{};
    };
    std::vector<One> messages{};
    Moment until{};
  };
  struct ReceiveAttempts {
    std::map<std::string, Given> by_id{};
    std::deque<std::pair<Moment, std::string>> by_end{};
  };
  std::map<QueueKey, ReceiveAttempts> receive_attempts_;       ///< bounded for each queue
  std::map<QueueKey, Delayed> delayed_;                        ///< of queues that are pulled from
  std::set<std::pair<QueueKey, std::int64_t>> dirty_delayed_;  ///< with the second
  Moment next_delayed_check_{};
  /// By source, oldest first: at most Limits::move_tasks_kept each.
  std::map<QueueKey, std::deque<MoveTask>> move_tasks_;
  /// How far a running task is in memory. A restart begins at the first message again.
  struct MoveRun {
    Seq after{};
    bool again = false;        ///< what it has passed over may be free by now
    std::uint64_t credit = 0;  ///< of its rate, in thousandths of a message
    Moment credited_at{};
  };
  std::map<QueueKey, MoveRun> move_runs_;
  QueueKey moved_last_{};  ///< as swept_last_
  std::map<std::pair<TenantId, std::string>, FlowKey> flow_keys_;
  std::set<std::pair<TenantId, std::string>> dirty_flow_keys_;  ///< as dirty_queues_
  /// When each flow key is looked at again, to be forgotten.
  std::set<std::pair<Moment, std::pair<TenantId, std::string>>> flow_checks_;
  std::map<std::pair<TenantId, std::string>, UrlGroup> url_groups_;
  std::map<TenantId, Counters> counters_;
  std::set<TenantId> dirty_counters_;
};

}  // namespace hk::core
