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

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/random.h"
#include "core/batch.h"
#include "core/command.h"
#include "core/lane/scheduler.h"
#include "core/limits.h"
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
  /// Timers, leases that ran out, index entries, clean-up; then starts what may start.
  void advance();
  Batch::Output take();

  /// When advance() has something to do although no command came; nullopt: never. A time that has
  /// passed means: at once.
  [[nodiscard]] std::optional<Moment> wake_at() const;

  /// A drain begins: nothing new starts from now on; what runs may end.
  void stop_starting() { starting_ = false; }

  [[nodiscard]] std::uint32_t epoch() const { return meta_.epoch; }
  [[nodiscard]] std::uint32_t in_flight() const { return scheduler_.in_flight(); }
  [[nodiscard]] std::size_t in_memory() const { return live_.size(); }
  [[nodiscard]] std::size_t lanes() const { return scheduler_.lane_count(); }
  [[nodiscard]] const std::map<TenantId, Counters>& counters() const { return counters_; }
  [[nodiscard]] bool leased(Seq seq) const;

 private:
  // One command a file.
  Reply decide(Publish command);
  Reply decide(PublishBatch command);
  Reply decide(CompleteAttempt command);
  Reply decide(const CancelMessage& command);
  Reply decide(const RetryDeadLetter& command);
  Reply decide(const DeleteDeadLetterCommand& command);
  Reply decide(const UpsertQueue& command);
  Reply decide(const DeleteQueueCommand& command);
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
  bool cancel(Seq seq, const LaneKey& lane, MessageState state);

  // queue/delete_queue.cpp
  struct Sweep;
  void begin_sweep(const Queue& queue);
  void sweep_queues();
  bool sweep(const Queue& queue, Sweep& sweep, std::size_t& budget);
  void drop_if_over(const Queue& queue);
  void leave_queue(const LaneKey& lane);

  // queue/pin_flow_key.cpp, queue/inspect_flow_keys.cpp, queue/forget_flow_keys.cpp
  [[nodiscard]] Result<void> check_flow_key(TenantId tenant, const std::string& key) const;
  void restart_window(const FlowKey& flow_key);
  FlowKeyView view_of(const FlowKey& flow_key, std::size_t& budget);
  void forget_idle_flow_keys();
  [[nodiscard]] Moment forget_at(const FlowKey& flow_key);
  void check_flow_key_later(const std::pair<TenantId, std::string>& key);

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

  // advance.cpp
  void expire_leases();
  void refill_lanes();
  void read_lane(Lane& lane);
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
  /// How far the cancelling of a deleted queue's messages has come in the index.
  struct Sweep {
    LaneKey lane{};
    std::optional<LanePlace> after{};
  };
  std::map<std::pair<TenantId, std::string>, Sweep> sweeps_;
  Seq index_wanted_{};  ///< messages up to this one get their index entry at once
  std::map<std::pair<TenantId, std::string>, FlowKey> flow_keys_;
  std::set<std::pair<TenantId, std::string>> dirty_flow_keys_;  ///< as dirty_queues_
  /// When each flow key is looked at again, to be forgotten.
  std::set<std::pair<Moment, std::pair<TenantId, std::string>>> flow_checks_;
  std::map<std::pair<TenantId, std::string>, UrlGroup> url_groups_;
  std::map<TenantId, Counters> counters_;
  std::set<TenantId> dirty_counters_;
};

}  // namespace hk::core
