/// Whether it was the broker's fault that a row was not taken. Pure.
#pragma once

#include "delivery/request.h"
#include "outbox/send/faults.h"

namespace hk::outbox {

/// Any row would have met it: no connection, no answer in time, 3xx, 401, 403, 407, 408, 429, every
/// 5xx, an address that we do not connect to; of SQS also the codes that say the same with status
/// 400, and that the queue is not there. Everything else is about the row.
bool is_broker_fault(Faults faults, const delivery::Answer& answer);

}  // namespace hk::outbox
