// DeleteMessage, ChangeMessageVisibility and their batches: what receivers say of what they got.
#include "api/reply.h"
#include "api/sqs/batch_shape.h"
#include "api/sqs/exchange.h"
#include "api/sqs/receipt.h"

namespace hk::api::sqs {

namespace {

using aws::Checked;
using aws::ErrorCode;

Checked<core::Receipt> read_receipt(const Exchange& exchange, const core::Queue& queue,
                                    aws::Input& entry) {
  const std::string_view handle = entry.required_text("ReceiptHandle");
  if (const aws::Refusal* const invalid = entry.invalid()) {
    return std::unexpected(*invalid);
  }
  const auto receipt =
      parse_handle(exchange.services.options.receipt_key, exchange.tenant_id(), queue.name, handle);
  if (!receipt) {
    return aws::refuse(ErrorCode::receipt_handle_is_invalid,
                       "The input receipt handle is not a valid receipt handle of this queue.");
  }
  return *receipt;
}

Checked<core::ChangeVisibility::One> read_change(const Exchange& exchange, const core::Queue& queue,
                                                 aws::Input& entry) {
  const auto visibility = entry.integer("VisibilityTimeout", 0, visibility_seconds_max);
  const Checked<core::Receipt> receipt = read_receipt(exchange, queue, entry);
  if (!receipt) {
    return std::unexpected(receipt.error());
  }
  if (!visibility) {
    return std::unexpected(aws::missing_parameter("VisibilityTimeout"));
  }
  return core::ChangeVisibility::One{*receipt, std::chrono::seconds{*visibility}};
}

/// Why a message could not be settled. That it was cancelled has a code of its own: its receiver
/// can stop working on it.
aws::Refusal told_of_one(const Error& error) {
  if (error.kind == ErrorKind::conflict) {
    return {ErrorCode::message_not_inflight, "The message was cancelled: stop working on it."};
  }
  return told(error);
}

/// One item: its outcome is the answer.
void settle_one(const ExchangePtr& exchange, core::Command command) {
  exchange->batcher.submit(std::move(command), [exchange](const core::Reply& reply) {
    if (!reply) {
      exchange->refuse(told(reply.error()));
      return;
    }
    const Result<void>& settled = answer_of<core::Settled>(reply).items.at(0);
    if (!settled) {
      exchange->refuse(told_of_one(settled.error()));
      return;
    }
    exchange->succeed();
  });
}

struct Entry {
  std::string id{};
  std::optional<aws::Refusal> refused{};
};

void tell_batch(Exchange& exchange, std::vector<Entry> entries, const core::Settled& settled) {
  auto next = settled.items.begin();
  std::vector<Entry> failed;
  std::vector<Entry> good;
  for (Entry& one : entries) {
    if (!one.refused) {
      const Result<void>& outcome = *next++;
      if (!outcome) {
        one.refused = told_of_one(outcome.error());
      }
    }
    (one.refused ? failed : good).push_back(std::move(one));
  }
  exchange.succeed([&](aws::Output& out) {
    out.list("Successful", good,
             [](aws::Output& item, const Entry& one) { item.text("Id", one.id); });
    out.list("Failed", failed,
             [](aws::Output& item, const Entry& one) { item.failure(one.id, *one.refused); });
  });
}

/// `read` makes an item of an entry, `Items` of the command takes them.
template <class Command, class Items, class Read>
void settle_batch(const ExchangePtr& exchange, aws::Input& input, Items items, Read read) {
  std::vector<aws::Input> entries = input.entries("Entries");
  const auto ids = batch_ids(*exchange, input, entries);
  if (!ids) {
    return;
  }
  const auto queue = queue_of(*exchange, input);
  if (!queue) {
    return;
  }
  Command command{.tenant = exchange->tenant_id(), .queue = queue->name};
  std::vector<Entry> all;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    auto item = read(*exchange, *queue, entries[i]);
    if (item) {
      (command.*items).push_back(std::move(*item));
      all.push_back({.id = (*ids)[i]});
    } else {
      all.push_back({.id = (*ids)[i], .refused = std::move(item.error())});
    }
  }
  if ((command.*items).empty()) {
    tell_batch(*exchange, std::move(all), {});
    return;
  }
  exchange->batcher.submit(std::move(command),
                           [exchange, all = std::move(all)](const core::Reply& reply) mutable {
                             if (!reply) {
                               exchange->refuse(told(reply.error()));
                               return;
                             }
                             tell_batch(*exchange, std::move(all), answer_of<core::Settled>(reply));
                           });
}

}  // namespace

void delete_message(const ExchangePtr& exchange, aws::Input& input) {
  (void)input.text("ReceiptHandle");
  const auto queue = queue_of(*exchange, input);
  if (!queue) {
    return;
  }
  const Checked<core::Receipt> receipt = read_receipt(*exchange, *queue, input);
  if (!receipt) {
    exchange->refuse(receipt.error());
    return;
  }
  settle_one(exchange, core::DeleteReceived{exchange->tenant_id(), queue->name, {*receipt}});
}

void delete_message_batch(const ExchangePtr& exchange, aws::Input& input) {
  settle_batch<core::DeleteReceived>(exchange, input, &core::DeleteReceived::receipts,
                                     read_receipt);
}

void change_message_visibility(const ExchangePtr& exchange, aws::Input& input) {
  (void)input.text("ReceiptHandle");
  const auto queue = queue_of(*exchange, input);
  if (!queue) {
    return;
  }
  const Checked<core::ChangeVisibility::One> change = read_change(*exchange, *queue, input);
  if (!change) {
    exchange->refuse(change.error());
    return;
  }
  settle_one(exchange, core::ChangeVisibility{exchange->tenant_id(), queue->name, {*change}});
}

void change_message_visibility_batch(const ExchangePtr& exchange, aws::Input& input) {
  settle_batch<core::ChangeVisibility>(exchange, input, &core::ChangeVisibility::items,
                                       read_change);
}

}  // namespace hk::api::sqs
