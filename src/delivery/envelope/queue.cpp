#include "delivery/envelope/queue.h"

#include <cstddef>

#include "base/ascii.h"
#include "base/assert.h"
#include "delivery/headers.h"

namespace hk::delivery {
namespace {

constexpr std::size_t attribute_bytes_max = forwarded_bytes_max - 1024;

}  // namespace

std::span<const core::Header> QueueEnvelope::forwarded(const Request& request) {
  const core::Message& message = *request.message;
  HK_ASSERT(message.pull.has_value());
  fields_ = {{"Upstash-Queue-Name", message.queue}};
  if (!message.group.empty()) {
    fields_.push_back({"Upstash-Message-Group-Id", message.group});
  }
  std::size_t bytes = 0;
  bool typed = false;
  for (const core::Attribute& attribute : message.pull->attributes) {
    const std::size_t more = attribute.name.size() + attribute.value.size();
    if (attribute.type.starts_with("Binary") || bytes + more > attribute_bytes_max ||
        starts_with_ignoring_case(attribute.name, "upstash-") ||
        !may_forward(attribute.name, attribute.value)) {
      continue;
    }
    bytes += more;
    typed = typed || equals_ignoring_case(attribute.name, "content-type");
    fields_.push_back({attribute.name, attribute.value});
  }
  if (!typed) {
    fields_.push_back({"Content-Type", "text/plain; charset=utf-8"});
  }
  return fields_;
}

}  // namespace hk::delivery
