/// The URL that a message is for: net/url.h, with texts for the person who published. Pure; any
/// thread.
#pragma once

#include <string_view>

#include "base/error.h"
#include "net/url.h"

namespace hk::delivery {

/// invalid_argument: empty, or net::parse_url() does not take it.
Result<net::Url> parse_destination(std::string_view text);

}  // namespace hk::delivery
