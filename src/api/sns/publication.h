/// What was published, made ready for the core: texts, envelopes with their signatures, headers.
/// On the I/O thread of the request: it is what takes time.
#pragma once

#include <map>
#include <string>

#include "api/sns/incoming.h"
#include "api/sns/notification.h"
#include "api/sns/topic.h"
#include "core/command.h"
#include "security/rsa_key.h"

namespace hk::api::sns {

/// How much of it is made ready.
enum class Ready : std::uint8_t {
  as_needed,   ///< what the subscriptions need that are there when we look
  everything,  ///< also what only others could need: the topic changes while we work
};

class Publication {
 public:
  /// The references outlive it. `message_id`: of a standard topic; that of a FIFO topic is the
  /// core's.
  Publication(const Exchange& exchange, const FoundTopic& topic, const Incoming& incoming,
              std::string message_id);

  /// internal: there is no memory to read it.
  Result<void> read(Ready ready);
  /// Must a key be there before finish()? REQUIRES: read().
  [[nodiscard]] bool needs_key() const { return needs_key_; }
  /// `key`: null if none is needed.
  core::PublishToTopic finish(const security::RsaKey* key);

 private:
  core::Form envelope_of(const std::string& text, const security::RsaKey* key) const;

  const Exchange& exchange_;
  const FoundTopic& topic_;
  const Incoming& incoming_;
  std::string message_id_;
  core::PublishToTopic command_{};
  std::vector<bool> enveloped_{};  ///< of each wording
  bool needs_key_ = false;
};

}  // namespace hk::api::sns
