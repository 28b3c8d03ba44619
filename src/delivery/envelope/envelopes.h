/// The envelopes of the messages that the engine sends. One per I/O thread.
#pragma once

#include <cstdint>
#include <utility>

#include "core/effect.h"
#include "delivery/envelope/identity.h"
#include "delivery/envelope/qstash.h"
#include "delivery/envelope/queue.h"
#include "delivery/envelope/sns.h"

namespace hk::delivery {

class Envelopes {
 public:
  /// `seed`: see Signer.
  Envelopes(SigningKeys keys, std::uint64_t seed) : identity_(std::move(keys), seed) {}

  /// The one that the message's protocol has; `to`: its queue pushes it there.
  Envelope& of(const core::Message& message, const core::PushTarget* to = nullptr) {
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
};

}  // namespace hk::delivery
