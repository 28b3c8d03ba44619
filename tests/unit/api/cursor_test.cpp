#include "api/cursor.h"

#include <gtest/gtest.h>

#include "base/time.h"

namespace hk::api {
namespace HK_TEST_FILE {

TEST(Cursor, ComesBackForItsOwnListingOnly) {
  const CursorScope scope{Listing::event_log, core::TenantId{1}, true};
  const CursorPlace place{1'700'000'000'000, 7, 3};
  const std::string text = encode_cursor(scope, place);

  EXPECT_EQ(decode_cursor(scope, text), place);
  EXPECT_FALSE(decode_cursor({Listing::dead_letters, core::TenantId{1}, true}, text));
  EXPECT_FALSE(decode_cursor({Listing::event_log, core::TenantId{2}, true}, text));
  EXPECT_FALSE(decode_cursor({Listing::event_log, core::TenantId{1}, false}, text));
}

TEST(Cursor, AnyChangedCharacterIsNoticed) {
  const CursorScope scope{Listing::dead_letters, core::TenantId{1}, false};
  const std::string text = encode_cursor(scope, {123, 45, 6});

  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = changed[i] == '1' ? '2' : '1';
    EXPECT_FALSE(decode_cursor(scope, changed)) << changed;
  }
  for (const std::string_view other : {"", "-", "1-2-3", "1-2-3-", "x"}) {
    EXPECT_FALSE(decode_cursor(scope, other)) << other;
  }
  EXPECT_FALSE(decode_cursor(
      scope, encode_cursor(scope, {static_cast<std::uint64_t>(to_ms(never)) + 1, 0, 0})));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api
