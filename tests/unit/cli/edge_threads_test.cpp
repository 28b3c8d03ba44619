#include "cli/edge_threads.h"

#include <gtest/gtest.h>

namespace hk::cli {
namespace HK_TEST_FILE {

TEST(EdgeThreads, LeaveTheCoreAndTheSyncThreadTheirs) {
  struct Row {
    std::uint64_t asked;
    unsigned cores;
    std::uint64_t threads;
  };
  for (const Row& row : {Row{0, 0, 1}, Row{0, 1, 1}, Row{0, 2, 1}, Row{0, 3, 1}, Row{0, 4, 2},
                         Row{0, 8, 4}, Row{0, 64, 4}, Row{1, 64, 1}, Row{64, 2, 64}}) {
    EXPECT_EQ(edge_threads(row.asked, row.cores), row.threads) << row.asked << " " << row.cores;
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::cli
