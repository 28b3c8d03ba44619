#include "core/fresh_trace.h"

namespace hk::core {

Trace fresh_trace(Rng& rng) {
  Trace trace;
  for (std::size_t half = 0; half < 2; ++half) {
    const std::uint64_t bits = rng.next() | 1U;  // all zeros is not a trace id
    for (std::size_t i = 0; i < 8; ++i) {
      trace.trace_id[half * 8 + i] = static_cast<std::uint8_t>(bits >> (8 * i));
    }
  }
  return trace;
}

}  // namespace hk::core
