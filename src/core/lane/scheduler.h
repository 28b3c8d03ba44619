/// Which message goes next: lanes, their gates, and deficit round robin over tenants, so that one
/// tenant's burst does not delay the others. In memory only; it decides order and timing and writes
/// nothing. Owned by Machine.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/lane/lane.h"
#include "core/limits.h"

namespace hk::core {

struct TenantLanes {
  TenantId id{};
  std::uint32_t places = 0;  ///< of its attempts in flight
  std::size_t deficit = 0;
  std::deque<Lane*> runnable{};
  bool in_round = false;
  std::size_t deep_queues = 0;  ///< ordered lanes with messages that are only in the index
  /// Destinations that hold their share of the tenant's places while lanes are parked there, by
  /// places and serial.
  std::set<std::pair<std::uint32_t, std::uint64_t>> crowded{};
  std::optional<std::uint32_t> crowded_at{};  ///< places as they stand in Scheduler::crowded_
};

class Scheduler {
 public:
  explicit Scheduler(const Limits& limits)
      : limits_(limits), places_max_(limits.global_parallelism) {}

  /// Where a waiting message ended up.
  struct Placed {
    bool kept = true;  ///< in memory; false: the caller writes its index entry and forgets it
    Live* evicted = nullptr;  ///< another one that made room: the same goes for it, then drop() it
  };

  /// A message begins to wait (again). REQUIRES: live.lane is set.
  Placed place(Live& live, Moment now);
  /// From the index: like place(), but the lane's own reading never evicts.
  void place_read(Live& live);
  /// It no longer waits: cancelled. REQUIRES: !live.leased.
  void remove(Live& live, Moment now);

  /// Takes the next message that may start now, with all its gates. Null: none. One of a queue that
  /// pushes (live.push) is leased, and is judged by its queue's rules before it goes.
  Live* start_next(Moment now);
  /// How many places the attempt takes that start_next() has just given. Only its message tells, so
  /// a limit may be passed by the last attempt that began below it. REQUIRES: places > 0.
  void take_places(Live& live, std::uint32_t places);
  /// An attempt ended: gates are given back. REQUIRES: live.leased, which is unset.
  void release(Live& live, Moment now);
  /// The message is final: its slot is free. REQUIRES: it neither waits nor is leased.
  void finish(Live& live, Moment now);

  /// The message is final, but its callbacks are not: it keeps its slot until finish().
  /// REQUIRES: an ordered lane; it has a slot and neither waits nor is leased.
  void hold_for_callbacks(Live& live);

  // ---- queues that are pulled from ----

  /// Null: no lane of that queue is in memory.
  [[nodiscard]] PullQueue* find_pull_queue(TenantId tenant, const std::string& queue);
  PullQueue& pull_queue(TenantId tenant, const std::string& queue);
  /// The lane is one of a queue that is pulled from. REQUIRES: lane.pull is null.
  void serve_pulled(Lane& lane);
  /// Its message is forgotten. REQUIRES: it was in live.pull->live.
  void leave_pull_queue(const Live& live);
  /// The queue is gone: so is what is in memory of it, as soon as nobody uses it.
  void forget_pull_queue(TenantId tenant, const std::string& queue);
  /// Takes the next message that `receiver` may have now; it is leased. Null: none. In a queue with
  /// order the rest of a run that this receiver has begun comes first.
  Live* pull_next(PullQueue& queue, ReceiverId receiver, Moment now);
  /// A queue that has got something ready, or a receiver, since it was last returned. Null: none.
  PullQueue* next_fed();
  [[nodiscard]] bool has_fed() const { return !fed_.empty(); }
  void feed(PullQueue& queue);
  /// Takes the oldest message after `after` and up to `up_to` that anybody could have now; it is
  /// leased. Looks at no more than `looks`. `after` follows; null with after == up_to: none is
  /// left.
  Live* pull_oldest(PullQueue& queue, Seq& after, Seq up_to, std::size_t& looks, Moment now);
  /// The first of a lane in order that is not done, as far as it is in memory; null: none is.
  [[nodiscard]] static const Live* first_of_run(const Lane& lane);
  [[nodiscard]] bool wants_refill(const PullQueue& queue) const;

