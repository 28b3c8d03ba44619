/// Commands of those who pull messages from queues, and their replies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "core/pull/receipt.h"
#include "core/queue/record.h"

namespace hk::core {

/// Asks for messages. It has one answer, Received: at once if there are some or wait is 0, at the
/// latest when the wait is over. not_found: no such queue, or it was deleted meanwhile.
struct Receive {
  TenantId tenant{};
  std::string queue{};
  ReceiverId receiver{};
  std::uint32_t max = 1;
  std::optional<Millis> visibility{};  ///< the queue's otherwise
  std::optional<Millis> wait{};        ///< the queue's otherwise
  std::string attempt_id{};            ///< FIFO: asked again with it, the same is handed out again
};

/// The receiver is gone. If nothing was handed out to it yet, nothing will be: its Receive is
/// answered so.
struct StopReceiving {
  TenantId tenant{};
  std::string queue{};
  ReceiverId receiver{};
};

/// They are done: gone from the queue. An older receipt, or one of a message that is gone, changes
/// nothing and is no error. Of a FIFO queue, not after its time: invalid_argument.
struct DeleteReceived {
  TenantId tenant{};
  std::string queue{};
  std::vector<Receipt> receipts{};
};

/// Hidden for so long from now on; 0: given back at once. invalid_argument: an older receipt, a
/// message that is gone, more than 12 hours since the receive. conflict: it was cancelled.
struct ChangeVisibility {
  struct One {
    Receipt receipt{};
    Millis visibility{};
  };
  TenantId tenant{};
  std::string queue{};
  std::vector<One> items{};
};

/// They never reached their receiver: visible again, and the receive does not count. Unless another
/// one has them by now, who asked again under the same attempt id and got the same receipts.
struct GiveBack {
  TenantId tenant{};
  std::string queue{};
  ReceiverId receiver{};
  std::vector<Receipt> receipts{};
};

/// How many of its messages wait, are with receivers, and are not due yet.
struct CountQueue {
  TenantId tenant{};
  std::string name{};
};

/// The messages at which groups of the queue have stopped (PullSettings::halt), oldest first.
struct ListHalted {
  TenantId tenant{};
  std::string queue{};
  std::size_t limit = 100;
};

/// What shall become of the message at which a group has stopped. not_found: it has not.
/// invalid_argument: a body that the queue does not take, or one for a message that is skipped.
struct ResolveHalted {
  enum class Action : std::uint8_t {
    retry,  ///< its receives so far do not count: it goes out again
    skip,   ///< it has failed: into the dead-letter queue if there is one, else cancelled
  };
  TenantId tenant{};
  std::string queue{};
  std::string group{};
  Action action{};
  std::optional<std::string> body{};  ///< of a retry: in place of the one that it has
};

using PullCommand = std::variant<Receive, StopReceiving, DeleteReceived, ChangeVisibility, GiveBack,
                                 CountQueue, ListHalted, ResolveHalted>;

// ---- replies ----

struct QueueCounted {
  std::uint64_t visible = 0;
  std::uint64_t in_flight = 0;
  std::uint64_t delayed = 0;
  /// When the oldest of those that are in memory was sent, and no group's first one is not; 0:
  /// there is none.
  Moment oldest{};
};

/// In the order of the items.
struct Settled {
  std::vector<Result<void>> items{};
};

struct HaltedListed {
  struct One {
    std::string group{};
    MessageId id{};
    std::uint32_t receives = 0;  ///< in all queues that it was in
  };
  std::vector<One> messages{};
};

/// What a receiver gets. No messages: there were none until its wait was over, or it went away.
struct Received {
  struct One {
    std::shared_ptr<const Message> message{};
    std::uint32_t receive = 0;  ///< of its receipt
    Moment first_received_at{};
    Moment visible_at{};
  };
  ReceiverId receiver{};
  std::vector<One> messages{};
};

/// Not a reply yet: that comes with this batch or a later one (Batch::Output::late). Whoever holds
/// the submissions keeps this one until then.
struct Later {
  ReceiverId receiver{};
};

using PullReply = std::variant<QueueCounted, Settled, HaltedListed, Received, Later>;

}  // namespace hk::core
