#include "outbox/relay_leases.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace hk::outbox {
namespace {

constexpr std::size_t expire_rows = 1'000;

}  // namespace

DatabaseResult<bool> RelayLeases::keep(Store& store, const SendingRows& rows,
                                       Clock::time_point now) {
  if (now < next_heartbeat_) {
    return false;
  }
  const auto beats = store.heartbeat(claims_of(rows));
  if (!beats) {
    return std::unexpected(beats.error());
  }
  auto beat = beats->begin();
  for (const auto& [name, sending] : rows) {
    switch (*beat++) {
      case Beat::renewed: sending.lease->renew(now, settings_.lock_lease); break;
      case Beat::locked:
        // It stays as old as it is, and may be taken over as soon as the lock is gone. What waits
        // for hours must not take the place of others: it is left to its lease.
        if (sending.lease->at(now) == Lease::State::in_doubt) {
          sending.lease->lose();
        }
        break;
      case Beat::lost: sending.lease->lose(); break;
    }
  }
  log_.leases_lost(static_cast<std::size_t>(std::ranges::count(*beats, Beat::lost)));
  next_heartbeat_ = now + settings_.lock_lease / 2;
  return true;
}

DatabaseResult<std::size_t> RelayLeases::take_over(Store& store, Clock::time_point now) {
  if (now < next_take_over_) {
    return 0;
  }
  auto expired = store.expire_leases(expire_rows);
  if (!expired) {
    return expired;
  }
  if (*expired != 0) {
    metrics_.leases_expired(*expired);
    log_.taken_over(*expired);
  }
  next_take_over_ = now + std::clamp(settings_.lock_lease / 10, Millis{200}, Millis{10'000});
  return expired;
}

}  // namespace hk::outbox
