// Destinations, alone and in the path of a publish: what is accepted has one reading, which is the
// one that the egress guard judges, and can be written to a request as it is.
#include "delivery/destination.h"

#include "api/qstash/destination.h"
#include "api/text.h"
#include "base/ascii.h"
#include "base/assert.h"
#include "delivery/address.h"
#include "delivery/headers.h"
#include "fuzz/text.h"

using namespace hk;

namespace {

void check_url(std::string_view text) {
  const auto url = delivery::parse_destination(text);
  if (!url) {
    HK_ASSERT(url.error().kind == ErrorKind::invalid_argument);
    return;
  }
  HK_ASSERT(!url->host.empty() && url->port != 0);
  HK_ASSERT(delivery::safe_target(url->target) && delivery::safe_value(url->host_header()));
  HK_ASSERT(delivery::parse_destination(url->authority_key() + url->target) == url);
  const auto address = delivery::parse_address(url->host);
  HK_ASSERT(address.has_value() == (url->kind != net::HostKind::name));
  HK_ASSERT(!address || delivery::to_text(*address) == url->host);
}

void check_destination(const Result<api::qstash::Destination>& destination) {
  if (!destination) {
    HK_ASSERT(!destination.error().message.empty());
    return;
  }
  HK_ASSERT(destination->url.empty() != destination->topic.empty());
  for (const auto& [name, value] : destination->options) {
    HK_ASSERT(name == lower_case(name));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::as_text(data, size);
  check_url(text);
  check_destination(api::qstash::parse_destination(text));
  check_destination(api::qstash::parse_given_destination(text));
  (void)api::qstash::options_without_destination(text);
  if (const auto address = delivery::parse_address(text)) {
    HK_ASSERT(text.find('\0') == std::string_view::npos);
    HK_ASSERT(delivery::parse_address(delivery::to_text(*address)) == address);
  }
  return 0;
}
