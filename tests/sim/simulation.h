/// One seed: a server (the real core and the real Partition over the simulated store), its clients,
/// its receivers, and whatever goes wrong between them, on one thread in virtual time.
///
/// The server is engine/engine.h without threads: batches are run from an inbox, at most two are
/// unsynced at once, and replies and effects leave only after the sync that covers them. It can die
/// at any point; what is unsynced is then lost in part, and attempts on the wire may land all the
/// same.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "engine/partition.h"
#include "sim/config.h"
#include "sim/crash_plan.h"
#include "sim/crons.h"
#include "sim/event_heap.h"
#include "sim/history.h"
#include "sim/knobs.h"
#include "sim/model.h"
#include "sim/trace.h"
#include "store/memory/sim_store.h"

namespace hk::sim {

/// Defects of the glue that can be switched on, to show that the checks see them.
struct Plants {
  bool effects_before_durable = false;
  bool ack_before_sync = false;
  bool unsynced_batches_forgotten = false;
};
/// False: no such plant.
bool switch_on(Plants& plants, const std::string& name);

struct Outcome {
  std::uint64_t steps = 0;
  std::uint64_t batches = 0;
  std::uint64_t acks = 0;
  std::uint64_t deliveries = 0;
  std::uint64_t attempts = 0;
  std::uint64_t crashes = 0;
  // Faults of the disk that the server met.
  std::uint64_t failed_reads = 0;
  std::uint64_t failed_writes = 0;
  std::uint64_t failed_syncs = 0;
  std::uint64_t full_disk = 0;  ///< writes that were refused
  std::uint64_t scans = 0;
  std::uint64_t digest = 0;
  double virtual_hours = 0;

  [[nodiscard]] std::uint64_t disk_faults() const {
    return failed_reads + failed_writes + failed_syncs + full_disk;
  }
};

class Simulation {
 public:
  struct Options {
    std::uint64_t seed = 0;
    double hours = 0;  ///< at least this long; 0: as long as the seed says
    bool trace = false;
    Plants plants{};
    Settings settings{};              ///< instead of what the seed drew
    CrashPlan crash{};                ///< empty: crashes come by chance alone
    std::uint64_t decisions_max = 0;  ///< a run that takes more is given up; 0: none is
    core::PartitionId partition{};
    // One of several (several.h): before each event, and where outcomes of attempts are reported.
    std::function<void()> turn{};
    std::function<void(core::PartitionId, Op)> report_to{};
  };
  explicit Simulation(const Options& options);
  ~Simulation();

  /// Throws Violation.
  Outcome run();
  /// How an attempt ended, as somebody else heard who was told to report it to this partition.
  void report_here(Op op) { submit(std::move(op)); }
  [[nodiscard]] const Trace& trace() const { return trace_; }
  /// Tenants are there and clients have begun: what fails before is the simulator's own fault.
  [[nodiscard]] bool under_way() const { return under_way_; }
  [[nodiscard]] const CrashProgress& crash_progress() const { return crash_progress_; }
  /// What was drawn and then done so far: what clients and operators asked for, message by message,
  /// what receivers answered or did not, deaths, faults of disk and clock. What follows of itself,
  /// as the end of every run does, is none.
  [[nodiscard]] std::uint64_t decisions() const { return decisions_; }

 private:
  /// A batch that is written and not yet released.
  struct Pending {
    store::BatchSeq batch = 0;
    Moment time{};
    Moment ran_at{};  ///< by the simulator's clock, which attempts are timed by
    std::vector<Op> ops{};
    std::vector<core::Reply> replies{};
    std::vector<core::Effect> effects{};
  };
  /// An attempt that left for its receiver; not rolled back by anything.
  struct Wire {
    core::Fence last{};
    std::uint32_t count = 0;
    std::uint64_t crashes_before = 0;
    bool delivered = false;
    /// Of the last attempt: until then its outcome may still come, by the simulator's clock.
    Moment open_until{};
    std::uint64_t life = 0;  ///< of the server that made it
  };

  // server.cpp
  void change_places();
  void pump();
  void run_batch();
  void start_sync();
  void finish_sync(std::uint64_t life);
  void release(std::vector<Pending> done);
  void run_effect(const core::Effect& effect, const Pending& of);
  void submit(Op op);
  void wake_at(Moment at);
  [[nodiscard]] Moment partition_now() const {
    return heap_.now() + clock_offset_ + (heap_.now() - leaning_since_) * clock_lean_ / 1000;
  }

