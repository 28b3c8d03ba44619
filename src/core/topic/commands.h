/// Commands about topics: names for several destinations.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/topic/publication.h"
#include "core/topic/record.h"

namespace hk::core {

/// Of a URL group.
struct Endpoint {
  std::string name{};  ///< "" = none; unique in its group otherwise
  std::string url{};
  std::string host{};  ///< of url, as in Message
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

/// Adds endpoints, or changes those with the same name or the same url; creates the group.
struct UpsertEndpoints {
  TenantId tenant{};
  std::string group{};
  std::vector<Endpoint> endpoints{};
};

/// Those whose name or url is given; a group without endpoints is deleted.
struct RemoveEndpoints {
  TenantId tenant{};
  std::string group{};
  std::vector<Endpoint> endpoints{};
};

struct SetGroupOptions {
  TenantId tenant{};
  std::string group{};
  std::vector<Header> options{};
};

/// Makes a topic of SNS. One of that name stays as it is: TopicMade says so. quota_reached: too
/// much text.
struct CreateTopic {
  Topic topic{};  ///< without subscriptions; version and times are the core's
};

/// Replaces what is set of a topic of SNS; its subscriptions stay. conflict: version and
/// incarnation are not those of the topic that is there; not_found; quota_reached: too much text.
struct SetTopic {
  Topic topic{};
};

/// Subscribes to a topic of SNS. If one with the same protocol and destination is there, that is
/// success, too: Subscribed says so. One with a token waits until somebody shows it, and its URL is
/// asked to, in the same batch; so is one that waits already.
/// not_found: no such topic; conflict: the one that is there is set otherwise, or waits for another
/// token, or the invitation is missing (somebody was faster): look and send it again;
/// quota_reached: too many subscriptions, or too much text; invalid_argument: the filter is none.
struct Subscribe {
  TenantId tenant{};
  std::string topic{};
  /// Whether it is confirmed, and since when it waits, is decided by the core.
  Subscription subscription{};
  /// What its URL is sent, with the subscription's token in it: headers, body and the like. Where
  /// it goes and how often it is tried is decided by the core.
  std::unique_ptr<Message> invitation{};
};

/// not_found: no such topic; invalid_argument: nobody waits for that token, or no longer. Who is
/// confirmed already stays so.
struct ConfirmSubscription {
  TenantId tenant{};
  std::string topic{};
  std::string token{};
  bool by_owner = false;       ///< somebody with the rights of the tenant asks
  bool owner_ends_it = false;  ///< nobody else is to; counts only if the owner asks for it
};

/// Done, also if there is none. permission_denied: only the owner ends it.
struct Unsubscribe {
  TenantId tenant{};
  std::string topic{};
  std::string id{};
  bool by_owner = false;
};

/// Replaces what is set of a subscription (form, filter, dead letters, retries, extra). not_found:
/// no such topic or subscription; conflict: version and incarnation are not those of the topic;
/// quota_reached: too much text; invalid_argument: the filter is none.
struct SetSubscription {
  TenantId tenant{};
  std::string topic{};
  std::string incarnation{};
  std::uint64_t version = 0;
  Subscription subscription{};
};

/// Done, also if there is none.
struct DeleteTopic {
  TenantId tenant{};
  TopicKind kind{};
  std::string name{};
};

using TopicCommand = std::variant<UpsertEndpoints, RemoveEndpoints, SetGroupOptions, CreateTopic,
                                  SetTopic, DeleteTopic, Subscribe, ConfirmSubscription,
                                  Unsubscribe, SetSubscription, PublishToTopic>;

// ---- replies ----

struct TopicMade {
  bool existed = false;
  std::shared_ptr<const ReadTopic> topic{};  ///< as it is now
};

/// The reply to a Subscribe and to a ConfirmSubscription.
struct Subscribed {
  bool existed = false;
  std::shared_ptr<const ReadTopic> topic{};  ///< as it is now
  std::string id{};                          ///< of the subscription in it
};

/// The reply to a PublishToTopic.
struct TopicPublished {
  /// FIFO topics: what was published is known by it. Its seq is the sequence number, which rises;
  /// no message has it.
  MessageId id{};
  bool deduplicated = false;
};

using TopicReply = std::variant<TopicMade, Subscribed, TopicPublished>;

}  // namespace hk::core
