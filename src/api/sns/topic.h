/// A topic and all its subscriptions in the words of SNS, and the record that they are kept in: one
/// for all of them, so that every change is atomic. Read on I/O threads, each of which remembers
/// what it parsed lately.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/aws/input.h"
#include "api/sqs/exchange.h"
#include "core/reader.h"
#include "core/record.h"
#include "core/topic/read_topic.h"

namespace hk::api::sns {

using sqs::Exchange;
using sqs::ExchangePtr;

struct Subscription {
  std::string id{};  ///< a UUID
  std::string protocol{};
  std::string endpoint{};     ///< as it was given: a URL, or the ARN of a queue
  std::string host{};         ///< of a URL, as in core::Message
  aws::TextMap attributes{};  ///< those that were set
  std::string token{};        ///< whoever shows it confirms; "": none was needed
  Moment token_made{};
  bool confirmed = false;
  bool authenticated = false;  ///< whoever confirmed it had signed

  [[nodiscard]] bool has(std::string_view attribute, std::string_view value) const;
  [[nodiscard]] bool raw() const { return has("RawMessageDelivery", "true"); }
  [[nodiscard]] core::FilterScope scope() const;

  /// Where goes what cannot be delivered: a queue of the same tenant, from the attribute
  /// RedrivePolicy; "" = nowhere.
  std::string dead_letters_to{};
  std::optional<core::RetryPolicy> retries{};  ///< from the attribute DeliveryPolicy
};

struct Topic {
  std::string name{};
  std::string region{};
  /// Not the same when a topic of that name is made again.
  std::string incarnation{};
  aws::TextMap attributes{};  ///< those that were set
  aws::TextMap tags{};
  std::map<std::string, Subscription, std::less<>> subscriptions{};  ///< by id
  std::uint64_t version = 0;                                         ///< of the record
  std::optional<core::RetryPolicy> retries{};  ///< from the attribute DeliveryPolicy

  [[nodiscard]] bool fifo() const { return name.ends_with(".fifo"); }
  [[nodiscard]] bool has(std::string_view attribute, std::string_view value) const;
};

core::Subscription to_record(const Subscription& subscription);
core::Topic to_record(const Topic& topic, core::TenantId tenant);
/// Without what its policies say.
Topic from_record(const core::Topic& record);

/// Reads anew what is read from attributes. invalid_argument: an attribute does not parse.
Result<void> read_attributes(Subscription& subscription);

/// The record, ready to be published to, and what it says in the words of SNS. Both are null: there
/// is none. They may be shared with other requests of this thread.
struct FoundTopic {
  std::shared_ptr<const core::ReadTopic> record{};
  std::shared_ptr<const Topic> words{};
};
FoundTopic look_up(const Exchange& exchange, std::string_view name);
/// Its words alone.
std::shared_ptr<const Topic> find_topic(const Exchange& exchange, std::string_view name);

/// Records of topics in the order of their names, for listings. A topic may be large, and others
/// wait for this thread: they are read a few at a time, and of each call only so many
/// (scanned_per_listing_max) and so much (listing_bytes_max); then the page ends.
class TopicScan {
 public:
  /// Begins behind that name. The exchange outlives it.
  TopicScan(const Exchange& exchange, std::string after);

  /// Valid until the next call. null: there is no other, or it was enough for one call.
  const core::Topic* next();
  /// Why next() gave null. False: others may follow.
  [[nodiscard]] bool ended() const { return ended_; }

 private:
  const Exchange& exchange_;
  std::shared_ptr<core::Reader> view_;
  std::string after_;  ///< what the next piece comes behind
  std::vector<core::Topic> piece_{};
  std::size_t at_ = 0;  ///< in the piece
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
  bool ended_ = false;
};

std::string arn_of(const Exchange& exchange, const Topic& topic);
std::string arn_of(const Exchange& exchange, const Topic& topic, const Subscription& subscription);

/// The name in the ARN of a topic. sns_invalid_parameter: not such an ARN; sns_not_found: of
/// another account.
aws::Checked<std::string> topic_name(const Exchange& exchange, std::string_view parameter,
                                     std::string_view arn);
struct SubscriptionName {
  std::string topic{};
  std::string id{};
};
/// The same for the ARN of a subscription.
aws::Checked<SubscriptionName> subscription_name(const Exchange& exchange, std::string_view arn);

aws::Refusal no_topic();
aws::Refusal no_subscription();
/// "Invalid parameter: <parameter> Reason: <reason>"
aws::Refusal invalid(std::string_view parameter, std::string_view reason);

}  // namespace hk::api::sns
