#include "api/limits/limiter.h"

#include <limits>

namespace hk::api::limits {

namespace {

Nano nano(std::uint64_t tokens) { return tokens * one_token; }

/// REQUIRES: it limits.
Standing standing_in(Level level, const Bucket& bucket) {
  return {level, bucket.rate(), bucket.level() / one_token, bucket.until(bucket.full())};
}

}  // namespace

Limiter::Limiter(const Settings& settings)
    : settings_(settings), global_(settings.global.rate, settings.global.burst) {}

void Limiter::advance(Time now) {
  if (now <= now_) {
    return;
  }
  const auto passed = static_cast<std::uint64_t>((now - now_).count());
  now_ = now;
  if (factor_ == all_of_it) {
    flow_ += Time{passed};
    return;
  }
  const std::uint64_t rest = passed % all_of_it * factor_ + flow_rest_;
  flow_ += Time{static_cast<Time::rep>(passed / all_of_it * factor_ + rest / all_of_it)};
  flow_rest_ = rest % all_of_it;
}

void Limiter::set_factor(Time now, Millionths factor) {
  HK_ASSERT(factor >= Factor::least && factor <= all_of_it);
  advance(now);
  factor_ = factor;
}

Time Limiter::slowed(Time flow) const {
  // An hour on the slow clock is enough for anybody to be told.
  const auto bounded = std::min<Time>(flow, std::chrono::hours{1});
  return Time{bounded.count() / factor_ * all_of_it +
              (bounded.count() % factor_ * all_of_it + factor_ - 1) / factor_};
}

Limiter::Tenant& Limiter::known(const Caller& caller) {
  Tenant& tenant = tenants_[caller.tenant];
  if (tenant.revision >= caller.revision) {
    return tenant;  // a request that was on its way when the limits were changed
  }
  tenant.revision = caller.revision;
  const core::TenantLimits& limits = caller.limits;
  const CallLimit& all = limits.own_rate ? limits.all : settings_.tenant;
  tenant.weight = limits.weight;
  tenant.bucket.set(all.rate, all.burst, flow_);
  tenant.in_flight_max = limits.all.in_flight;
  for (std::size_t i = 0; i < core::rate_classes; ++i) {
    const CallLimit& limit = limits.classes[i];
    tenant.endpoints[i].bucket.set(limit.rate, limit.burst, now_);
    tenant.endpoints[i].in_flight_max = limit.in_flight;
  }
  return tenant;
}

/// Brings what the request is measured by up to date.
void Limiter::look(Tenant& tenant) {
  tenant.bucket.refill(flow_);
  for (Endpoint& endpoint : tenant.endpoints) {
    endpoint.bucket.refill(now_);
  }
  if (global_.whole().limits()) {
    global_.seen(tenant.member, tenant.weight, {flow_, now_});
  }
}

std::optional<Refused> Limiter::beyond(const Tenant& tenant, RateClass of,
                                       const Costs& costs) const {
  const auto refuse = [](Level level, RateClass which, const Bucket& bucket) {
    return Refused{Refused::Why::over_burst, level, which, bucket.full() / one_token, Time{}};
  };
  const auto too_small = [](const Bucket& bucket, std::uint64_t cost) {
    return bucket.limits() && cost > bucket.full() / one_token;
  };
  for (std::size_t i = 0; i < costs.size(); ++i) {
    if (const Bucket& endpoint = tenant.endpoints[i].bucket; too_small(endpoint, costs[i])) {
      return refuse(Level::endpoint, static_cast<RateClass>(i), endpoint);
    }
  }
  const std::uint64_t cost = total(costs);
  if (too_small(tenant.bucket, cost)) return refuse(Level::tenant, of, tenant.bucket);
  if (too_small(global_.whole(), cost)) return refuse(Level::global, of, global_.whole());
  return std::nullopt;
}

std::uint64_t Limiter::smallest_burst(const Tenant& tenant, RateClass of) const {
  std::uint64_t smallest = std::numeric_limits<std::uint64_t>::max();
  for (const Bucket* const bucket :
       {&tenant.endpoints[static_cast<std::size_t>(of)].bucket, &tenant.bucket, &global_.whole()}) {
    if (bucket->limits()) {
      smallest = std::min(smallest, bucket->full() / one_token);
    }
  }
  return smallest;
}

/// Of the levels that refuse it, the one that has to be waited for longest.
std::optional<Refused> Limiter::short_of(const Tenant& tenant, RateClass of,
                                         const Costs& costs) const {
  std::optional<Refused> longest;
  const auto refuse = [&](Level level, RateClass which, const Bucket& bucket, Time retry_in) {
    if (!longest || retry_in > longest->retry_in) {
      longest = Refused{Refused::Why::rate, level, which, bucket.rate(), retry_in};
    }
  };
  for (std::size_t i = 0; i < costs.size(); ++i) {
    const Bucket& endpoint = tenant.endpoints[i].bucket;
    if (endpoint.limits() && endpoint.level() < nano(costs[i])) {
      refuse(Level::endpoint, static_cast<RateClass>(i), endpoint, endpoint.until(nano(costs[i])));
    }
  }
  const std::uint64_t cost = total(costs);
  if (tenant.bucket.limits() && tenant.bucket.level() < nano(cost)) {
    refuse(Level::tenant, of, tenant.bucket, slowed(tenant.bucket.until(nano(cost))));
  }
  if (global_.whole().limits()) {
    const Nano there = global_.available(tenant.member, nano(cost));
    if (there < nano(cost)) {
      refuse(Level::global, of, global_.whole(),
             slowed(global_.until(tenant.member, nano(cost) - there)));
    }
  }
  return longest;
}

void Limiter::charge(Tenant& tenant, Charge& into, const Costs& costs) {
  const std::uint64_t cost = total(costs);
  into.cost += cost;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    if (Bucket& endpoint = tenant.endpoints[i].bucket; endpoint.limits() && costs[i] != 0) {
      endpoint.take(nano(costs[i]));
      into.by_endpoint[i] += costs[i];
    }
  }
  if (tenant.bucket.limits()) {
    tenant.bucket.take(nano(cost));
    into.by_tenant = true;
  }
  if (global_.whole().limits()) {
    const FairBucket::Taken taken = global_.take(tenant.member, nano(cost));
    into.global.cost += taken.cost;
    into.global.of_reserve += taken.of_reserve;
  }
}

