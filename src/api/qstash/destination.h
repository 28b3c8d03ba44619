/// The destination that stands raw in the path of a publish (§1.6 of the wire specification):
/// nothing is decoded, merged or resolved. Pure, any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace hk::api::qstash {

struct Destination {
  std::string url{};    ///< "" = it is a URL group
  std::string topic{};  ///< that group's name; whether it exists the core knows
  /// Parameters that are options for us: names in lower case without "upstash-", values decoded.
  std::vector<std::pair<std::string, std::string>> options{};
};

/// `rest` is everything behind the route's prefix, query included. What the query behind a group's
/// name holds besides options is ignored. invalid_argument: empty, or neither URL nor name.
Result<Destination> parse_destination(std::string_view rest);

/// The same where it stands alone, in JSON: the whole query is the destination's.
Result<Destination> parse_given_destination(std::string_view text);

/// The options in `rest` if no destination is; nullopt: there is one.
std::optional<std::vector<std::pair<std::string, std::string>>> options_without_destination(
    std::string_view rest);

}  // namespace hk::api::qstash
