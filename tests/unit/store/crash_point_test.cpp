#include "store/crash_point.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

namespace hk::store {
namespace HK_TEST_FILE {

TEST(CrashPointTest, OnlyADeclaredPointAndACountFromOneOnAreTaken) {
  for (const char* text : {"", ":", "batch_written", "batch_written:", "batch_written:0",
                           "batch_written:-1", "batch_written:1x", "batch_written:1:2", "rust:1",
                           "Batch_Written:1", "batch_written:99999999999999999999"}) {
    SCOPED_TRACE(text);
    const auto armed = arm_crash(text);
    ASSERT_FALSE(armed.has_value());
    EXPECT_EQ(armed.error().kind, ErrorKind::invalid_argument);
  }
}

TEST(CrashPointDeathTest, EndsTheProcessAtThatPassageAndAtNoOther) {
  EXPECT_EXIT(
      {
        if (!arm_crash("sync_begins:3")) {
          std::_Exit(1);
        }
        crash_point(CrashPoint::sync_begins);
        crash_point(CrashPoint::batch_written);
        crash_point(CrashPoint::sync_begins);
        crash_point(CrashPoint::sync_begins);
        std::_Exit(2);
      },
      testing::KilledBySignal(SIGKILL), "");
  EXPECT_EXIT(
      {
        if (!arm_crash("sync_begins:3")) {
          std::_Exit(1);
        }
        crash_point(CrashPoint::sync_begins);
        crash_point(CrashPoint::sync_begins);
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace HK_TEST_FILE
}  // namespace hk::store
