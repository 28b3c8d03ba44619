#include "engine/tenant_directory.h"

#include <gtest/gtest.h>

#include "security/credentials.h"

namespace hk::engine {
namespace HK_TEST_FILE {

class TenantDirectoryTest : public ::testing::Test {
 protected:
  core::Tenant tenant(std::uint32_t id, const std::string& name, const std::string& token) {
    return {.id = core::TenantId{id},
            .name = name,
            .token_digests = {key_.token_digest(token)},
            .sealed_current_key =
                key_.seal(Secret{"sig_" + name}, signing_key_context(name, "current")),
            .sealed_next_key = key_.seal(Secret{"sig_next"}, signing_key_context(name, "next"))};
  }

  const security::MasterKey key_ = *security::MasterKey::from_hex(Secret{std::string(64, 'a')});
  TenantDirectory directory_{key_};
};

TEST_F(TenantDirectoryTest, FindsATenantByItsTokenOnly) {
  ASSERT_TRUE(directory_.put(tenant(1, "one", "token-1")));
  ASSERT_TRUE(directory_.put(tenant(2, "two", "token-2")));

  ASSERT_NE(directory_.authenticate("token-2"), nullptr);
  EXPECT_EQ(directory_.authenticate("token-2")->id, core::TenantId{2});
  EXPECT_EQ(directory_.authenticate("token-3"), nullptr);
  EXPECT_EQ(directory_.authenticate(""), nullptr);
}

TEST_F(TenantDirectoryTest, ANewTokenEndsTheOldOne) {
  ASSERT_TRUE(directory_.put(tenant(1, "one", "old")));
  ASSERT_TRUE(directory_.put(tenant(1, "one", "new")));

  EXPECT_EQ(directory_.authenticate("old"), nullptr);
  EXPECT_NE(directory_.authenticate("new"), nullptr);
}

TEST_F(TenantDirectoryTest, OpensTheSigningKeys) {
  ASSERT_TRUE(directory_.put(tenant(1, "one", "t")));

  EXPECT_EQ(directory_.find(core::TenantId{1})->current_key.reveal(), "sig_one");
  EXPECT_EQ(directory_.find(core::TenantId{9}), nullptr);
}

TEST_F(TenantDirectoryTest, KeysSealedForAnotherTenantDoNotOpen) {
  core::Tenant moved = tenant(1, "one", "t");
  moved.name = "two";

  const auto put = directory_.put(moved);

  ASSERT_FALSE(put.has_value());
  EXPECT_EQ(put.error().kind, ErrorKind::corruption);
}

TEST_F(TenantDirectoryTest, ASecretOfWebhooksOpensForItsTenantOnly) {
  ASSERT_TRUE(directory_.put(tenant(1, "one", "t-1")));
  ASSERT_TRUE(directory_.put(tenant(2, "two", "t-2")));

  const std::string sealed = directory_.sealed_webhook_secret("one", Secret{"whsec_a"});

  EXPECT_EQ(sealed.find("whsec_a"), std::string::npos);
  EXPECT_EQ(directory_.open_webhook_secret(core::TenantId{1}, sealed).value().reveal(), "whsec_a");
  const auto moved = directory_.open_webhook_secret(core::TenantId{2}, sealed);
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().kind, ErrorKind::corruption);
  const auto unknown = directory_.open_webhook_secret(core::TenantId{3}, sealed);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().kind, ErrorKind::not_found);
}

TEST_F(TenantDirectoryTest, WhatIsLentStaysWhateverIsStoredLater) {
  ASSERT_TRUE(directory_.put(tenant(2, "two", "token-2")));
  TenantDirectory::Lent lent{.token = Secret{"lent"}, .current_key = Secret{"sig_lent"}};
  lent.access_keys.emplace_back("test", Secret{"secret"});

  ASSERT_TRUE(directory_.lend(tenant(1, "one", "old"), lent));
  ASSERT_TRUE(directory_.put(tenant(1, "one", "new")));  // as a rotation does

  EXPECT_EQ(directory_.authenticate("old"), nullptr);
  for (const char* const token : {"new", "lent"}) {
    ASSERT_NE(directory_.authenticate(token), nullptr) << token;
    EXPECT_EQ(directory_.authenticate(token)->id, core::TenantId{1});
  }
  EXPECT_EQ(directory_.find(core::TenantId{1})->current_key.reveal(), "sig_lent");
  EXPECT_EQ(directory_.find(core::TenantId{1})->next_key.reveal(), "sig_next");
  ASSERT_TRUE(directory_.find_access_key("test"));
  EXPECT_EQ(directory_.find_access_key("test")->tenant->id, core::TenantId{1});
  EXPECT_EQ(directory_.find_access_key("test")->secret.reveal(), "secret");
  EXPECT_EQ(directory_.find(core::TenantId{2})->current_key.reveal(), "sig_two");
}

TEST_F(TenantDirectoryTest, OneTokenOpensOneTenant) {
  ASSERT_TRUE(directory_.put(tenant(1, "one", "same")));

  const auto put = directory_.put(tenant(2, "two", "same"));

  ASSERT_FALSE(put.has_value());
  EXPECT_EQ(put.error().kind, ErrorKind::conflict);
  EXPECT_EQ(put.error().message, "the tenants one and two have the same token");
  EXPECT_EQ(directory_.authenticate("same")->id, core::TenantId{1});
}

}  // namespace HK_TEST_FILE
}  // namespace hk::engine
