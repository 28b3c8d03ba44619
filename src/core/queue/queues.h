/// Queues, pushed from or pulled from: their records, and what they still have to cancel. Who else
/// wants to know of a queue looks it up here; only this class changes one. A component
/// (component.h).
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "core/command.h"
#include "core/component.h"
#include "core/lane/scheduler.h"
#include "core/queue/index_walk.h"
#include "core/queue/key.h"

namespace hk::core {

class Lanes;
class Messages;
class Pulls;
class Tasks;
class Tenants;

class Queues : Component {
  using Records = std::map<QueueKey, Queue>;

 public:
  Queues(Context& context, Scheduler& scheduler, const Tenants& tenants, Lanes& lanes,
         Messages& messages, Pulls& pulls, Tasks& tasks)
      : Component(context),
        scheduler_(scheduler),
        tenants_(tenants),
        lanes_(lanes),
        messages_(messages),
        pulls_(pulls),
        tasks_(tasks) {}

  void recover(Reader& reader);
  Reply execute(QueueCommand&& command);
  /// What deleted and purged queues had is cancelled. Until that is done a queue hands nothing out.
  void advance();
  [[nodiscard]] Moment wake_at() const;
  void flush();

  /// Also those that are being deleted.
  [[nodiscard]] const Records& all() const { return queues_; }
  /// Also one that is being deleted. Null: there is none.
  [[nodiscard]] const Queue* find(TenantId tenant, const std::string& name) const;
  /// Null: there is none, or one whose messages are pushed.
  [[nodiscard]] const Queue* find_pulled(TenantId tenant, const std::string& name) const;
  [[nodiscard]] bool is_swept(const QueueKey& key) const { return sweeps_.contains(key); }
  /// A message of the queue is accepted. Made if need be; one that is being deleted begins anew.
  void join(TenantId tenant, const std::string& name);
  /// A message of the queue is final.
  void leave(Seq seq, const LaneKey& lane);
  /// Its messages know of its settings.
  void retimed(const QueueKey& key);

 private:
  Reply decide(const UpsertQueue& command);
  Reply decide(const DeleteQueueCommand& command);
  Reply decide(CreatePullQueue command);
  Reply decide(SetPullSettings command);
  Reply decide(const PurgeQueue& command);

  /// End of the records: there is none, or one whose messages are pushed.
  Records::iterator find_to_change(TenantId tenant, const std::string& name);
  /// To be changed: it is written with this batch.
  Queue& change(Records::iterator at);
  Records::iterator make(TenantId tenant, const std::string& name);
  void use_settings(const Queue& queue);
  void begin_sweep(Queue& queue);
  void go_on_sweeping(const Queue& queue);
  bool sweep(const Queue& queue, IndexWalk& walk, std::size_t& budget);
  void drop_if_over(const Queue& queue);

  Scheduler& scheduler_;
  const Tenants& tenants_;
  Lanes& lanes_;
  Messages& messages_;
  Pulls& pulls_;
  Tasks& tasks_;

  Records queues_;
  std::set<QueueKey> dirty_;              ///< those not in queues_ are gone
  std::map<QueueKey, IndexWalk> sweeps_;  ///< of queues that are deleted or purged
  QueueKey swept_last_{};                 ///< the next one's turn comes
};

}  // namespace hk::core
