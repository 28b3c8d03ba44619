/// The address of a trace collector.
#pragma once

#include <string>

#include "base/error.h"

namespace hk::observe {

struct OtlpEndpoint {
  bool tls = false;
  std::string host{};  ///< without brackets
  std::string port{};
  std::string path{};
  std::string authority{};  ///< as given: for the Host header and for logs
};

Result<OtlpEndpoint> parse_otlp_endpoint(const std::string& text);

}  // namespace hk::observe
