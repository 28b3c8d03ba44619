#include <algorithm>

#include "base/sometimes.h"
#include "core/fresh_trace.h"
#include "core/message/callback.h"
#include "core/message/messages.h"
#include "core/pull/size.h"
#include "core/queue/queues.h"
#include "core/tenant/tenants.h"
#include "core/topic/publication.h"
#include "core/topic/topics.h"

HK_SOMETIMES_DECLARE(topic_published_to)
HK_SOMETIMES_DECLARE(topic_filter_says_no)
HK_SOMETIMES_DECLARE(topic_publish_not_prepared)
HK_SOMETIMES_DECLARE(topic_publish_repeated)
HK_SOMETIMES_DECLARE(topic_dedup_window_over)
HK_SOMETIMES_DECLARE(topic_copy_to_dead_letters)
HK_SOMETIMES_DECLARE(topic_copy_has_no_place)

namespace hk::core {

namespace {

constexpr Millis topic_dedup_window{300'000};

std::string body_for(const Subscription& subscription, bool alone, const PublishToTopic& command,
                     MessageId id) {
  const Wording& wording = wording_for(command, subscription.protocol);
  return alone ? wording.text : filled(*wording.envelope, subscription.id, id);
}

Publish copy_for_url(const Topic& topic, const Subscription& subscription,
                     const PublishToTopic& command, MessageId id, Rng& rng) {
  Publish publish{.message = std::make_unique<Message>()};
  Message& message = *publish.message;
  message.tenant = command.tenant;
  message.url = subscription.url;
  message.host = subscription.host;
  const bool alone = gets_text_alone(subscription, command);
  for (const FormHeader& one : command.headers) {
    message.headers.push_back({one.name, filled(one.value, subscription.id, id)});
  }
  if (alone) {
    for (const FormHeader& one : command.raw_headers) {
      message.headers.push_back({one.name, filled(one.value, subscription.id, id)});
    }
  }
  message.body = body_for(subscription, alone, command, id);
  message.retry = retries_of(topic.retries, subscription.retries);
  message.timeout = command.timeout;
  message.caller_ip = command.caller_ip;
  message.trace = fresh_trace(rng);
  message.notification = true;
  if (!subscription.dead_letters_to.empty()) {
    message.failure_callback =
        Callback{.url = std::string(queue_scheme) + subscription.dead_letters_to};
  }
  return publish;
}

}  // namespace

/// Nothing: the queue is not there, or is no place for it.
std::optional<Publish> Topics::copy_for_queue(const Topic& topic, const std::string& name,
                                              const Subscription& subscription,
                                              const PublishToTopic& command, MessageId id) const {
  const Queue* const queue = queues_.find_pulled(command.tenant, name);
  if (queue == nullptr || queue->deleted || (queue->pull->fifo && !topic.fifo)) {
    return std::nullopt;
  }
  Publish publish{.message = std::make_unique<Message>(), .dedup_window = topic_dedup_window};
  Message& message = *publish.message;
  message.tenant = command.tenant;
  message.queue = name;
  message.method.clear();
  PullPart& part = message.pull.emplace();
  // Of a FIFO topic both ids go to FIFO queues; of a standard one the group goes along.
  if (queue->pull->fifo) {
    part.system.push_back({"MessageDeduplicationId", command.dedup_id});
    message.dedup_id = command.dedup_id;
  }
  if (queue->pull->fifo == topic.fifo) {
    message.group = command.group;
  }
  const bool alone = gets_text_alone(subscription, command);
  if (alone) {
    part.attributes = command.attributes;
  }
  part.system.push_back({"SenderId", command.sender});
  if (!command.trace_header.empty()) {
    part.system.push_back({"AWSTraceHeader", command.trace_header});
  }
  message.caller_ip = command.caller_ip;
  message.body = body_for(subscription, alone, command, id);
  return pulled_bytes(message) <= queue->pull->bytes_max ? std::optional(std::move(publish))
                                                         : std::nullopt;
}

std::optional<Publish> Topics::copy_for(const Topic& topic, const Subscription& subscription,
                                        const PublishToTopic& command, MessageId id) {
  if (subscription.queue.empty()) {
    return copy_for_url(topic, subscription, command, id, context_.rng);
  }
  std::optional<Publish> copy;
  if (subscription.raw == gets_text_alone(subscription, command)) {
    copy = copy_for_queue(topic, subscription.queue, subscription, command, id);
  }
  if (!copy && !subscription.dead_letters_to.empty()) {
    HK_SOMETIMES(topic_copy_to_dead_letters);
    copy = copy_for_queue(topic, subscription.dead_letters_to, subscription, command, id);
  }
  if (!copy) {
    HK_SOMETIMES(topic_copy_has_no_place);
  }
  return copy;
}

/// Checks in this order: topic, what a FIFO topic asks for, duplicate, what was prepared, size.
/// The copies and what they are known by are one batch.
Reply Topics::decide(PublishToTopic command) {
  const auto found = find(TopicKind::sns, command.tenant, command.topic);
  if (!found) {
    return fail(ErrorKind::not_found, "topic " + command.topic + " not found");
  }
  const Topic& topic = found->topic;
  if (topic.fifo && (command.group.empty() || command.dedup_id.empty())) {
    return fail(ErrorKind::invalid_argument, "a FIFO topic asks for a group and a dedup id");
  }
  const std::string dedup_id = topic.fifo ? topic_dedup_id(topic, command) : std::string();
  if (topic.fifo) {
    const auto known = batch_.get<Dedup>({command.tenant, dedup_id});
    if (known && known->expires_at > batch_.now()) {
      HK_SOMETIMES(topic_publish_repeated);
      ++tenants_.counters(command.tenant).deduplicated;
      return TopicPublished{known->first, true};
    }
    if (known) {
      HK_SOMETIMES(topic_dedup_window_over);
    }
  }

  const auto wanted = wanted_by(*found, command);
  const bool prepared =
      wanted && std::ranges::all_of(*wanted, [&command](const Subscription* one) {
        return gets_text_alone(*one, command) || wording_for(command, one->protocol).envelope;
      });
  if (!prepared) {
    HK_SOMETIMES(topic_publish_not_prepared);
    return fail(ErrorKind::conflict, "topic " + command.topic + " was changed meanwhile");
  }
  if (wanted->size() < topic.subscriptions.size()) {
    HK_SOMETIMES(topic_filter_says_no);
  }

  const MessageId id = topic.fifo
                           ? MessageId{Seq{context_.progress.next_number()}, context_.rng.next()}
                           : MessageId{};
  FanOutRoom room;
  const auto copies = copy_to(
      *wanted, room, [&](const Subscription& one) { return copy_for(topic, one, command, id); });
  if (!copies) {
    return std::unexpected(copies.error());
  }
  HK_SOMETIMES(topic_published_to);
  if (topic.fifo) {
    const Moment expires_at = batch_.now() + topic_dedup_window;
    batch_.put(Put<Dedup>{{{command.tenant, dedup_id}, {id, expires_at}}});
    batch_.expire_dedup(expires_at, command.tenant, dedup_id);
  }
  return TopicPublished{id, false};
}

}  // namespace hk::core
