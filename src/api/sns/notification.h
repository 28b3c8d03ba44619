/// What SNS delivers, as text: the envelope around a message, the request to confirm a
/// subscription, and what of them is signed. Pure, any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/aws/message_attributes.h"
#include "core/topic/form.h"

namespace hk::api::sns {

/// One message that was published, as one protocol's subscribers see it.
struct Notification {
  std::string message_id{};  ///< "": of a FIFO topic; it and a sequence number are the core's
  std::string topic_arn{};
  std::optional<std::string> subject{};
  std::string message{};
  std::string timestamp{};
};

struct Confirmation {
  std::string message_id{};
  std::string token{};
  std::string topic_arn{};
  std::string message{};
  std::string subscribe_url{};
  std::string timestamp{};
};

struct Signature {
  std::string version{};  ///< "1": SHA-1, "2": SHA-256
  std::string text{};     ///< Base64
  std::string certificate_url{};
};

/// Name and value of each signed member, each on a line of its own.
std::string text_to_sign(const Notification& notification);
std::string text_to_sign(const Confirmation& confirmation);

/// `signature`: null for FIFO topics, whose envelopes have none. `base_url`: of the links.
core::Form envelope(const Notification& notification, const Signature* signature,
                    std::string_view base_url, const aws::MessageAttributes& attributes);
std::string body_of(const Confirmation& confirmation, const Signature& signature);

/// The links in them, which work without a signature.
std::string unsubscribe_url(std::string_view base_url, std::string_view subscription_arn);
std::string subscribe_url(std::string_view base_url, std::string_view topic_arn,
                          std::string_view token);
std::string certificate_url(std::string_view base_url);

}  // namespace hk::api::sns
