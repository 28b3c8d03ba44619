#include "engine/tenant_directory.h"

#include <gtest/gtest.h>

#include "security/credentials.h"

namespace hk::engine {
namespace {

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

}  // namespace
}  // namespace hk::engine
