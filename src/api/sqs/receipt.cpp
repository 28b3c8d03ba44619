#include "api/sqs/receipt.h"

#include <array>

#include "base/encoding.h"
#include "security/digest.h"

namespace hk::api::sqs {

namespace {

constexpr char version = 1;
constexpr std::size_t mac_bytes = 16;
constexpr std::size_t handle_bytes = 1 + 8 + 8 + 4 + mac_bytes;

template <class Number>
void put(std::string& out, Number value) {
  for (std::size_t i = sizeof(Number); i > 0; --i) {
    out.push_back(static_cast<char>(value >> (8 * (i - 1))));
  }
}
template <class Number>
Number get(std::string_view bytes, std::size_t at) {
  Number value = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    value = static_cast<Number>((value << 8U) | static_cast<std::uint8_t>(bytes[at + i]));
  }
  return value;
}

std::string mac(const Secret& key, core::TenantId tenant, std::string_view queue,
                std::string_view content) {
  std::string signed_text(content);
  put(signed_text, tenant.value());
  signed_text += queue;
  const security::Digest256 digest = security::hmac_sha256(key.reveal(), signed_text);
  return {digest.begin(), digest.begin() + mac_bytes};
}

}  // namespace

std::string to_handle(const Secret& key, core::TenantId tenant, std::string_view queue,
                      const core::Receipt& receipt) {
  std::string bytes(1, version);
  put(bytes, receipt.id.seq.value());
  put(bytes, receipt.id.nonce);
  put(bytes, receipt.receive);
  bytes += mac(key, tenant, queue, bytes);
  return base64(bytes);
}

std::optional<core::MessageId> claimed_by_handle(std::string_view handle) {
  const auto bytes = unbase64(handle);
  if (!bytes || bytes->size() != handle_bytes || bytes->front() != version) {
    return std::nullopt;
  }
  return core::MessageId{core::Seq{get<std::uint64_t>(*bytes, 1)}, get<std::uint64_t>(*bytes, 9)};
}

std::optional<core::Receipt> parse_handle(const Secret& key, core::TenantId tenant,
                                          std::string_view queue, std::string_view handle) {
  const auto bytes = unbase64(handle);
  if (!bytes || bytes->size() != handle_bytes || bytes->front() != version) {
    return std::nullopt;
  }
  const std::string_view content = std::string_view(*bytes).substr(0, handle_bytes - mac_bytes);
  if (!security::constant_time_equal(mac(key, tenant, queue, content),
                                     std::string_view(*bytes).substr(content.size()))) {
    return std::nullopt;
  }
  return core::Receipt{{core::Seq{get<std::uint64_t>(content, 1)}, get<std::uint64_t>(content, 9)},
                       get<std::uint32_t>(content, 17)};
}

}  // namespace hk::api::sqs
