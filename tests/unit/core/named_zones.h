/// Time zones for a machine under test: UTC, and what a test adds or takes away.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "core/schedule/zones.h"

namespace hk::core::testing {

class NamedZones final : public Zones {
 public:
  std::map<std::string, Zone, std::less<>> known{{"UTC", Zone{}}};

  const Zone* find(std::string_view name) override {
    const auto found = known.find(name);
    return found == known.end() ? nullptr : &found->second;
  }
};

}  // namespace hk::core::testing
