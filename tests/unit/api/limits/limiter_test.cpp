#include "api/limits/limiter.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <deque>
#include <map>
#include <string_view>
#include <vector>

namespace hk::api::limits {
namespace HK_TEST_FILE {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr core::TenantId one{1};
constexpr core::TenantId two{2};

core::TenantLimits own(CallLimit all) { return {.own_rate = all.rate != 0, .all = all}; }

core::TenantLimits with(core::TenantLimits limits, RateClass of, CallLimit limit) {
  limits.classes[static_cast<std::size_t>(of)] = limit;
  return limits;
}

/// A limiter and tenants with their limits.
class Bench {
 public:
  explicit Bench(Settings settings = {}) : limiter(settings) {}

  void set(core::TenantId tenant, const core::TenantLimits& limits) {
    tenants_[tenant] = {limits, ++revision_};
  }
  Limiter::Verdict ask(core::TenantId tenant, Asked asked = {}) {
    return limiter.admit(now, caller(tenant), asked);
  }
  /// How many of so many are admitted.
  std::size_t admitted(core::TenantId tenant, std::size_t count, Asked asked = {}) {
    std::size_t taken = 0;
    for (std::size_t i = 0; i < count; ++i) {
      taken += ask(tenant, asked).refused ? 0 : 1;
    }
    return taken;
  }
  Caller caller(core::TenantId tenant) {
    if (!tenants_.contains(tenant)) {
      set(tenant, {});
    }
    const Known& known = tenants_.at(tenant);
    return {tenant, known.limits, known.revision};
  }

  Limiter limiter;
  Time now = seconds{1000};

