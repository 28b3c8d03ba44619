// Keys of the store from arbitrary bytes: a key that is understood is the only one that says so,
// and the ends of ranges are behind what they must be behind.
#include "store/key.h"

#include "base/assert.h"
#include "fuzz/text.h"
#include "store/rocksdb/chain.h"

using namespace hk;
using namespace hk::store;

namespace {

void check_numbers(std::string_view key) {
  if (const auto seq = parse_seq_key(key)) {
    HK_ASSERT(seq_key(*seq) == key);
  }
  if (const auto attempt = parse_attempt_key(key)) {
    HK_ASSERT(attempt_key(attempt->first, attempt->second) == key);
  }
  if (const auto letter = parse_dead_letter_key(key)) {
    HK_ASSERT(dead_letter_key(*letter) == key);
  }
  if (const auto event = parse_event_key(key)) {
    HK_ASSERT(event_key(event->tenant, event->time, event->batch) == key);
  }
  if (const auto expiry = parse_expiry_key(key)) {
    HK_ASSERT(expiry_key(expiry->first, expiry->second) == key);
  }
  if (const auto tenant = parse_tenant_key(key)) {
    HK_ASSERT(tenant_key(*tenant) == key);
  }
}

void check_texts(std::string_view key) {
  if (const auto lane = parse_lane_entry_key(key)) {
    HK_ASSERT(lane_entry_key(lane->first, lane->second) == key);
    HK_ASSERT(key.starts_with(lane_prefix(lane->first)));
  }
  if (const auto due = parse_schedule_due_key(key)) {
    HK_ASSERT(schedule_due_key(*due) == key);
  }
  if (const auto named = parse_named_key(key)) {
    HK_ASSERT(named_key(named->first, named->second) == key);
  }
}

}  // namespace

/// A key; behind its first line also the value of a link of the chain.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view key = fuzz::as_text(data, size);
  check_numbers(key);
  check_texts(key);
  HK_ASSERT(after_key(std::string(key)) > key);
  const std::string end = prefix_end(std::string(key));
  HK_ASSERT(end.empty() || (end > key && !end.starts_with(key)));

  std::string_view value = key;
  const std::string_view chain = fuzz::take_line(value);
  if (const auto link = parse_chain_value(chain, value)) {
    HK_ASSERT(chain_key(link->seq) == chain && chain_value(*link) == value);
  }
  return 0;
}
