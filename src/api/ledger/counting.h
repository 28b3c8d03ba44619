/// What came of transactions, for the metrics: counted where the answer is made, told when it is
/// durable. Shared by Planned::tell and Planned::done, one after the other.
#pragma once

#include <cstdint>

#include "core/ledger/commands.h"
#include "observe/metrics.h"

namespace hk::api::ledger {

/// It makes a transaction: a create, a post, a void, a reversal.
inline bool is_transaction(const core::ledger::Operation& operation) {
  return std::holds_alternative<core::ledger::CreateTransaction>(operation) ||
         std::holds_alternative<core::ledger::PostHold>(operation) ||
         std::holds_alternative<core::ledger::VoidHold>(operation) ||
         std::holds_alternative<core::ledger::ReverseTransaction>(operation);
}

struct Counts {
  std::uint64_t created = 0;
  std::uint64_t replayed = 0;
  std::uint64_t refused = 0;
  std::uint64_t items_applied = 0;  ///< of batches, whatever they are
  std::uint64_t items_refused = 0;

  void add(const core::ledger::ItemResult& transaction) {
    ++(!transaction ? refused : transaction->replayed ? replayed : created);
  }
  void tell(observe::Metrics& metrics) const {
    using Transaction = observe::LedgerTransaction;
    metrics.ledger_transactions(Transaction::created, created);
    metrics.ledger_transactions(Transaction::replayed, replayed);
    metrics.ledger_transactions(Transaction::refused, refused);
    metrics.ledger_batch_items(true, items_applied);
    metrics.ledger_batch_items(false, items_refused);
  }
};

}  // namespace hk::api::ledger
