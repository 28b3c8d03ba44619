// What receivers say of what they were given. A receipt is good for as long as nobody has been
// given the message after it.
#include "base/assert.h"
#include "base/sometimes.h"
#include "core/lane/lanes.h"
#include "core/message/messages.h"
#include "core/pull/no_queue.h"
#include "core/pull/pulls.h"
#include "core/queue/queues.h"

HK_SOMETIMES_DECLARE(given_back_too_late)
HK_SOMETIMES_DECLARE(received_deleted)
HK_SOMETIMES_DECLARE(received_deleted_late)
HK_SOMETIMES_DECLARE(received_deleted_by_older_receipt)
HK_SOMETIMES_DECLARE(received_hidden_longer)
HK_SOMETIMES_DECLARE(received_hidden_again)
HK_SOMETIMES_DECLARE(received_given_back)

namespace hk::core {

namespace {

constexpr Millis held_max = std::chrono::hours{12};
constexpr Millis held_grace{1000};

Error gone() { return {ErrorKind::invalid_argument, "the message is not there any more"}; }
Error older() {
  return {ErrorKind::invalid_argument,
          "the message has been received again since: this receipt is over"};
}
Error canceled() { return {ErrorKind::conflict, "the message was cancelled: stop working on it"}; }
Error expired() { return {ErrorKind::invalid_argument, "the receipt handle has expired"}; }

}  // namespace

/// A message that its receipt is good for. The errors are what the receiver is told.
Result<Live*> Pulls::find_held(const Queue& queue, const Receipt& receipt) {
  Live* live = lanes_.find(receipt.id.seq);
  // What is pulled and in memory is not final: nothing need be read.
  const bool known = live != nullptr && live->pull != nullptr && live->nonce != 0 &&
                     live->nonce == receipt.id.nonce && live->pull->tenant == queue.tenant &&
                     live->pull->name == queue.name;
  if (!known) {
    const auto message = messages_.find(queue.tenant, receipt.id);
    if (message == nullptr || message->queue != queue.name || !message->pull) {
      return std::unexpected(gone());
    }
    if (const auto state = batch_.get<MessageState>(receipt.id.seq)) {
      return std::unexpected(state->cancel_requested ? canceled() : gone());
    }
    if (live == nullptr) {
      // Beyond its lane's window: it comes into memory as if its turn had come.
      const auto entry = lanes_.find_entry(*message);
      if (!entry) {
        return std::unexpected(gone());
      }
      if (entry->attempts != receipt.receive) {
        return std::unexpected(older());
      }
      live = lanes_.read(*message, *entry);
    }
  }
  if (live->attempts != receipt.receive) {
    return std::unexpected(older());
  }
  if (live->leased && live->lease_until <= batch_.now()) {
    become_visible(*live);  // its time is over, though nobody has looked yet
  }
  return live;
}

Reply Pulls::decide(const DeleteReceived& command) {
  const Queue* const queue = queues_.find_pulled(command.tenant, command.queue);
  if (queue == nullptr) {
    return no_queue(command.queue);
  }
  Settled settled;
  for (const Receipt& receipt : command.receipts) {
    const Result<Live*> held = find_held(*queue, receipt);
    if (!held) {
      if (held.error() == older()) {
        HK_SOMETIMES(received_deleted_by_older_receipt);
      }
      settled.items.emplace_back();  // a late worker must not delete what another one holds
      continue;
    }
    Live& live = **held;
    if (!live.leased) {
      if (queue->pull->fifo) {
        settled.items.emplace_back(std::unexpected(expired()));
        continue;
      }
      HK_SOMETIMES(received_deleted_late);
      scheduler_.remove_waiting(live);
      scheduler_.lease(live, batch_.now());
      live.lease_until = batch_.now();
    }
    HK_SOMETIMES(received_deleted);
    finish(live, Status::succeeded);
    settled.items.emplace_back();
  }
  return settled;
}

Reply Pulls::decide(const ChangeVisibility& command) {
  const Queue* const queue = queues_.find_pulled(command.tenant, command.queue);
  if (queue == nullptr) {
    return no_queue(command.queue);
  }
  Settled settled;
  for (const auto& [receipt, visibility] : command.items) {
    const Result<Live*> held = find_held(*queue, receipt);
    if (!held) {
      settled.items.emplace_back(std::unexpected(held.error()));
      continue;
    }
    Live& live = **held;
    if (!live.leased && queue->pull->fifo) {
      settled.items.emplace_back(std::unexpected(expired()));
      continue;
    }
    if (batch_.now() + visibility > live.started_at + held_max + held_grace) {
      settled.items.emplace_back(
          fail(ErrorKind::invalid_argument,
               "a message can be held for 12 hours after its receive; this would be longer"));
      continue;
    }
    settled.items.emplace_back();
    if (!live.leased) {
      if (visibility <= Millis{0}) {
        continue;
      }
      HK_SOMETIMES(received_hidden_again);
      scheduler_.remove_waiting(live);
      scheduler_.lease(live, batch_.now());
    } else {
      HK_SOMETIMES(received_hidden_longer);
    }
    hide_until(live, batch_.now() + visibility);
    if (visibility <= Millis{0}) {
      HK_SOMETIMES(received_given_back);
      become_visible(live);
    }
  }
  return settled;
}

/// As if it had not been received.
Reply Pulls::decide(const GiveBack& command) {
  const Queue* const queue = queues_.find_pulled(command.tenant, command.queue);
  Settled settled;
  for (const Receipt& receipt : command.receipts) {
    settled.items.emplace_back();
    if (queue == nullptr) {
      continue;
    }
    const Result<Live*> held = find_held(*queue, receipt);
    if (!held || !(*held)->leased) {
      continue;
    }
    Live& live = **held;
    if (live.receiver != command.receiver) {
      HK_SOMETIMES(given_back_too_late);
      continue;
    }
    --live.attempts;
    if (live.attempts == 0) {
      live.first_received_at = Moment{};
    }
    live.not_before = batch_.now();
    lanes_.index_again(live);
    become_visible(live);
  }
  return settled;
}

}  // namespace hk::core
