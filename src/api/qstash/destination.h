/// The destination that stands raw in the path of a publish (§1.6 of the wire specification):
/// nothing is decoded, merged or resolved. Pure, any thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace hk::api::qstash {

struct Destination {
  std::string url{};
  /// Parameters that are options for us: names in lower case without "upstash-", values decoded.
  std::vector<std::pair<std::string, std::string>> options{};
};

/// `rest` is everything behind the route's prefix, query included.
/// invalid_argument: empty, or neither URL nor name; not_found: a URL group that does not exist.
Result<Destination> parse_destination(std::string_view rest);

}  // namespace hk::api::qstash
