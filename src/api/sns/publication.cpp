#include "api/sns/publication.h"

#include <algorithm>

#include "api/sns/http_subscriber.h"
#include "api/sns/signing_key.h"
#include "base/date.h"

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

std::vector<core::Wording> to_wordings(const Incoming& incoming) {
  std::vector<core::Wording> all;
  if (incoming.by_protocol.empty()) {
    all.push_back({.text = incoming.message});
    return all;
  }
  for (const auto& [protocol, text] : incoming.by_protocol) {
    // Those of protocols that we have not are for nobody.
    if (protocol == "default") {
      all.push_back({.text = text});
    } else if (protocol == "sqs" || protocol == "http" || protocol == "https") {
      all.push_back({.protocol = protocol, .text = text});
    }
  }
  return all;
}

/// Does a filter of the topic ask about that part of this wording?
bool is_asked(const core::ReadTopic& topic, const core::PublishToTopic& command,
              const core::Wording& wording, core::FilterScope scope) {
  for (std::size_t i = 0; i < topic.filters.size(); ++i) {
    if (topic.filters[i] && topic.filters[i]->scope() == scope &&
        &core::wording_for(command, topic.topic.subscriptions[i].protocol) == &wording) {
      return true;
    }
  }
  return false;
}

}  // namespace

Publication::Publication(const Exchange& exchange, const FoundTopic& topic,
                         const Incoming& incoming, std::string message_id)
    : exchange_(exchange), topic_(topic), incoming_(incoming), message_id_(std::move(message_id)) {}

Result<void> Publication::read(Ready ready) {
  const bool all = ready == Ready::everything;
  command_ = {.tenant = exchange_.tenant_id(),
              .topic = topic_.words->name,
              .wordings = to_wordings(incoming_),
              .attributes = to_attributes(incoming_.attributes),
              .group = incoming_.group,
              .dedup_id = incoming_.dedup_id,
              .sender = exchange_.access_key,
              .trace_header = exchange_.trace_header,
              .timeout = notification_timeout(exchange_),
              .caller_ip = exchange_.caller_ip};
  for (core::Wording& wording : command_.wordings) {
    using core::FilterScope;
    if (all || is_asked(*topic_.record, command_, wording, FilterScope::message_attributes)) {
      if (auto done = wording.subject.read_attributes(command_.attributes); !done) {
        return done;
      }
    }
    if (all || is_asked(*topic_.record, command_, wording, FilterScope::message_body)) {
      if (auto done = wording.subject.read_body(wording.text); !done) {
        return done;
      }
    }
  }
  const auto wanted = core::wanted_by(*topic_.record, command_);
  if (!wanted) {
    return std::unexpected(wanted.error());
  }
  // Those of FIFO topics have no signature: made always, so that none is sent again behind others.
  enveloped_.assign(command_.wordings.size(), all || topic_.words->fifo());
  for (const core::Subscription* const one : *wanted) {
    if (!core::gets_text_alone(*one, command_)) {
      const auto* const wording = &core::wording_for(command_, one->protocol);
      enveloped_[static_cast<std::size_t>(wording - command_.wordings.data())] = true;
    }
  }
  command_.copies = wanted->size();
  needs_key_ = !topic_.words->fifo() && std::ranges::find(enveloped_, true) != enveloped_.end();
  return {};
}

core::PublishToTopic Publication::finish(const security::RsaKey* key) {
  for (std::size_t i = 0; i < enveloped_.size(); ++i) {
    if (enveloped_[i]) {
      core::Wording& wording = command_.wordings[i];
      wording.envelope = envelope_of(wording.text, key);
    }
  }
  command_.headers = notification_headers(arn_of(exchange_, *topic_.words), message_id_);
  command_.raw_headers = {{"x-amz-sns-rawdelivery", {.text = "true"}}};
  return std::move(command_);
}

core::Form Publication::envelope_of(const std::string& text, const security::RsaKey* key) const {
  const Notification notification{.message_id = message_id_,
                                  .topic_arn = arn_of(exchange_, *topic_.words),
                                  .subject = incoming_.subject,
                                  .message = text,
                                  .timestamp = rfc3339(exchange_.services.now())};
  std::optional<Signature> signature;
  if (key != nullptr) {
    signature = sign(*key, topic_.words->has("SignatureVersion", "2") ? "2" : "1",
                     text_to_sign(notification), exchange_.base_url);
  }
  return envelope(notification, signature ? &*signature : nullptr, exchange_.base_url,
                  incoming_.attributes);
}

}  // namespace hk::api::sns
