/// What an answer, or the lack of one, means for a row. One table for every adapter. Pure.
#pragma once

#include "delivery/request.h"
#include "outbox/row.h"

namespace hk::outbox {

/// Its body becomes the ledger's response.
Outcome judge(delivery::Answer answer);

}  // namespace hk::outbox
