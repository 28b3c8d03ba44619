/// Messages that wait, and where. A lane keeps a window of its next messages in memory; the rest is
/// in the store's index and read when the window runs low, from where it stopped.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "core/lane/gate.h"
#include "core/pull/receipt.h"
#include "core/record.h"

namespace hk::core {

struct PullQueue;

/// A message that is in memory: waiting in a window, waiting for its retry with a slot, leased, or
/// final and waiting with its slot for its callbacks.
struct Live {
  Seq seq{};
  Lane* lane = nullptr;
  LanePlace place{};
  Moment not_before{};
  std::uint32_t attempts = 0;   ///< finished ones
  Gate* destination = nullptr;  ///< ordered lanes: the message's own; others have it in their lane
  Gate* flow = nullptr;         ///< likewise
  bool indexed = false;         ///< has an entry in the store's lane index
  bool started = false;         ///< ordered lanes: holds a slot from its first attempt to its end
  bool leased = false;
  bool cancel_requested = false;
  bool halted = false;    ///< pulled in order: its group has stopped at it
  bool finished = false;  ///< ordered lanes: final, and holds its slot for its callbacks
  /// Does it have callbacks, or is it one? Only then its end needs the message itself.
  enum class Callbacks : std::uint8_t { unknown, none, some };
  Callbacks callbacks = Callbacks::unknown;
  Fence fence{};        ///< of the lease; pulled ones: attempt is the receive it was given out with
  Moment started_at{};  ///< of the lease
  Moment lease_until{};        ///< of the lease
  std::uint32_t places = 1;    ///< of the lease; pulled ones take none
  Moment first_received_at{};  ///< pulled ones
  std::uint32_t forgiven = 0;  ///< pulled ones: as in LaneEntry
  ReceiverId receiver{};       ///< pulled ones: who holds the lease
  std::uint64_t nonce = 0;     ///< of its id, once it was handed out; 0: not known
  PullQueue* pull = nullptr;   ///< pulled ones: the lane may go before its last message does
  Gate* push = nullptr;        ///< pulled ones: of its queue, while it is pushed; then it has a
                               ///< destination and places, too

  /// What this message passes beside its lane's gates; null: nothing.
  [[nodiscard]] std::array<Gate*, 3> own_gates() const { return {destination, flow, push}; }
};

struct TenantLanes;

/// A lane's place among those that receivers could be given something of. Without order whoever has
/// the least out goes first; among equals, and among groups in order, who has waited longest.
struct PullTurn {
  std::uint32_t out = 0;  ///< messages in flight; 0 in order
  std::uint64_t turn = 0;
  friend auto operator<=>(const PullTurn&, const PullTurn&) = default;
};

struct Lane {
  enum class Where : std::uint8_t {
    idle,      ///< nothing can go: empty, or all slots taken and no retry planned
    timed,     ///< its head is due later
    parked,    ///< at a gate
    runnable,  ///< in its tenant's round, or ready to be pulled from
  };

  LaneKey key{};
  std::uint64_t serial = 0;
  TenantLanes* tenant = nullptr;
  std::vector<Gate*> gates{};

  /// Waiting messages in order. INVARIANT: every waiting message of the lane whose place is <=
  /// cursor is here; every other one has an index entry. Without `more` all of them are here.
  std::map<LanePlace, Live*> window{};
  bool more = false;
  LanePlace cursor{};
  bool refill_wanted = false;

  /// Ordered lanes: messages between two attempts, by the time of the next; they keep their slots.
  std::map<std::pair<Moment, Seq>, Live*> retrying{};
  std::uint32_t slots_max = 0;  ///< 0: not ordered
  std::uint32_t slots_used = 0;
  std::set<Seq> held{};  ///< ordered lanes: final ones that keep a slot for their callbacks

  PullQueue* pull = nullptr;    ///< null: its messages are pushed
  PullTurn turn{};              ///< where == runnable and pull: its key in pull->ready
  PullQueue* pushes = nullptr;  ///< it is the pusher of this queue, and has no messages of its own
  /// Pulled in order: what has been handed out and is not done, leased or not. Nothing behind the
  /// first of them that cannot go may go.
  std::map<Seq, Live*> begun{};

  std::uint32_t in_flight = 0;
  /// Where it waits beside others that are not, it gets a quarter of the turns.
  bool background = false;

  Where where = Where::idle;
  std::optional<Moment>
      timer{};                ///< timed; also parked with a retry to come, which may pass elsewhere
  Gate* parked_at = nullptr;  ///< where == parked
  std::list<Lane*>::iterator parked_pos{};
  Gate* turn_of = nullptr;  ///< the gate that woke it: the turn must be handed on

  [[nodiscard]] bool ordered() const { return slots_max != 0; }
  [[nodiscard]] bool in_run() const { return pull != nullptr && key.ordered(); }
  [[nodiscard]] bool empty() const {
    return window.empty() && retrying.empty() && !more && in_flight == 0 && slots_used == 0;
  }
};

/// A queue that is pulled from, in memory: its lanes that have something, and how much is out.
/// INVARIANT: it is there as long as its queue is, or one of its lanes or messages is in memory.
struct PullQueue {
  TenantId tenant{};
  std::string name{};
  std::map<PullTurn, Lane*> ready{};  ///< lanes with a message that could be handed out
  std::uint64_t turns = 0;            ///< given so far
  std::uint64_t in_flight = 0;        ///< leased
  bool fed = false;                   ///< listed to be looked at (Scheduler::next_fed)
  std::map<Seq, Live*> live{};        ///< its messages that are in memory: what is out, and windows
  std::set<Seq> halted{};             ///< those of them that are
  std::size_t lanes = 0;              ///< in memory
  bool orphan = false;                ///< its queue is gone: it goes with the last that uses it
  std::unique_ptr<Lane> pusher{};     ///< its own place in its tenant's round; null: it pushes not
};

}  // namespace hk::core
