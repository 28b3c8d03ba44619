// Publish and PublishBatch. All copies of a message are one commit, and the answer waits for it.
#include <algorithm>
#include <iterator>
#include <span>

#include "api/aws/names.h"
#include "api/gather.h"
#include "api/reply.h"
#include "api/sns/actions.h"
#include "api/sns/incoming.h"
#include "api/sns/signing_key.h"
#include "api/sqs/batch_shape.h"
#include "api/sqs/receipt.h"
#include "core/message/mark.h"
#include "observe/metrics.h"

namespace hk::api::sns {

namespace {

using aws::Checked;

constexpr Millis dedup_window{300'000};
constexpr std::size_t copies_bytes_max = std::size_t{128} * 1024 * 1024;  ///< of one message
constexpr int late_repeats = 3;

/// A message under way. What it refers to lives as long: it is shared by its callbacks.
struct Entry {
  std::string id{};  ///< in its batch; "" if it came alone
  std::optional<aws::Refusal> refused{};
  std::unique_ptr<const Incoming> incoming{};
  core::MessageId number{};  ///< FIFO: what it is known by, sequence number first
  std::string message_id{};
  std::unique_ptr<FanOut> fan_out{};
  std::vector<const Subscription*> subscriptions{};  ///< of the copies
};

struct Publishing {
  ExchangePtr exchange{};
  std::shared_ptr<const Topic> topic{};
  std::vector<Entry> entries{};
  std::optional<security::RsaKey> key{};
  std::function<void(Publishing&)> answer{};

  [[nodiscard]] const security::RsaKey* key_or_null() const { return key ? &*key : nullptr; }
};
using PublishingPtr = std::shared_ptr<Publishing>;

void prepare(const Exchange& exchange, const Topic& topic, Entry& entry) {
  std::string sequence;
  if (topic.fifo()) {
    entry.number = {core::Seq{next_sequence_number(exchange.services.now())},
                    exchange.batcher.rng().next()};
    entry.message_id = sqs::message_id_text(entry.number);
    sequence = sqs::sequence_text(entry.number);
  } else {
    entry.message_id = aws::make_uuid(exchange.batcher.rng());
  }
  entry.fan_out = std::make_unique<FanOut>(exchange, topic, *entry.incoming, entry.message_id,
                                           std::move(sequence));
  if (const auto chosen = entry.fan_out->choose(); !chosen) {
    entry.refused = aws::refusal_from(chosen.error());
  }
}

/// What was published to a FIFO topic before is known by this, whoever is subscribed by now.
core::Publish mark_of(const Exchange& exchange, const Topic& topic, const Entry& entry) {
  std::string id = "topic " + topic.incarnation + ' ';
  if (topic.has("FifoThroughputScope", "MessageGroup")) {
    id += entry.incoming->group + ' ';
  }
  id += entry.incoming->dedup_id;
  return core::make_mark(exchange.tenant_id(), entry.number, std::move(id), dedup_window);
}

Checked<core::PublishBatch> command_of(const Publishing& publishing, Entry& entry) {
  const Topic& topic = *publishing.topic;
  FanOut::Copies copies = entry.fan_out->copies(publishing.key_or_null(), copies_bytes_max);
  if (copies.bytes > copies_bytes_max) {
    return std::unexpected(invalid(
        "Message", "too much for one request: its copies for the subscribers have more than " +
                       std::to_string(copies_bytes_max) + " bytes in all"));
  }
  core::PublishBatch command;
  if (topic.fifo()) {
    command.items.push_back(mark_of(*publishing.exchange, topic, entry));
  }
  std::ranges::move(copies.items, std::back_inserter(command.items));
  entry.subscriptions = std::move(copies.subscriptions);
  return command;
}

/// A copy of a standard topic's message that its queue did not get: that is gone since we looked.
/// It is for the subscription's dead-letter queue.
struct Late {
  Entry* entry = nullptr;
  const Subscription* subscription = nullptr;
};

/// The copies of a FIFO topic's message are accepted together or not at all: else whoever sends it
/// again would be taken for a repetition, and what is missing would stay so. It is not sent again
/// here: other entries may be there by now that come behind it.
Error why_refused(const Topic& topic, const Error& error) {
  const bool queue_changed =
      error.kind == ErrorKind::not_found || error.kind == ErrorKind::conflict;
  return topic.fifo() && queue_changed
             ? Error{ErrorKind::unavailable,
                     "a queue was deleted or made meanwhile, and nothing was done: send it again"}
             : error;
}

/// What the core said of an entry.
std::vector<Late> note(const Publishing& publishing, Entry& entry, const core::Reply& reply) {
  if (!reply) {
    const Error error = why_refused(*publishing.topic, reply.error());
    publishing.exchange->services.metrics.publish_refused(
        error.kind == ErrorKind::unavailable ? "busy" : "by_core");
    entry.refused = aws::refusal_from(error);
    return {};
  }
  std::span items(answer_of<core::BatchPublished>(reply).items);
  bool repeated = false;
  if (publishing.topic->fifo()) {
    const auto& mark = std::get<core::Published>(items.front().value());
    repeated = mark.deduplicated;
    entry.number = mark.id;
    entry.message_id = sqs::message_id_text(mark.id);
    items = items.subspan(1);  // nothing follows the mark of what came before
  }
  publishing.exchange->services.metrics.published(repeated);
  std::vector<Late> late;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!items[i]) {
      late.push_back({&entry, entry.subscriptions[i]});
    }
  }
  return late;
}

/// The others have their copies by now. Whoever sends it again makes them twice, which is better
/// than one that is nowhere.
void give_up(const std::vector<Late>& late, const Error& error) {
  for (const Late& one : late) {
    one.entry->refused = aws::refusal_from(
        error.kind == ErrorKind::unavailable ? error : Error{ErrorKind::internal, error.message});
  }
}

/// Copies for dead-letter queues; those that have no such place are left out.
void send_late(const PublishingPtr& publishing, const std::vector<Late>& wanted, int repeats) {
  core::PublishBatch command;
  std::vector<Late> late;
  for (const Late& one : wanted) {
    if (auto letter =
            one.entry->fan_out->dead_letter(*one.subscription, publishing->key_or_null())) {
      command.items.push_back(std::move(*letter));
      late.push_back(one);
    }
  }
  if (late.empty()) {
    publishing->answer(*publishing);
    return;
  }
  publishing->exchange->batcher.submit(
      std::move(command), [publishing, late = std::move(late), repeats](const core::Reply& reply) {
        publishing->exchange->guarded([&] {
          if (!reply && repeats > 0) {
            send_late(publishing, late, repeats - 1);
            return;
          }
          if (!reply) {
            give_up(late, reply.error());
          }
          publishing->answer(*publishing);
        });
      });
}

void finish(const PublishingPtr& publishing, const std::vector<Entry*>& sent,
            const std::vector<core::Reply>& replies) {
  std::vector<Late> late;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    std::ranges::move(note(*publishing, *sent[i], replies[i]), std::back_inserter(late));
  }
  send_late(publishing, late, late_repeats);
}

