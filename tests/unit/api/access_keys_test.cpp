#include "fixture.h"

namespace hk::api::testing {
namespace HK_TEST_FILE {

class AccessKeys : public ApiTest {
 protected:
  http::Response admin(std::string method, std::string target) {
    return call_as("admin-token", std::move(method), std::move(target));
  }
  /// As the core does: what was submitted last is what is stored now.
  core::Tenant take_over() {
    core::Tenant tenant = submitter.taken.back().get<core::UpsertTenant>().tenant;
    change(tenant);
    return tenant;
  }
};

std::string text(const http::Response& response, const char* name) {
  return std::string(json(response).at(name).as_string());
}

TEST_F(AccessKeys, AreMadeListedWithoutTheirSecretsAndRevoked) {
  const http::Response made = admin("POST", "/api/v1/tenants/2/access-keys");

  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(text(made, "tenant"), "other");
  const std::string id = text(made, "access_key_id");
  const std::string secret = text(made, "secret_access_key");
  const core::Tenant tenant = take_over();
  EXPECT_EQ(tenant.id, core::TenantId{2});
  ASSERT_EQ(tenant.access_keys.size(), 1U);
  EXPECT_EQ(tenant.access_keys[0].id, id);
  EXPECT_EQ(tenant.access_keys[0].sealed_secret.find(secret), std::string::npos);
  EXPECT_EQ(tenant.access_keys[0].created_at, now);

  const http::Response listed = admin("GET", "/api/v1/tenants/2/access-keys");
  EXPECT_EQ(listed.body, R"({"tenant":"other","access_keys":[{"access_key_id":")" + id +
                             R"(","created_at":"2023-11-14T22:13:20.000Z"}]})");
  EXPECT_EQ(admin("GET", "/api/v1/tenants/1/access-keys").body,
            R"({"tenant":"default","access_keys":[]})");

  // The key of another tenant is not there.
  EXPECT_EQ(admin("DELETE", "/api/v1/tenants/1/access-keys/" + id).status, 404);
  EXPECT_EQ(admin("DELETE", "/api/v1/tenants/2/access-keys/" + id).status, 200);
  EXPECT_TRUE(take_over().access_keys.empty());
  EXPECT_EQ(admin("DELETE", "/api/v1/tenants/2/access-keys/" + id).status, 404);
}

TEST_F(AccessKeys, TheOneOfTheSettingsIsListedAndNotRevoked) {
  options.settings_tenant = "default";
  options.settings_access_key = "HKOFTHESETTINGS01";
  core::Tenant tenant = submitter.reader->rows<core::Tenant>().begin()->second;
  tenant.access_keys = {{"HKOFTHESETTINGS01", "sealed", now}, {"HK1", "sealed", now}};
  submitter.reader->rows<core::Tenant>().begin()->second = tenant;

  EXPECT_EQ(admin("GET", "/api/v1/tenants/1/access-keys").body,
            R"({"tenant":"default","access_keys":[)"
            R"({"access_key_id":"HKOFTHESETTINGS01","source":"configuration"},)"
            R"({"access_key_id":"HK1","created_at":"2023-11-14T22:13:20.000Z"}]})");
  EXPECT_EQ(admin("GET", "/api/v1/tenants/2/access-keys").body,
            R"({"tenant":"other","access_keys":[]})");
  const http::Response refused = admin("DELETE", "/api/v1/tenants/1/access-keys/HKOFTHESETTINGS01");
  EXPECT_EQ(refused.status, 409);
  EXPECT_NE(text(refused, "detail").find("aws_access_key_id"), std::string::npos);
  EXPECT_TRUE(submitter.taken.empty());
  EXPECT_EQ(admin("DELETE", "/api/v1/tenants/1/access-keys/HK1").status, 200);
}

TEST_F(AccessKeys, AreOfATenantThatIsThere) {
  for (const char* const id : {"9", "0", "x", "4294967297", "-1"}) {
    const std::string keys = "/api/v1/tenants/" + std::string(id) + "/access-keys";
    EXPECT_EQ(admin("GET", keys).status, 404) << id;
    EXPECT_EQ(admin("POST", keys).status, 404) << id;
    EXPECT_EQ(admin("DELETE", keys + "/HK1").status, 404) << id;
  }
  EXPECT_TRUE(submitter.taken.empty());
  EXPECT_EQ(call("GET", "/api/v1/tenants/1/access-keys").status, 401);
  EXPECT_EQ(call("POST", "/api/v1/tenants/1/access-keys").status, 401);
}

TEST_F(AccessKeys, AHundredAreAllowed) {
  core::Tenant tenant = submitter.reader->rows<core::Tenant>().begin()->second;
  for (int i = 0; i < 99; ++i) {
    tenant.access_keys.push_back({"HK" + std::to_string(i), "sealed", now});
  }
  submitter.reader->rows<core::Tenant>().begin()->second = tenant;
  EXPECT_EQ(admin("POST", "/api/v1/tenants/1/access-keys").status, 201);
  tenant.access_keys.push_back({"HK99", "sealed", now});
  submitter.reader->rows<core::Tenant>().begin()->second = tenant;

  const http::Response refused = admin("POST", "/api/v1/tenants/1/access-keys");

  EXPECT_EQ(refused.status, 409);
  EXPECT_NE(text(refused, "detail").find("revoke one"), std::string::npos);
  EXPECT_EQ(admin("DELETE", "/api/v1/tenants/1/access-keys/HK7").status, 200);
}

TEST_F(AccessKeys, AChangeThatIsRefusedHoldsNothing) {
  submitter.room = 0;
  EXPECT_EQ(admin("POST", "/api/v1/tenants/2/access-keys").status, 503);
  submitter.room = SIZE_MAX;
  EXPECT_EQ(admin("POST", "/api/v1/tenants/2/access-keys").status, 201);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::testing