 private:
  struct Known {
    core::TenantLimits limits{};
    std::uint64_t revision = 0;
  };
  std::map<core::TenantId, Known> tenants_;
  std::uint64_t revision_ = 0;
};

TEST(Limiter, ABucketStartsFullAndFillsAtItsRate) {
  Bench bench;
  bench.set(one, own({.rate = 10, .burst = 15}));
  EXPECT_EQ(bench.admitted(one, 100), 15U);
  bench.now += milliseconds{99};
  EXPECT_EQ(bench.admitted(one, 100), 0U);
  bench.now += milliseconds{1};
  EXPECT_EQ(bench.admitted(one, 100), 1U);
  bench.now += seconds{1};
  EXPECT_EQ(bench.admitted(one, 100), 10U);

  bench.now += seconds{3600};

  EXPECT_EQ(bench.admitted(one, 100), 15U);  // never more than its burst
}

TEST(Limiter, LooksHoweverOftenLoseNothing) {
  Bench bench;
  bench.set(one, own({.rate = 1, .burst = 1}));
  EXPECT_EQ(bench.admitted(one, 1), 1U);

  for (int i = 0; i < 999'999; ++i) {
    bench.now += std::chrono::microseconds{1};
    EXPECT_TRUE(bench.ask(one).refused);
  }
  bench.now += std::chrono::microseconds{1};

  EXPECT_EQ(bench.admitted(one, 2), 1U);
}

TEST(Limiter, ARefusalAtAnyLevelChargesNoneOfThem) {
  struct Row {
    std::string_view name;
    Settings settings;
    core::TenantLimits limits;
    Level refuses;
  };
  const CallLimit small{.rate = 1, .burst = 1};
  const CallLimit large{.rate = 5, .burst = 5};
  const Row rows[] = {
      {"global", {.global = small}, with(own(large), RateClass::publish, large), Level::global},
      {"tenant", {.global = large}, with(own(small), RateClass::publish, large), Level::tenant},
      {"endpoint", {.global = large}, with(own(large), RateClass::publish, small), Level::endpoint},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Bench bench(row.settings);
    bench.set(one, row.limits);
    const Asked asked{.of = RateClass::publish};
    EXPECT_EQ(bench.admitted(one, 1, asked), 1U);
    const Limiter::Remaining before = bench.limiter.remaining(bench.now, bench.caller(one));

    const auto verdict = bench.ask(one, asked);

    ASSERT_TRUE(verdict.refused);
    EXPECT_EQ(verdict.refused->level, row.refuses);
    EXPECT_EQ(verdict.refused->why, Refused::Why::rate);
    EXPECT_EQ(verdict.refused->limit, 1U);
    const Limiter::Remaining after = bench.limiter.remaining(bench.now, bench.caller(one));
    EXPECT_EQ(before.global, after.global);
    EXPECT_EQ(before.tenant, after.tenant);
    EXPECT_EQ(before.classes, after.classes);
  }
}

TEST(Limiter, WhatCostsMoreThanABurstIsToldSoAndNotToComeBack) {
  struct Row {
    std::string_view name;
    Settings settings;
    core::TenantLimits limits;
    Level level;
    std::uint64_t limit;
  };
  const CallLimit ten{.rate = 5, .burst = 10};
  const CallLimit many{.rate = 50, .burst = 100};
  const Row rows[] = {
      {"global", {.global = ten}, own(many), Level::global, 10},
      {"tenant by the settings", {.tenant = ten}, {}, Level::tenant, 10},
      {"tenant by its own", {.tenant = many}, own(ten), Level::tenant, 10},
      {"endpoint", {}, with(own(many), RateClass::publish, ten), Level::endpoint, 10},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Bench bench(row.settings);
    bench.set(one, row.limits);

    const auto verdict = bench.ask(one, {.of = RateClass::publish, .cost = 11});

    ASSERT_TRUE(verdict.refused);
    EXPECT_EQ(verdict.refused->why, Refused::Why::over_burst);
    EXPECT_EQ(verdict.refused->level, row.level);
    EXPECT_EQ(verdict.refused->limit, row.limit);
    EXPECT_EQ(bench.admitted(one, 1, {.of = RateClass::publish, .cost = 10}), 1U);
  }
}

TEST(Limiter, TheWaitIsForTheLevelThatTakesLongest) {
  Bench bench;
  bench.set(one,
            with(own({.rate = 10, .burst = 10}), RateClass::publish, {.rate = 1, .burst = 10}));
  const Asked all{.of = RateClass::publish, .cost = 10};
  EXPECT_EQ(bench.admitted(one, 1, all), 1U);

  const auto verdict = bench.ask(one, all);

  ASSERT_TRUE(verdict.refused);
  EXPECT_EQ(verdict.refused->level, Level::endpoint);
  EXPECT_EQ(verdict.refused->retry_in, seconds{10});
  bench.now += seconds{10};
  EXPECT_EQ(bench.admitted(one, 1, all), 1U);
}

TEST(Limiter, ARequestOfSeveralClassesIsChargedInEachOfThemOrInNone) {
  Bench bench({.global = {.rate = 1, .burst = 40}});
  bench.set(one,
            with(with(own({.rate = 1, .burst = 30}), RateClass::publish, {.rate = 1, .burst = 10}),
                 RateClass::ledger, {.rate = 1, .burst = 20}));
  const auto asking = [](std::uint64_t publishes, std::uint64_t writes) {
    Costs costs = cost_of(RateClass::publish, publishes);
    costs[static_cast<std::size_t>(RateClass::ledger)] = writes;
    return Asked{.of = RateClass::publish, .cost = total(costs), .of_each = costs};
  };
  const auto left = [&](RateClass of) {
    return bench.limiter.remaining(bench.now, bench.caller(one))
        .classes[static_cast<std::size_t>(of)]
        .value_or(0);
  };

  auto first = bench.ask(one, asking(4, 15));
  ASSERT_FALSE(first.refused);
  EXPECT_EQ(left(RateClass::publish), 6U);
  EXPECT_EQ(left(RateClass::ledger), 5U);
  EXPECT_EQ(bench.limiter.remaining(bench.now, bench.caller(one)).tenant, 11U);

  const auto refused = bench.ask(one, asking(1, 6)).refused;
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->of, RateClass::ledger) << "and not what most of it is of";
  EXPECT_EQ(refused->retry_in, seconds{1});
  EXPECT_EQ(left(RateClass::publish), 6U);
  EXPECT_EQ(left(RateClass::ledger), 5U);
  const auto never = bench.ask(one, asking(11, 0)).refused;
  ASSERT_TRUE(never);
  EXPECT_EQ(never->why, Refused::Why::over_burst);
  EXPECT_TRUE(bench.ask(one, asking(10, 20)).refused) << "the tenant has no more";