/// Commands go out in the order of the entries: that is the order in which FIFO queues have them.
void send(const PublishingPtr& publishing) {
  std::vector<core::Command> commands;
  std::vector<Entry*> sent;
  for (Entry& entry : publishing->entries) {
    if (entry.refused) {
      continue;
    }
    Checked<core::PublishBatch> command = command_of(*publishing, entry);
    if (!command) {
      entry.refused = std::move(command.error());
      continue;
    }
    commands.emplace_back(std::move(*command));
    sent.push_back(&entry);
  }
  submit_all(publishing->exchange->batcher, std::move(commands),
             [publishing, sent = std::move(sent)](const std::vector<core::Reply>& replies) {
               publishing->exchange->guarded([&] { finish(publishing, sent, replies); });
             });
}

void start(const PublishingPtr& publishing) {
  bool needs_key = false;
  for (Entry& entry : publishing->entries) {
    if (!entry.refused) {
      prepare(*publishing->exchange, *publishing->topic, entry);
      needs_key = needs_key || entry.fan_out->needs_signature();
    }
    if (entry.refused) {
      publishing->exchange->services.metrics.publish_refused("invalid");
    }
  }
  if (!needs_key) {
    send(publishing);
    return;
  }
  with_signing_key(publishing->exchange, [publishing](const security::RsaKey& key) {
    publishing->key = key;
    send(publishing);
  });
}

