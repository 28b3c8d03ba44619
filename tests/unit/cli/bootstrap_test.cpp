#include "cli/bootstrap.h"

#include <gtest/gtest.h>

#include "cli/development.h"
#include "store/codec.h"
#include "store/memory/sim_store.h"
#include "store/typed_reader.h"

namespace hk::cli {
namespace HK_TEST_FILE {

/// Takes commands for tenants as the core does, and stores them at once.
class Tenants final : public engine::Submitter {
 public:
  explicit Tenants(store::Store& store) : store_(store) {}
  void submit(std::vector<engine::Submission>& batch) override {
    for (engine::Submission& one : batch) {
      core::Tenant tenant = one.command.get<core::UpsertTenant>().tenant;
      tenant.id = tenant.id.value() == 0 ? core::TenantId{++last_} : tenant.id;
      put(tenant);
      one.done(core::TenantStored{tenant.id});
    }
    batch.clear();
  }
  std::vector<std::shared_ptr<core::Reader>> durable_views() override {
    return {durable_view(core::TenantId{})};
  }
  std::shared_ptr<core::Reader> durable_view(core::TenantId /*tenant*/) override {
    return std::make_shared<store::TypedReader>(store_.snapshot());
  }
  void put(const core::Tenant& tenant) {
    std::vector<store::Write> writes;
    store::encode(core::Put<core::Tenant>{tenant}, writes);
    ASSERT_TRUE(store_.write(writes));
    ++written;
  }

  int written = 0;

 private:
  store::Store& store_;
  std::uint32_t last_ = 0;
};

class Bootstrap : public ::testing::Test {
 protected:
  /// A start on what is stored, with a directory of its own.
  Result<Welcome> start(const config::Options& options) {
    directory_ = std::make_unique<engine::TenantDirectory>(key_);
    const auto tenants = stored_tenants(store_);
    EXPECT_TRUE(tenants);
    if (auto loaded = load_tenants(options, key_, *tenants, *directory_); !loaded) {
      return std::unexpected(loaded.error());
    }
    return settle_credentials(options, key_, submitter_, *directory_);
  }
  static config::Options dev() {
    config::Options options;
    options.dev = true;
    return options;
  }
  static config::Options with_token(const std::string& token) {
    config::Options options;
    options.token = Secret{token};
    options.given_by["token"] = "HIKYAKU_TOKEN";
    return options;
  }
  static config::Options with_access_key(const std::string& id, const std::string& secret) {
    config::Options options;
    options.aws_access_key_id = id;
    options.aws_secret_access_key = Secret{secret};
    return options;
  }
  /// As the admin API makes one.
  void store_other() {
    core::Tenant tenant{.id = core::TenantId{2}, .name = "other"};
    tenant.token_digests = {key_.token_digest("token-of-other")};
    const engine::TenantDirectory sealing(key_);
    tenant = sealing.with_keys(std::move(tenant), Secret{"sig_a"}, Secret{"sig_b"});
    submitter_.put(
        sealing.with_access_key(std::move(tenant), "KEYOFTHEOTHER0001", Secret{"s"}, {}));
  }
  core::Tenant stored() { return stored_tenants(store_)->front(); }
  [[nodiscard]] bool opens(const Secret& token) const {
    return directory_->authenticate(token.reveal()) != nullptr;
  }
  [[nodiscard]] std::string signs_with() const {
    return std::string(directory_->find(core::TenantId{1})->current_key.reveal());
  }
  static std::string why(const Result<Welcome>& refused) {
    EXPECT_FALSE(refused);
    return refused ? "" : refused.error().message;
  }