  bench.limiter.give_back(bench.now, first.charge);

  EXPECT_EQ(left(RateClass::publish), 10U);
  EXPECT_EQ(left(RateClass::ledger), 20U);
  EXPECT_EQ(bench.limiter.remaining(bench.now, bench.caller(one)).tenant, 30U);
}

TEST(Limiter, OwnLimitsStandInPlaceOfTheSettings) {
  Bench bench({.tenant = {.rate = 5, .burst = 5}});
  EXPECT_EQ(bench.admitted(one, 100), 5U);

  bench.set(one, own({.rate = 20, .burst = 20}));
  EXPECT_EQ(bench.admitted(one, 100), 15U);  // it has had five
  bench.set(one, own({.rate = 10, .burst = 10}));
  EXPECT_EQ(bench.admitted(one, 100), 0U);
  bench.now += seconds{10};
  EXPECT_EQ(bench.admitted(one, 100), 10U);
  bench.set(one, {.own_rate = true});  // none at all
  EXPECT_EQ(bench.admitted(one, 100), 100U);
  bench.set(one, {});
  EXPECT_EQ(bench.admitted(one, 100), 5U);
  EXPECT_EQ(bench.admitted(two, 100), 5U);  // everybody has their own
}

TEST(Limiter, ARequestThatWasOnItsWayDoesNotBringOldLimitsBack) {
  Bench bench;
  const core::TenantLimits before = own({.rate = 100, .burst = 100});
  const core::TenantLimits now = own({.rate = 1, .burst = 1});
  EXPECT_FALSE(bench.limiter.admit(bench.now, {one, now, 2}, {}).refused);

  EXPECT_TRUE(bench.limiter.admit(bench.now, {one, before, 1}, {}).refused);
  EXPECT_TRUE(bench.limiter.admit(bench.now, {one, now, 2}, {}).refused);
}

TEST(Limiter, CountsWhatIsUnderWay) {
  Bench bench;
  bench.set(one, with(own({.in_flight = 3}), RateClass::receive, {.in_flight = 2}));
  const Asked receive{.of = RateClass::receive};
  const auto first = bench.ask(one, receive);
  EXPECT_FALSE(bench.ask(one, receive).refused);

  const auto third = bench.ask(one, receive);
  ASSERT_TRUE(third.refused);
  EXPECT_EQ(third.refused->why, Refused::Why::in_flight);
  EXPECT_EQ(third.refused->level, Level::endpoint);
  EXPECT_EQ(third.refused->limit, 2U);
  EXPECT_FALSE(third.standing);  // there is no rate to tell of
  EXPECT_FALSE(bench.ask(one).refused);
  EXPECT_EQ(bench.ask(one).refused->level, Level::tenant);

  bench.limiter.ended(first.charge);
  EXPECT_FALSE(bench.ask(one, receive).refused);
}

TEST(Limiter, ARefusalForWhatIsUnderWayChargesNothing) {
  Bench bench;
  bench.set(one, own({.rate = 5, .burst = 5, .in_flight = 1}));
  EXPECT_FALSE(bench.ask(one).refused);
  EXPECT_TRUE(bench.ask(one).refused);
  EXPECT_EQ(bench.limiter.remaining(bench.now, bench.caller(one)).tenant, 4U);
}

TEST(Limiter, AGuessIsCorrectedWhenTheCostIsKnown) {
  struct Row {
    std::string_view name;
    std::uint64_t guess;
    std::uint64_t cost;
    std::optional<Refused::Why> refused;
    std::uint64_t left;
  };
  const Row rows[] = {
      {"it was right", 3, 3, {}, 5},
      {"it was less", 7, 2, {}, 6},
      {"it was more", 1, 8, {}, 0},
      {"more than is there", 1, 9, Refused::Why::rate, 8},
      {"more than there can be", 1, 11, Refused::Why::over_burst, 8},
      {"a guess that is too large is cut", 8, 1, {}, 7},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Bench bench({.global = {.rate = 10, .burst = 10}});
    bench.set(one,
              with(own({.rate = 10, .burst = 10}), RateClass::publish, {.rate = 10, .burst = 10}));
    EXPECT_EQ(bench.admitted(one, 2), 2U);  // of another class
    auto verdict = bench.ask(one, {.of = RateClass::publish, .cost = row.guess, .guessed = true});
    ASSERT_FALSE(verdict.refused);

    const auto refused = bench.limiter.correct(bench.now, verdict.charge, row.cost);

    EXPECT_EQ(refused ? std::optional(refused->why) : std::nullopt, row.refused);
    const Limiter::Remaining left = bench.limiter.remaining(bench.now, bench.caller(one));
    EXPECT_EQ(left.global, row.left);
    EXPECT_EQ(left.tenant, row.left);
    EXPECT_EQ(left.classes[static_cast<std::size_t>(RateClass::publish)], row.left + 2);
  }
  Bench bench;
  bench.set(one, own({.rate = 4, .burst = 4}));
  EXPECT_EQ(bench.ask(one, {.cost = 10'000, .guessed = true}).charge.cost, 4U);
}

TEST(Limiter, AReplayCostsOneRead) {
  Bench bench({.global = {.rate = 20, .burst = 20}});
  bench.set(one,
            with(with(own({.rate = 10, .burst = 10}), RateClass::publish, {.rate = 8, .burst = 8}),
                 RateClass::read, {.rate = 1, .burst = 1}));
  for (const std::uint64_t reads_left : {0U, 0U}) {  // also when there is no read left
    auto verdict = bench.ask(one, {.of = RateClass::publish, .cost = 5});
    ASSERT_FALSE(verdict.refused);

    bench.limiter.replayed(bench.now, verdict.charge);

    const Limiter::Remaining left = bench.limiter.remaining(bench.now, bench.caller(one));
    EXPECT_EQ(left.global, 19U);
    EXPECT_EQ(left.tenant, 9U);
    EXPECT_EQ(left.classes[static_cast<std::size_t>(RateClass::publish)], 8U);
    EXPECT_EQ(left.classes[static_cast<std::size_t>(RateClass::read)], reads_left);
  }
}

TEST(Limiter, TellsOfTheLevelWithTheLeastLeft) {
  Bench bench({.global = {.rate = 50, .burst = 50}});
  bench.set(one, with(own({.rate = 10, .burst = 20}), RateClass::publish, {.rate = 5, .burst = 5}));

  const auto read = bench.ask(one);
  ASSERT_TRUE(read.standing);
  EXPECT_EQ(read.standing->level, Level::tenant);
  EXPECT_EQ(read.standing->rate, 10U);
  EXPECT_EQ(read.standing->left, 19U);
  EXPECT_EQ(read.standing->full_in, milliseconds{100});
  EXPECT_EQ(bench.ask(one, {.of = RateClass::publish}).standing->level, Level::endpoint);
  EXPECT_EQ(Bench().ask(one).standing, std::nullopt);
}

TEST(Limiter, TheFactorSlowsServerAndTenantAndNothingElse) {
  Bench bench;
  bench.set(one,
            with(own({.rate = 100, .burst = 100}), RateClass::publish, {.rate = 10, .burst = 10}));
  EXPECT_EQ(bench.admitted(one, 1000), 100U);
  bench.limiter.set_factor(bench.now, 100'000);

  const auto refused = bench.ask(one).refused;
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->limit, 100U);
  EXPECT_EQ(refused->retry_in, milliseconds{100});
  bench.now += seconds{1};
  EXPECT_EQ(bench.admitted(one, 1000), 10U);

  // What a class may have is as it was.
  bench.now += seconds{10};
  EXPECT_EQ(bench.admitted(one, 10, {.of = RateClass::publish}), 10U);
  bench.limiter.set_factor(bench.now, all_of_it);
  bench.now += seconds{1};
  EXPECT_EQ(bench.admitted(one, 1000), 100U);
}

// ---- the whole server ----

TEST(Limiter, ALoneTenantHasTheWholeServer) {
  Bench bench({.global = {.rate = 10, .burst = 15}});
  bench.limiter.set_known(1);
  EXPECT_EQ(bench.admitted(one, 100), 15U);
  bench.now += seconds{1};
  EXPECT_EQ(bench.admitted(one, 100), 10U);
  bench.now += seconds{100};
  EXPECT_EQ(bench.admitted(one, 1, {.cost = 15}), 1U);
}

TEST(Limiter, TheNextTenantFindsItsShareHoweverBusyTheOthersAre) {
  Bench bench({.global = {.rate = 100, .burst = 100}});
  bench.limiter.set_known(2);
  for (int i = 0; i < 200; ++i) {
    bench.admitted(one, 50);
    bench.now += milliseconds{10};
  }

  EXPECT_EQ(bench.admitted(two, 100), 50U);  // a second of its share
  bench.now += seconds{1};
  EXPECT_EQ(bench.admitted(one, 100), 50U);
  EXPECT_EQ(bench.admitted(two, 100), 50U);
}

TEST(Limiter, WhatOneLeavesTheOtherMayHave) {
  Bench bench({.global = {.rate = 100, .burst = 100}});
  bench.limiter.set_known(2);
  bench.admitted(one, 1000);
  bench.admitted(two, 1);
  std::size_t busy = 0;
  for (int i = 0; i < 1000; ++i) {
    bench.now += milliseconds{10};
    busy += bench.admitted(one, 10);
    if (i % 100 == 0) {
      EXPECT_EQ(bench.admitted(two, 1), 1U);
    }
  }
  EXPECT_GE(busy, 975U);
  EXPECT_LE(busy, 1050U);
}

TEST(Limiter, SharesAreByWeight) {
  Bench bench({.global = {.rate = 100, .burst = 100}});
  bench.limiter.set_known(2);
  bench.set(one, {.weight = 3});
  std::map<core::TenantId, std::size_t> taken;
  for (int i = 0; i < 100; ++i) {
    bench.now += milliseconds{100};
    for (const core::TenantId tenant : {one, two}) {
      const std::size_t now_taken = bench.admitted(tenant, 100);
      taken[tenant] += i < 20 ? 0 : now_taken;
    }
  }
  EXPECT_EQ(taken[one], 600U);
  EXPECT_EQ(taken[two], 200U);
}

TEST(Limiter, AfterTenSecondsWithoutARequestThereIsNoReserve) {
  Bench bench({.global = {.rate = 100, .burst = 100}});
  bench.limiter.set_known(2);
  bench.admitted(one, 1);
  bench.admitted(two, 1);
  bench.now += seconds{5};
  EXPECT_EQ(bench.admitted(one, 1000), 50U);
  bench.now += milliseconds{4900};
  EXPECT_EQ(bench.admitted(one, 1, {.cost = 51}), 0U);  // the other's is held

  bench.now += seconds{2};

  // Half of it is kept for whoever comes next; a request that is too large for the rest gets it.
  EXPECT_EQ(bench.admitted(one, 1, {.cost = 50}), 1U);
  bench.now += seconds{2};
  EXPECT_EQ(bench.admitted(one, 1, {.cost = 100}), 1U);
}

// ---- properties, against a reference that remembers every charge ----

struct Step {
  int who;
  int what;
  std::int64_t wait_us;
  std::uint64_t cost;
};

std::ostream& operator<<(std::ostream& out, const Step& step) {
  return out << '{' << step.who << ' ' << step.what << ' ' << step.wait_us << "us " << step.cost
             << '}';
}

rc::Gen<std::vector<Step>> steps_of(int tenants) {
  return rc::gen::scale(
      5, rc::gen::container<std::vector<Step>>(rc::gen::map(
             rc::gen::tuple(rc::gen::inRange(0, tenants), rc::gen::inRange(0, 100),
                            rc::gen::weightedOneOf<std::int64_t>(
                                {{6, rc::gen::just<std::int64_t>(0)},
                                 {6, rc::gen::inRange<std::int64_t>(0, 20'000)},
                                 {2, rc::gen::inRange<std::int64_t>(0, 2'000'000)},
                                 {1, rc::gen::inRange<std::int64_t>(0, 12'000'000)}}),
                            rc::gen::weightedOneOf<std::uint64_t>(
                                {{5, rc::gen::just<std::uint64_t>(1)},
                                 {1, rc::gen::inRange<std::uint64_t>(1, 12)}})),
             [](const auto& all) {
               return Step{std::get<0>(all), std::get<1>(all), std::get<2>(all), std::get<3>(all)};
             })));
}

/// Knows every charge of one bucket and looks at every window that begins with one.
class Windows {
 public:
  explicit Windows(CallLimit limit) : limit_(limit) {}

  void charged(Time now, std::uint64_t cost) { charges_.emplace_back(now, cost); }
  void check() const {
    for (std::size_t from = 0; from < charges_.size(); ++from) {
      std::uint64_t sum = 0;
      for (std::size_t to = from; to < charges_.size(); ++to) {
        sum += charges_[to].second;
        const auto passed =
            static_cast<std::uint64_t>((charges_[to].first - charges_[from].first).count());
        RC_ASSERT(sum * one_token <= limit_.burst * one_token + limit_.rate * passed);
      }
    }
  }

 private:
  CallLimit limit_;
  std::vector<std::pair<Time, std::uint64_t>> charges_;
};

std::vector<std::uint64_t> levels(Bench& bench, int tenants) {
  std::vector<std::uint64_t> all;
  for (int i = 0; i < tenants; ++i) {
    const core::TenantId tenant{static_cast<std::uint32_t>(i + 1)};
    const Limiter::Remaining left = bench.limiter.remaining(bench.now, bench.caller(tenant));
    all.push_back(left.tenant.value_or(0));
    for (const auto& of_class : left.classes) {
      all.push_back(of_class.value_or(0));
    }
  }
  all.push_back(bench.limiter.global().whole().level());
  return all;
}

TEST(LimiterProperty, NoBucketChargesMoreThanItsBurstAndRateAndARefusalNothing) {
  constexpr int tenants = 4;
  EXPECT_TRUE(rc::check([] {
    const auto limit = [](std::uint64_t most) {
      const auto rate = *rc::gen::inRange<std::uint64_t>(1, most);
      return CallLimit{.rate = rate, .burst = rate + *rc::gen::inRange<std::uint64_t>(0, most)};
    };
    const Settings settings{.global = limit(40), .tenant = limit(20)};
    Bench bench(settings);
    bench.limiter.set_known(*rc::gen::inRange<std::size_t>(0, 6));
    Windows global(settings.global);
    std::vector<Windows> of_tenant;
    std::vector<Windows> of_class;
    for (int i = 0; i < tenants; ++i) {
      const CallLimit publishes = limit(10);
      core::TenantLimits limits = with({}, RateClass::publish, publishes);
      limits.weight = *rc::gen::inRange<std::uint32_t>(1, 5);
      bench.set(core::TenantId{static_cast<std::uint32_t>(i + 1)}, limits);
      of_tenant.emplace_back(settings.tenant);
      of_class.emplace_back(publishes);
    }

    for (const Step& step : *steps_of(tenants)) {
      bench.now += std::chrono::microseconds{step.wait_us};
      if (step.what >= 90) {
        bench.limiter.set_factor(bench.now, static_cast<Millionths>(100'000 * (step.what - 89)));
        continue;
      }
      const core::TenantId tenant{static_cast<std::uint32_t>(step.who + 1)};
      const bool publishes = step.what < 60;
      const Asked asked{.of = publishes ? RateClass::publish : RateClass::read, .cost = step.cost};
      const auto before = levels(bench, tenants);
      const auto verdict = bench.ask(tenant, asked);
      RC_ASSERT(bench.limiter.global().claimed() <= bench.limiter.global().whole().level());
      if (verdict.refused) {
        RC_ASSERT(levels(bench, tenants) == before);
        continue;
      }
      const auto who = static_cast<std::size_t>(step.who);
      global.charged(bench.now, step.cost);
      of_tenant[who].charged(bench.now, step.cost);
      if (publishes) {
        of_class[who].charged(bench.now, step.cost);
      }
    }
    global.check();
    for (int i = 0; i < tenants; ++i) {
      of_tenant[static_cast<std::size_t>(i)].check();
      of_class[static_cast<std::size_t>(i)].check();
    }
  }));
}

/// One bucket of a tenant, by itself: what the specification says, in fractions.
struct Reference {
  double rate;
  double burst;
  double level = burst;
  Time at{};

  bool take(Time now, double cost) {
    level = std::min(burst, level + rate * std::chrono::duration<double>(now - at).count());
    at = now;
    if (level < cost) {
      return false;
    }
    level -= cost;
    return true;
  }
};

TEST(LimiterProperty, ATenantsBucketDecidesAsANaiveOneDoes) {
  EXPECT_TRUE(rc::check([] {
    const auto rate = *rc::gen::inRange<std::uint64_t>(1, 50);
    const auto burst = rate + *rc::gen::inRange<std::uint64_t>(0, 50);
    Bench bench;
    bench.set(one, own({.rate = rate, .burst = burst}));
    Reference naive{.rate = static_cast<double>(rate), .burst = static_cast<double>(burst)};
    naive.at = bench.now;
    for (const Step& step : *steps_of(1)) {
      bench.now += std::chrono::microseconds{step.wait_us};
      if (step.cost > burst) {
        continue;
      }
      // Where the fractions cannot tell, either answer is right.
      Reference a_bit_more = naive;
      Reference a_bit_less = naive;
      a_bit_more.level += 1e-6;
      a_bit_less.level -= 1e-6;
      const auto cost = static_cast<double>(step.cost);
      const bool may = a_bit_more.take(bench.now, cost);
      const bool must = a_bit_less.take(bench.now, cost);
      const bool admitted = !bench.ask(one, {.cost = step.cost}).refused;
      RC_ASSERT(!must || admitted);
      RC_ASSERT(may || !admitted);
      naive.take(bench.now, 0);
      naive.level = std::max(0.0, naive.level - (admitted ? cost : 0));
    }
  }));
}

/// Some tenants stay within their share (a bucket of their own says so), the others flood.
TEST(LimiterProperty, ATenantWithinItsShareIsNeverRefusedBecauseOfAnother) {
  EXPECT_TRUE(rc::check([] {
    const int tenants = *rc::gen::inRange(2, 6);
    const auto rate = *rc::gen::inRange<std::uint64_t>(20, 500);
    const auto burst = rate + *rc::gen::inRange<std::uint64_t>(0, 200);
    Bench bench({.global = {.rate = rate, .burst = burst}});
    const std::size_t known =
        static_cast<std::size_t>(tenants) + *rc::gen::inRange<std::size_t>(0, 2);
    bench.limiter.set_known(known);
    std::vector<std::uint32_t> weights;
    double sum = 0;
    for (int i = 0; i < tenants; ++i) {
      weights.push_back(*rc::gen::inRange<std::uint32_t>(1, 4));
      sum += weights.back();
      bench.set(core::TenantId{static_cast<std::uint32_t>(i + 1)}, {.weight = weights.back()});
    }
    // All are there, and have been for a while.
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < tenants; ++i) {
        bench.limiter.standing(bench.now,
                               bench.caller(core::TenantId{static_cast<std::uint32_t>(i + 1)}));
      }
      bench.now += seconds{2};
    }
    const double places = sum + (known > static_cast<std::size_t>(tenants) ? 1 : 0);
    std::vector<Reference> shares;
    for (const std::uint32_t weight : weights) {
      const double all = static_cast<double>(rate) * weight;
      shares.push_back({.rate = all / sum, .burst = all / places});
      shares.back().at = bench.now;
    }
    const int polite = *rc::gen::inRange(1, tenants);
    const auto ask_all = [&](std::uint64_t cost) {
      for (int i = tenants; i-- > 0;) {
        const core::TenantId tenant{static_cast<std::uint32_t>(i + 1)};
        bench.limiter.standing(bench.now, bench.caller(tenant));  // it is there
        if (i >= polite) {
          bench.admitted(tenant, 30);
        } else if (shares[static_cast<std::size_t>(i)].take(bench.now,
                                                            static_cast<double>(cost) + 1e-6)) {
          RC_ASSERT(!bench.ask(tenant, {.cost = cost}).refused);
        }
      }
    };
    for (const Step& step : *steps_of(tenants)) {
      bench.now += std::chrono::microseconds{std::min<std::int64_t>(step.wait_us, 7'000'000)};
      ask_all(step.cost);
    }
  }));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::limits
