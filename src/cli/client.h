/// Where and as whom the commands that talk to a server do so: flags, then the environment, then
/// the profile, a file of `name = value` lines that only its owner can read.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cli/remote.h"

namespace hk::cli {

/// What the flags of a command say; "": nothing.
struct ClientFlags {
  std::string url{};
  Secret token{};
  std::string ca_file{};
  bool dev = false;
  bool json = false;
};

using Variable = std::function<std::optional<std::string>(const std::string&)>;

/// The first that is there: token flag, --dev, HIKYAKU_CLIENT_TOKEN, the profile's token if the
/// server is the profile's, HIKYAKU_TOKEN, QSTASH_TOKEN. A profile that cannot be used is the
/// connection's problem, unless it is not asked for a token.
Connection make_connection(const ClientFlags& flags);
Connection make_connection(const ClientFlags& flags, const Variable& variable);

std::string without_slash(std::string url);

}  // namespace hk::cli
