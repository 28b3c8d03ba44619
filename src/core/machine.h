/// The deterministic machine: commands in, replies, mutations and effects out. It does no I/O,
/// reads no clock and takes no lock: time, randomness and a reader are handed to it, so that a
/// simulator can run it for a million hours and a bug replays from its seed.
///
/// Use, by one thread (engine/partition.h, or the simulator):
///   recover(reader, now, term) once; then for every batch
///   begin(now, reader); execute(command)…; advance(); output = take();
///   write output.mutations atomically; once they are durable, release the replies and the effects.
/// The reader given to begin() shows all earlier batches.
///
/// It only composes: the rules are in its components (component.h), one folder each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "core/command.h"
#include "core/context.h"
#include "core/document/documents.h"
#include "core/flow/flow_keys.h"
#include "core/idempotency/idempotency_keys.h"
#include "core/lane/lanes.h"
#include "core/ledger/ledger.h"
#include "core/message/messages.h"
#include "core/pull/pulls.h"
#include "core/queue/queues.h"
#include "core/schedule/schedules.h"
#include "core/source/sources.h"
#include "core/task/tasks.h"
#include "core/tenant/tenants.h"
#include "core/timer/timers.h"
#include "core/topic/topics.h"
#include "core/transact/transacts.h"
#include "core/webhook/webhooks.h"

namespace hk::core {

class Machine {
 public:
  Machine(const Limits& limits, Rng& rng, Zones& zones, PartitionId partition = {},
          PushHosts push_hosts = {}, Sealing sealing = {});
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// Rebuilds what is in memory from the store and decides what must be written first (the new
  /// epoch, index entries of messages too young to have one): take() it before anything else. Reads
  /// a bounded part of the store whatever the backlog.
  /// Errors as Progress::recover(); then it is of no use.
  Result<void> recover(Reader& reader, Moment now, const Term& term = {});

  void begin(Moment now, Reader& reader);
  Reply execute(Command command);
  /// What came so far is enough for one batch: copies of large bodies that their commands do not
  /// carry, such as a retried dead letter's.
  [[nodiscard]] bool is_full() const {
    return context_.batch.body_bytes() >= context_.limits.batch_bytes;
  }
  /// Timers, leases that ran out, index entries, clean-up; then starts what may start.
  void advance();
  Batch::Output take();

  /// When advance() has something to do although no command came; nullopt: never. A time that has
  /// passed means: at once.
  [[nodiscard]] std::optional<Moment> wake_at() const;

  /// Its share of the node's places for attempts; all of Limits::global_parallelism until then.
  /// Between two batches: the next one starts what it allows. Fewer than are in use: what runs may
  /// end.
  void set_places(std::uint32_t places) { scheduler_.set_places_max(places); }
  [[nodiscard]] std::uint32_t places() const { return scheduler_.places(); }
  /// Something would start if it had more of them.
  [[nodiscard]] bool wants_places() const { return scheduler_.wants_places(); }

  /// A drain begins: nothing new starts or is handed out, waits end empty; what runs may end.
  void stop_starting() { context_.starting = false; }

  [[nodiscard]] std::uint32_t epoch() const { return context_.progress.epoch(); }
  [[nodiscard]] std::uint32_t in_flight() const { return scheduler_.in_flight(); }
  [[nodiscard]] std::size_t in_memory() const { return lanes_.in_memory(); }
  [[nodiscard]] std::size_t lanes() const { return scheduler_.lane_count(); }
  [[nodiscard]] std::size_t ledger_books() const { return ledger_.books_in_memory(); }
  [[nodiscard]] std::size_t pull_queues() const { return scheduler_.pull_queue_count(); }
  [[nodiscard]] const std::map<TenantId, Counters>& counters() const {
    return tenants_.all_counters();
  }
  [[nodiscard]] bool leased(Seq seq) const { return lanes_.leased(seq); }

 private:
  Messages& component(const MessageCommand& /*command*/) { return messages_; }
  Queues& component(const QueueCommand& /*command*/) { return queues_; }
  Pulls& component(const PullCommand& /*command*/) { return pulls_; }
  Tasks& component(const TaskCommand& /*command*/) { return tasks_; }
  Topics& component(const TopicCommand& /*command*/) { return topics_; }
  Schedules& component(const ScheduleCommand& /*command*/) { return schedules_; }
  FlowKeys& component(const FlowCommand& /*command*/) { return flow_keys_; }
  IdempotencyKeys& component(const IdempotencyCommand& /*command*/) { return idempotency_keys_; }
  Documents& component(const DocumentCommand& /*command*/) { return documents_; }
  Tenants& component(const TenantCommand& /*command*/) { return tenants_; }
  ledger::Ledger& component(const ledger::LedgerCommand& /*command*/) { return ledger_; }
  Transacts& component(const TransactCommand& /*command*/) { return transacts_; }
  webhook::Webhooks& component(const webhook::WebhookCommand& /*command*/) { return webhooks_; }
  Sources& component(const SourceCommand& /*command*/) { return sources_; }

  Context context_;
  Scheduler scheduler_;
  Tenants tenants_;
  Documents documents_;
  Timers timers_;
  IdempotencyKeys idempotency_keys_;
  FlowKeys flow_keys_;
  Lanes lanes_;
  Queues queues_;
  Messages messages_;
  Topics topics_;
  Schedules schedules_;
  Pulls pulls_;
  Tasks tasks_;
  ledger::Ledger ledger_;
  webhook::Webhooks webhooks_;
  Transacts transacts_;
  Sources sources_;
};

}  // namespace hk::core
