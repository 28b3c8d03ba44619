#include "delivery/destination.h"

namespace hk::delivery {

Result<net::Url> parse_destination(std::string_view text) {
  if (text.empty()) {
    return fail(ErrorKind::invalid_argument, "a non-empty destination must be provided");
  }
  auto url = net::parse_url(text);
  if (!url) {
    url.error().message.insert(0, "invalid destination url: ");
  }
  return url;
}

}  // namespace hk::delivery
