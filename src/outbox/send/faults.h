/// Whose fault it can be that a row was not taken: what an adapter says of itself. Plain.
#pragma once

#include <cstdint>

namespace hk::outbox {

enum class Faults : std::uint8_t {
  of_rows,    ///< each destination is its own, as the protocol has it
  of_hosts,   ///< a host that cannot be reached is no fault of the row; its answers are
  of_broker,  ///< nor is a broker that is down, busy, or does not know us
  of_queue,   ///< the same for a queue of SQS, whose answers have codes
};

}  // namespace hk::outbox
