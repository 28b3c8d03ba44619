#include "observe/otlp_endpoint.h"

#include <string_view>

namespace hk::observe {

Result<net::Url> parse_otlp_endpoint(const std::string& text) {
  const auto wrong = [&text](std::string_view why) {
    return fail(ErrorKind::invalid_argument, "the trace collector's address \"" + text +
                                                 "\" cannot be used (" + std::string(why) +
                                                 "); it should look like http://127.0.0.1:4318");
  };
  auto url = net::parse_url(text);
  if (!url) {
    return wrong(url.error().message);
  }
  if (url->target.contains('?')) {
    return wrong("a query is not supported");
  }
  if (url->target == "/") {
    url->target = "/v1/traces";
  }
  return url;
}

}  // namespace hk::observe
