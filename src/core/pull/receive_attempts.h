/// What receives with an attempt id were given lately: enough to give it again. In memory only; a
/// part of Pulls.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/pull/receipt.h"
#include "core/queue/key.h"
#include "core/record.h"

namespace hk::core {

struct Given {
  struct One {
    Receipt receipt{};
    Moment lease_until{};
  };
  std::vector<One> messages{};
  Moment until{};  ///< remembered
};

class ReceiveAttempts {
 public:
  explicit ReceiveAttempts(std::size_t per_queue_max) : per_queue_max_(per_queue_max) {}

  /// Null: nothing was given under that id, as far as is remembered.
  Given* find(const QueueKey& queue, const std::string& id, Moment now);
  void note(const QueueKey& queue, const std::string& id, Given given, Moment now);
  void forget(const QueueKey& queue) { queues_.erase(queue); }

 private:
  struct OfQueue {
    std::map<std::string, Given> by_id{};
    std::deque<std::pair<Moment, std::string>> by_end{};
  };
  void forget_old(const QueueKey& queue, Moment now);

  const std::size_t per_queue_max_;  ///< ids
  std::map<QueueKey, OfQueue> queues_;
};

}  // namespace hk::core
