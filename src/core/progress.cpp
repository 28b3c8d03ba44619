#include "core/progress.h"

#include <string>

#include "base/assert.h"

namespace hk::core {

Result<void> Progress::recover(Reader& reader, Moment now, const Term& term) {
  HK_ASSERT(meta_.epoch == 0);
  const std::optional<Meta> stored = reader.get<Meta>({});
  const Meta last = stored.value_or(Meta{});
  origin_ = term.origin.value_or(last.origin);
  if (stored && origin_ != last.origin && (!term.take_over || origin_ < last.origin)) {
    return fail(ErrorKind::conflict, "the messages of this directory are numbered by origin " +
                                         std::to_string(last.origin.value()) + ", not by " +
                                         std::to_string(origin_.value()));
  }
  if (term.epoch && *term.epoch <= last.epoch) {
    return fail(ErrorKind::conflict, "epoch " + std::to_string(*term.epoch) +
                                         " is over: the directory has seen epoch " +
                                         std::to_string(last.epoch));
  }
  meta_ = last;
  written_ = last;
  // Differs from what is stored, so that flush() writes it.
  meta_.epoch = term.epoch.value_or(last.epoch + 1);
  not_before(now);
  batch_number_ = static_cast<std::uint64_t>(meta_.epoch) << 32U;
  // Purged messages leave no trace in the table; the mark remembers that their numbers were used.
  last_seq_ = std::max(reader.last_seq(), meta_.indexed_up_to);
  return {};
}

void Progress::begin_numbering() {
  HK_ASSERT(meta_.indexed_up_to == last_seq_);
  // The counter goes on: no number that was given to a purged message comes again.
  last_seq_ = make_seq(origin_, counter_of(last_seq_));
  meta_.indexed_up_to = last_seq_;
  meta_.origin = origin_;
}

Seq Progress::next_message() {
  HK_ASSERT(counter_of(last_seq_) < counter_max);
  last_seq_ = Seq{last_seq_.value() + 1};
  return last_seq_;
}

std::uint64_t Progress::next_number() {
  constexpr std::uint64_t per_millisecond = 1'000'000;
  const std::uint64_t earliest = static_cast<std::uint64_t>(to_ms(meta_.time)) * per_millisecond;
  meta_.last_number = std::max(meta_.last_number + 1, earliest);
  write_now();
  return meta_.last_number;
}

std::uint64_t Progress::next_token() {
  write_now();
  return ++meta_.last_token;
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
