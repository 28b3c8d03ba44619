/// What only grows, also across restarts: the epoch, the partition's time, the numbers of batches
/// and messages, and how far the index reaches. Part of the Context.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/error.h"
#include "core/batch.h"
#include "core/limits.h"
#include "core/reader.h"

namespace hk::core {

/// How a partition begins to work, as whoever knows that it has no other owner has decided.
struct Term {
  std::optional<std::uint32_t> epoch{};  ///< none: the one after the last
  std::optional<Origin> origin{};        ///< none: what is stored, 0 if nothing is
  /// It is a copy of another partition, or was imported: it numbers its messages anew from here on.
  bool take_over = false;
};

class Progress {
 public:
  /// A new epoch begins. conflict: it is not later than the last one, or the store is of another
  /// origin (and is not taken over, or to a lower one, whose messages would come before the
  /// others).
  Result<void> recover(Reader& reader, Moment now, const Term& term);
  /// Everything is indexed that has been numbered so far: from now on by the term's origin.
  void begin_numbering();
  /// Time does not run backwards.
  void not_before(Moment time) { meta_.time = std::max(meta_.time, time); }
  std::uint64_t next_batch() { return ++batch_number_; }
  Seq next_message();
  /// Of what is no message: it rises, and is later than all that earlier versions gave out, which
  /// had no other memory than the clock. Written with the batch.
  std::uint64_t next_number();
  /// Of a claim: it rises, and is a number that JavaScript can hold. Written with the batch.
  std::uint64_t next_token();
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
  Origin origin_{};  ///< of the term
  Seq last_seq_{};
  std::uint64_t batch_number_ = 0;
};

}  // namespace hk::core
