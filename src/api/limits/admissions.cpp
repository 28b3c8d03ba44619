#include "api/limits/admissions.h"

#include <utility>

namespace hk::api::limits {

namespace {

Time since_boot(Clock::time_point now) { return now.time_since_epoch(); }

Caller caller_of(const engine::TenantDirectory::Entry& tenant) {
  return {tenant.id, tenant.limits, tenant.revision};
}

template <std::size_t Size>
void add_one(Admissions::Counts<Size>& counts, std::size_t at) {
  counts[at].fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

Ticket::Ticket(Ticket&& other) noexcept
    : admissions_(std::exchange(other.admissions_, nullptr)),
      charge_(other.charge_),
      standing_(other.standing_) {}

Ticket& Ticket::operator=(Ticket&& other) noexcept {
  if (this != &other) {
    end();
    admissions_ = std::exchange(other.admissions_, nullptr);
    charge_ = other.charge_;
    standing_ = other.standing_;
  }
  return *this;
}

std::optional<Turned> Ticket::correct(std::uint64_t cost) {
  if (admissions_ == nullptr || cost == charge_.cost) {
    return std::nullopt;
  }
  const Clock::time_point now = Clock::now();
  std::optional<Refused> refused;
  {
    const std::lock_guard lock(admissions_->limiting_);
    refused = admissions_->limiter_.correct(since_boot(now), charge_, cost);
    if (refused) {
      admissions_->limiter_.ended(charge_);
    }
  }
  if (!refused) {
    return std::nullopt;
  }
  admissions_->count(*refused);
  admissions_ = nullptr;
  return Turned{*refused, standing_};
}

void Ticket::replayed() {
  if (admissions_ != nullptr) {
    const Clock::time_point now = Clock::now();
    const std::lock_guard lock(admissions_->limiting_);
    admissions_->limiter_.replayed(since_boot(now), charge_);
  }
}

void Ticket::end() {
  if (admissions_ == nullptr) {
    return;
  }
  add_one(admissions_->totals_.allowed, static_cast<std::size_t>(charge_.of));
  if (charge_.in_tenant || charge_.in_class) {
    const std::lock_guard lock(admissions_->limiting_);
    admissions_->limiter_.ended(charge_);
  }
  admissions_ = nullptr;
}

Admissions::Admissions(const Settings& settings)
    : settings_(settings),
      everybody_(settings.global.rate != 0 || settings.tenant.rate != 0),
      limiter_(settings) {}

std::expected<Ticket, Turned> Admissions::admit(Clock::time_point now,
                                                const engine::TenantDirectory::Entry& tenant,
                                                const Asked& asked) {
  Ticket ticket;
  if (!concerns(tenant)) {
    return ticket;
  }
  Limiter::Verdict verdict;
  {
    const std::lock_guard lock(limiting_);
    verdict = limiter_.admit(since_boot(now), caller_of(tenant), asked);
  }
  if (verdict.refused) {
    count(*verdict.refused);
    return std::unexpected(Turned{*verdict.refused, verdict.standing});
  }
  ticket.admissions_ = this;
  ticket.charge_ = verdict.charge;
  ticket.standing_ = verdict.standing;
  return ticket;
}

Ticket Admissions::look(Clock::time_point now, const engine::TenantDirectory::Entry& tenant) {
  Ticket ticket;
  if (concerns(tenant)) {
    const std::lock_guard lock(limiting_);
    ticket.standing_ = limiter_.standing(since_boot(now), caller_of(tenant));
  }
  return ticket;
}

void Admissions::measure(Clock::time_point now, std::uint64_t load, const Answered& answered,
                         std::size_t tenants) {
  const std::lock_guard lock(limiting_);
  factor_.measure(since_boot(now), load, answered);
  limiter_.set_factor(since_boot(now), factor_.value());
  limiter_.set_known(tenants);
  factor_now_.store(factor_.value(), std::memory_order_relaxed);
}

Admissions::State Admissions::state(Clock::time_point now,
                                    const engine::TenantDirectory::Entry& tenant) {
  const std::lock_guard lock(limiting_);
  return {.factor = factor_.value(),
          .load = factor_.load(),
          .error_rate = factor_.error_rate(),
          .remaining = limiter_.remaining(since_boot(now), caller_of(tenant))};
}

void Admissions::count(const Refused& refused) {
  add_one(totals_.refused, static_cast<std::size_t>(refused.of));
  add_one(totals_.refused_by, static_cast<std::size_t>(refused.level));
}

}  // namespace hk::api::limits