  // ---- queues that push ----

  /// The queue pushes to this host, so many at once. What is on the wire stays, and counts.
  void push_from(PullQueue& queue, const std::string& host, std::uint32_t parallelism, Moment now);
  /// It pushes no longer. What is on the wire stays.
  void stop_pushing(PullQueue& queue, Moment now);
  /// It is leased as before, and no attempt of it is under way any more. REQUIRES: live.push.
  void off_the_wire(Live& live, Moment now);

  /// A recovered message that was started before: it keeps its slot. REQUIRES: an ordered lane.
  void hold_slot(Live& live);
  /// It no longer waits for its next attempt, and keeps its slot. REQUIRES: it has one.
  void remove_waiting(Live& live);
  /// A message that waits in no window is out, and passes its lane's gates: one that was handed out
  /// before a restart, or again to the same receiver.
  void lease(Live& live, Moment now);

  Lane& lane(const LaneKey& key);
  [[nodiscard]] Lane* find_lane(const LaneName& name);
  Gate& flow_gate(TenantId tenant, const std::string& key);
  Gate& queue_gate(TenantId tenant, const std::string& queue);
  /// Null: nobody waits for it or uses it.
  [[nodiscard]] Gate* find_flow_gate(TenantId tenant, const std::string& key);
  /// All that waits in the lane passes this one as well. REQUIRES: it was just made.
  static void add_gate(Lane& lane, Gate& gate);
  /// The record behind it is gone: so is the gate, as soon as nobody uses it.
  void forget_gate(Gate& gate);
  /// Limits of the gate were changed from outside.
  void gate_changed(Gate& gate, Moment now);
  /// live.not_before is another one. REQUIRES: it waits, in an ordered lane, and was not started.
  void due_changed(Live& live, Moment now) { settle(*live.lane, now); }
  void set_slots(const LaneKey& key, std::uint32_t slots, Moment now);
  /// The gates that a message of an ordered lane passes by itself; "" = none.
  void use_own_gates(Live& live, const std::string& host, const std::string& flow_key);
  void unuse_own_gates(Live& live);
  /// Null: nobody waits for it or uses it.
  [[nodiscard]] const Gate* find_gate(Gate::Kind kind, TenantId tenant,
                                      const std::string& name) const;

  /// Due lanes and gates are woken.
  void advance(Moment now);
  [[nodiscard]] std::optional<Moment> next_timer() const;
  [[nodiscard]] bool has_runnable() const { return !round_.empty() && places_ < places_max_; }

  /// Lanes whose window runs low although the index has more; each is listed once.
  std::vector<Lane*> take_refills(std::size_t limit);
  [[nodiscard]] bool wants_refill() const { return !refills_.empty(); }
  /// What the index gave was placed; `more`: it was cut off at `cursor`.
  void refilled(Lane& lane, bool more, LanePlace cursor, Moment now);
  /// Asks for the lane to be read (after recovery, or because something exists only in the index).
  void want_refill(Lane& lane);
  /// How many messages a lane keeps in memory now: fewer when there are many lanes.
  [[nodiscard]] std::size_t window_size() const;

  [[nodiscard]] std::uint32_t in_flight() const { return in_flight_; }
  [[nodiscard]] std::uint32_t places() const { return places_; }
  [[nodiscard]] std::uint32_t places_max() const { return places_max_; }
  void set_places_max(std::uint32_t places);
  /// Something would start if there were more of them.
  [[nodiscard]] bool wants_places() const {
    return !crowded_.empty() || (!round_.empty() && places_ >= places_max_);
  }
  [[nodiscard]] std::size_t lane_count() const { return lanes_.size(); }
  [[nodiscard]] std::size_t pull_queue_count() const { return pull_queues_.size(); }
  [[nodiscard]] std::size_t waiting_in_memory() const { return waiting_; }
  [[nodiscard]] const TenantLanes* find_tenant(TenantId id) const;
  /// May the destination have one more of its tenant's attempts, beside its own limit? Other gates
  /// always may.
  [[nodiscard]] bool has_share(const Gate& gate, const TenantLanes& owner) const;
  /// The same for a tenant among all.
  [[nodiscard]] bool has_share(const TenantLanes& owner) const;

