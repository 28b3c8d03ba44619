/// The envelopes of the messages that the engine sends. One per I/O thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "core/effect.h"
#include "delivery/envelope/identity.h"
#include "delivery/envelope/qstash.h"
#include "delivery/envelope/queue.h"
#include "delivery/envelope/sns.h"
#include "delivery/envelope/svix.h"

namespace hk::delivery {

class Envelopes {
 public:
  /// `seed`: see Signer. `secrets`, `version`: see SvixEnvelope.
  Envelopes(SigningKeys keys, std::uint64_t seed, WebhookSecrets secrets = {},
            std::string_view version = "0")
      : identity_(std::move(keys), seed), svix_(std::move(secrets), version) {}

  /// The one that the message's protocol has; `to`: its queue pushes it there; `webhook`: it is the
  /// delivery of one.
  Envelope& of(const core::Message& message, const core::PushTarget* to = nullptr,
               const core::WebhookTarget* webhook = nullptr) {
    if (webhook != nullptr) {
      return svix_;
    }
    if (to != nullptr) {
      return queue_;
    }
    if (message.notification) {
      return sns_;
    }
    return qstash_;
  }

 private:
  Identity identity_;
  QstashEnvelope qstash_{identity_};
  QueueEnvelope queue_{identity_};
  SnsEnvelope sns_{identity_};
  SvixEnvelope svix_;
};

}  // namespace hk::delivery
