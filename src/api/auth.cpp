#include "api/auth.h"

#include <string_view>

#include "api/text.h"
#include "base/ascii.h"

namespace hk::api {

std::string token_of(const http::Request& request, bool in_query) {
  if (const auto header = request.header("Authorization")) {
    constexpr std::string_view scheme = "bearer ";
    if (starts_with_ignoring_case(*header, scheme)) {
      return std::string(trim(header->substr(scheme.size())));
    }
  }
  std::string_view query = in_query ? request.query() : std::string_view{};
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    const std::string_view pair = query.substr(0, end);
    const std::size_t equals = pair.find('=');
    if (equals != std::string_view::npos && pair.substr(0, equals) == "qstash_token") {
      return http::percent_decode(pair.substr(equals + 1)).value_or(std::string{});
    }
    query = end == std::string_view::npos ? std::string_view{} : query.substr(end + 1);
  }
  return {};
}

}  // namespace hk::api
