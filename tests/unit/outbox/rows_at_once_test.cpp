#include "outbox/rows_at_once.h"

#include <gtest/gtest.h>

namespace hk::outbox {
namespace HK_TEST_FILE {

using namespace std::chrono_literals;

TEST(RowsAtOnceTest, HalfAsManyAfterEachThatFailedDownToOne) {
  RowsAtOnce size(32);
  EXPECT_EQ(size.now(), 32U);
  size.failed();
  EXPECT_EQ(size.now(), 16U);
  for (int i = 0; i < 10; ++i) {
    size.failed();
  }
  EXPECT_EQ(size.now(), 1U);
}

TEST(RowsAtOnceTest, MoreAgainWhenTheyAreQuickUpToTheBatch) {
  RowsAtOnce size(24);
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

TEST(RowsAtOnceTest, FewerAfterASlowOne) {
  RowsAtOnce size(32);
  size.took(6s);
  EXPECT_EQ(size.now(), 16U);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::outbox
