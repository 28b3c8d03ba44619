#include "cli/worker.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <memory>

namespace hk::cli {
namespace HK_TEST_FILE {

TEST(Worker, AStopWaitsForWhatRunsAndDropsWhatHasNotBegun) {
  Worker worker;
  std::latch begun{1};
  std::latch go_on{1};
  std::atomic<bool> ended = false;
  std::atomic<bool> other = false;
  const auto held = std::make_shared<int>(0);
  worker.post([&, held] {
    begun.count_down();
    go_on.wait();
    ended = true;
  });
  worker.post([&, held] { other = true; });
  begun.wait();
  bool told = false;
  worker.stop([&] {
    told = true;
    go_on.count_down();
  });
  EXPECT_TRUE(told);
  EXPECT_TRUE(ended);
  EXPECT_FALSE(other);
  EXPECT_EQ(held.use_count(), 1) << "what it held has ended, too";
  worker.post([&] { other = true; });
  worker.stop();
  EXPECT_FALSE(other);
}

TEST(Worker, RunsOneAfterTheOther) {
  Worker worker;
  std::latch done{2};
  int order = 0;
  worker.post([&] {
    EXPECT_EQ(++order, 1);
    done.count_down();
  });
  worker.post([&] {
    EXPECT_EQ(++order, 2);
    done.count_down();
  });
  done.wait();  // from inside the work: whether the second one still runs is open
  worker.stop();
}

TEST(Worker, AStopSaysNothingWhenNothingRuns) {
  Worker worker;
  worker.stop([] { ADD_FAILURE() << "nothing runs"; });
}

}  // namespace HK_TEST_FILE
}  // namespace hk::cli
