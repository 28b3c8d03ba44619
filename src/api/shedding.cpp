#include "api/shedding.h"

#include <algorithm>

#include "base/assert.h"

namespace hk::api {

bool Shedding::takes(core::TenantId tenant) {
  ++offered_;
  Tenant& own = tenants_[tenant];
  ++own.offered;
  if (own.to_refuse == 0) {
    return true;
  }
  --own.to_refuse;
  return false;
}

void Shedding::under_way_until(Time now) {
  served_ += static_cast<Duration::rep>(under_way_) * (now - counted_until_);
  counted_until_ = now;
}

void Shedding::begun(Time now, std::size_t commands) {
  under_way_until(now);
  under_way_ += commands;
  under_way_at_once_ = std::max(under_way_at_once_, under_way_);
}

void Shedding::answered(Time now, std::size_t commands) {
  HK_ASSERT(commands <= under_way_);
  under_way_until(now);
  under_way_ -= commands;
  answered_ += commands;
}

void Shedding::on_lag(Time now, Duration lag, Duration sync) {
  const std::size_t read = offered_ - offered_before_lag_;
  waited_ += static_cast<Duration::rep>(read) * lag;
  read_at_once_ = std::max(read_at_once_, read);
  offered_before_lag_ = offered_;
  if (now - begun_at_ < window) {
    return;
  }
  under_way_until(now);
  const Duration took = delay();
  const Duration allowed = delay_max_ + 2 * sync;
  const double at_once = this->at_once(took, now - begun_at_);
  const bool overload = is_overload(now, took, allowed);
  for (auto& [id, tenant] : tenants_) {
    tenant.to_refuse = 0;
  }
  if (overload) {
    const double possible =
        static_cast<double>(allowed.count()) / static_cast<double>(took.count());
    refuse(at_once, std::max(static_cast<double>(kept_min), at_once * possible));
  }
  begin_window(now);
}

/// How many publishes there were at a time, by how many came and how long they took. A pause of the
/// whole process counts twice there, so it is no more than were seen at one moment.
double Shedding::at_once(Duration delay, Duration length) const {
  return std::min(static_cast<double>(offered_) * static_cast<double>(delay.count()) /
                      static_cast<double>(length.count()),
                  static_cast<double>(std::max(read_at_once_, under_way_at_once_)));
}

/// Of a publish of this window, on average.
Shedding::Duration Shedding::delay() const {
  if (offered_ == 0) {
    return Duration{0};
  }
  const Duration read = waited_ / static_cast<Duration::rep>(offered_);
  return answered_ == 0 ? read : read + served_ / static_cast<Duration::rep>(answered_);
}

bool Shedding::is_overload(Time now, Duration delay, Duration allowed) {
  if (delay <= allowed) {
    const bool lasting = behind_since_ && behind_last_ - *behind_since_ >= burst;
    if (!lasting || now - behind_last_ >= calm) {
      behind_since_.reset();
    }
    return false;
  }
  behind_last_ = now;
  if (!behind_since_) {
    behind_since_ = now;
  }
  return now - *behind_since_ >= burst;
}

/// `at_once` are under way or wait; that is too many by what is beyond `kept`.
void Shedding::refuse(double at_once, double kept) {
  const double too_many = at_once - kept;
  if (too_many < 1) {
    return;
  }
  const double even = kept / static_cast<double>(tenants_.size());
  const double scale = at_once / static_cast<double>(offered_);
  const auto excess = [&](const Tenant& tenant) {
    return std::max(0.0, static_cast<double>(tenant.offered) * scale - even);
  };
  double all = 0;
  for (const auto& [id, tenant] : tenants_) {
    all += excess(tenant);
  }
  for (auto& [id, tenant] : tenants_) {
    tenant.to_refuse = static_cast<std::size_t>(excess(tenant) * too_many / all);
  }
}

void Shedding::begin_window(Time now) {
  std::erase_if(tenants_, [](const auto& one) { return one.second.to_refuse == 0; });
  for (auto& [id, tenant] : tenants_) {
    tenant.offered = 0;
  }
  begun_at_ = now;
  offered_ = 0;
  offered_before_lag_ = 0;
  waited_ = Duration{0};
  read_at_once_ = 0;
  under_way_at_once_ = under_way_;
  answered_ = 0;
  served_ = Duration{0};
}

}  // namespace hk::api
