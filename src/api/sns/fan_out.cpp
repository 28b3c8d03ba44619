#include "api/sns/fan_out.h"

#include <algorithm>

#include "api/aws/names.h"
#include "api/sns/http_subscriber.h"
#include "api/sns/signing_key.h"
#include "api/sqs/new_message.h"
#include "api/text.h"
#include "base/date.h"
#include "engine/message_cache.h"

namespace hk::api::sns {

namespace {

std::vector<core::Attribute> to_attributes(const aws::MessageAttributes& given) {
  std::vector<core::Attribute> all;
  all.reserve(given.size());
  for (const auto& [name, attribute] : given) {
    all.push_back({name, attribute.data_type, std::string(attribute.value())});
  }
  return all;
}

}  // namespace

const std::string& Incoming::text_for(const std::string& protocol) const {
  if (by_protocol.empty()) {
    return message;
  }
  const auto own = by_protocol.find(protocol);
  return own != by_protocol.end() ? own->second : by_protocol.find("default")->second;
}

FanOut::FanOut(const Exchange& exchange, const Topic& topic, const Incoming& incoming,
               std::string message_id, std::string sequence_number)
    : exchange_(exchange),
      topic_(topic),
      incoming_(incoming),
      view_(exchange.services.submitter.durable_view(exchange.tenant_id())),
      notification_{.message_id = std::move(message_id),
                    .sequence_number = std::move(sequence_number),
                    .topic_arn = arn_of(exchange, topic),
                    .subject = incoming.subject,
                    .timestamp = rfc3339(exchange.services.now())} {}

Result<void> FanOut::choose() {
  // Read once for all subscriptions that get the same text, of which there is one per protocol.
  std::map<const std::string*, core::FilterSubject> subjects;
  const std::vector<core::Attribute> attributes = to_attributes(incoming_.attributes);
  for (const auto& [id, subscription] : topic_.subscriptions) {
    if (!subscription.confirmed) {
      continue;
    }
    if (subscription.filter) {
      const std::string& text = incoming_.text_for(subscription.protocol);
      const auto [subject, fresh] = subjects.try_emplace(&text);
      if (fresh) {
        if (auto read = subject->second.read_attributes(attributes); !read) {
          return read;
        }
        if (auto read = subject->second.read_body(text); !read) {
          return read;
        }
      }
      const Result<bool> wanted = subscription.filter->matches(subject->second);
      if (!wanted) {
        return std::unexpected(wanted.error());
      }
      if (!*wanted) {
        continue;
      }
    }
    chosen_.push_back(&subscription);
  }
  return {};
}

bool FanOut::needs_signature() const {
  return !topic_.fifo() && std::ranges::any_of(chosen_, [this](const Subscription* one) {
    return !one->raw() || !fits_raw(*one);
  });
}

/// A message in a queue has ten attributes; over HTTP a raw one has none at all.
bool FanOut::fits_raw(const Subscription& subscription) const {
  return subscription.protocol != "sqs" ||
         incoming_.attributes.size() <= aws::message_attributes_max;
}

FanOut::Copies FanOut::copies(const security::RsaKey* key, std::size_t bytes_max) {
  Copies all;
  for (const Subscription* const subscription : chosen_) {
    std::optional<core::Publish> one = copy(*subscription, key);
    if (!one) {
      one = dead_letter(*subscription, key);
    }
    if (one) {
      all.bytes += engine::bytes_of(*one->message);  // attributes count, too
      all.items.push_back(std::move(*one));
      all.subscriptions.push_back(subscription);
    }
    if (all.bytes > bytes_max) {
      break;  // before the rest of them takes up memory, too
    }
  }
  return all;
}

std::optional<core::Publish> FanOut::copy(const Subscription& subscription,
                                          const security::RsaKey* key) {
  if (subscription.protocol == "sqs") {
    const auto arn = aws::parse_arn(subscription.endpoint);
    if (!arn || (subscription.raw() && !fits_raw(subscription))) {
      return std::nullopt;
    }
    return for_queue(arn->resource, subscription, subscription.raw(), key);
  }
  const bool raw = subscription.raw();
  Result<core::Publish> message = to_subscriber(
      exchange_, topic_, subscription,
      raw ? HttpMessage::raw_notification : HttpMessage::notification, notification_.message_id,
      raw ? incoming_.text_for(subscription.protocol) : envelope_for(subscription, key));
  return message ? std::optional(std::move(*message)) : std::nullopt;
}

std::optional<core::Publish> FanOut::dead_letter(const Subscription& subscription,
                                                 const security::RsaKey* key) {
  if (subscription.dead_letters_to.empty()) {
    return std::nullopt;
  }
  return for_queue(subscription.dead_letters_to, subscription,
                   subscription.raw() && fits_raw(subscription), key);
}

std::optional<core::Publish> FanOut::for_queue(const std::string& name,
                                               const Subscription& subscription, bool raw,
                                               const security::RsaKey* key) {
  const auto queue = view_->get<core::Queue>({exchange_.tenant_id(), name});
  if (!queue || queue->deleted || !queue->pull || (queue->pull->fifo && !topic_.fifo())) {
    return std::nullopt;
  }
  sqs::NewMessage copy{
      .body = raw ? incoming_.text_for(subscription.protocol) : envelope_for(subscription, key),
      .sender = exchange_.access_key,
      .trace_header = exchange_.trace_header,
      .caller_ip = exchange_.caller_ip};
  // Of a FIFO topic both ids go to FIFO queues; of a standard one the group goes along.
  if (queue->pull->fifo) {
    copy.dedup_id = incoming_.dedup_id;
  }
  if (!incoming_.group.empty() && queue->pull->fifo == topic_.fifo()) {
    copy.group = incoming_.group;
  }
  aws::Checked<core::Publish> publish = sqs::make_publish(
      *queue, std::move(copy), raw ? incoming_.attributes : aws::MessageAttributes{});
  return publish ? std::optional(std::move(*publish)) : std::nullopt;
}

std::string FanOut::envelope_for(const Subscription& subscription, const security::RsaKey* key) {
  notification_.message = incoming_.text_for(subscription.protocol);
  const Signature* signature = nullptr;
  if (key != nullptr && !topic_.fifo()) {
    // Once for all protocols that have the same text.
    auto [at, fresh] = signatures_.try_emplace(notification_.message);
    if (fresh) {
      at->second = sign(*key, topic_.has("SignatureVersion", "2") ? "2" : "1",
                        text_to_sign(notification_), exchange_.base_url);
    }
    signature = &at->second;
  }
  return envelope(notification_, signature,
                  unsubscribe_url(exchange_.base_url, arn_of(exchange_, topic_, subscription)),
                  incoming_.attributes);
}

}  // namespace hk::api::sns
