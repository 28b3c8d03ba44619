#include "delivery/envelope/qstash.h"

#include "delivery/envelope/fields.h"

namespace hk::delivery {
namespace {

/// A label may be any text; one that cannot be a field value stays here.
std::string joined_labels(const core::Message& message) {
  std::string joined;
  for (const std::string& label : message.labels) {
    if (safe_value(label)) {
      joined.append(joined.empty() ? "" : ",").append(label);
    }
  }
  return joined;
}

}  // namespace

Result<void> QstashEnvelope::append_fields(std::string& out, const Addressed& addressed) {
  if (auto done = identity_.append_signed(out, addressed); !done) {
    return done;
  }
  const core::Message& message = *addressed.request.message;
  append_field_if_safe(out, "Upstash-Schedule-Id", message.schedule);
  append_field_if_safe(out, "Upstash-Label", joined_labels(message));
  append_field_if_safe(out, "Upstash-Topic-Name", message.topic);
  Identity::append_own(out, addressed);
  return {};
}

}  // namespace hk::delivery