Entry read_entry(const Topic& topic, aws::Input& input, std::string id) {
  Entry entry;
  entry.id = std::move(id);
  Checked<Incoming> incoming = read_incoming(topic, input);
  if (!incoming) {
    entry.refused = std::move(incoming.error());
  } else {
    entry.incoming = std::make_unique<const Incoming>(std::move(*incoming));
  }
  return entry;
}

void write(aws::Output& out, const Topic& topic, const Entry& entry) {
  out.text("MessageId", entry.message_id);
  if (topic.fifo()) {
    out.text("SequenceNumber", sqs::sequence_text(entry.number));
  }
}

void answer_one(Publishing& publishing) {
  const Entry& entry = publishing.entries.front();
  if (entry.refused) {
    publishing.exchange->refuse(*entry.refused);
    return;
  }
  publishing.exchange->succeed([&](aws::Output& out) { write(out, *publishing.topic, entry); });
}

void answer_batch(Publishing& publishing) {
  std::vector<const Entry*> good;
  std::vector<const Entry*> bad;
  for (const Entry& entry : publishing.entries) {
    (entry.refused ? bad : good).push_back(&entry);
  }
  publishing.exchange->succeed([&](aws::Output& out) {
    out.list("Successful", good, [&](aws::Output& item, const Entry* one) {
      item.text("Id", one->id);
      write(item, *publishing.topic, *one);
    });
    out.list("Failed", bad,
             [](aws::Output& item, const Entry* one) { item.failure(one->id, *one->refused); });
  });
}

}  // namespace

void publish(const ExchangePtr& exchange, aws::Input& input) {
  if (sqs::refused_for_now(*exchange)) {
    return;
  }
  const bool by_target = !input.given("TopicArn");
  const std::string_view parameter = by_target ? "TargetArn" : "TopicArn";
  const std::string arn(input.text(parameter).value_or(""));
  if (arn.empty()) {
    exchange->refuse(invalid("TopicArn", "no value for required parameter"));
    return;
  }
  (void)input.attributes("MessageAttributes");  // what is malformed is told first
  if (!sqs::well_formed(*exchange, input)) {
    return;
  }
  const auto topic = topic_of(*exchange, parameter, arn);
  if (!topic) {
    return;
  }
  const auto publishing = std::make_shared<Publishing>();
  publishing->exchange = exchange;
  publishing->topic = topic;
  publishing->answer = answer_one;
  publishing->entries.push_back(read_entry(*topic, input, ""));
  start(publishing);
}

void publish_batch(const ExchangePtr& exchange, aws::Input& input) {
  if (sqs::refused_for_now(*exchange)) {
    return;
  }
  const std::string arn(input.required_text("TopicArn"));
  std::vector<aws::Input> entries = input.entries("PublishBatchRequestEntries");
  const auto ids = sqs::batch_ids(*exchange, input, entries);
  if (!ids) {
    return;
  }
  std::size_t bytes = 0;
  for (aws::Input& entry : entries) {
    bytes += aws::message_bytes(entry.text("Message").value_or(""),
                                entry.attributes("MessageAttributes"));
  }
  if (!sqs::well_formed(*exchange, input)) {
    return;
  }
  if (bytes > message_bytes_max) {
    exchange->refuse({aws::ErrorCode::batch_request_too_long,
                      "The messages of a batch have at most " + std::to_string(message_bytes_max) +
                          " bytes together; these have " + std::to_string(bytes) + "."});
    return;
  }
  const auto topic = topic_of(*exchange, "TopicArn", arn);
  if (!topic) {
    return;
  }
  for (aws::Input& entry : entries) {
    if (auto fits = check_fifo(*topic, entry); !fits) {
      exchange->refuse(fits.error());
      return;
    }
  }
  const auto publishing = std::make_shared<Publishing>();
  publishing->exchange = exchange;
  publishing->topic = topic;
  publishing->answer = answer_batch;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    publishing->entries.push_back(read_entry(*topic, entries[i], (*ids)[i]));
  }
  start(publishing);
}

}  // namespace hk::api::sns
