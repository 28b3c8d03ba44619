#include "engine/reseal.h"

#include <gtest/gtest.h>

#include "engine/tenant_directory.h"
#include "security/credentials.h"

namespace hk::engine {
namespace HK_TEST_FILE {

security::MasterKey key(char digit) {
  return *security::MasterKey::from_hex(Secret{std::string(64, digit)});
}

TEST(Reseal, MakesAllSecretsOpenWithTheNewKeyAloneAndLeavesTheTokens) {
  const security::MasterKey old = key('a');
  const security::MasterKey next = key('b').taking_over_from(old);
  const TenantDirectory before{old};
  core::Tenant tenant{.id = core::TenantId{1}, .name = "one"};
  tenant.token_digests = {old.token_digest("token")};
  tenant = before.with_keys(std::move(tenant), Secret{"sig_now"}, Secret{"sig_next"});
  tenant = before.with_access_key(std::move(tenant), "HK1", Secret{"first"}, Moment{});
  tenant = before.with_access_key(std::move(tenant), "HK2", Secret{"second"}, Moment{});

  const auto done = resealed(tenant, old, next);

  ASSERT_TRUE(done);
  TenantDirectory after{next};
  ASSERT_TRUE(after.put(*done));
  const auto entry = after.authenticate("token");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->current_key.reveal(), "sig_now");
  EXPECT_EQ(entry->next_key.reveal(), "sig_next");
  EXPECT_EQ(after.find_access_key("HK1")->secret.reveal(), "first");
  EXPECT_EQ(after.find_access_key("HK2")->secret.reveal(), "second");
  TenantDirectory stale{old};
  EXPECT_FALSE(stale.put(*done));
}

TEST(Reseal, FailsIfOneSecretDoesNotOpen) {
  const security::MasterKey a = key('a');
  const security::MasterKey b = key('b');
  const TenantDirectory by_a{a};
  const TenantDirectory by_b{b};
  core::Tenant tenant{.id = core::TenantId{1}, .name = "one"};
  tenant = by_a.with_keys(std::move(tenant), Secret{"sig_now"}, Secret{"sig_next"});
  tenant = by_b.with_access_key(std::move(tenant), "HK1", Secret{"first"}, Moment{});

  const auto done = resealed(tenant, a, b);

  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::corruption);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::engine
