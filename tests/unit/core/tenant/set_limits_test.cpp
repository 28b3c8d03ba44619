#include <gtest/gtest.h>

#include <algorithm>

#include "unit/core/rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

TenantLimits publishes(CallLimit limit) {
  TenantLimits limits;
  limits.classes[static_cast<std::size_t>(RateClass::publish)] = limit;
  return limits;
}

TEST(SetTenantLimits, StoresThem) {
  Rig rig;
  TenantLimits limits = publishes({.rate = 5, .burst = 9, .in_flight = 2});
  limits.own_rate = true;
  limits.all = {.rate = 100, .burst = 200};
  limits.weight = 3;

  const auto ran = rig.run(SetTenantLimits{tenant_one, limits});

  EXPECT_EQ(ran.only<TenantStored>().id, tenant_one);
  EXPECT_EQ(rig.reader.rows<Tenant>().at(tenant_one).limits, limits);
}

TEST(SetTenantLimits, ReplacesAllOfThem) {
  Rig rig;
  rig.run(SetTenantLimits{tenant_one, publishes({.rate = 5, .burst = 5})});

  rig.run(SetTenantLimits{tenant_one, {.weight = 2}});

  EXPECT_EQ(rig.reader.rows<Tenant>().at(tenant_one).limits, TenantLimits{.weight = 2});
}

TEST(SetTenantLimits, TheSameAgainWritesNothing) {
  Rig rig;
  rig.run(SetTenantLimits{tenant_one, {.weight = 2}});

  const auto ran = rig.run(SetTenantLimits{tenant_one, {.weight = 2}});

  EXPECT_TRUE(ran.replies.at(0).has_value());
  EXPECT_TRUE(std::ranges::none_of(
      ran.mutations, [](const Mutation& one) { return std::holds_alternative<Put<Tenant>>(one); }));
}

TEST(SetTenantLimits, IsNotUndoneByAChangeOfCredentials) {
  Rig rig;
  const Tenant read = rig.reader.rows<Tenant>().at(tenant_one);
  rig.run(SetTenantLimits{tenant_one, {.weight = 2}});

  EXPECT_EQ(rig.run(UpsertTenant{read, read}).replies.at(0).error().kind, ErrorKind::unavailable);
  EXPECT_EQ(rig.reader.rows<Tenant>().at(tenant_one).limits.weight, 2U);
}

TEST(SetTenantLimits, RefusesWhatCannotBeMeant) {
  struct Row {
    std::string_view name;
    TenantLimits limits;
    std::string_view says;
  };
  const Row rows[] = {
      {"burst below the rate",
       {.own_rate = true, .all = {.rate = 10, .burst = 9}},
       "burst: must be at least the rate, which is 10"},
      {"burst without a rate", {.all = {.burst = 9}}, "burst: needs a rate"},
      {"rate too high",
       {.own_rate = true, .all = {.rate = 10'000'001, .burst = 20'000'000}},
       "rate: must not be above 10000000"},
      {"burst too high",
       {.own_rate = true, .all = {.rate = 1, .burst = 1'000'000'001}},
       "burst: must not be above"},
      {"too many at once", {.all = {.in_flight = 1'000'001}}, "in_flight: must not be above"},
      {"no weight", {.weight = 0}, "weight: must be from 1 to 1000"},
      {"too heavy", {.weight = 1001}, "weight: must be from 1 to 1000"},
      {"in a class", publishes({.rate = 3, .burst = 2}), "classes.publish.burst: must be"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Rig rig;

    const Reply reply = rig.run(SetTenantLimits{tenant_one, row.limits}).replies.at(0);

    ASSERT_FALSE(reply.has_value());
    EXPECT_EQ(reply.error().kind, ErrorKind::invalid_argument);
    EXPECT_NE(reply.error().message.find(row.says), std::string::npos) << reply.error().message;
    EXPECT_EQ(rig.reader.rows<Tenant>().at(tenant_one).limits, TenantLimits{});
  }
  Rig rig;
  EXPECT_EQ(rig.run(SetTenantLimits{TenantId{9}, {}}).replies.at(0).error().kind,
            ErrorKind::not_found);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