  const security::MasterKey key_ = *security::MasterKey::from_hex(Secret{std::string(64, 'a')});
  store::SimStore store_;
  Tenants submitter_{store_};
  std::unique_ptr<engine::TenantDirectory> directory_;
};

TEST_F(Bootstrap, DevelopmentStoresNoneOfItsCredentials) {
  const auto welcome = start(dev());

  ASSERT_TRUE(welcome);
  EXPECT_TRUE(opens(dev_token()));
  EXPECT_EQ(signs_with(), dev_current_key().reveal());
  EXPECT_TRUE(directory_->find_access_key("test"));
  EXPECT_TRUE(stored().development);
  core::Tenant tenant = stored();
  tenant.development = false;
  EXPECT_FALSE(*of_development(tenant, key_));  // nothing but the mark says so
  EXPECT_TRUE(tenant.access_keys.empty());
}

TEST_F(Bootstrap, ADirectoryOfDevelopmentIsRefusedWithoutIt) {
  ASSERT_TRUE(start(dev()));
  config::Options options = with_token("another");
  options.data = "some where";

  const std::string message = why(start(options));

  EXPECT_NE(message.find("serve --dev"), std::string::npos) << message;
  EXPECT_NE(message.find("hikyaku convert --data 'some where'"), std::string::npos) << message;
  EXPECT_TRUE(start(dev()));
  EXPECT_EQ(submitter_.written, 1);
}

TEST_F(Bootstrap, WhatEarlierVersionsStoredOfDevelopmentIsNoticed) {
  struct Row {
    const char* name;
    Secret token;
    Secret current;
    Secret next;
    bool refused;
  };
  const Secret own{"own"};
  const Row rows[] = {
      {"all of it", dev_token(), dev_current_key(), dev_next_key(), true},
      {"the token", dev_token(), own, own, true},
      {"the current key", own, dev_current_key(), own, true},
      {"the next key", own, own, dev_next_key(), true},
      {"rotated once", own, dev_next_key(), own, true},
      {"nothing", own, own, own, false},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    core::Tenant tenant{.id = core::TenantId{1}, .name = default_tenant};
    tenant.token_digests = {key_.token_digest(row.token.reveal())};
    submitter_.put(engine::TenantDirectory(key_).with_keys(tenant, row.current, row.next));

    EXPECT_EQ(!start({}).has_value(), row.refused);
    EXPECT_TRUE(start(dev()));
    EXPECT_TRUE(opens(dev_token()));
  }
}

TEST_F(Bootstrap, DevelopmentOnADirectoryOfProductionChangesNothing) {
  const auto first = start({});
  ASSERT_TRUE(first);
  const core::Tenant before = stored();

  const auto welcome = start(dev());

  ASSERT_TRUE(welcome);
  EXPECT_TRUE(welcome->beside_production);
  EXPECT_TRUE(opens(dev_token()));
  EXPECT_TRUE(opens(*first->token));
  EXPECT_EQ(signs_with(), dev_current_key().reveal());
  EXPECT_EQ(stored(), before);
  EXPECT_EQ(submitter_.written, 1);

  const auto again = start({});
  ASSERT_TRUE(again);
  EXPECT_FALSE(opens(dev_token()));
  EXPECT_TRUE(opens(*first->token));
  EXPECT_EQ(signs_with(), first->current_key.reveal());
  EXPECT_FALSE(directory_->find_access_key("test"));
  EXPECT_EQ(submitter_.written, 1);
}

TEST_F(Bootstrap, ATokenOfAnotherTenantIsRefused) {
  ASSERT_TRUE(start({}));
  store_other();

  const std::string message = why(start(with_token("token-of-other")));

  EXPECT_NE(message.find("HIKYAKU_TOKEN"), std::string::npos) << message;
  EXPECT_NE(message.find("the tenant other"), std::string::npos) << message;
  EXPECT_NE(message.find("HIKYAKU_CLIENT_TOKEN"), std::string::npos) << message;
  EXPECT_EQ(message.find("token-of-other"), std::string::npos) << message;
  config::Options in_development = with_token("token-of-other");
  in_development.dev = true;
  EXPECT_NE(why(start(in_development)).find("the tenant other"), std::string::npos);
  EXPECT_EQ(submitter_.written, 2);
}

TEST_F(Bootstrap, AChangedTokenIsSaidSoOnce) {
  const auto first = start(with_token("first"));
  ASSERT_TRUE(first);
  EXPECT_FALSE(first->token_changed);
  EXPECT_FALSE(start(with_token("first"))->token_changed);

  EXPECT_TRUE(start(with_token("second"))->token_changed);

  EXPECT_FALSE(opens(Secret{"first"}));
  EXPECT_TRUE(opens(Secret{"second"}));
  EXPECT_FALSE(start({})->token_changed);
  EXPECT_TRUE(opens(Secret{"second"}));
}

TEST_F(Bootstrap, OneTokenThatEarlierVersionsGaveToTwoIsMended) {
  ASSERT_TRUE(start({}));
  store_other();
  core::Tenant tenant = stored();
  tenant.token_digests = {key_.token_digest("token-of-other")};
  submitter_.put(tenant);

  EXPECT_NE(why(start({})).find("have the same token"), std::string::npos);
  ASSERT_TRUE(start(with_token("new")));

  EXPECT_EQ(directory_->authenticate("token-of-other")->name, "other");
  EXPECT_TRUE(start({}));
}

TEST_F(Bootstrap, PublicCredentialsAreRefusedWithoutDevelopment) {
  EXPECT_NE(why(start(with_token(std::string(dev_token().reveal())))).find("public"),
            std::string::npos);
  config::Options options;
  options.next_signing_key = dev_next_key();
  EXPECT_NE(why(start(options)).find("next_signing_key"), std::string::npos);
  EXPECT_EQ(submitter_.written, 0);
}

TEST_F(Bootstrap, AnAccessKeyOfTheSettingsSignsAndIsNotStored) {
  const auto options = with_access_key("KEYOFTHESETTINGS1", "secret");

  ASSERT_TRUE(start(options));

  ASSERT_TRUE(directory_->find_access_key("KEYOFTHESETTINGS1"));
  EXPECT_EQ(directory_->find_access_key("KEYOFTHESETTINGS1")->secret.reveal(), "secret");
  EXPECT_TRUE(stored().access_keys.empty());
  ASSERT_TRUE(start({}));
  EXPECT_FALSE(directory_->find_access_key("KEYOFTHESETTINGS1"));
}

TEST_F(Bootstrap, AnAccessKeyThatIsStoredOtherwiseIsRefused) {
  ASSERT_TRUE(start({}));
  store_other();
  submitter_.put(directory_->with_access_key(stored(), "KEYOFTHEDEFAULT01", Secret{"one"}, {}));

  EXPECT_NE(why(start(with_access_key("KEYOFTHEOTHER0001", "s"))).find("the tenant other"),
            std::string::npos);
  EXPECT_NE(why(start(with_access_key("KEYOFTHEDEFAULT01", "two"))).find("another secret"),
            std::string::npos);
  EXPECT_TRUE(start(with_access_key("KEYOFTHEDEFAULT01", "one")));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::cli
