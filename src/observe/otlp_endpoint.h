/// The address of a trace collector.
#pragma once

#include <string>

#include "base/error.h"
#include "net/url.h"

namespace hk::observe {

/// An http or https URL; without a path it is that of OTLP's own. invalid_argument: it is none, or
/// has a query.
Result<net::Url> parse_otlp_endpoint(const std::string& text);

}  // namespace hk::observe
