#include <gtest/gtest.h>

#include "unit/core/rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

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

TEST(UpsertTenant, CreatesOneWithAnIdForWhoKnowsThatNobodyHasIt) {
  Rig rig;
  const UpsertTenant seven{.tenant = {.id = TenantId{7}, .name = "seven"}, .create_with_id = true};
  EXPECT_EQ(rig.run(UpsertTenant(seven)).only<TenantStored>().id, TenantId{7});
  EXPECT_EQ(rig.run(UpsertTenant(seven)).only<TenantStored>().id, TenantId{7});  // it is there
  EXPECT_EQ(
      rig.run(UpsertTenant{.tenant = {.id = TenantId{8}, .name = "seven"}, .create_with_id = true})
          .replies.at(0)
          .error()
          .kind,
      ErrorKind::conflict);
  EXPECT_EQ(rig.run(UpsertTenant{.tenant = {.name = "next"}}).only<TenantStored>().id, TenantId{8});
}

TEST(UpsertTenant, ReplacesWhatIsThere) {
  Rig rig;
  Tenant tenant = rig.reader.rows<Tenant>().at(tenant_one);
  tenant.token_digests = {"digest"};

  EXPECT_EQ(rig.run(UpsertTenant{tenant}).only<TenantStored>().id, tenant_one);

  EXPECT_EQ(rig.reader.rows<Tenant>().at(tenant_one).token_digests.size(), 1U);
  EXPECT_EQ(rig.reader.rows<Tenant>().size(), 1U);
}

TEST(UpsertTenant, OneTokenAndOneAccessKeyAreOneTenants) {
  struct Row {
    std::string_view name;
    Tenant second;
    bool stored;
  };
  const Row rows[] = {
      {"its own", {.name = "two", .token_digests = {"c"}, .access_keys = {{"K2"}}}, true},
      {"none", {.name = "two"}, true},
      {"the other's token", {.name = "two", .token_digests = {"b"}}, false},
      {"one of two", {.name = "two", .token_digests = {"c", "a"}}, false},
      {"the other's access key", {.name = "two", .access_keys = {{"K2"}, {"K1"}}}, false},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Rig rig;
    Tenant first = rig.reader.rows<Tenant>().at(tenant_one);
    first.token_digests = {"a", "b"};
    first.access_keys = {{"K1"}};
    rig.run(UpsertTenant{first});
    EXPECT_TRUE(rig.run(UpsertTenant{first}).replies.at(0).has_value());  // they stay its own

    const Reply reply = rig.run(UpsertTenant{row.second}).replies.at(0);

    ASSERT_EQ(reply.has_value(), row.stored);
    if (!row.stored) {
      EXPECT_EQ(reply.error().kind, ErrorKind::conflict);
      EXPECT_EQ(rig.reader.rows<Tenant>().size(), 1U);
    }
  }
}

TEST(UpsertTenant, ATokenIsNotTakenOverByAChange) {
  Rig rig;
  rig.run(UpsertTenant{{.name = "two", .token_digests = {"t"}}});
  Tenant first = rig.reader.rows<Tenant>().at(tenant_one);
  first.token_digests = {"t"};

  EXPECT_EQ(rig.run(UpsertTenant{first}).replies.at(0).error().kind, ErrorKind::conflict);

  EXPECT_TRUE(rig.reader.rows<Tenant>().at(tenant_one).token_digests.empty());
}

TEST(UpsertTenant, AChangeOfWhatWasChangedMeanwhileIsRefused) {
  Rig rig;
  const Tenant read = rig.reader.rows<Tenant>().at(tenant_one);
  Tenant one = read;
  one.token_digests = {"one"};
  Tenant two = read;
  two.access_keys = {{.id = "two"}};

  // In one batch, so that the second could not have seen the first.
  const auto ran = rig.run(UpsertTenant{one, read}, UpsertTenant{two, read});

  EXPECT_TRUE(ran.replies.at(0).has_value());
  EXPECT_EQ(ran.replies.at(1).error().kind, ErrorKind::unavailable);
  EXPECT_EQ(rig.reader.rows<Tenant>().at(tenant_one), one);
  one.access_keys = two.access_keys;
  EXPECT_TRUE(rig.run(UpsertTenant{one, rig.reader.rows<Tenant>().at(tenant_one)})
                  .replies.at(0)
                  .has_value());
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