  // crash.cpp
  void die(const char* why, bool power_cut);
  bool dies_at(Point point);
  bool power_cut(std::uint32_t permille);
  void start_server();
  void plan_failed_read();
  bool stopped_by_a_read(const Error* error);
  void count_failed_write(const Error& error);
  void plan_full_disk();
  void plan_faults();
  void plan_leaning();
  void lean(std::int64_t permille);
  void plan_pauses();
  void check_survival(store::BatchSeq survivor);
  void begin_drain();

  // clients.cpp
  void plan_clients();
  void client_acts();
  Op make_publish();
  core::Callback make_callback(bool queued);
  void operator_acts();
  Op change_a_limit(core::TenantId tenant);
  void change_credentials(core::TenantId tenant);
  void change_group();
  void cancel_something();
  void cancel_many();
  void answered(const Op& op, const core::Reply& reply, const Pending& of);
  void learn(const core::Published& published, core::TenantId tenant, bool fresh);
  void check_left(store::BatchSeq batch, const std::string& what);
  void unanswered(Op op);

  // replies.cpp
  void check_reply(const Op& op, const core::Reply& reply, const Expected& expected) const;

  // topic_clients.cpp
  void topic_acts();
  void create_topic(const Named& name, bool fifo);
  void change_topic(const core::Topic& topic);
  void subscribe(const core::Topic& topic);
  void draw_settings(core::Subscription& one);
  core::Subscription draw_subscription();

  // key_clients.cpp
  void key_acts();
  Op make_key_op();

  // once_clients.cpp
  void once_acts();
  Op make_once();
  void once_answered(const Op& op, const core::OnceAnswered& told, const Pending& of);

  // source_clients.cpp
  void source_acts();
  Op make_event(core::TenantId tenant);
  Op make_put_source(core::TenantId tenant, const std::string& id);
  Op make_release(core::TenantId tenant, const std::string& id);
  std::string some_event_id();

  // ledger_clients.cpp
  void ledger_acts();
  Op make_ledger_op();
  Op make_ledger_bulk(const Named& book);
  ledger::Operation some_ledger_item(const Named& book);
  ledger::Operation some_ledger_setting(const Named& book);
  ledger::CreateTransaction some_create(const Named& book);
  ledger::CreateAccount some_new_account();
  ledger::ChangeAccount some_account_change();
  void fill_following(ledger::Following& following, const Named& book, bool hold);
  ledger::Condition some_condition(const Named& book);
  std::vector<ledger::MetadataIn> some_metadata();
  std::string some_account();
  std::string some_currency();
  std::string some_transaction(const Named& book, bool hold);
  std::optional<std::vector<ledger::Amount>> some_amounts(const Named& book, const std::string& of);
  std::optional<std::string> some_new_id(const Named& book);
  std::optional<std::string> some_new_key();
  ledger::Instant ledger_now();
  ledger::Instant some_effective();
  void ledger_answered(const Op& op, const ledger::LedgerApplied& told);
  void check_ledger_acked() const;

  // ending_clients.cpp
  void hold_lease(Op op);
  void draw_ending(Op& op);
  void let_go(const Op& op);
  void end_by_call(Op op, Millis within);
  void old_lease_acts();

  // transact_clients.cpp
  void transact_acts();
  Op draw_operation(core::TenantId tenant);
  core::Precondition draw_condition(core::TenantId tenant);

  // schedule_clients.cpp
  void schedule_acts();
  void delete_schedules();

  // pull_clients.cpp
  void pull_acts();
  [[nodiscard]] std::string pull_name(std::uint32_t number) const;
  core::PullSettings draw_pull_settings(std::uint32_t number);
  Op make_send(const Named& queue, bool fifo);
  void send_some(const Named& queue, bool fifo);
  void ask(const Named& queue, const std::string& attempt_id = {});
  std::string draw_attempt_id();
  void hang_up(core::ReceiverId receiver);
  void hand_over(const core::Received& out, const Pending& of);
  void work_on(const Named& queue, const core::Received::One& one);
  void hide(const Named& queue, const core::Receipt& receipt, Millis time);
  void drain(const Named& queue);
  void drain_everything();

  // pull_operators.cpp
  void move_acts();
  void pause_acts();
  void resume(const Named& queue);
  void resume_everything();
  void halt_acts();
  void resolve_all(const Named& queue);

