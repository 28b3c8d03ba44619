/// Movements of an account and currency as bytes: appended one by one, read from the beginning.
/// Pure functions.
#pragma once

#include <cstdint>
#include <optional>

#include "core/ledger/record.h"

namespace hk::core::ledger {

/// Adds the movement at the end. REQUIRES: in the order of seq, and of recorded_at.
void append(Run& run, const Movement& movement);

/// Reads a run: after a mistake (which CorruptRecord tells of) there is no more.
class RunReader {
 public:
  explicit RunReader(const Run& run);

  /// Nothing: that was the last. Throws CorruptRecord.
  std::optional<Movement> next();
  /// What had moved after the movement that next() gave out last.
  [[nodiscard]] const Counters128& sum() const { return sum_; }
  [[nodiscard]] const Counters128& late_sum() const { return late_sum_; }
  [[nodiscard]] std::uint64_t version() const { return version_; }

 private:
  std::string_view rest_;
  std::uint64_t seq_;
  Instant recorded_;
  Counters128 sum_;
  Counters128 late_sum_;
  std::uint64_t version_;
  std::uint64_t counted_seq_ = 0;
};

}  // namespace hk::core::ledger
