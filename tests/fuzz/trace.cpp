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
    HK_ASSERT(!endpoint->host.empty() && endpoint->path.starts_with('/'));
    HK_ASSERT(endpoint->authority.find(endpoint->host) != std::string::npos);
    const auto again = observe::parse_otlp_endpoint((endpoint->tls ? "https://" : "http://") +
                                                    endpoint->authority + endpoint->path);
    HK_ASSERT(again && again->host == endpoint->host && again->port == endpoint->port &&
              again->path == endpoint->path);
  } else {
    HK_ASSERT(!endpoint.error().message.empty());
  }
  return 0;
}
