#include "core/progress.h"

#include "base/assert.h"

namespace hk::core {

void Progress::recover(Reader& reader, Moment now) {
  HK_ASSERT(meta_.epoch == 0);
  meta_ = reader.meta().value_or(Meta{});
  written_ = meta_;
  ++meta_.epoch;  // differs from what is stored, so that flush() writes it
  not_before(now);
  batch_number_ = static_cast<std::uint64_t>(meta_.epoch) << 32U;
  // Purged messages leave no trace in the table; the mark remembers that their numbers were used.
  last_seq_ = std::max(reader.last_seq(), meta_.indexed_up_to);
}

Seq Progress::next_message() {
  last_seq_ = Seq{last_seq_.value() + 1};
  return last_seq_;
}

void Progress::indexed(Seq up_to) {
  HK_ASSERT(up_to >= meta_.indexed_up_to);
  meta_.indexed_up_to = up_to;
}

void Progress::flush(Batch& batch, const Limits& limits) {
  const bool due = batch.has_mutations() && meta_.time >= written_.time + limits.meta_every;
  const bool far =
      meta_.indexed_up_to.value() >= written_.indexed_up_to.value() + limits.meta_every_messages;
  if (due || far || wanted_ || meta_.epoch != written_.epoch) {
    batch.put(Put<Meta>{meta_});
    written_ = meta_;
    wanted_ = false;
  }
}

}  // namespace hk::core
