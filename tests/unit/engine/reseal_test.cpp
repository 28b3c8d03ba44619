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

TEST(Reseal, MakesTheSecretsOfAnEndpointOpenWithTheNewKeyAlone) {
  const security::MasterKey old = key('a');
  const security::MasterKey next = key('b');
  TenantDirectory before{old};
  TenantDirectory after{next};
  const auto tenant = [](const TenantDirectory& directory) {
    return directory.with_keys({.id = core::TenantId{1}, .name = "one"}, Secret{"a"}, Secret{"b"});
  };
  ASSERT_TRUE(before.put(tenant(before)));
  ASSERT_TRUE(after.put(tenant(after)));
  core::webhook::Endpoint endpoint{.tenant = core::TenantId{1}, .url = "https://a.example/"};
  for (const char* const secret : {"whsec_now", "whsec_before"}) {
    endpoint.secrets.push_back({.sealed = before.sealed_webhook_secret("one", Secret{secret}),
                                .created_at = Moment{Millis{7}}});
  }

  const auto done = resealed(endpoint, "one", old, next);

  ASSERT_TRUE(done);
  ASSERT_EQ(done->secrets.size(), 2U);
  const auto open = [&](const TenantDirectory& directory, std::size_t i) {
    return directory.open_webhook_secret(core::TenantId{1}, done->secrets[i].sealed);
  };
  EXPECT_EQ(open(after, 0).value().reveal(), "whsec_now");
  EXPECT_EQ(open(after, 1).value().reveal(), "whsec_before");
  EXPECT_EQ(done->secrets[1].created_at, Moment{Millis{7}});
  EXPECT_FALSE(open(before, 0));
  EXPECT_FALSE(resealed(endpoint, "two", old, next));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::engine
