#include <string>

#include "base/sometimes.h"
#include "core/tenant/tenants.h"

HK_SOMETIMES_DECLARE(limits_set)
HK_SOMETIMES_DECLARE(limits_refused)

namespace hk::core {

namespace {

std::unexpected<Error> wrong_limit(const std::string& where, const std::string& why) {
  return fail(ErrorKind::invalid_argument, where + ": " + why);
}

Result<void> at_most(const std::string& where, std::uint64_t value, std::uint64_t most) {
  if (value > most) {
    return wrong_limit(where, "must not be above " + std::to_string(most));
  }
  return {};
}

/// `of`: what its members are called by, "" or "classes.publish.".
Result<void> check_limit(const std::string& of, const CallLimit& limit) {
  if (auto good = at_most(of + "rate", limit.rate, TenantLimits::rate_max); !good) {
    return good;
  }
  if (auto good = at_most(of + "burst", limit.burst, TenantLimits::burst_max); !good) {
    return good;
  }
  if (auto good = at_most(of + "in_flight", limit.in_flight, TenantLimits::in_flight_max); !good) {
    return good;
  }
  if (limit.rate == 0 && limit.burst != 0) {
    return wrong_limit(of + "burst", "needs a rate that it is the burst of");
  }
  // A bucket that holds less than a second's worth would never let its rate through.
  if (limit.burst < limit.rate) {
    return wrong_limit(of + "burst",
                       "must be at least the rate, which is " + std::to_string(limit.rate));
  }
  return {};
}

Result<void> check_limits(const TenantLimits& limits) {
  if (auto good = check_limit("", limits.all); !good) {
    return good;
  }
  if (limits.weight == 0 || limits.weight > TenantLimits::weight_max) {
    return wrong_limit("weight", "must be from 1 to " + std::to_string(TenantLimits::weight_max));
  }
  for (std::size_t i = 0; i < rate_classes; ++i) {
    const std::string of = "classes." + std::string(rate_class_names[i]) + '.';
    if (auto good = check_limit(of, limits.classes[i]); !good) {
      return good;
    }
  }
  return {};
}

}  // namespace

/// As a whole and in one command: whoever changes credentials meanwhile loses nothing, and neither
/// does this.
Reply Tenants::decide(const SetTenantLimits& command) {
  const auto found = tenants_.find(command.tenant);
  if (found == tenants_.end()) {
    return fail(ErrorKind::not_found, "no such tenant");
  }
  if (auto good = check_limits(command.limits); !good) {
    HK_SOMETIMES(limits_refused);
    return std::unexpected(std::move(good.error()));
  }
  Tenant& tenant = found->second;
  if (tenant.limits != command.limits) {
    HK_SOMETIMES(limits_set);
    tenant.limits = command.limits;
    batch_.put(Put<Tenant>{tenant});
    batch_.effect(TenantChanged{context_.partition, tenant});
  }
  return TenantStored{tenant.id};
}

}  // namespace hk::core
