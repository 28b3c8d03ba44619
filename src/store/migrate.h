/// Records of older formats become those of this one.
#pragma once

#include "base/error.h"
#include "store/store.h"

namespace hk::store {

/// For a store that was just opened, before anybody reads it. One batch, so that a crash leaves all
/// of it or nothing; a store of this format is left as it is. Idempotent.
///
/// To format 3: topics of SNS, move tasks, counts of delayed messages and changed queues were
/// documents.
/// To format 4: two tables more, which are empty. To format 5: those of the ledger. To format 6:
/// those of webhooks and of inbound sources.
/// corruption: one of them is not what was written.
Result<void> migrate(Store& store);

}  // namespace hk::store
