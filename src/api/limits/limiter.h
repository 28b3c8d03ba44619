/// Which requests are taken, by token buckets on three levels: the whole server, the tenant, and
/// one class of requests of the tenant. A request is charged on all of them or on none. Pure and
/// deterministic: time is handed in. Not for several threads: admissions.h is.
///
/// What must hold, in any window of time and for each bucket: no more is charged than its burst
/// plus what its rate lets in. A refused request is charged nothing. A tenant within its share of
/// the server is never refused because of another (fair_bucket.h).
#pragma once

#include <array>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "api/limits/factor.h"
#include "api/limits/fair_bucket.h"
#include "core/message.h"
#include "core/tenant/limits.h"

namespace hk::api::limits {

using core::CallLimit;
using core::RateClass;

enum class Level : std::uint8_t { global, tenant, endpoint };
inline constexpr std::array<std::string_view, 3> level_names = {"global", "tenant", "endpoint"};
constexpr std::string_view name_of(Level level) {
  return level_names[static_cast<std::size_t>(level)];
}

/// What the settings say. in_flight is not used here.
struct Settings {
  CallLimit global{};
  CallLimit tenant{};  ///< of each tenant without a rate of its own
};

/// Who asks, and what was last said about them: of two revisions the newer one counts.
struct Caller {
  core::TenantId tenant{};
  const core::TenantLimits& limits;
  std::uint64_t revision = 0;
};

/// Tokens of each class.
using Costs = std::array<std::uint64_t, core::rate_classes>;
constexpr Costs cost_of(RateClass of, std::uint64_t cost) {
  Costs costs{};
  costs[static_cast<std::size_t>(of)] = cost;
  return costs;
}
constexpr std::uint64_t total(const Costs& costs) {
  return std::accumulate(costs.begin(), costs.end(), std::uint64_t{0});
}

struct Asked {
  RateClass of = RateClass::read;
  std::uint64_t cost = 1;
  /// The cost is a guess, to be corrected: it does not have to fit into the smallest bucket.
  bool guessed = false;
  /// Of a request of several classes: `cost` is their total, and `of` is what it counts as while it
  /// is under way. None: all of it is of that class.
  std::optional<Costs> of_each{};
};

/// Before anybody has read it, a batch counts as one message a KiB.
constexpr Asked batch_of(RateClass of, std::size_t bytes, std::size_t items_max) {
  const std::size_t guess = (bytes + 1023) / 1024;
  return {.of = of, .cost = std::clamp<std::size_t>(guess, 1, items_max), .guessed = true};
}

/// The level that has the least left.
struct Standing {
  Level level = Level::tenant;
  std::uint64_t rate = 0;
  std::uint64_t left = 0;  ///< whole tokens
  Time full_in{};
};

struct Refused {
  enum class Why : std::uint8_t {
    rate,
    in_flight,
    over_burst,  ///< it can never be taken
  };
  Why why = Why::rate;
  Level level = Level::tenant;
  RateClass of = RateClass::read;
  std::uint64_t limit = 0;  ///< tokens a second; requests under way; the burst
  Time retry_in{};
};

/// What a request was charged. Kept by whoever was admitted, until its end.
struct Charge {
  core::TenantId tenant{};
  RateClass of = RateClass::read;
  std::uint64_t cost = 0;
  FairBucket::Taken global{};
  Costs by_endpoint{};     ///< of `cost`, what was charged there
  bool by_tenant = false;  ///< charged there
  bool in_tenant = false;  ///< counted as under way of the tenant
  bool in_class = false;   ///< counted as under way of the class
};

class Limiter {
 public:
  explicit Limiter(const Settings& settings);

  struct Verdict {
    std::optional<Refused> refused{};  ///< none: it is admitted, and charged
    Charge charge{};
    std::optional<Standing> standing{};  ///< none: there is no rate that limits it
  };
  Verdict admit(Time now, const Caller& caller, const Asked& asked);
  /// The cost is known now, and is of the one class. None: it is charged that. Otherwise it is
  /// charged nothing any more; it is still counted as under way.
  std::optional<Refused> correct(Time now, Charge& charge, std::uint64_t cost);
  /// As if it had not been charged.
  void give_back(Time now, Charge& charge);
  /// It was a repetition of a request that was answered before: it costs one of `read`, or as much
  /// as is there, in place of what it was charged.
  void replayed(Time now, Charge& charge);
  /// It is answered: not under way any more.
  void ended(const Charge& charge);
  /// What the tenant has left, without a charge.
  std::optional<Standing> standing(Time now, const Caller& caller);
  /// The same of every level, in whole tokens; none where there is no rate. Whoever asks is an
  /// operator: the tenant is not seen by it.
  struct Remaining {
    std::optional<std::uint64_t> global{};
    std::optional<std::uint64_t> tenant{};
    std::array<std::optional<std::uint64_t>, core::rate_classes> classes{};
  };
  Remaining remaining(Time now, const Caller& caller);

  /// From now on rates of the server and of tenants are multiplied by it.
  void set_factor(Time now, Millionths factor);
  void set_known(std::size_t tenants) { global_.set_known(tenants); }
  [[nodiscard]] const FairBucket& global() const { return global_; }

 private:
  struct Endpoint {
    Bucket bucket{};
    std::uint64_t in_flight_max = 0;
    std::uint64_t in_flight = 0;
  };
  struct Tenant {
    std::uint64_t revision = 0;
    std::uint64_t weight = 1;
    Bucket bucket{};
    std::uint64_t in_flight_max = 0;
    std::uint64_t in_flight = 0;
    std::array<Endpoint, core::rate_classes> endpoints{};
    FairBucket::Member member{};
  };

  void advance(Time now);
  Tenant& known(const Caller& caller);
  void look(Tenant& tenant);
  [[nodiscard]] std::optional<Refused> beyond(const Tenant& tenant, RateClass of,
                                              const Costs& costs) const;
  [[nodiscard]] std::uint64_t smallest_burst(const Tenant& tenant, RateClass of) const;
  [[nodiscard]] std::optional<Refused> short_of(const Tenant& tenant, RateClass of,
                                                const Costs& costs) const;
  void charge(Tenant& tenant, Charge& into, const Costs& costs);
  void uncharge(Tenant& tenant, Charge& from, std::uint64_t cost);
  [[nodiscard]] std::optional<Standing> standing_of(const Tenant& tenant,
                                                    std::optional<RateClass> of) const;
  [[nodiscard]] Time slowed(Time flow) const;

  const Settings settings_;
  FairBucket global_;
  std::unordered_map<core::TenantId, Tenant> tenants_;  ///< those that were seen: members stay put
  Millionths factor_ = all_of_it;
  Time now_{};
  /// Goes as fast as the factor says: rates that are multiplied by it are counted on this clock.
  Time flow_{};
  std::uint64_t flow_rest_ = 0;  ///< millionths of a nanosecond
};

}  // namespace hk::api::limits
