// Keys of the store from arbitrary bytes: a key that is understood is the only one that says so,
// and the ends of ranges are behind what they must be behind.
#include "store/key.h"

#include "base/assert.h"
#include "fuzz/text.h"
#include "store/rocksdb/chain.h"

using namespace hk;
using namespace hk::store;

/// A key; behind its first line also the value of a link of the chain.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view key = fuzz::as_text(data, size);
  core::for_each_record([key]<class R>() {
    if (const auto parsed = decode_key<R>(key)) {
      HK_ASSERT(encode_key<R>(*parsed) == key);
    }
  });
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
