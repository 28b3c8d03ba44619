/// Where the core finds a time zone by its name: it reads no files itself. The server has a cache
/// over the system's zone files (engine/zone/zone_cache.h), the simulator and tests a fixed set.
/// find() is called by the thread that runs the machine.
#pragma once

#include <string_view>

#include "core/schedule/zone.h"

namespace hk::core {

class Zones {
 public:
  Zones() = default;
  Zones(const Zones&) = delete;
  Zones& operator=(const Zones&) = delete;
  virtual ~Zones() = default;

  /// Null: there is no such zone, or none that can be read at the moment. What is found stays valid
  /// and unchanged as long as this object lives.
  virtual const Zone* find(std::string_view name) = 0;
};

}  // namespace hk::core
