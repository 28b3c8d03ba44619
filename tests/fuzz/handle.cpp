// What clients hand back to us (receipt handles, message ids, cursors) and the text forms of bytes:
// what is accepted is the one text of its value, and what was altered is refused.
#include "api/cursor.h"
#include "api/sqs/receipt.h"
#include "base/assert.h"
#include "base/bytes.h"
#include "base/encoding.h"
#include "fuzz/text.h"
#include "security/credentials.h"

using namespace hk;

namespace {

constexpr core::TenantId tenant{1};
constexpr std::size_t numbers_bytes = 20;

void check_receipt(const Secret& key, std::string_view text) {
  if (const auto receipt = api::sqs::parse_handle(key, tenant, "orders", text)) {
    HK_ASSERT(api::sqs::to_handle(key, tenant, "orders", *receipt) == text);
  }
  if (text.size() <= numbers_bytes) {
    return;
  }
  const core::Receipt receipt{
      {core::Seq{read_be<std::uint64_t>(text)}, read_be<std::uint64_t>(text.substr(8))},
      read_be<std::uint32_t>(text.substr(16))};
  std::string handle = api::sqs::to_handle(key, tenant, "orders", receipt);
  const auto parsed = api::sqs::parse_handle(key, tenant, "orders", handle);
  HK_ASSERT(parsed && parsed->id == receipt.id && parsed->receive == receipt.receive);
  HK_ASSERT(!api::sqs::parse_handle(key, tenant, "other", handle));
  HK_ASSERT(!api::sqs::parse_handle(key, core::TenantId{2}, "orders", handle));
  char& altered = handle[static_cast<unsigned char>(text[numbers_bytes]) % handle.size()];
  altered = altered == 'x' ? 'y' : 'x';
  HK_ASSERT(!api::sqs::parse_handle(key, tenant, "orders", handle));
}

void check_cursor(std::string_view text) {
  const api::CursorScope scope{api::Listing::event_log, tenant, true};
  (void)api::decode_cursor(scope, text);
  if (text.size() < numbers_bytes) {
    return;
  }
  const api::CursorPlace place{read_be<std::uint32_t>(text), read_be<std::uint64_t>(text),
                               read_be<std::uint64_t>(text.substr(8))};
  const std::string cursor = api::encode_cursor(scope, place);
  HK_ASSERT(api::decode_cursor(scope, cursor) == place);
  HK_ASSERT(!api::decode_cursor({api::Listing::event_log, tenant, false}, cursor));
}

void check_id(std::string_view text) {
  if (const auto id = core::parse_message_id(text)) {
    HK_ASSERT(id->seq.value() != 0);
    HK_ASSERT(core::to_text(*id) == text || core::uuid_text(*id) == text);
    HK_ASSERT(core::sequence_text(*id).size() == 20);
  }
}

void check_encodings(std::string_view text) {
  if (const auto bytes = unbase64(text)) {
    HK_ASSERT(base64(*bytes) == text);
  }
  if (const auto bytes = unbase64url(text)) {
    HK_ASSERT(base64url(*bytes) == text);
  }
  if (const auto bytes = unhex(text)) {
    HK_ASSERT(unhex(hex(*bytes)) == bytes && text.size() == 2 * bytes->size());
  }
  HK_ASSERT(unbase64(base64(text)) == text && unbase64url(base64url(text)) == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Secret key{"0123456789abcdef0123456789abcdef"};
  const std::string_view text = fuzz::as_text(data, size);
  check_receipt(key, text);
  check_cursor(text);
  check_id(text);
  check_encodings(text);
  (void)security::looks_like_token(text);
  return 0;
}
