#include "outbox/relay_source.h"

namespace hk::outbox {
namespace {

constexpr Millis again{100};  ///< after it was lost
constexpr Millis backoff{5'000};

}  // namespace

bool RelaySource::start(Clock::time_point now) {
  if (up_ || now < next_try_) {
    return false;
  }
  if (const auto started = source_->start(); !started) {
    log_.source_away(started.error());
    next_try_ = now + backoff;
    return false;
  }
  up_ = true;
  log_.source_back();
  return true;
}

bool RelaySource::read(Clock::time_point now) { return keep(source_->on_readable(), now); }

bool RelaySource::tell(Clock::time_point now) {
  return !up_ || keep(source_->looked_through(), now);
}

bool RelaySource::keep(const Result<void>& result, Clock::time_point now) {
  if (!result) {
    log_.source_away(result.error());
    up_ = false;
    next_try_ = now + again;
  }
  return result.has_value();
}

}  // namespace hk::outbox
