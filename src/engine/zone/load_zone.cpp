#include "engine/zone/load_zone.h"

#include <filesystem>
#include <fstream>

#include "engine/zone/tzif.h"

namespace hk::engine {

namespace {

namespace fs = std::filesystem;

std::unexpected<Error> unknown(std::string_view name) {
  const bool is_name = core::is_zone_name(name);
  return fail(ErrorKind::invalid_argument,
              (is_name ? "there is no time zone \"" + std::string(name) + "\""
                       : std::string("that is not the name of a time zone")) +
                  "; write an IANA name like UTC, Europe/Berlin or America/New_York (upper and "
                  "lower case matter)");
}

/// Follows links: the aliases of zones are links.
Result<std::string> read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(tzif_bytes_max + 1, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (file.bad() || (file.fail() && !file.eof())) {
    return fail(ErrorKind::unavailable,
                "the time zone file " + path + " cannot be read; check its permissions");
  }
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

}  // namespace

Result<core::Zone> load_zone(std::string_view name, const std::string& directory) {
  if (name == "UTC" || name == "Etc/UTC") {
    return core::Zone{};
  }
  if (!core::is_zone_name(name) || name == "localtime" || name == "posixrules") {
    return unknown(name);
  }
  std::error_code failed;
  if (!fs::is_directory(directory, failed)) {
    return fail(ErrorKind::unavailable, "there are no time zones in " + directory +
                                            "; install the tzdata package, or use UTC");
  }
  const std::string path = directory + "/" + std::string(name);
  if (!fs::is_regular_file(path, failed)) {
    return unknown(name);
  }
  const auto bytes = read_bytes(path);
  if (!bytes) {
    return std::unexpected(bytes.error());
  }
  if (!is_tzif(*bytes)) {  // lists and versions are kept beside the zones
    return unknown(name);
  }
  auto zone = parse_tzif(*bytes);
  if (!zone) {
    return fail(zone.error().kind, std::string(name) + ": " + zone.error().message);
  }
  return zone;
}

}  // namespace hk::engine