 private:
  struct KeyHash {
    using is_transparent = void;
    std::size_t operator()(const LaneName& name) const;
  };
  struct KeyEqual {
    using is_transparent = void;
    bool operator()(const LaneName& a, const LaneName& b) const { return a == b; }
  };
  struct GateId {
    Gate::Kind kind{};
    TenantId tenant{};
    std::string name{};
    friend bool operator==(const GateId&, const GateId&) = default;
  };
  struct GateHash {
    std::size_t operator()(const GateId& id) const;
  };
  struct Timer {
    Moment at{};
    bool is_gate = false;
    std::uint64_t serial = 0;
    friend auto operator<=>(const Timer&, const Timer&) = default;
  };

  Gate& gate(Gate::Kind kind, TenantId tenant, const std::string& name);
  void drop_gate_if_unused(Gate& gate);
  bool drop_if_unused(PullQueue& queue);
  TenantLanes& tenant(TenantId id);

  Live* candidate(Lane& lane, Moment now, Moment& wake_at, ReceiverId receiver = {});
  Live* candidate_of_run(Lane& lane, Moment now, Moment& wake_at, ReceiverId receiver);
  Gate* shut_gate(const Lane& lane, const Live& live, Moment now) const;
  void settle(Lane& lane, Moment now);
  void set_lane_timer(Lane& lane, Moment at);
  void leave(Lane& lane);
  void make_runnable(Lane& lane);
  [[nodiscard]] static PullTurn next_turn(Lane& lane);
  static void take_turn(Lane& lane, PullTurn turn);
  static void count_out(Lane& lane, bool given);
  void park(Lane& lane, Gate& gate, Moment now);
  /// False: none waits, or it is still shut.
  bool wake_one(Gate& gate, Moment now);
  static Lane& next_parked(Gate& gate);
  void pass_turn(Lane& lane, Moment now);
  void set_gate_timer(Gate& gate, Moment now);
  void take(Lane& lane, Live& live, Moment now);
  void spend_turn(TenantLanes& owner);
  Live* push_next(Lane& lane, Moment now);
  void put_on_the_wire(const Lane& pusher, Live& live, Moment now);
  void wake_pusher(PullQueue& queue);
  void give_up_places(const Live& live);
  void give_back_own(Live& live, Moment now);
  void go_on(TenantLanes& owner, Moment now);
  void pass(Gate& gate, Moment now);
  void give_back(Gate& gate, const Live& live, Moment now);
  void crowd(Gate& gate);
  void uncrowd(Gate& gate);
  void crowd(TenantLanes& owner);
  void uncrowd(TenantLanes& owner);
  void wake_crowded(TenantLanes& owner, Moment now);
  bool admit_crowded();
  void enter_round(TenantLanes& owner);
  static void free_slot(Live& live);
  void forget_if_empty(Lane& lane);
  void check_refill(Lane& lane);
  static void set_more(Lane& lane, bool more);

  const Limits& limits_;
  std::unordered_map<LaneKey, std::unique_ptr<Lane>, KeyHash, KeyEqual> lanes_;
  std::unordered_map<std::uint64_t, Lane*> lanes_by_serial_;
  std::unordered_map<GateId, std::unique_ptr<Gate>, GateHash> gates_;
  std::unordered_map<std::uint64_t, Gate*> gates_by_serial_;
  std::unordered_map<TenantId, std::unique_ptr<TenantLanes>> tenants_;
  std::map<std::pair<TenantId, std::string>, PullQueue> pull_queues_;
  std::deque<PullQueue*> fed_;
  std::deque<TenantLanes*> round_;  ///< tenants with runnable lanes, in turn
  /// Tenants with runnable lanes that hold their share of all places, by places.
  std::set<std::pair<std::uint32_t, TenantId>> crowded_;
  std::set<Timer> timers_;
  std::list<Lane*> refills_;
  std::uint64_t next_serial_ = 1;
  std::uint32_t in_flight_ = 0;  ///< attempts
  std::uint32_t places_ = 0;     ///< of them all
  std::uint32_t places_max_;     ///< this machine's share of the node's
  std::size_t waiting_ = 0;
};

}  // namespace hk::core
