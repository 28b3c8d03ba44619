/// How long to wait before the table is looked at without being told to. Pure.
#pragma once

#include <algorithm>
#include <cstddef>

#include "base/time.h"

namespace hk::outbox {

/// What tells of rows may be lost on the way (a trigger that is disabled, a row changed by hand, a
/// relay that died with rows in its hands), so the table is looked at this often even so.
inline constexpr Millis safety_net{30'000};

/// Doubles with every look that found nothing, up to `most`.
inline Millis look_delay(Millis interval, std::size_t idle_looks, Millis most) {
  const std::size_t doublings = std::min<std::size_t>(idle_looks, 20);
  const Millis first = std::max(interval, Millis{1});
  return std::min(first * (std::int64_t{1} << doublings), std::max(first, most));
}

/// With nothing but polling to learn of rows by.
inline Millis poll_delay(Millis interval, std::size_t idle_looks) {
  return look_delay(interval, idle_looks, interval * 10);
}

/// With a source that tells of rows.
inline Millis told_delay(Millis interval, std::size_t idle_looks) {
  return look_delay(interval, idle_looks, safety_net);
}

/// Not before this a look is repeated that may have come too early.
inline constexpr Millis unseen_first{5};

/// With a source that tells of commits when their log is written, `ago`: other sessions see them
/// only after that, and much later where a commit waits for a standby. What a look did not find is
/// looked for again, after no longer than it has been told of.
inline Millis unseen_delay(Millis told, Millis ago) {
  return std::min(told, std::max(unseen_first, ago));
}

}  // namespace hk::outbox
