/// One published message on its way to the subscribers of its topic: who wants it, in what form,
/// and where a copy goes that cannot be delivered. On the I/O thread of the request.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/aws/message_attributes.h"
#include "api/sns/notification.h"
#include "api/sns/topic.h"
#include "core/command.h"
#include "core/reader.h"
#include "security/rsa_key.h"

namespace hk::api::sns {

/// What was published, checked.
struct Incoming {
  std::string message{};
  /// MessageStructure json: texts by protocol; each has "default". Empty: all get the message.
  aws::TextMap by_protocol{};
  std::optional<std::string> subject{};
  aws::MessageAttributes attributes{};
  std::string group{};     ///< "" = none
  std::string dedup_id{};  ///< given or computed; "" on standard topics

  [[nodiscard]] const std::string& text_for(const std::string& protocol) const;
};

class FanOut {
 public:
  /// The references outlive it; so does what they refer to.
  FanOut(const Exchange& exchange, const Topic& topic, const Incoming& incoming,
         std::string message_id, std::string sequence_number);

  /// Who gets it. internal: a filter could not be asked.
  Result<void> choose();
  /// Must a key be there before the copies are made?
  [[nodiscard]] bool needs_signature() const;

  struct Copies {
    std::vector<core::Publish> items{};
    /// Of each item, in that order; whom to look at if the core refuses it.
    std::vector<const Subscription*> subscriptions{};
    std::size_t bytes = 0;
  };
  /// One for each subscriber that can be delivered to; of the others, into their dead-letter
  /// queues. `key`: null if no signature is needed. Ends with the first one that makes them more
  /// than `bytes_max`.
  Copies copies(const security::RsaKey* key, std::size_t bytes_max);
  /// The copy for the subscription's dead-letter queue; nullopt: it has none, or that is no place
  /// for it.
  std::optional<core::Publish> dead_letter(const Subscription& subscription,
                                           const security::RsaKey* key);

 private:
  [[nodiscard]] bool fits_raw(const Subscription& subscription) const;
  std::optional<core::Publish> copy(const Subscription& subscription, const security::RsaKey* key);
  std::optional<core::Publish> for_queue(const std::string& name, const Subscription& subscription,
                                         bool raw, const security::RsaKey* key);
  std::string envelope_for(const Subscription& subscription, const security::RsaKey* key);

  const Exchange& exchange_;
  const Topic& topic_;
  const Incoming& incoming_;
  std::shared_ptr<core::Reader> view_;
  Notification notification_;  ///< without its message
  std::vector<const Subscription*> chosen_{};
  std::map<std::string, Signature> signatures_{};  ///< by the text that is signed
};

}  // namespace hk::api::sns
