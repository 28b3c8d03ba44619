/// The comparison at every start: does the recovered history reach what was acknowledged, by the
/// same way? And the directory's first start. Called by open_rocksdb() only.
#pragma once

#include "store/rocksdb/data_dir.h"
#include "store/rocksdb/database.h"

namespace hk::store {

/// The witness of the directory, made if the directory is new.
Result<WitnessFile> open_witness(const DataDir& dir);

/// The last link of the recovered history; everything recovered is durable when this returns.
/// corruption: acknowledged batches are missing, or the history is another one; the text says which
/// file, what was witnessed, what was recovered, and what to do.
Result<Link> recover(Database& database, const DataDir& dir, const WitnessFile& witness,
                     std::optional<BatchSeq> accept_loss_after);

}  // namespace hk::store
