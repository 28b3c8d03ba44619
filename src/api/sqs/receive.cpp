// ReceiveMessage: at once, or when something comes.
#include <algorithm>

#include "api/aws/names.h"
#include "api/sqs/exchange.h"
#include "api/sqs/queue_attributes.h"
#include "api/sqs/receipt.h"

namespace hk::api::sqs {

namespace {

/// Which parts of a message are asked for.
struct Wanted {
  std::vector<std::string> system{};
  std::vector<std::string> attributes{};
};

std::string millis(Moment moment) { return std::to_string(to_ms(moment)); }

/// A message that was moved keeps the id that its first receiver saw.
core::MessageId shown_id(const core::Message& message) {
  const core::MessageId first = message.pull->first_id;
  return first.seq == core::Seq{} ? message.id : first;
}

aws::TextMap system_attributes(const Exchange& exchange, const core::Queue& queue,
                               const core::Received::One& one,
                               const std::vector<std::string>& names) {
  const core::Message& message = *one.message;
  const core::PullPart& part = *message.pull;
  aws::TextMap all;
  if (names.empty()) {
    return all;
  }
  for (const core::Header& noted : part.system) {
    all[noted.name] = noted.value;
  }
  all["SentTimestamp"] = millis(part.sent_at);
  all["ApproximateReceiveCount"] = std::to_string(part.receives_before + one.receive);
  all["ApproximateFirstReceiveTimestamp"] = millis(one.first_received_at);
  if (!message.group.empty()) {
    all["MessageGroupId"] = message.group;
  }
  if (part.fifo) {
    all["SequenceNumber"] = core::sequence_text(message.id);
    if (message.dedup_id.empty()) {
      // It came from another queue, where it had its id from its sender.
      all["MessageDeduplicationId"] = core::uuid_text(shown_id(message));
    }
  } else {
    all.erase("MessageDeduplicationId");
  }
  if (!part.moved_from.empty()) {
    core::Queue source = queue;
    source.name = part.moved_from;
    all["DeadLetterQueueSourceArn"] = arn_of(exchange, source);
  }
  if (std::ranges::find(names, "All") != names.end()) {
    return all;
  }
  std::erase_if(
      all, [&](const auto& row) { return std::ranges::find(names, row.first) == names.end(); });
  return all;
}

aws::MessageAttributes message_attributes(const core::PullPart& part,
                                          const std::vector<std::string>& patterns) {
  aws::MessageAttributes asked;
  for (const core::Attribute& one : part.attributes) {
    if (!aws::attribute_asked_for(one.name, patterns)) {
      continue;
    }
    aws::MessageAttribute& out = asked[one.name];
    out.data_type = one.type;
    (out.is_binary() ? out.binary_value : out.string_value) = one.value;
  }
  return asked;
}

/// False: there is no room for the answer.
bool write_received(Exchange& exchange, const core::Queue& queue, const core::Received& handed,
                    const Wanted& wanted) {
  return exchange.try_succeed([&](aws::Output& out) {
    std::size_t bytes = 0;
    for (const core::Received::One& one : handed.messages) {
      bytes += one.message->body.size() + 1024;
    }
    out.reserve(bytes);
    out.list("Messages", handed.messages, [&](aws::Output& item, const core::Received::One& one) {
      const core::PullPart& part = *one.message->pull;
      item.text("MessageId", core::uuid_text(shown_id(*one.message)));
      item.text("ReceiptHandle",
                to_handle(exchange.services.options.receipt_key, exchange.tenant_id(), queue.name,
                          {one.message->id, one.receive}));
      item.text("MD5OfBody", aws::md5_of_body(one.message->body));
      item.text("Body", one.message->body);
      item.map("Attributes", system_attributes(exchange, queue, one, wanted.system));
      const aws::MessageAttributes attributes = message_attributes(part, wanted.attributes);
      item.text("MD5OfMessageAttributes", aws::md5_of_attributes(attributes));
      item.attributes("MessageAttributes", attributes);
    });
  });
}

}  // namespace

void receive_message(const ExchangePtr& exchange, aws::Input& input) {
  const auto count = input.integer("MaxNumberOfMessages", 1, 10);
  const auto visibility = input.integer("VisibilityTimeout", 0, visibility_seconds_max);
  const auto wait = input.integer("WaitTimeSeconds", 0, 20);
  Wanted wanted{.system = input.texts("MessageSystemAttributeNames"),
                .attributes = input.texts("MessageAttributeNames")};
  for (std::string& name : input.texts("AttributeNames")) {
    wanted.system.push_back(std::move(name));
  }
  const auto attempt = input.text("ReceiveRequestAttemptId");
  auto queue = queue_of(*exchange, input);
  if (!queue) {
    return;
  }
  core::Receive command{.tenant = exchange->tenant_id(), .queue = queue->name};
  command.max = static_cast<std::uint32_t>(count.value_or(1));
  if (visibility) {
    command.visibility = std::chrono::seconds{*visibility};
  }
  if (wait) {
    command.wait = std::chrono::seconds{*wait};
  }
  if (queue->pull->fifo && attempt) {
    if (!aws::valid_group_id(*attempt)) {
      exchange->refuse(aws::invalid_value("ReceiveRequestAttemptId", *attempt,
                                          "1 to 128 printable characters without blanks."));
      return;
    }
    command.attempt_id = *attempt;
  }
  const core::ReceiverId receiver = exchange->batcher.receive(
      std::move(command), [exchange, queue = std::move(*queue),
                           wanted = std::move(wanted)](Result<core::Received> handed) {
        if (!handed) {
          exchange->refuse(told(handed.error()));
          return;
        }
        if (!write_received(*exchange, queue, *handed, wanted)) {
          exchange->batcher.give_back(exchange->tenant_id(), queue.name, *handed);
          exchange->refuse({aws::ErrorCode::service_unavailable,
                            "Too many large answers are waiting to be read. What this one would "
                            "have brought is visible again."});
        }
      });
  // A closed poll swallows nothing. One who only sends no more is told that there was nothing.
  exchange->when_gone([exchange, receiver] {
    exchange->batcher.stop_receiving(receiver);
    exchange->succeed();
  });
}

}  // namespace hk::api::sqs
