#include "api/once.h"

#include <map>

#include "base/encoding.h"
#include "fixture.h"

namespace hk::api::testing {
namespace HK_TEST_FILE {

/// Has the keys that a core would have, and executes a command as `execute` says.
class OnceTest : public ApiTest {
 protected:
  using Id = std::tuple<core::TenantId, std::string, std::string>;

  OnceTest() {
    submitter.answer = [this](core::Command& command) -> core::Reply {
      auto* const once = command.get_if<core::Once>();
      if (once == nullptr) {
        return execute(command);
      }
      spaces.push_back(once->space);
      const Id id{once->tenant, once->space, once->key};
      if (const auto known = kept.find(id); known != kept.end()) {
        if (hashes[id] != once->hash) {
          return core::OnceReused{};
        }
        return core::OnceAnswered{true, known->second};
      }
      core::Reply reply = once->command ? execute(*once->command) : core::Reply(core::Done{});
      auto answer = once->answers->keep(reply);
      if (!answer) {
        return reply;
      }
      kept[id] = answer->answer;
      hashes[id] = once->hash;
      if (answer->reference) {
        kept[id].head.by_reference = true;
        kept[id].body = *answer->reference;
      }
      return core::OnceAnswered{false, std::move(answer->answer)};
    };
  }

  http::Response resolve(std::string key, std::string body = good) {
    return call("POST", "/api/v1/queues/q/halted", {{"Idempotency-Key", std::move(key)}},
                std::move(body));
  }
  static bool replayed(const http::Response& response) {
    return field(response, "Idempotent-Replayed") == "true";
  }

