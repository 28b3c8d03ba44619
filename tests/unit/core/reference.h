/// What must be true of a machine with one tenant, in as few words as possible: every message that
/// was accepted, how far it is, and which starts are right. For property tests only; it throws
/// Wrong with a sentence that says what was not so.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "unit/core/rig.h"

namespace hk::core::testing {

struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};
inline void demand(bool holds, const std::string& otherwise) {
  if (!holds) {
    throw Wrong(otherwise);
  }
}

class Reference {
 public:
  struct Item {
    Message sent{};
    MessageId id{};
    Status status = Status::pending;
    std::uint32_t attempts = 0;
    Moment due{};
    Moment finished_at{};
    bool begun = false;      ///< an attempt has started, perhaps before a restart
    bool unsettled = false;  ///< … and the restart may have made it a beginner again
    bool leased = false;
    bool cancel = false;
    Fence fence{};
    Moment lease_until{};

    [[nodiscard]] bool open() const { return !is_final(status); }
    [[nodiscard]] bool waits() const { return open() && !leased && !cancel; }
    [[nodiscard]] bool fresh() const { return waits() && !begun; }
  };

  explicit Reference(const Limits& limits) : limits_(limits) {}

  void published(const Message& sent, const Published& reply, Millis window, Moment now) {
    const std::pair dedup{sent.dedup_id, sent.url};  // an id counts once per destination
    const auto known = first_with_.find(dedup);
    if (!sent.dedup_id.empty() && known != first_with_.end() && known->second.second > now) {
      demand(reply.deduplicated && reply.id == known->second.first, "a duplicate was accepted");
      return;
    }
    demand(!reply.deduplicated, "a new message was taken for a duplicate");
    accepted(sent, reply.id, now);
    if (!sent.dedup_id.empty()) {
      first_with_[dedup] = {reply.id, now + window};
    }
  }

  void accepted(Message sent, MessageId id, Moment now) {
    demand(items.empty() || items.rbegin()->first < id.seq, "a number was used twice");
    Item item;
    item.due = std::max(sent.not_before, now);
    item.sent = std::move(sent);
    item.id = id;
    items[id.seq] = std::move(item);
  }

  /// What a cancel must be answered; nullopt: it is refused.
  std::optional<bool> canceled(Seq seq, Moment now) {
    Item& item = items.at(seq);
    if (!item.open() || item.cancel) {
      return std::nullopt;
    }
    item.cancel = true;
    if (!item.leased) {
      end(item, Status::canceled, now);
    }
    return item.leased;
  }

  enum class Outcome : std::uint8_t { delivered, failed, given_up };
  /// Whether the outcome counts.
  bool completed(Seq seq, Fence fence, Outcome outcome, Moment now) {
    Item& item = items.at(seq);
    if (!item.leased || item.fence != fence) {
      return false;
    }
    item.leased = false;
    item.attempts = fence.attempt;
    if (outcome == Outcome::delivered) {
      end(item, Status::succeeded, now);
    } else if (item.cancel) {
      end(item, Status::canceled, now);
    } else if (outcome == Outcome::given_up || item.attempts > item.sent.retry.retries_max) {
      end(item, Status::failed, now);
      letters.insert({tenant_one, now, seq});
    } else {
      item.due = now + std::get<TableDelay>(item.sent.retry.delay).delays.at(0);
      item.unsettled = false;
    }
    return true;
  }

  void expire(Moment now) {
    for (auto& [seq, item] : items) {
      if (item.leased && item.lease_until <= now) {
        completed(seq, item.fence, Outcome::failed, now);
      }
    }
  }

  void restarted() {
    for (auto& [seq, item] : items) {
      item.unsettled = item.unsettled || (item.leased && item.attempts == 0);
      item.leased = false;
    }
  }

  void started(const StartAttempt& start, Moment now) {
    const std::string name = "message " + std::to_string(start.id.seq.value());
    const auto found = items.find(start.id.seq);
    demand(found != items.end() && found->second.id == start.id, name + " is nobody's");
    Item& item = found->second;
    demand(item.open(), name + " started after its end");
    demand(!item.leased, name + " has two leases");
    demand(!item.cancel, name + " started after its cancel");
    demand(item.due <= now, name + " started early");
    demand(start.fence > item.fence, name + " has a fence that does not rise");
    demand(start.fence.attempt == item.attempts + 1, name + " has a wrong attempt number");
    demand(in_flight(item.sent.host) < limits_.destination_parallelism,
           name + " is one too many for " + item.sent.host);
    if (!item.sent.queue.empty() && !item.begun) {
      demand(!paused.contains(item.sent.queue), name + " started although its queue is paused");
      demand(under_way(item) < slots(item), name + " is one too many of its queue");
      for (const auto& [seq, other] : items) {
        demand(seq >= start.id.seq || !same_lane(item, other) ||
                   !(other.fresh() || (other.unsettled && other.waits())),
               name + " overtook message " + std::to_string(seq.value()));
      }
    }
    item.begun = true;
    item.leased = true;
    item.fence = start.fence;
    item.lease_until = start.lease_until;
  }

  /// REQUIRES: the machine says that it has nothing to do.
  void nothing_is_stranded(Moment now) const {
    for (const auto& [seq, item] : items) {
      demand(!must_start(item, now), "message " + std::to_string(seq.value()) + " is stranded");
    }
  }

  [[nodiscard]] std::uint32_t slots(const Item& item) const {
    const auto found = parallelism.find(item.sent.queue);
    return !item.sent.group.empty() || found == parallelism.end() ? 1 : found->second;
  }

  std::map<Seq, Item> items;
  std::set<DeadLetterKey> letters;
  std::set<std::string> paused;
  std::map<std::string, std::uint32_t> parallelism;

 private:
  static void end(Item& item, Status status, Moment now) {
    item.status = status;
    item.finished_at = now;
  }
  static bool same_lane(const Item& a, const Item& b) {
    return a.sent.queue == b.sent.queue && a.sent.group == b.sent.group;
  }
  [[nodiscard]] std::uint32_t in_flight(const std::string& host) const {
    return static_cast<std::uint32_t>(std::ranges::count_if(items, [&host](const auto& one) {
      return one.second.leased && one.second.sent.host == host;
    }));
  }
  [[nodiscard]] bool host_open(const Item& item) const {
    return in_flight(item.sent.host) < limits_.destination_parallelism;
  }
  [[nodiscard]] std::uint32_t under_way(const Item& item) const {
    return static_cast<std::uint32_t>(std::ranges::count_if(items, [&](const auto& one) {
      return one.second.open() && one.second.begun && same_lane(item, one.second);
    }));
  }
  [[nodiscard]] bool must_start(const Item& item, Moment now) const {
    if (!item.waits() || item.due > now || !host_open(item)) {
      return false;
    }
    if (item.sent.queue.empty()) {
      return true;
    }
    for (const auto& [seq, other] : items) {
      if (&other == &item || !same_lane(item, other) || !other.waits()) {
        continue;
      }
      const bool ahead = other.begun ? other.due <= now && (!item.begun || !host_open(other))
                                     : !item.begun && seq < item.id.seq;
      if (ahead) {
        return false;  // order before speed: it holds up the others, whatever their hosts
      }
    }
    const bool is_paused = paused.contains(item.sent.queue);
    if (item.begun) {
      return !item.unsettled || (!is_paused && under_way(item) <= slots(item));
    }
    return !is_paused && under_way(item) < slots(item);
  }

  const Limits limits_;
  std::map<std::pair<std::string, std::string>, std::pair<MessageId, Moment>> first_with_;
};

}  // namespace hk::core::testing
