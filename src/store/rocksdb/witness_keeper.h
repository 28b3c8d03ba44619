/// Writes the witness from a thread of its own, so that an acknowledgement never waits for it:
/// while there is something durable that it does not name yet, it is written every few
/// milliseconds. A witness per group would double the syncs of the disk and name hardly more.
/// finish() and level() are called by the sync thread.
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
  /// How long a durable batch may go unwitnessed, the write itself not counted.
  static constexpr std::chrono::milliseconds lag_max{5};

  explicit WitnessKeeper(WitnessFile file);
  ~WitnessKeeper();  ///< what is written is written; call level() before for the rest

  /// A sync returned and covers `durable`. The error, if any, of an earlier write.
  Result<void> finish(const Link& durable);
  /// Waits until everything durable is witnessed.
  Result<void> level();

  [[nodiscard]] BatchSeq witnessed();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable wake_;     ///< of the thread
  std::condition_variable written_;  ///< of who waits for it
  // Protected by mutex_.
  Link durable_;
  Link done_;
  std::chrono::steady_clock::time_point next_write_{};
  std::optional<Error> error_;
  bool asleep_ = false;  ///< the thread waits without a deadline
  bool stop_ = false;

  WitnessFile file_;  ///< the thread's own
  std::thread thread_;
};

}  // namespace hk::store
