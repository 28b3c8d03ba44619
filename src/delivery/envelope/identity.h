/// What the envelopes of messages that the engine sends have in common: which message and which
/// attempt this is, and our signature under it. One per I/O thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/secret.h"
#include "core/message.h"
#include "delivery/envelope/envelope.h"
#include "delivery/envelope/signer.h"

namespace hk::engine {
class TenantDirectory;
}

namespace hk::delivery {

/// The current signing key of a tenant; null when the tenant is unknown. Called on I/O threads.
using SigningKeys = std::function<std::shared_ptr<const Secret>(core::TenantId)>;
/// Those of a directory, which outlives them.
SigningKeys signing_keys_of(const engine::TenantDirectory& tenants);

class Identity {
 public:
  /// `seed`: see Signer.
  Identity(SigningKeys keys, std::uint64_t seed);

  /// Upstash-Message-Id, -Retried, -Signature, -Caller-Ip. invalid_argument: the tenant has no key.
  Result<void> append_signed(std::string& out, const Addressed& addressed);
  /// Hikyaku-Message-Id, -Attempt, -Fence; Idempotency-Key where the message has none.
  static void append_own(std::string& out, const Addressed& addressed);

 private:
  const SigningKeys keys_;
  Signer signer_;
};

}  // namespace hk::delivery
