#include <future>

#include "harness.h"

namespace hk::http::test {

namespace HK_TEST_FILE {

/// What an I/O thread tells of its lag.
class Lags {
 public:
  explicit Lags(IoThread& thread) {
    std::promise<void> watching;
    thread.post([&] {
      thread.watch_lag([this](Time::time_point, std::chrono::nanoseconds lag) {
        const std::scoped_lock lock(mutex_);
        last_ = lag;
        ++told_;
        changed_.notify_all();
      });
      watching.set_value();
    });
    watching.get_future().wait();
  }

  /// Until one that `fits` is told.
  template <class Fits>
  bool wait(Fits fits) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [&] { return told_ > 0 && fits(last_); });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::chrono::nanoseconds last_{0};
  std::size_t told_ = 0;
};

TEST(Lag, IsWhatRequestsWaitForTheThread) {
  TestServer server;
  IoThread& thread = *server.server().threads().front();
  Lags lags(thread);
  std::atomic<bool> over{false};
  std::function<void()> be_busy = [&] {
    if (over) return;
    std::this_thread::sleep_for(30ms);
    thread.post(be_busy);
  };
  thread.post(be_busy);

  EXPECT_TRUE(lags.wait([](auto lag) { return lag >= 30ms; }));
  EXPECT_GE(server.server().stats().lag_seconds, 0.0);
  over = true;

  EXPECT_TRUE(lags.wait([](auto lag) { return lag < 30ms; }));
  // The one that ran when it was over has posted one more: behind the second of these nothing of it
  // is left that could touch what ends here.
  for (int i = 0; i < 2; ++i) {
    std::promise<void> passed;
    thread.post([&] { passed.set_value(); });
    passed.get_future().wait();
  }
}

TEST(Lag, IsToldWhileNothingHappens) {
  TestServer server;
  Lags lags(*server.server().threads().front());

  EXPECT_TRUE(lags.wait([](auto lag) { return lag >= 0ns; }));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::http::test
