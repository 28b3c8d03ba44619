#include "engine/tenant_room.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace hk::engine {
namespace HK_TEST_FILE {

constexpr core::TenantId one{1};
constexpr core::TenantId two{2};

TEST(TenantRoom, ATenantLeavesSomeForOthers) {
  const auto room = std::make_shared<TenantRoom>(10);
  std::vector<std::shared_ptr<const void>> parts;
  while (auto part = TenantRoom::take(room, one)) {
    parts.push_back(std::move(part));
  }
  EXPECT_EQ(parts.size(), 8U);
  auto other = TenantRoom::take(room, two);
  EXPECT_NE(other, nullptr);
  EXPECT_EQ(TenantRoom::take(room, one), nullptr);
  parts.clear();
  EXPECT_EQ(room->taken(), 1U);
  EXPECT_NE(TenantRoom::take(room, one), nullptr);
}

TEST(TenantRoom, HoldsNoMoreThanItsSizeExceptForOneAlone) {
  const auto room = std::make_shared<TenantRoom>(100);
  auto large = TenantRoom::take(room, one, 1000);
  ASSERT_NE(large, nullptr) << "it would never fit";
  EXPECT_EQ(TenantRoom::take(room, two), nullptr);
  large.reset();
  EXPECT_EQ(room->taken(), 0U);

  auto most = TenantRoom::take(room, one, 70);
  ASSERT_NE(most, nullptr);
  EXPECT_EQ(TenantRoom::take(room, two, 31), nullptr);
  EXPECT_NE(TenantRoom::take(room, two, 30), nullptr);
}

TEST(TenantRoom, IsThereAsLongAsAPartOfIt) {
  auto room = std::make_shared<TenantRoom>(1);
  auto part = TenantRoom::take(room, one);
  room.reset();
  part.reset();
}

}  // namespace HK_TEST_FILE
}  // namespace hk::engine
