/// Messages that are in memory, and where they wait: their lanes, the index entries that a restart
/// finds them by, and the leases of those that are out. Which of them goes next is the Scheduler's
/// to say. A component without commands (component.h).
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/component.h"
#include "core/lane/scheduler.h"

namespace hk::core {

class Messages;
class Pulls;
class Queues;

class Tasks;
namespace webhook {
class Webhooks;
}

class Lanes : Component {
 public:
  Lanes(Context& context, Scheduler& scheduler, const Queues& queues, Messages& messages,
        Pulls& pulls, Tasks& tasks, webhook::Webhooks& webhooks)
      : Component(context),
        scheduler_(scheduler),
        queues_(queues),
        messages_(messages),
        pulls_(pulls),
        tasks_(tasks),
        webhooks_(webhooks) {}

  /// REQUIRES: queues and flow keys are there.
  void recover(Reader& reader);
  /// Windows that run low are read. REQUIRES: nothing was decided in this batch yet: the index must
  /// be as they believe it to be.
  void refill();
  /// Messages that are still unfinished some time after their acceptance get their index entry.
  /// Most never need one: they are delivered before.
  void advance();
  [[nodiscard]] Moment wake_at() const;

  [[nodiscard]] Live* find(Seq seq);
  [[nodiscard]] bool leased(Seq seq) const;
  [[nodiscard]] std::size_t in_memory() const { return live_.size(); }

  /// A message that was just accepted. It waits nowhere yet.
  Live& add(const Message& message);
  /// From the index, as if its turn had come.
  Live* read(const Message& message, const LaneEntry& entry);
  /// It waits, in memory or beyond its lane's window.
  void wait(Live& live);
  /// It is final, and waits nowhere.
  void forget(Live& live);

  /// In the index, as it was before this batch.
  std::optional<LaneEntry> find_entry(const Message& message);
  void index(Live& live);
  /// Its entry is written over. REQUIRES: it has kept its place.
  void index_again(Live& live);
  void unindex(Live& live);
  /// Messages up to this one get their index entry at once.
  void index_soon(Seq up_to);

  /// It is out until then. REQUIRES: it has no lease; live.leased is the Scheduler's to set.
  void lease(Live& live, Moment until);
  /// False: it had none.
  bool end_lease(const Live& live);
  /// The first whose lease has run out; null: none.
  [[nodiscard]] Live* lease_over();

 private:
  /// In the order of acceptance: it may not have an index entry yet.
  struct Young {
    Seq seq{};
    Moment accepted_at{};
  };

  Lane& lane_for(const LaneKey& key);
  Live& keep(std::unique_ptr<Live> live);
  void read(Lane& lane);
  void fill(Lane& lane, const std::vector<LaneEntry>& entries, bool more);
  Live* remember(Lane& lane, const LaneEntry& entry);
  void recover_windows(Reader& reader);
  void recover_young(Reader& reader);

  Scheduler& scheduler_;
  const Queues& queues_;
  Messages& messages_;
  Pulls& pulls_;
  Tasks& tasks_;
  webhook::Webhooks& webhooks_;

  std::unordered_map<Seq, std::unique_ptr<Live>> live_;
  std::set<std::pair<Moment, Seq>> leases_;  ///< by the time they run out
  std::deque<Young> young_;
  Seq index_wanted_{};
};

}  // namespace hk::core
