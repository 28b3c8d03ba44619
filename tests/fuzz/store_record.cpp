// Records of the store from arbitrary bytes: the first byte says which kind, the rest is the value.
// What is decoded is written in a form that is read as the same and written the same again.
#include "store/record.h"

#include "base/assert.h"
#include "fuzz/text.h"
#include "store/codec.h"

using namespace hk;
using namespace hk::store;

namespace {

constexpr core::Seq seq{77};
constexpr core::TenantId tenant{5};
constexpr Moment moment = moment_from_ms(1'700'000'000'000);

template <class Decode, class Encode>
void check(std::string_view value, Decode decode, Encode encode) {
  const auto record = decode(value);
  if (!record) {
    HK_ASSERT(record.error().kind == ErrorKind::corruption);
    return;
  }
  const std::string written = encode(*record);
  const auto again = decode(written);
  HK_ASSERT(again && encode(*again) == written);  // bytes, since a factor may be no number
}

template <class Decode, class Encode>
void check_named(std::string_view value, Decode decode, Encode encode) {
  check(
      value, [decode](std::string_view bytes) { return decode(tenant, "kind/name", bytes); },
      encode);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::string_view value = fuzz::as_text(data + 1, size - 1);
  switch (data[0] % 16) {
    case 0:
      check(
          value, [](auto v) { return decode_message(seq, v); }, encode_message);
      break;
    case 1: check(value, decode_state, encode_state); break;
    case 2: check(value, decode_attempt, encode_attempt); break;
    case 3:
      check(
          value,
          [](auto v) {
            return decode_lane_entry({moment, seq}, v);
          },
          encode_lane_entry);
      break;
    case 4: check(value, decode_dedup, encode_dedup); break;
    case 5:
      check(
          value, [](auto v) { return decode_events(tenant, moment, 42, v); }, encode_events);
      break;
    case 6:
      check(
          value, [](auto v) { return decode_expiry(moment, 43, v); }, encode_expiry);
      break;
    case 7: check_named(value, decode_queue, encode_queue); break;
    case 8: check_named(value, decode_flow_key, encode_flow_key); break;
    case 9: check_named(value, decode_url_group, encode_url_group); break;
    case 10: check_named(value, decode_schedule, encode_schedule); break;
    case 11: check(value, decode_schedule_state, encode_schedule_state); break;
    case 12: check_named(value, decode_document, encode_document); break;
    case 13:
      check(
          value, [](auto v) { return decode_tenant(tenant, v); }, encode_tenant);
      break;
    case 14: check(value, decode_counters, encode_counters); break;
    default: check(value, decode_meta, encode_meta); break;
  }
  return 0;
}
