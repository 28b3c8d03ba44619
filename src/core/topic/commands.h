/// Commands about topics: names for several destinations.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "core/topic/record.h"

namespace hk::core {

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

struct DeleteUrlGroupCommand {
  TenantId tenant{};
  std::string group{};
};

using TopicCommand =
    std::variant<UpsertEndpoints, RemoveEndpoints, SetGroupOptions, DeleteUrlGroupCommand>;

}  // namespace hk::core
