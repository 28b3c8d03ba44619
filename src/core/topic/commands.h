/// Commands about topics: names for several destinations.
#pragma once

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

/// Creates a topic of SNS, or replaces it as a whole. conflict: its version and incarnation are not
/// the stored ones (0: there is none); quota_reached: too many subscriptions, or too much text.
/// Versions and times are the core's.
struct PutTopic {
  Topic topic{};
};

/// Done, also if there is none.
struct DeleteTopic {
  TenantId tenant{};
  TopicKind kind{};
  std::string name{};
};

using TopicCommand = std::variant<UpsertEndpoints, RemoveEndpoints, SetGroupOptions, PutTopic,
                                  DeleteTopic, PublishToTopic>;

// ---- replies ----

/// The reply to a PublishToTopic.
struct TopicPublished {
  /// FIFO topics: what was published is known by it. Its seq is the sequence number, which rises;
  /// no message has it.
  MessageId id{};
  bool deduplicated = false;
};

using TopicReply = std::variant<TopicPublished>;

}  // namespace hk::core
