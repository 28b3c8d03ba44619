/// Time zones by their IANA name, from the files that the tzdata package installs. Called when a
/// schedule names a zone: it opens and reads a small file, so not for every run. Any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "core/schedule/zone.h"

namespace hk::engine {

inline constexpr std::string_view system_zone_directory = "/usr/share/zoneinfo";

/// "UTC" and "Etc/UTC" need no file. A name that is not an IANA name is refused before anything is
/// opened, so that it cannot lead out of the directory; "localtime" and "posixrules", which mean
/// another zone on every machine, are no zones.
/// invalid_argument: there is no such zone; unavailable: the directory is not there or cannot be
/// read; corruption: the file is damaged.
Result<core::Zone> load_zone(std::string_view name,
                             const std::string& directory = std::string(system_zone_directory));

}  // namespace hk::engine
