#include "delivery/envelope/identity.h"

#include <utility>

#include "base/assert.h"
#include "delivery/envelope/fields.h"

namespace hk::delivery {

Identity::Identity(SigningKeys keys, std::uint64_t seed) : keys_(std::move(keys)), signer_(seed) {
  HK_ASSERT(keys_ != nullptr);
}

Result<void> Identity::append_signed(std::string& out, const Addressed& addressed) {
  const Request& request = addressed.request;
  const core::Message& message = *request.message;
  const auto key = keys_(request.tenant);
  if (key == nullptr || key->empty()) {
    return fail(ErrorKind::invalid_argument, "the tenant has no signing key");
  }
  append_field(out, "Upstash-Message-Id", core::to_text(request.id));
  append_field(out, "Upstash-Retried", request.retried);
  out.append("Upstash-Signature: ");
  signer_.append_token(out, *key,
                       {request.url(), message.body, addressed.now.time_since_epoch().count(),
                        request.fence, request.partition});
  out.append("\r\n");
  append_field_if_safe(out, "Upstash-Caller-Ip", message.caller_ip);
  return {};
}

void Identity::append_own(std::string& out, const Addressed& addressed) {
  const Request& request = addressed.request;
  const std::string id = core::to_text(request.id);
  append_field(out, "Hikyaku-Message-Id", id);
  append_field(out, "Hikyaku-Attempt", request.fence.attempt);
  append_field(out, "Hikyaku-Fence", fence_text(request.partition, request.fence));
  if (!addressed.has_idempotency_key) {
    append_field(out, "Idempotency-Key", id);
  }
}

}  // namespace hk::delivery
