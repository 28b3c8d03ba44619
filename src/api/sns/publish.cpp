// Publish and PublishBatch. Who gets a copy is decided by the core, in one commit for each message;
// the answer waits for it.
#include "api/aws/names.h"
#include "api/gather.h"
#include "api/reply.h"
#include "api/sns/actions.h"
#include "api/sns/incoming.h"
#include "api/sns/publication.h"
#include "api/sns/signing_key.h"
#include "api/sqs/batch_shape.h"
#include "observe/metrics.h"

namespace hk::api::sns {

namespace {

using aws::Checked;

/// A message under way. What it refers to lives as long: it is shared by its callbacks.
struct Entry {
  std::string id{};  ///< in its batch; "" if it came alone
  std::optional<aws::Refusal> refused{};
  bool done = false;
  std::unique_ptr<const Incoming> incoming{};
  std::string message_id{};  ///< FIFO: once the core has given it one
  std::string sequence_number{};
  std::unique_ptr<Publication> publication{};
};

struct Publishing {
  ExchangePtr exchange{};
  FoundTopic topic{};
  std::vector<Entry> entries{};
  Ready ready = Ready::as_needed;
  std::function<void(Publishing&)> answer{};
};
using PublishingPtr = std::shared_ptr<Publishing>;

void start(const PublishingPtr& publishing);

/// What the core said of an entry. False: it is to be sent again.
bool note(const Publishing& publishing, Entry& entry, const core::Reply& reply) {
  if (reply) {
    const auto& published = answer_of<core::TopicPublished>(reply);
    if (publishing.topic.words->fifo()) {
      entry.message_id = core::uuid_text(published.id);
      entry.sequence_number = core::sequence_text(published.id);
    }
    publishing.exchange->services.metrics.published(published.deduplicated);
    entry.done = true;
    return true;
  }
  const Error& error = reply.error();
  if (error.kind == ErrorKind::conflict && publishing.ready == Ready::as_needed) {
    return false;
  }
  publishing.exchange->services.metrics.publish_refused(refused_as(error));
  entry.refused = error.kind == ErrorKind::not_found          ? no_topic()
                  : error.kind == ErrorKind::invalid_argument ? invalid("Message", error.message)
                                                              : aws::refusal_from(error);
  return true;
}

void finish(const PublishingPtr& publishing, const std::vector<Entry*>& sent,
            const std::vector<core::Reply>& replies) {
  bool again = false;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    again = !note(*publishing, *sent[i], replies[i]) || again;
  }
  if (!again) {
    publishing->answer(*publishing);
    return;
  }
  // The topic is another by now. What is made ready for everybody is enough for all that it can
  // become.
  publishing->ready = Ready::everything;
  if (FoundTopic now = look_up(*publishing->exchange, publishing->topic.words->name); now.record) {
    publishing->topic = std::move(now);
  }
  start(publishing);
}

/// Commands go out in the order of the entries: that is the order in which FIFO queues have them.
void send(const PublishingPtr& publishing, const security::RsaKey* key) {
  std::vector<core::Command> commands;
  std::vector<Entry*> sent;
  for (Entry& entry : publishing->entries) {
    if (!entry.refused && !entry.done) {
      commands.emplace_back(entry.publication->finish(key));
      sent.push_back(&entry);
    }
  }
  submit_all(publishing->exchange->batcher, std::move(commands),
             [publishing, sent = std::move(sent)](const std::vector<core::Reply>& replies) {
               publishing->exchange->guarded([&] { finish(publishing, sent, replies); });
             });
}

void prepare(const Publishing& publishing, Entry& entry) {
  const Exchange& exchange = *publishing.exchange;
  if (entry.message_id.empty() && !publishing.topic.words->fifo()) {
    entry.message_id = aws::make_uuid(exchange.batcher.rng());
  }
  entry.publication =
      std::make_unique<Publication>(exchange, publishing.topic, *entry.incoming, entry.message_id);
  if (const auto read = entry.publication->read(publishing.ready); !read) {
    entry.refused = aws::refusal_from(read.error());
  }
}

void start(const PublishingPtr& publishing) {
  bool needs_key = false;
  for (Entry& entry : publishing->entries) {
    if (entry.done) {
      continue;
    }
    if (!entry.refused) {
      prepare(*publishing, entry);
      needs_key = needs_key || entry.publication->needs_key();
    }
    if (entry.refused && publishing->ready == Ready::as_needed) {
      publishing->exchange->services.metrics.publish_refused("invalid");
    }
  }
  if (!needs_key) {
    send(publishing, nullptr);
    return;
  }
  with_signing_key(publishing->exchange,
                   [publishing](const security::RsaKey& key) { send(publishing, &key); });
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

void write(aws::Output& out, const Entry& entry) {
  out.text("MessageId", entry.message_id);
  if (!entry.sequence_number.empty()) {
    out.text("SequenceNumber", entry.sequence_number);
  }
}

void answer_one(Publishing& publishing) {
  const Entry& entry = publishing.entries.front();
  if (entry.refused) {
    publishing.exchange->refuse(*entry.refused);
    return;
  }
  publishing.exchange->succeed([&](aws::Output& out) { write(out, entry); });
}

void answer_batch(Publishing& publishing) {
  std::vector<const Entry*> good;
  std::vector<const Entry*> bad;
  for (const Entry& entry : publishing.entries) {
    (entry.refused ? bad : good).push_back(&entry);
  }
  publishing.exchange->succeed([&](aws::Output& out) {
    out.list("Successful", good, [](aws::Output& item, const Entry* one) {
      item.text("Id", one->id);
      write(item, *one);
    });
    out.list("Failed", bad,
             [](aws::Output& item, const Entry* one) { item.failure(one->id, *one->refused); });
  });
}

/// Nothing: that has been refused.
FoundTopic topic_to_publish_to(Exchange& exchange, std::string_view parameter,
                               std::string_view arn) {
  const auto name = named_topic(exchange, parameter, arn);
  if (!name) {
    return {};
  }
  FoundTopic topic = look_up(exchange, *name);
  if (!topic.record) {
    exchange.refuse(no_topic());
  }
  return topic;
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
  FoundTopic topic = topic_to_publish_to(*exchange, parameter, arn);
  if (!topic.record) {
    return;
  }
  const auto publishing = std::make_shared<Publishing>();
  publishing->exchange = exchange;
  publishing->topic = std::move(topic);
  publishing->answer = answer_one;
  publishing->entries.push_back(read_entry(*publishing->topic.words, input, ""));
  start(publishing);
}

void publish_batch(const ExchangePtr& exchange, aws::Input& input) {
  if (sqs::refused_for_now(*exchange)) {
    return;
  }
  const std::string arn(input.required_text("TopicArn"));
  std::vector<aws::Input> entries = input.entries("PublishBatchRequestEntries");
  const auto ids = sqs::batch_ids(*exchange, input, entries);
  if (!ids || !exchange->costs(entries.size())) {
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
  FoundTopic topic = topic_to_publish_to(*exchange, "TopicArn", arn);
  if (!topic.record) {
    return;
  }
  for (aws::Input& entry : entries) {
    if (auto fits = check_fifo(*topic.words, entry); !fits) {
      exchange->refuse(fits.error());
      return;
    }
  }
  const auto publishing = std::make_shared<Publishing>();
  publishing->exchange = exchange;
  publishing->topic = std::move(topic);
  publishing->answer = answer_batch;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    publishing->entries.push_back(read_entry(*publishing->topic.words, entries[i], (*ids)[i]));
  }
  start(publishing);
}

}  // namespace hk::api::sns