  static inline const std::string good = R"({"group":"g","action":"skip"})";
  int executed = 0;
  std::function<core::Reply(core::Command&)> execute = [this](core::Command&) -> core::Reply {
    ++executed;
    return core::Done{};
  };
  std::map<Id, core::TextAnswer> kept;
  std::map<Id, std::string> hashes;
  std::vector<std::string> spaces;
};

TEST_F(OnceTest, AWriteWithAKeyIsDoneOnceAndAnsweredEachTime) {
  const http::Response first = resolve("k-1");
  const http::Response again = resolve("k-1");
  const http::Response other = resolve("k-2");

  EXPECT_EQ(executed, 2);
  EXPECT_EQ(first.status, 200);
  EXPECT_FALSE(replayed(first));
  EXPECT_TRUE(replayed(again));
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.body, first.body);
  EXPECT_EQ(again.content_type, first.content_type);
  EXPECT_FALSE(replayed(other));
  EXPECT_EQ(spaces.front(), "api");
  EXPECT_EQ(kept.begin()->first, (Id{core::TenantId{1}, "api", "k-1"}));
}

TEST_F(OnceTest, AUsedKeyIsRefusedBeforeTheBodyIsLookedAt) {
  resolve("k");

  for (const char* const body : {R"({"group":"h","action":"skip"})", R"({"action":"dance"})"}) {
    const http::Response response = resolve("k", body);
    EXPECT_EQ(response.status, 422);
    EXPECT_EQ(json(response).at("code").as_string(), "idempotency_key_reused");
  }
  EXPECT_EQ(executed, 1);
}

TEST_F(OnceTest, WhatTheAdapterRefusesIsKeptToo) {
  const http::Response refused = resolve("k", R"({"group":"g","action":"dance"})");
  const http::Response again = resolve("k", R"({"group":"g","action":"dance"})");

  EXPECT_EQ(refused.status, 400);
  EXPECT_FALSE(replayed(refused));
  EXPECT_TRUE(replayed(again));
  EXPECT_EQ(again.body, refused.body);
  EXPECT_EQ(resolve("k").status, 422);
  EXPECT_EQ(executed, 0);
}

TEST_F(OnceTest, WhatIsNoJsonIsNotKept) {
  EXPECT_EQ(resolve("k", "{").status, 400);
  EXPECT_EQ(resolve("k", R"({"group":"g","group":"g"})").status, 400);
  EXPECT_TRUE(kept.empty());
  EXPECT_EQ(resolve("k").status, 200);
}

TEST_F(OnceTest, RefusalsOfTheCoreAreKeptIfTheyAreForGood) {
  const struct {
    ErrorKind kind;
    bool kept;
  } rows[] = {{ErrorKind::invalid_argument, true}, {ErrorKind::not_found, true},
              {ErrorKind::conflict, true},         {ErrorKind::quota_reached, true},
              {ErrorKind::unauthenticated, false}, {ErrorKind::permission_denied, false},
              {ErrorKind::limit_exceeded, false},  {ErrorKind::unavailable, false},
              {ErrorKind::unknown_outcome, false}, {ErrorKind::corruption, false},
              {ErrorKind::internal, false}};
  for (const auto& row : rows) {
    SCOPED_TRACE(static_cast<int>(row.kind));
    kept.clear();
    execute = [&row](core::Command&) -> core::Reply { return fail(row.kind, "no"); };
    const http::Response first = resolve("k");
    EXPECT_EQ(kept.size(), row.kept ? 1U : 0U);
    const http::Response again = resolve("k");
    EXPECT_EQ(again.status, first.status);
    EXPECT_EQ(replayed(again), row.kept);
  }
}

TEST_F(OnceTest, WhatIsToldToComeAgainIsNotKept) {
  execute = [](core::Command&) -> core::Reply {
    return core::KeyClaimed{.outcome = core::KeyClaimed::Outcome::held,
                            .at = now,
                            .record = {.lease_until = now + Millis{9001}}};
  };
  const http::Response response =
      call("POST", "/api/v1/idempotency/claim", {{"Idempotency-Key", "k"}}, R"({"key":"work"})");
  EXPECT_EQ(response.status, 409);
  EXPECT_EQ(field(response, "Retry-After"), "10");
  EXPECT_TRUE(kept.empty());
}

TEST_F(OnceTest, ALargeAnswerIsMadeAgainOfWhatItWasMadeOf) {
  const std::string large = '"' + std::string(kept_bytes_max, 'x') + '"';
  core::IdempotencyKey record{.tenant = core::TenantId{1},
                              .space = "default",
                              .key = "work",
                              .state = core::IdempotencyKey::State::completed,
                              .answer = large};
  execute = [&record](core::Command&) -> core::Reply {
    return core::KeyClaimed{.outcome = core::KeyClaimed::Outcome::ended, .record = record};
  };
  submitter.reader->put<core::IdempotencyKey>(record);
  const auto claim = [this] {
    return call("POST", "/api/v1/idempotency/claim", {{"Idempotency-Key", "k"}},
                R"({"key":"work"})");
  };
  const http::Response first = claim();
  EXPECT_LT(kept.begin()->second.body.size(), 100U);
  EXPECT_EQ(claim().body, first.body);
  EXPECT_NE(first.body.find(large), std::string::npos);
}

TEST_F(OnceTest, AKeyThatIsNoneIsRefusedAndNothingIsDone) {
  for (const std::string& key : {std::string(), std::string("a b"), std::string("\xc3\xa9"),
                                 std::string(256, 'x'), std::string("a\x7f")}) {
    EXPECT_EQ(resolve(key).status, 400) << key;
  }
  EXPECT_EQ(call("POST", "/api/v1/queues/q/halted",
                 {{"Idempotency-Key", "a"}, {"idempotency-key", "a"}}, good)
                .status,
            400);
  EXPECT_TRUE(submitter.taken.empty());
  EXPECT_EQ(resolve(std::string(255, '~')).status, 200);
}

TEST_F(OnceTest, RequestsAreTheSameWhenTheyMeanTheSame) {
  const http::Request one{.method = "POST",
                          .target = "/api/v1/x?a=1&b=2",
                          .fields = {{"Content-Type", "application/json"}},
                          .body = R"({"a":1,"b":[1.0,"x"]})"};
  const auto with = [&one](auto change) {
    http::Request other = one;
    change(other);
    return request_hash(other);
  };
  const auto same = request_hash(one);
  ASSERT_TRUE(same);
  EXPECT_EQ(same->size(), 32U);
  EXPECT_EQ(with([](auto& r) { r.body = R"( { "b" : [1, "\u0078"], "a": 1e0 } )"; }), same);
  EXPECT_EQ(with([](auto& r) { r.target = "/api/v1/x?b=2&a=%31"; }), same);
  EXPECT_EQ(with([](auto& r) { r.target += "&qstash_token=new"; }), same);
  EXPECT_EQ(with([](auto& r) { r.fields[0].value = "Application/JSON; charset=utf-8"; }), same);
  EXPECT_EQ(with([](auto& r) { r.fields.push_back({"X-Request-Id", "7"}); }), same);
  EXPECT_NE(with([](auto& r) { r.method = "PUT"; }), same);
  EXPECT_NE(with([](auto& r) { r.target = "/api/v1/y?a=1&b=2"; }), same);
  EXPECT_NE(with([](auto& r) { r.target = "/api/v1/x?a=1"; }), same);
  EXPECT_NE(with([](auto& r) { r.target = "/api/v1/x?a=1&b=2&b=2"; }), same);
  EXPECT_NE(with([](auto& r) { r.target = "/api/v1/x?a=1%26b%3D2"; }), same);
  EXPECT_NE(with([](auto& r) { r.fields[0].value = "text/plain"; }), same);
  EXPECT_NE(with([](auto& r) { r.body = R"({"a":1,"b":["x",1]})"; }), same);
  EXPECT_NE(with([](auto& r) { r.body = R"({"a":9007199254740993})"; }),
            with([](auto& r) { r.body = R"({"a":9007199254740992})"; }));
}

/// Hashes are stored: what was sent to the release before is repeated to this one.
TEST_F(OnceTest, TheHashOfARequestStaysAsItIs) {
  const http::Request request{.method = "POST",
                              .target = "/api/v1/x?q=2&p=1",
                              .fields = {{"Content-Type", "application/json"}},
                              .body = R"({"b": 2, "a": [1.0, "x"]})"};
  const auto hash = request_hash(request);
  ASSERT_TRUE(hash);
  EXPECT_EQ(hex(*hash), "aefe574c6c4d1f3d9f487f7cf171804574392608c3a40eef32ea2345062af848");
}

TEST_F(OnceTest, CallsThatTakeNoKeySayWhy) {
  for (const char* const target : {"/api/v1/tenants", "/api/v1/tenants/2/rotate-token",
                                   "/api/v1/tenants/2/access-keys", "/api/v1/admin/backup"}) {
    const http::Response response =
        call_as("admin-token", "POST", target, {{"Idempotency-Key", "k"}}, R"({"name":"n"})");
    EXPECT_EQ(response.status, 400) << target;
    EXPECT_EQ(json(response).at("code").as_string(), "idempotency_key_not_taken") << target;
  }
  EXPECT_TRUE(submitter.taken.empty());
}

TEST_F(OnceTest, AnAdminsKeyIsThatOfTheTenantItIsAbout) {
  call_as("admin-token", "DELETE", "/api/v1/idempotency?key=x",
          {{"Idempotency-Key", "k"}, {"Hikyaku-Tenant", "2"}});
  EXPECT_TRUE(kept.contains(Id{core::TenantId{2}, "api", "k"}));

  call_as("admin-token", "DELETE", "/api/v1/tenants/1/access-keys/AKIA",
          {{"Idempotency-Key", "k"}});
  EXPECT_EQ(kept.at(Id{core::TenantId{1}, "api", "k"}).head.status, 404U);

  EXPECT_EQ(call_as("admin-token", "DELETE", "/api/v1/tenants/99/access-keys/AKIA",
                    {{"Idempotency-Key", "k"}})
                .status,
            404)
      << "there is nobody to keep it for";
  EXPECT_EQ(kept.size(), 2U);
}

TEST_F(OnceTest, AnAdminsTokenActsForTheTenantThatIsNamed) {
  submitter.reader->put<core::IdempotencyKey>(
      {.tenant = core::TenantId{2}, .space = "default", .key = "x", .expires_at = now + Millis{1}});
  const auto get = [this](const char* token, std::vector<net::Field> fields) {
    return call_as(token, "GET", "/api/v1/idempotency?key=x", std::move(fields)).status;
  };
  EXPECT_EQ(get("admin-token", {{"Hikyaku-Tenant", "2"}}), 200);
  EXPECT_EQ(get("admin-token", {{"Hikyaku-Tenant", "1"}}), 404);
  EXPECT_EQ(get("admin-token", {}), 400);
  EXPECT_EQ(get("admin-token", {{"Hikyaku-Tenant", "99"}}), 400);
  EXPECT_EQ(get("token-1", {{"Hikyaku-Tenant", "2"}}), 404) << "a tenant is itself";
  EXPECT_EQ(get("wrong", {{"Hikyaku-Tenant", "2"}}), 401);
}

TEST_F(OnceTest, EveryWriteOfTheOwnApiTakesKeysOrSaysWhyNot) {
  std::size_t writes = 0;
  for (const RouteTable& table : route_tables()) {
    EXPECT_TRUE(writes_take_keys(table.routes));
    writes += static_cast<std::size_t>(std::ranges::count_if(table.routes, is_own_write));
  }
  EXPECT_GE(writes, 11U);
}

TEST_F(OnceTest, PathsOfOthersKnowNoKeys) {
  execute = [](core::Command&) -> core::Reply {
    return core::Published{id_of(core::Seq{1}), false};
  };
  const http::Response response =
      call("POST", "/v2/publish/https://example.com/", {{"Idempotency-Key", ""}}, "x");
  EXPECT_FALSE(replayed(response));
  EXPECT_TRUE(submitter.taken.at(0).is<core::Publish>());
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::testing