void Limiter::uncharge(Tenant& tenant, Charge& from, std::uint64_t cost) {
  HK_ASSERT(cost <= from.cost);
  const bool all = cost == from.cost;
  from.cost -= cost;
  for (std::size_t i = 0; i < from.by_endpoint.size(); ++i) {
    // A part of it goes back only where all of it is of one class.
    const std::uint64_t back = all ? from.by_endpoint[i] : std::min(cost, from.by_endpoint[i]);
    from.by_endpoint[i] -= back;
    if (Bucket& endpoint = tenant.endpoints[i].bucket; endpoint.limits()) {
      endpoint.give_back(nano(back));
    }
  }
  if (from.by_tenant && tenant.bucket.limits()) {
    tenant.bucket.give_back(nano(cost));
  }
  if (from.global.cost != 0) {
    // What the pool gave goes back first: it is everybody's.
    FairBucket::Taken& taken = from.global;
    const Nano of_pool = std::min(nano(cost), taken.cost - taken.of_reserve);
    const FairBucket::Taken back{nano(cost), nano(cost) - of_pool};
    taken.cost -= back.cost;
    taken.of_reserve -= back.of_reserve;
    global_.give_back(tenant.member, back);
  }
}

Limiter::Verdict Limiter::admit(Time now, const Caller& caller, const Asked& asked) {
  advance(now);
  Tenant& tenant = known(caller);
  look(tenant);
  Endpoint& endpoint = tenant.endpoints[static_cast<std::size_t>(asked.of)];
  Verdict verdict;
  const std::uint64_t cost =
      asked.guessed ? std::min(asked.cost, smallest_burst(tenant, asked.of)) : asked.cost;
  const Costs costs = asked.of_each ? *asked.of_each : cost_of(asked.of, cost);
  const auto full = [&](Level level, std::uint64_t in_flight, std::uint64_t most) {
    if (!verdict.refused && most != 0 && in_flight >= most) {
      verdict.refused =
          Refused{Refused::Why::in_flight, level, asked.of, most, std::chrono::seconds{1}};
    }
  };
  verdict.refused = beyond(tenant, asked.of, costs);
  full(Level::endpoint, endpoint.in_flight, endpoint.in_flight_max);
  full(Level::tenant, tenant.in_flight, tenant.in_flight_max);
  if (!verdict.refused) {
    verdict.refused = short_of(tenant, asked.of, costs);
  }
  if (!verdict.refused) {
    verdict.charge = {.tenant = caller.tenant,
                      .of = asked.of,
                      .in_tenant = tenant.in_flight_max != 0,
                      .in_class = endpoint.in_flight_max != 0};
    charge(tenant, verdict.charge, costs);
    tenant.in_flight += verdict.charge.in_tenant ? 1 : 0;
    endpoint.in_flight += verdict.charge.in_class ? 1 : 0;
  }
  verdict.standing = standing_of(tenant, asked.of);
  return verdict;
}

