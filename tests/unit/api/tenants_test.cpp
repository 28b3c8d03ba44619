#include "fixture.h"

namespace hk::api::testing {
namespace HK_TEST_FILE {

class Tenants : public ApiTest {
 protected:
  http::Response admin(std::string method, std::string target, std::string body = {}) {
    return call_as("admin-token", std::move(method), std::move(target), {}, std::move(body));
  }
  core::Tenant stored() { return submitter.taken.back().get<core::UpsertTenant>().tenant; }
};

std::string text(const http::Response& response, const char* name) {
  return std::string(json(response).at(name).as_string());
}

TEST_F(Tenants, AreListedWithoutTheirSecrets) {
  const http::Response response = admin("GET", "/api/v1/tenants");

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(json(response), boost::json::parse(R"({"tenants":[
    {"id":1,"name":"default","created_at":"1970-01-01T00:00:00.000Z"},
    {"id":2,"name":"other","created_at":"1970-01-01T00:00:00.000Z"}]})"));
}

TEST_F(Tenants, ANewOneGetsATokenAndKeysThatWork) {
  const http::Response response = admin("POST", "/api/v1/tenants", R"({"name":"third"})");

  ASSERT_EQ(response.status, 201) << response.body;
  EXPECT_EQ(json(response).at("id"), 3);
  EXPECT_EQ(text(response, "name"), "third");
  core::Tenant tenant = stored();
  EXPECT_EQ(tenant.id, core::TenantId{});
  EXPECT_EQ(tenant.name, "third");
  tenant.id = core::TenantId{3};
  change(tenant);
  EXPECT_EQ(json(call_as(text(response, "token"), "GET", "/v2/keys")),
            (boost::json::value{{"current", text(response, "current_signing_key")},
                                {"next", text(response, "next_signing_key")}}));
}

TEST_F(Tenants, ABadNameIsRefused) {
  for (const std::string& body :
       {std::string{}, std::string("{}"), std::string("[]"), std::string(R"({"name":1})"),
        std::string(R"({"name":""})"), std::string(R"({"name":"a b"})"),
        std::string(R"({"name":"a","more":1})"), R"({"name":")" + std::string(65, 'a') + "\"}"}) {
    EXPECT_EQ(admin("POST", "/api/v1/tenants", body).status, 400) << body;
  }
  EXPECT_TRUE(submitter.taken.empty());
  submitter.answer = [](core::Command&) -> core::Reply {
    return fail(ErrorKind::conflict, "a tenant named other exists already");
  };
  EXPECT_EQ(admin("POST", "/api/v1/tenants", R"({"name":"other"})").status, 409);
}

TEST_F(Tenants, ANewTokenTakesThePlaceOfTheOldOne) {
  const http::Response response = admin("POST", "/api/v1/tenants/2/rotate-token");

  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(text(response, "name"), "other");
  EXPECT_FALSE(json(response).get_object().contains("current_signing_key"));
  change(stored());
  EXPECT_EQ(call_as("token-2", "GET", "/v2/keys").status, 401);
  EXPECT_EQ(call_as(text(response, "token"), "GET", "/v2/keys").body,
            R"({"current":"sig_currentother","next":"sig_nextother"})");
  EXPECT_EQ(call("GET", "/v2/keys").status, 200);
}

TEST_F(Tenants, ATokenIsRotatedForATenantThatIsThere) {
  for (const char* const id : {"9", "0", "x", "4294967297", "-1"}) {
    EXPECT_EQ(admin("POST", "/api/v1/tenants/" + std::string(id) + "/rotate-token").status, 404);
  }
  EXPECT_TRUE(submitter.taken.empty());
  EXPECT_EQ(admin("POST", "/api/v1/tenants/2/rotate-token").status, 200);
}

TEST_F(Tenants, WhatTheSettingsGiveIsChangedThere) {
  options.settings_tenant = "default";
  options.settings_token = true;
  options.settings_keys = true;

  EXPECT_EQ(admin("POST", "/api/v1/tenants/1/rotate-token").status, 409);
  EXPECT_EQ(call("POST", "/v2/keys/rotate").status, 409);
  EXPECT_TRUE(submitter.taken.empty());
  EXPECT_EQ(admin("POST", "/api/v1/tenants/2/rotate-token").status, 200);
  EXPECT_EQ(call_as("token-2", "POST", "/v2/keys/rotate").status, 200);
}

TEST_F(Tenants, ARotationMovesTheNextKeyUpAndKeepsTheRest) {
  submitter.reader->rows<core::Tenant>().begin()->second.created_at = now;
  const core::Tenant before = submitter.reader->rows<core::Tenant>().begin()->second;

  const http::Response response = call("POST", "/v2/keys/rotate");

  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(text(response, "current"), "sig_nextdefault");
  EXPECT_TRUE(text(response, "next").starts_with("sig_"));
  EXPECT_NE(text(response, "next"), "sig_nextdefault");
  const core::Tenant after = stored();
  EXPECT_EQ(after.id, before.id);
  EXPECT_EQ(after.name, before.name);
  EXPECT_EQ(after.token_digests, before.token_digests);
  EXPECT_EQ(after.created_at, before.created_at);
  change(after);
  EXPECT_EQ(call("GET", "/v2/keys").body, response.body);
  EXPECT_EQ(text(call("POST", "/v2/keys/rotate"), "current"), text(response, "next"));
}

TEST_F(Tenants, TwoChangesAtOnceDoNotUndoEachOther) {
  const auto ask = [this](std::string target, std::string token) {
    http::Request request;
    request.method = "POST";
    request.target = std::move(target);
    request.fields = {{"Authorization", "Bearer " + token}};
    return begin(std::move(request));
  };
  core::Tenant known = submitter.reader->rows<core::Tenant>().begin()->second;
  submitter.answer = [&known](core::Command& command) -> core::Reply {  // as the core decides
    auto& upsert = command.get<core::UpsertTenant>();
    if (upsert.if_still != known) {
      return fail(ErrorKind::unavailable, "another change of credentials is under way");
    }
    known = upsert.tenant;
    return core::TenantStored{known.id};
  };
  const std::uint64_t first = ask("/v2/keys/rotate", "token-1");
  const std::uint64_t second = ask("/api/v1/tenants/1/rotate-token", "admin-token");

  EXPECT_EQ(end(first).status, 200);
  const http::Response refused = end(second);
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(field(refused, "Retry-After"), "1");
  const core::Tenant after_first = known;
  submitter.reader->rows<core::Tenant>().begin()->second = known;
  EXPECT_EQ(end(ask("/api/v1/tenants/1/rotate-token", "admin-token")).status, 200);
  EXPECT_EQ(known.sealed_current_key, after_first.sealed_current_key);
  EXPECT_NE(known.token_digests, after_first.token_digests);
}

TEST_F(Tenants, AChangeThatIsRefusedIsTold) {
  submitter.room = 0;

  EXPECT_EQ(call("POST", "/v2/keys/rotate").status, 503);
  EXPECT_EQ(admin("POST", "/api/v1/tenants", R"({"name":"third"})").status, 503);
  EXPECT_EQ(admin("POST", "/api/v1/tenants/2/rotate-token").status, 503);
  submitter.room = SIZE_MAX;
  EXPECT_EQ(call("POST", "/v2/keys/rotate").status, 200);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::testing
