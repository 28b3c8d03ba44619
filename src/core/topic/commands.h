/// Commands about topics: names for several destinations.
#pragma once

#include <string>
#include <variant>
#include <vector>

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

/// Creates a topic of SNS, or replaces it as a whole. conflict: its version is not the stored one
/// (0: there is none); quota_reached: too many subscriptions, or too much text. Versions and times
/// are the core's.
struct PutTopic {
  Topic topic{};
};

/// Done, also if there is none.
struct DeleteTopic {
  TenantId tenant{};
  TopicKind kind{};
  std::string name{};
};

using TopicCommand =
    std::variant<UpsertEndpoints, RemoveEndpoints, SetGroupOptions, PutTopic, DeleteTopic>;

}  // namespace hk::core
