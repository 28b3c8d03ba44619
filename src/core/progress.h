/// What only grows, also across restarts: the epoch, the partition's time, the numbers of batches
/// and messages, and how far the index reaches. Part of the Context.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/batch.h"
#include "core/limits.h"
#include "core/reader.h"

namespace hk::core {

class Progress {
 public:
  /// A new epoch begins.
  void recover(Reader& reader, Moment now);
  /// Time does not run backwards.
  void not_before(Moment time) { meta_.time = std::max(meta_.time, time); }
  std::uint64_t next_batch() { return ++batch_number_; }
  Seq next_message();
  /// Every unfinished message up to this one has an index entry.
  void indexed(Seq up_to);
  /// With this batch, whatever else is in it.
  void write_now() { wanted_ = true; }
  /// Not in every batch: recovery reads on from whatever was last written.
  void flush(Batch& batch, const Limits& limits);

  [[nodiscard]] std::uint32_t epoch() const { return meta_.epoch; }
  [[nodiscard]] Moment time() const { return meta_.time; }
  [[nodiscard]] Seq last_message() const { return last_seq_; }
  [[nodiscard]] Seq indexed_up_to() const { return meta_.indexed_up_to; }

 private:
  Meta meta_{};
  Meta written_{};
  bool wanted_ = false;
  Seq last_seq_{};
  std::uint64_t batch_number_ = 0;
};

}  // namespace hk::core
