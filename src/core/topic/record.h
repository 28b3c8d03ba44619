/// Topics as they are stored.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "core/message.h"

namespace hk::core {

struct Endpoint {
  std::string name{};  ///< "" = none; unique in its group otherwise
  std::string url{};
  std::string host{};  ///< of url, as in Message
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};
/// A name for several destinations. Publishing to it makes one message per endpoint.
struct UrlGroup {
  TenantId tenant{};
  std::string name{};
  std::vector<Endpoint> endpoints{};  ///< in the order in which they were added
  std::vector<Header> options{};      ///< option headers that a publish to it has by default
  Moment created_at{};
  Moment updated_at{};
  friend bool operator==(const UrlGroup&, const UrlGroup&) = default;
};
inline std::tuple<const TenantId&, const std::string&> key_of(const UrlGroup& group) {
  return {group.tenant, group.name};
}

}  // namespace hk::core
