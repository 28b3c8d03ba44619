/// What is published to a topic of SNS, and which subscriptions want it. Adapters make one on their
/// threads, with everything that takes time; what they prepare they find out with the functions
/// that the core decides by. Pure, any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "core/topic/filter_policy.h"
#include "core/topic/form.h"
#include "core/topic/read_topic.h"

namespace hk::core {

/// What the subscriptions of one protocol get.
struct Wording {
  std::string protocol{};  ///< "" = of all that have none of their own
  std::string text{};
  FilterSubject subject{};         ///< as far as it was read
  std::optional<Form> envelope{};  ///< around the text; nothing: it was not made
};

/// Makes one message for each subscription of the topic that wants it, all of them in one batch, or
/// finds that it was published before. A copy for which there is no place goes to the dead-letter
/// queue of its subscription.
/// not_found: no such topic; conflict: a subscription needs what was not prepared (the topic was
/// changed meanwhile), send it again with everything; invalid_argument: too much in all, or without
/// what a FIFO topic asks for. In all of these cases nothing was accepted.
struct PublishToTopic {
  TenantId tenant{};
  std::string topic{};
  std::vector<Wording> wordings{};      ///< one has the protocol ""
  std::size_t copies = 1;               ///< how many it may become: for how much room is kept
  std::vector<Attribute> attributes{};  ///< for queues, with the text alone
  std::string group{};                  ///< "" = none
  std::string dedup_id{};               ///< FIFO topics
  // For queues.
  std::string sender{};
  std::string trace_header{};  ///< "" = none
  // For URLs.
  std::vector<FormHeader> headers{};
  std::vector<FormHeader> raw_headers{};  ///< beside them, with the text alone
  Millis timeout{};
  std::string caller_ip{};
};

/// REQUIRES: one has the protocol "".
const Wording& wording_for(const PublishToTopic& publication, const std::string& protocol);

/// Those that get it, in their order. conflict: a filter asks about what was not read.
Result<std::vector<const Subscription*>> wanted_by(const ReadTopic& topic,
                                                   const PublishToTopic& publication);

/// A message in a queue has so many attributes.
inline constexpr std::size_t pulled_attributes_max = 10;

/// It gets the text alone. Else in an envelope, also where the text alone does not fit: that is for
/// the dead-letter queue.
bool gets_text_alone(const Subscription& subscription, const PublishToTopic& publication);

/// What the id of a message of a FIFO topic is stored under, for the time of deduplication. It
/// names no message of its own.
std::string topic_dedup_id(const Topic& topic, const PublishToTopic& publication);
/// Of a stored dedup id: it is one of these, or of a message whose own is the word "batch".
bool may_be_topic_dedup_id(std::string_view dedup_id);

}  // namespace hk::core
