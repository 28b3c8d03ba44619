#include "outbox/housekeeping.h"

#include <algorithm>
#include <utility>

namespace hk::outbox {
namespace {

constexpr Millis counts_every{5'000};
constexpr Millis counts_again{60'000};  ///< after a failure: a gauge is not worth more
constexpr Millis clean_every{30'000};
constexpr Millis clean_more{100};

}  // namespace

DatabaseResult<void> Housekeeping::run(Store& store, Clock::time_point now, bool stopping) {
  if (now >= next_counts_) {
    if (auto counted = count(store, now); !counted) {
      return counted;
    }
  }
  if (!stopping && settings_.retention_finished > Millis{0} && now >= next_clean_) {
    return clean(store, now);
  }
  return {};
}

Housekeeping::Clock::time_point Housekeeping::next(bool stopping) const {
  return stopping || settings_.retention_finished <= Millis{0}
             ? next_counts_
             : std::min(next_counts_, next_clean_);
}

DatabaseResult<void> Housekeeping::failed(const Store& store, Chore chore,
                                          const DatabaseError& error) {
  if (!store.connected()) {
    return std::unexpected(error);
  }
  log_.housekeeping_failed(chore, error);
  return {};
}

// The next time is set before the try: whatever becomes of it, it is not repeated at once.

DatabaseResult<void> Housekeeping::count(Store& store, Clock::time_point now) {
  next_counts_ = now + counts_again;
  const auto counts = store.counts();
  if (!counts) {
    return failed(store, Chore::counting, counts.error());
  }
  next_counts_ = now + counts_every;
  log_.housekeeping_works(Chore::counting);
  metrics_.now(*counts);
  return {};
}

DatabaseResult<void> Housekeeping::clean(Store& store, Clock::time_point now) {
  next_clean_ = now + clean_every;
  const auto begin = Clock::now();
  const auto cleaned = store.clean_up(rows_.now());
  if (!cleaned) {
    if (cleaned.error().sqlstate == "57014" || !store.connected()) {
      rows_.failed();
    }
    return failed(store, Chore::deleting, cleaned.error());
  }
  log_.housekeeping_works(Chore::deleting);
  if (*cleaned == rows_.now()) {
    // As long as there is much to delete it goes on, with room for other work in between.
    next_clean_ = now + clean_more;
    rows_.took(Clock::now() - begin);
  }
  return {};
}

}  // namespace hk::outbox
