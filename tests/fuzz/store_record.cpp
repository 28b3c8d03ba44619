// Records of the store from arbitrary bytes: the first byte says which kind, the rest is the value.
// What is decoded is written in a form that is read as the same and written the same again.
#include "base/assert.h"
#include "core/table.h"
#include "fuzz/text.h"
#include "store/codec.h"
#include "store/table_name.h"

using namespace hk;
using namespace hk::store;

namespace {

template <class R>
void check(std::string_view value) {
  const auto record = Codec<R>::decode({}, value);
  if (!record) {
    HK_ASSERT(record.error().kind == ErrorKind::corruption);
    return;
  }
  const std::string written = Codec<R>::encode(*record);
  const auto again = Codec<R>::decode({}, written);
  HK_ASSERT(again && Codec<R>::encode(*again) == written);  // bytes: a factor may be no number
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::string_view value = fuzz::as_text(data + 1, size - 1);
  core::for_each_record([&]<class R>() {
    if (static_cast<std::size_t>(table_of<R>) == data[0] % table_places) {
      check<R>(value);
    }
  });
  return 0;
}
