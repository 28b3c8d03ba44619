/// Writes the witness beside the log's sync: while group n is being synced, the witness of group
/// n-1 is written by a thread of ours, so that it adds no latency and lags one group. 10 ms after
/// the last group of a burst it is brought level. begin(), finish() and level() are called by the
/// sync thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "store/rocksdb/witness_file.h"

namespace hk::store {

class WitnessKeeper {
 public:
  explicit WitnessKeeper(WitnessFile file);
  ~WitnessKeeper();  ///< what is written is written; call level() before for the rest

  /// A sync starts: the witness of everything durable so far is written meanwhile.
  void begin();
  /// The sync returned and covers `durable`: waits for the write that begin() asked for.
  Result<void> finish(const Link& durable);
  /// Waits until everything durable is witnessed.
  Result<void> level();

  [[nodiscard]] BatchSeq witnessed();

 private:
  void run();
  Result<void> wait_for_written(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable wake_;     ///< of the thread
  std::condition_variable written_;  ///< of who waits for it
  // Protected by mutex_.
  Link durable_;
  Link wanted_;
  Link done_;
  std::chrono::steady_clock::time_point last_group_{};
  std::optional<Error> error_;
  bool asleep_ = false;  ///< the thread waits without a deadline
  bool stop_ = false;

  WitnessFile file_;  ///< the thread's own
  std::thread thread_;
};

}  // namespace hk::store
