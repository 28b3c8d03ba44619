#include "api/sns/incoming.h"

#include <algorithm>

#include "api/aws/names.h"
#include "api/aws/tags.h"
#include "api/sns/attributes.h"
#include "base/encoding.h"
#include "base/json_input.h"
#include "security/digest.h"

namespace hk::api::sns {

namespace {

using aws::Checked;

constexpr std::size_t subject_characters_max = 100;

Checked<std::optional<std::string>> read_subject(aws::Input& entry) {
  const auto subject = entry.text("Subject");
  if (!subject) {
    return std::nullopt;
  }
  const bool printable = std::ranges::all_of(
      *subject, [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; });
  if (subject->empty() || aws::characters(*subject) > subject_characters_max || !printable ||
      !aws::allowed_text(*subject)) {
    return std::unexpected(
        invalid("Subject", "it has 1 to 100 characters and no line breaks or control characters"));
  }
  return std::string(*subject);
}

/// MessageStructure json: an object whose members are texts; others are for protocols we have not.
Checked<aws::TextMap> read_structure(aws::Input& entry, const std::string& message) {
  const auto structure = entry.text("MessageStructure");
  if (!structure || structure->empty()) {
    return aws::TextMap();
  }
  if (*structure != "json") {
    return std::unexpected(invalid("MessageStructure", "it must be json"));
  }
  const auto object = parse_json_object(message, message_bytes_max);
  if (!object) {
    return std::unexpected(invalid("Message Structure",
                                   "JSON message body failed to parse: " + object.error().message));
  }
  aws::TextMap texts;
  for (const auto& member : *object) {
    if (member.value().is_string()) {
      texts.emplace(std::string(member.key().data(), member.key().size()),
                    std::string(member.value().get_string()));
    }
  }
  if (!texts.contains("default")) {
    return std::unexpected(invalid("Message Structure", "No default entry in JSON message body"));
  }
  for (const auto& [protocol, text] : texts) {
    if (auto good = aws::check_body(text); !good) {
      return std::unexpected(invalid("Message", protocol + ": " + good.error().message));
    }
  }
  return texts;
}

Checked<void> read_ids(const Topic& topic, aws::Input& entry, Incoming& incoming) {
  constexpr std::string_view rule = "1 to 128 printable characters without blanks";
  const auto group = entry.text("MessageGroupId");
  const auto dedup = entry.text("MessageDeduplicationId");
  if (group && !aws::valid_group_id(*group)) {
    return std::unexpected(invalid("MessageGroupId", rule));
  }
  if (dedup && !aws::valid_group_id(*dedup)) {
    return std::unexpected(invalid("MessageDeduplicationId", rule));
  }
  incoming.group = group.value_or("");
  if (!topic.fifo()) {
    if (dedup) {
      return std::unexpected(invalid("MessageDeduplicationId", "it is for FIFO topics only"));
    }
    return {};
  }
  if (auto good = check_fifo(topic, entry); !good) {
    return good;
  }
  if (dedup) {
    incoming.dedup_id = *dedup;
  } else {
    const security::Digest256 digest = security::sha256(incoming.message);
    incoming.dedup_id = hex(digest);
  }
  return {};
}

}  // namespace

Checked<void> check_fifo(const Topic& topic, aws::Input& entry) {
  if (!topic.fifo()) {
    return {};
  }
  if (!entry.text("MessageGroupId")) {
    return std::unexpected(invalid("MessageGroupId", "it is required for FIFO topics"));
  }
  if (!entry.text("MessageDeduplicationId") && !topic.has("ContentBasedDeduplication", "true")) {
    return std::unexpected(
        invalid("MessageDeduplicationId",
                "it is required as long as the topic has no ContentBasedDeduplication"));
  }
  return {};
}

Checked<Incoming> read_incoming(const Topic& topic, aws::Input& entry) {
  Incoming incoming;
  const auto message = entry.text("Message");
  incoming.message = message.value_or("");
  incoming.attributes = entry.attributes("MessageAttributes");
  if (const aws::Refusal* const wrong = entry.invalid()) {
    return std::unexpected(*wrong);
  }
  if (!message) {
    return std::unexpected(aws::missing_parameter("Message"));
  }
  if (incoming.message.empty()) {
    return std::unexpected(invalid("Message", "it must not be empty"));
  }
  if (auto good = aws::check_body(incoming.message); !good) {
    return std::unexpected(invalid("Message", good.error().message));
  }
  if (auto good = aws::check_attributes(incoming.attributes, SIZE_MAX); !good) {
    return aws::refuse(aws::ErrorCode::sns_parameter_value_invalid, good.error().message);
  }
  if (aws::message_bytes(incoming.message, incoming.attributes) > message_bytes_max) {
    return std::unexpected(invalid("Message", "with its attributes it is longer than " +
                                                  std::to_string(message_bytes_max) + " bytes"));
  }
  auto subject = read_subject(entry);
  if (!subject) {
    return std::unexpected(subject.error());
  }
  incoming.subject = std::move(*subject);
  auto texts = read_structure(entry, incoming.message);
  if (!texts) {
    return std::unexpected(texts.error());
  }
  incoming.by_protocol = std::move(*texts);
  if (auto good = read_ids(topic, entry, incoming); !good) {
    return std::unexpected(good.error());
  }
  return incoming;
}

}  // namespace hk::api::sns