std::optional<Refused> Limiter::correct(Time now, Charge& charged, std::uint64_t cost) {
  advance(now);
  Tenant& tenant = tenants_.at(charged.tenant);
  look(tenant);
  if (cost <= charged.cost) {
    uncharge(tenant, charged, charged.cost - cost);
    return std::nullopt;
  }
  const Costs more = cost_of(charged.of, cost - charged.cost);
  std::optional<Refused> refused = beyond(tenant, charged.of, cost_of(charged.of, cost));
  if (!refused) {
    refused = short_of(tenant, charged.of, more);
  }
  if (refused) {
    uncharge(tenant, charged, charged.cost);
  } else {
    charge(tenant, charged, more);
  }
  return refused;
}

void Limiter::give_back(Time now, Charge& charged) {
  advance(now);
  Tenant& tenant = tenants_.at(charged.tenant);
  look(tenant);
  uncharge(tenant, charged, charged.cost);
}

void Limiter::replayed(Time now, Charge& charged) {
  give_back(now, charged);
  Tenant& tenant = tenants_.at(charged.tenant);
  // Under way it is still what it was: ended() undoes that.
  Charge one{.tenant = charged.tenant, .of = RateClass::read};
  look(tenant);
  if (!short_of(tenant, one.of, cost_of(one.of, 1))) {
    charge(tenant, one, cost_of(one.of, 1));
  }
}

void Limiter::ended(const Charge& charged) {
  Tenant& tenant = tenants_.at(charged.tenant);
  Endpoint& endpoint = tenant.endpoints[static_cast<std::size_t>(charged.of)];
  tenant.in_flight -= charged.in_tenant ? 1 : 0;
  endpoint.in_flight -= charged.in_class ? 1 : 0;
}

std::optional<Standing> Limiter::standing(Time now, const Caller& caller) {
  advance(now);
  Tenant& tenant = known(caller);
  look(tenant);
  return standing_of(tenant, std::nullopt);
}

Limiter::Remaining Limiter::remaining(Time now, const Caller& caller) {
  advance(now);
  Tenant& tenant = known(caller);
  Remaining remaining;
  for (std::size_t i = 0; i < core::rate_classes; ++i) {
    Bucket& bucket = tenant.endpoints[i].bucket;
    bucket.refill(now_);
    if (bucket.limits()) {
      remaining.classes[i] = bucket.level() / one_token;
    }
  }
  tenant.bucket.refill(flow_);
  if (tenant.bucket.limits()) {
    remaining.tenant = tenant.bucket.level() / one_token;
  }
  if (global_.whole().limits()) {
    global_.advance({flow_, now_});
    remaining.global = global_.available(tenant.member, 0) / one_token;
  }
  return remaining;
}

std::optional<Standing> Limiter::standing_of(const Tenant& tenant,
                                             std::optional<RateClass> of) const {
  std::optional<Standing> least;
  const auto offer = [&least](const Standing& one) {
    if (!least || one.left < least->left) {
      least = one;
    }
  };
  if (tenant.bucket.limits()) {
    Standing one = standing_in(Level::tenant, tenant.bucket);
    one.full_in = slowed(one.full_in);
    offer(one);
  }
  if (of) {
    if (const Bucket& bucket = tenant.endpoints[static_cast<std::size_t>(*of)].bucket;
        bucket.limits()) {
      offer(standing_in(Level::endpoint, bucket));
    }
  }
  if (global_.whole().limits()) {
    Standing one = standing_in(Level::global, global_.whole());
    one.full_in = slowed(one.full_in);
    one.left = global_.available(tenant.member, 0) / one_token;
    offer(one);
  }
  return least;
}

}  // namespace hk::api::limits
