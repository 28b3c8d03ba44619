/// The limiter for all I/O threads: a lock around it that is held for some additions, and nothing
/// at all for a tenant that no limit concerns. Owned by the Service. Every function may be called
/// on any thread.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <expected>
#include <mutex>
#include <optional>

#include "api/limits/factor.h"
#include "api/limits/limiter.h"
#include "engine/tenant_directory.h"

namespace hk::api::limits {

using Clock = std::chrono::steady_clock;

/// A request that is not taken, and where its tenant stands.
struct Turned {
  Refused refused{};
  std::optional<Standing> standing{};
};

class Admissions;

/// One request that was taken, until it is answered. An empty one is of a request that no limit
/// concerns. Move-only; it may be gone on any thread.
class Ticket {
 public:
  Ticket() = default;
  Ticket(Ticket&& other) noexcept;
  Ticket& operator=(Ticket&& other) noexcept;
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;
  ~Ticket() { end(); }

  /// None: there is no limit to tell of.
  [[nodiscard]] const std::optional<Standing>& standing() const { return standing_; }
  /// What the request costs is known now. Turned: it is charged nothing, and must be refused.
  [[nodiscard]] std::optional<Turned> correct(std::uint64_t cost);
  /// Its answer was there already (an idempotent repetition): that costs no more than a read.
  void replayed();
  /// It is answered.
  void end();

 private:
  friend class Admissions;

  Admissions* admissions_ = nullptr;  ///< null: not charged, or ended
  Charge charge_{};
  std::optional<Standing> standing_{};
};

class Admissions {
 public:
  explicit Admissions(const Settings& settings);
  Admissions(const Admissions&) = delete;
  Admissions& operator=(const Admissions&) = delete;

  [[nodiscard]] std::expected<Ticket, Turned> admit(Clock::time_point now,
                                                    const engine::TenantDirectory::Entry& tenant,
                                                    const Asked& asked);
  /// For what is never limited: a ticket that costs nothing and knows where the tenant stands.
  [[nodiscard]] Ticket look(Clock::time_point now, const engine::TenantDirectory::Entry& tenant);

  /// Once a second or so. `load`: of what is fullest, in millionths. `tenants`: how many there are.
  void measure(Clock::time_point now, std::uint64_t load, const Answered& answered,
               std::size_t tenants);

  struct State {
    Millionths factor = all_of_it;
    Millionths load = 0;
    Millionths error_rate = 0;
    Limiter::Remaining remaining{};
  };
  [[nodiscard]] State state(Clock::time_point now, const engine::TenantDirectory::Entry& tenant);
  [[nodiscard]] Millionths factor() const { return factor_now_.load(std::memory_order_relaxed); }

  /// What the metrics show, since the start.
  template <std::size_t Size>
  using Counts = std::array<std::atomic<std::uint64_t>, Size>;
  struct Totals {
    Counts<core::rate_classes> allowed{};
    Counts<core::rate_classes> refused{};
    Counts<level_names.size()> refused_by{};
  };
  [[nodiscard]] const Totals& totals() const { return totals_; }
  [[nodiscard]] const Settings& settings() const { return settings_; }

 private:
  friend class Ticket;

  [[nodiscard]] bool concerns(const engine::TenantDirectory::Entry& tenant) const {
    return everybody_ || tenant.limited;
  }
  void count(const Refused& refused);

  const Settings settings_;
  const bool everybody_;  ///< the settings limit every tenant
  Totals totals_;
  std::atomic<Millionths> factor_now_{all_of_it};

  std::mutex limiting_;
  Limiter limiter_;  ///< guarded by limiting_
  Factor factor_;    ///< guarded by limiting_
};

}  // namespace hk::api::limits
