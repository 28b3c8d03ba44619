#include "outbox/claim_size.h"

#include <gtest/gtest.h>

namespace hk::outbox {
namespace {

using namespace std::chrono_literals;

TEST(ClaimSizeTest, HalfAsManyAfterEachThatFailedDownToOne) {
  ClaimSize size(32);
  EXPECT_EQ(size.now(), 32U);
  size.failed();
  EXPECT_EQ(size.now(), 16U);
  for (int i = 0; i < 10; ++i) {
    size.failed();
  }
  EXPECT_EQ(size.now(), 1U);
}

TEST(ClaimSizeTest, MoreAgainWhenTheyAreQuickUpToTheBatch) {
  ClaimSize size(24);
  size.failed();
  size.failed();
  size.took(2s);
  EXPECT_EQ(size.now(), 6U) << "neither slow nor quick";
  size.took(10ms);
  EXPECT_EQ(size.now(), 12U);
  for (int i = 0; i < 3; ++i) {
    size.took(10ms);
  }
  EXPECT_EQ(size.now(), 24U);
}

TEST(ClaimSizeTest, FewerAfterASlowOne) {
  ClaimSize size(32);
  size.took(6s);
  EXPECT_EQ(size.now(), 16U);
}

}  // namespace
}  // namespace hk::outbox