  // receivers.cpp
  void send(const core::StartAttempt& start, const Pending& of);
  void hold_pushed(const core::StartAttempt& start, const Pending& of);
  void receive(const core::StartAttempt& start, const HostConfig& host);
  void report(const core::StartAttempt& start, bool delivered, bool give_up,
              std::optional<Millis> retry_after, Millis after);

  // phases.cpp
  void run_until(Moment end, const std::function<bool()>& done);
  void settle_everything();
  void forget_everything();
  void full_scan(const char* when);
  void check_bounds();
  void check_fairness(const std::vector<core::Effect>& effects);

  [[nodiscard]] bool chance(std::uint32_t permille) { return rng_.below(1000) < permille; }
  [[nodiscard]] Millis up_to(Millis most) {
    return Millis{
        static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(most.count()) + 1))};
  }
  void digest(std::string_view bytes);
  void decided(std::uint64_t count = 1);

  const Options options_;
  SeededRng rng_;
  SeededRng core_rng_;
  SeededRng places_rng_;
  const Config config_;
  EventHeap heap_;
  Trace trace_;
  Model model_;
  Outcome outcome_;
  CrashProgress crash_progress_;
  std::uint64_t scanned_at_ = 0;  ///< the number of batches before the last full scan

  store::SimStore store_;
  RecordingStore recording_{store_};
  SimZones zones_;
  std::unique_ptr<engine::Partition> partition_;  ///< null: down
  std::uint64_t life_ = 0;
  bool draining_ = false;
  std::deque<Op> inbox_;
  std::vector<Pending> unsynced_;
  std::size_t syncing_ = 0;  ///< how many of unsynced_ the running sync covers
  bool sync_done_early_ = false;
  bool sync_failed_ = false;
  store::BatchSeq durable_ = 0;   ///< what a sync has confirmed
  store::BatchSeq released_ = 0;  ///< the last batch of which something left
  Moment busy_until_{};
  Moment paused_until_{};
  Moment wake_planned_{never};
  Millis clock_offset_{0};
  std::int64_t clock_lean_ = 0;  ///< permille
  Moment leaning_since_{};

  bool under_way_ = false;
  bool faults_ = true;
  bool publishing_ = true;
  std::uint64_t ops_made_ = 0;
  std::uint64_t decisions_ = 0;
  std::uint64_t next_op_ = 1;
  std::vector<std::pair<core::MessageId, core::TenantId>> known_;
  std::map<core::Seq, core::MessageId> acked_;  ///< publishes that somebody was told of
  std::set<core::Seq> purged_;
  std::map<std::pair<core::Seq, std::uint64_t>, Wire> wire_;  ///< by seq and nonce
  std::vector<Op> repeatable_;  ///< publishes with a dedup id, to be asked again

  std::vector<Op> once_ops_;  ///< writes under keys, to be asked again
  /// What was told under a key, by tenant, key and hash, and until when nothing else may be.
  struct Told {
    std::string body{};
    Moment until{};
  };
  std::map<std::tuple<core::TenantId, std::string, std::string>, Told> told_;

  std::vector<Op> ledger_ops_;  ///< operations of the ledger, to be asked again
  bool bulk_made_ = false;
  std::map<std::pair<Named, std::string>, std::uint64_t> ledger_acked_;  ///< by book and id: seq

  /// Somebody who waits for the answer to a Receive. Gone with the server.
  struct Receiver {
    Named queue{};
    bool hung_up = false;
    bool drains = false;  ///< deletes all it gets and asks again, until nothing is left
    std::string attempt_id{};
  };
  std::map<core::ReceiverId, Receiver> receivers_;
  std::uint64_t next_receiver_ = 1;
  /// What receivers were given: nobody else may have it before that time. By seq and nonce.
  struct Held {
    Moment until{};
    std::uint32_t receive = 0;
    std::string attempt_id{};  ///< of the receive that got it
  };
  std::map<std::pair<core::Seq, std::uint64_t>, Held> held_;
  std::vector<std::pair<Named, core::Receipt>> old_receipts_;
  std::vector<std::string> attempt_ids_;  ///< the last ones
  std::vector<Op> leases_;                ///< end_job of those that were given out lately

  struct Hunger {
    std::uint64_t others_started = 0;
    std::uint64_t batches = 0;
  };
  std::map<core::TenantId, Hunger> hungry_;
};

}  // namespace hk::sim
