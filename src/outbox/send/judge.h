/// What an answer, or the lack of one, means for a row. One table for every adapter. Pure.
#pragma once

#include "core/command.h"
#include "observe/metrics.h"
#include "outbox/row.h"

namespace hk::outbox {

/// `report` is how the attempt ended; its answer becomes the ledger's response.
Outcome judge(observe::AttemptResult result, core::CompleteAttempt report);

}  // namespace hk::outbox
