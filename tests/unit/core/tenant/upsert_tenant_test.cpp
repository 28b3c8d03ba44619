#include <gtest/gtest.h>

#include "unit/core/rig.h"

namespace hk::core::testing {
namespace {

TEST(UpsertTenant, NumbersThemAndKeepsNamesApart) {
  Rig rig;
  EXPECT_EQ(rig.run(UpsertTenant{.tenant = {.name = "two"}}).only<TenantStored>().id, TenantId{2});
  EXPECT_EQ(rig.run(UpsertTenant{.tenant = {.name = "two"}}).replies.at(0).error().kind,
            ErrorKind::conflict);
  EXPECT_EQ(rig.run(UpsertTenant{.tenant = {.name = ""}}).replies.at(0).error().kind,
            ErrorKind::invalid_argument);
  EXPECT_EQ(rig.run(UpsertTenant{.tenant = {.id = TenantId{7}, .name = "seven"}})
                .replies.at(0)
                .error()
                .kind,
            ErrorKind::not_found);
}

TEST(UpsertTenant, ReplacesWhatIsThere) {
  Rig rig;
  Tenant tenant = rig.reader.tenant_records.at(tenant_one);
  tenant.token_digests = {"digest"};

  EXPECT_EQ(rig.run(UpsertTenant{tenant}).only<TenantStored>().id, tenant_one);

  EXPECT_EQ(rig.reader.tenant_records.at(tenant_one).token_digests.size(), 1U);
  EXPECT_EQ(rig.reader.tenant_records.size(), 1U);
}

}  // namespace
}  // namespace hk::core::testing
