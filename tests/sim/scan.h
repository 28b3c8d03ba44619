/// Compares everything that is stored with what the model says must be there.
#pragma once

#include "sim/model.h"
#include "store/store.h"

namespace hk::sim {

/// Throws Violation.
void scan_store(store::Reader& reader, const Model& model);

/// After every retention: nothing but settings, tenants and counters is left.
/// Of the ledger; at moments that `rng` draws, too.
void scan_ledger(std::shared_ptr<store::Reader> snapshot, const LedgerModel& model, Rng& rng);
void scan_for_leftovers(store::Reader& reader);

}  // namespace hk::sim
