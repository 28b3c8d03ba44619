// SendMessage and SendMessageBatch.
#include "api/reply.h"
#include "api/sqs/batch_shape.h"
#include "api/sqs/exchange.h"
#include "api/sqs/new_message.h"
#include "api/sqs/receipt.h"
#include "observe/metrics.h"

namespace hk::api::sqs {

namespace {

using aws::Checked;
using aws::ErrorCode;

/// A message to send, and what its sender is told of it.
struct Outgoing {
  core::Publish publish{};
  std::string body_md5{};
  std::optional<std::string> attributes_md5{};
  std::optional<std::string> system_md5{};
};

/// What a sender gives, as far as it can be read without the queue.
struct Given {
  NewMessage message{};
  aws::MessageAttributes attributes{};
  aws::MessageAttributes system{};
};

/// `entry` is the request, or one of a batch. Before the queue is looked up: what is malformed is
/// told first.
Given read_message(const Exchange& exchange, aws::Input& entry) {
  const auto text = [&entry](std::string_view name) -> std::optional<std::string> {
    const auto given = entry.text(name);
    return given ? std::optional<std::string>(*given) : std::nullopt;
  };
  (void)entry.integer("DelaySeconds");  // how long it may be depends on the queue
  return {.message = {.body = text("MessageBody").value_or(""),
                      .group = text("MessageGroupId"),
                      .dedup_id = text("MessageDeduplicationId"),
                      .sender = exchange.access_key,
                      .trace_header = exchange.trace_header,
                      .caller_ip = exchange.caller_ip},
          .attributes = entry.attributes("MessageAttributes"),
          .system = entry.attributes("MessageSystemAttributes")};
}

Checked<Outgoing> check_message(const core::Queue& queue, aws::Input& entry, Given read) {
  auto& [given, attributes, system] = read;
  const auto delay =
      entry.integer("DelaySeconds", 0,
                    std::chrono::duration_cast<std::chrono::seconds>(delay_max(queue)).count());
  if (delay) {
    given.delay = std::chrono::seconds{*delay};
  }
  if (const aws::Refusal* const invalid = entry.invalid()) {
    return std::unexpected(*invalid);
  }
  if (auto good = aws::check_system_attributes(system); !good) {
    return std::unexpected(good.error());
  }
  if (const auto trace = system.find("AWSTraceHeader"); trace != system.end()) {
    given.trace_header = trace->second.value();
  }
  Checked<core::Publish> publish = make_publish(queue, std::move(given), attributes);
  if (!publish) {
    return std::unexpected(publish.error());
  }
  Outgoing out{.publish = std::move(*publish)};
  out.body_md5 = aws::md5_of_body(out.publish.message->body);
  out.attributes_md5 = aws::md5_of_attributes(attributes);
  out.system_md5 = aws::md5_of_attributes(system);
  return out;
}

void write_sent(aws::Output& out, const Outgoing& sent, const core::Published& published,
                bool fifo) {
  out.text("MessageId", core::uuid_text(published.id));
  out.text("MD5OfMessageBody", sent.body_md5);
  out.text("MD5OfMessageAttributes", sent.attributes_md5);
  out.text("MD5OfMessageSystemAttributes", sent.system_md5);
  if (fifo) {
    out.text("SequenceNumber", core::sequence_text(published.id));
  }
}

}  // namespace

void send_message(const ExchangePtr& exchange, aws::Input& input) {
  if (refused_for_now(*exchange)) {
    return;
  }
  Given given = read_message(*exchange, input);
  const auto queue = queue_of(*exchange, input);
  if (!queue) {
    return;
  }
  Checked<Outgoing> message = check_message(*queue, input, std::move(given));
  if (!message) {
    exchange->services.metrics.publish_refused("invalid");
    exchange->refuse(message.error());
    return;
  }
  core::Publish publish = std::move(message->publish);
  exchange->batcher.submit(
      std::move(publish),
      [exchange, sent = std::move(*message), fifo = queue->pull->fifo](const core::Reply& reply) {
        if (!reply) {
          exchange->services.metrics.publish_refused(refused_as(reply.error()));
          exchange->refuse(told(reply.error()));
          return;
        }
        const auto& published = answer_of<core::Published>(reply);
        exchange->services.metrics.published(published.deduplicated);
        exchange->succeed([&](aws::Output& out) { write_sent(out, sent, published, fifo); });
      });
}

void send_message_batch(const ExchangePtr& exchange, aws::Input& input) {
  if (refused_for_now(*exchange)) {
    return;
  }
  std::vector<aws::Input> entries = input.entries("Entries");
  auto ids = batch_ids(*exchange, input, entries);
  if (!ids || !exchange->costs(entries.size())) {
    return;
  }
  std::size_t bytes = 0;
  std::vector<Given> given;
  for (aws::Input& entry : entries) {
    const Given& one = given.emplace_back(read_message(*exchange, entry));
    bytes += aws::message_bytes(one.message.body, one.attributes);
  }
  if (bytes > 1'048'576) {
    exchange->refuse({ErrorCode::batch_request_too_long,
                      "Batch requests cannot be longer than 1048576 bytes. You have sent " +
                          std::to_string(bytes) + " bytes."});
    return;
  }
  const auto queue = queue_of(*exchange, input);
  if (!queue) {
    return;
  }
  struct Entry {
    std::string id{};
    std::optional<aws::Refusal> refused{};
    Outgoing sent{};
  };
  std::vector<Entry> all;
  core::PublishBatch command;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (queue->pull->fifo && !given[i].message.group) {
      exchange->refuse({ErrorCode::invalid_parameter_value,
                        "The request must contain the parameter MessageGroupId."});
      return;
    }
    const bool no_id =
        queue->pull->fifo && !queue->pull->content_dedup && !given[i].message.dedup_id;
    Checked<Outgoing> message = check_message(*queue, entries[i], std::move(given[i]));
    if (!message) {
      if (no_id) {
        exchange->refuse(message.error());
        return;
      }
      exchange->services.metrics.publish_refused("invalid");
      all.push_back({.id = (*ids)[i], .refused = std::move(message.error())});
      continue;
    }
    command.items.push_back(std::move(message->publish));
    all.push_back({.id = (*ids)[i], .sent = std::move(*message)});
  }
  auto tell = [exchange, fifo = queue->pull->fifo,
               all = std::move(all)](const core::Reply& reply) mutable {
    if (!reply) {
      exchange->refuse(told(reply.error()));
      return;
    }
    std::vector<std::pair<const Entry*, core::Published>> good;
    auto next = answer_of<core::BatchPublished>(reply).items.begin();
    for (Entry& one : all) {
      if (one.refused) {
        continue;
      }
      const auto& result = *next++;
      if (!result) {
        one.refused = told(result.error());
        continue;
      }
      const auto& published = std::get<core::Published>(*result);
      exchange->services.metrics.published(published.deduplicated);
      good.emplace_back(&one, published);
    }
    exchange->succeed([&](aws::Output& out) {
      out.list("Successful", good, [&](aws::Output& item, const auto& one) {
        item.text("Id", one.first->id);
        write_sent(item, one.first->sent, one.second, fifo);
      });
      std::erase_if(all, [](const Entry& one) { return !one.refused; });
      out.list("Failed", all,
               [](aws::Output& item, const Entry& one) { item.failure(one.id, *one.refused); });
    });
  };
  if (command.items.empty()) {
    tell(core::Reply(core::BatchPublished{}));
    return;
  }
  exchange->batcher.submit(std::move(command), std::move(tell));
}

}  // namespace hk::api::sqs
