#include "base/sortable_id.h"

#include <gtest/gtest.h>

namespace hk {
namespace HK_TEST_FILE {

constexpr NanoMoment at{std::chrono::nanoseconds{1'790'000'000'123'456'789}};

TEST(SortableId, IsWrittenAsItAlwaysWas) {
  EXPECT_EQ(sortable_id("ltx_", at, 123'456'789'012, 0x0102030405060708),
            "ltx_3Jdnq5XLvG5ayItkDjIxa4gmhc8");
}

TEST(SortableId, HoldsItsNumberAndSortsByTime) {
  const std::string id = sortable_id("ltx_", at, 123'456'789'012, 0x00ffffffffffffff);
  EXPECT_EQ(id.size(), 31U);
  EXPECT_EQ(number_in_id(id, "ltx_"), 123'456'789'012U);
  EXPECT_EQ(number_in_id(id, "lac_"), std::nullopt);
  EXPECT_LT(id, sortable_id("ltx_", at + std::chrono::seconds{1}, 1, 0));
  EXPECT_LT(id, sortable_id("ltx_", at + std::chrono::milliseconds{4}, 1, 0));
  EXPECT_LT(sortable_id("ltx_", NanoMoment{}, UINT64_MAX, UINT64_MAX), id);
  EXPECT_EQ(number_in_id(sortable_id("x", at, UINT64_MAX, UINT64_MAX), "x"), UINT64_MAX);
  EXPECT_EQ(number_in_id("ltx_" + std::string(27, 'z'), "ltx_"), std::nullopt);
  EXPECT_EQ(number_in_id("ltx_" + std::string(26, '0') + "-", "ltx_"), std::nullopt);
}

TEST(SortableId, IsTakenApartAgain) {
  const auto parts =
      parse_sortable_id(sortable_id("x_", at, UINT64_MAX - 1, 0x80aabbccddeeff), "x_");
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->second, 1'790'000'000);
  EXPECT_EQ(parts->number, UINT64_MAX - 1);
  EXPECT_EQ(parts->random, 0x80aabbccddeeffU);
  EXPECT_FALSE(parse_sortable_id("x_short", "x_"));
}

}  // namespace HK_TEST_FILE
}  // namespace hk
