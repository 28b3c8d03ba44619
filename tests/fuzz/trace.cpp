// The traceparent of a request and the address of a collector: what is accepted is written as it
// was read.
#include "observe/trace.h"

#include "base/assert.h"
#include "fuzz/text.h"
#include "observe/otlp_endpoint.h"

using namespace hk;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(fuzz::as_text(data, size));
  if (const auto parent = observe::parse_traceparent(text)) {
    HK_ASSERT(observe::format_traceparent(*parent) == text);
  }
  if (const auto endpoint = observe::parse_otlp_endpoint(text)) {
    HK_ASSERT(!endpoint->host.empty() && endpoint->target.starts_with('/'));
    const auto again = observe::parse_otlp_endpoint(endpoint->authority_key() + endpoint->target);
    HK_ASSERT(again && *again == *endpoint);
  } else {
    HK_ASSERT(!endpoint.error().message.empty());
  }
  return 0;
}
