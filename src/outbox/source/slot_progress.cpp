#include "outbox/source/slot_progress.h"

#include <algorithm>

namespace hk::outbox {

void SlotProgress::restart(Lsn confirmed) {
  due_ = true;
  in_transaction_ = false;
  concerns_us_ = false;
  received_ = owed_ = told_ = idle_end_ = 0;
  confirmed_ = confirmed;
}

void SlotProgress::on_change(const pgoutput::Change& change) {
  if (std::holds_alternative<pgoutput::Begin>(change)) {
    in_transaction_ = true;
    concerns_us_ = false;
  } else if (std::holds_alternative<pgoutput::Insert>(change)) {
    // The publication is the outbox's own, so whatever is inserted by it is ours: also into a
    // partition, which goes by another name.
    concerns_us_ = true;
  } else if (const auto* message = std::get_if<pgoutput::Message>(&change)) {
    if (message->prefix != prefix_) {
      return;
    }
    if (message->transactional) {
      concerns_us_ = true;
    } else {
      due_ = true;
    }
  } else if (const auto* commit = std::get_if<pgoutput::Commit>(&change)) {
    in_transaction_ = false;
    received_ = std::max(received_, commit->end_lsn);
    if (concerns_us_) {
      due_ = true;
      owed_ = std::max(owed_, commit->end_lsn);
    } else {
      idle_end_ = std::max(idle_end_, commit->end_lsn);
      follow();
    }
  }
}

void SlotProgress::on_keepalive(Lsn end) {
  if (in_transaction_) {
    return;  // its commit has not come
  }
  idle_end_ = std::max(idle_end_, end);
  follow();
}

bool SlotProgress::take_due() {
  if (!due_) {
    return false;
  }
  due_ = false;
  told_ = owed_;
  return true;
}

bool SlotProgress::looked_through() {
  const Lsn before = confirmed_;
  confirmed_ = std::max(confirmed_, told_);
  follow();
  return confirmed_ != before;
}

void SlotProgress::follow() {
  if (owed_ <= confirmed_) {
    confirmed_ = std::max(confirmed_, idle_end_);
  }
}

}  // namespace hk::outbox
