#include <map>

#include "../fixture.h"
#include "api/app_token.h"
#include "api/svix/out_of_scope.h"
#include "core/webhook/id.h"

namespace hk::api::testing {
namespace HK_TEST_FILE {

namespace webhook = core::webhook;

/// Applications 10 ("one") and 11 ("two"); the first has the endpoint 20.
class SvixCalls : public ApiTest {
 protected:
  SvixCalls() {
    for (const auto& [number, uid] : {std::pair{10U, "one"}, std::pair{11U, "two"}}) {
      webhook::Application one{.tenant = core::TenantId{1},
                               .number = number,
                               .made = {now, number * 7},
                               .name = "Customer",
                               .uid = uid};
      submitter.reader->put<webhook::Name>({.tenant = one.tenant,
                                            .kind = webhook::Name::Kind::application_uid,
                                            .name = uid,
                                            .number = number});
      ids[uid] = webhook::id_of(one);
      submitter.reader->put<webhook::Application>(std::move(one));
    }
    webhook::Endpoint endpoint{.tenant = core::TenantId{1},
                               .application = 10,
                               .number = 20,
                               .made = {now, 99},
                               .url = "https://host/hook"};
    endpoint.headers = {{"X-One", "1"}, {"Authorization", "secret"}};
    ids["ep"] = webhook::id_of(endpoint);
    submitter.reader->put<webhook::Endpoint>(std::move(endpoint));
    submitter.answer = [this](core::Command& command) -> core::Reply {
      if (auto* const once = command.get_if<core::Once>()) {
        space = once->space;
        kept_for = once->kept_for;
        keys.push_back(once->key);
        core::Reply reply = once->command ? answer_to(*once->command) : core::Reply(core::Done{});
        auto kept = once->answers->keep(reply);
        was_kept = kept.has_value();
        return kept ? core::Reply(core::OnceAnswered{false, std::move(kept->answer)}) : reply;
      }
      return answer_to(command);
    };
  }

  core::Reply answer_to(core::Command& command) {
    if (const auto* const publish = command.get_if<webhook::PublishEvent>()) {
      published = *publish;
      if (refused) {
        return *refused;
      }
      auto event = std::make_shared<webhook::Event>(publish->event);
      event->application = 10;
      event->number = 30;
      event->made = {now, 5};
      return webhook::EventStored{std::move(event)};
    }
    return core::Done{};
  }

  http::Response send(std::string body, std::vector<net::Field> fields = {}) {
    return call("POST", "/api/v1/app/one/msg", std::move(fields), std::move(body));
  }

  /// A token of the application 10.
  std::string app_token(std::uint32_t capabilities) {
    const std::string token = make_app_token(session_token_prefix, core::TenantId{1});
    auto key = security::MasterKey::from_hex(Secret(std::string(64, 'a')));
    submitter.reader->put<webhook::AppToken>({.tenant = core::TenantId{1},
                                              .digest = key->token_digest(token),
                                              .application = 10,
                                              .capabilities = capabilities});
    return token;
  }

  static std::string code_of(const http::Response& response) {
    const auto value = json(response);
    return value.as_object().contains("code") ? value.at("code").as_string().c_str() : "";
  }

  std::map<std::string, std::string> ids;
  std::optional<webhook::PublishEvent> published;
  std::optional<webhook::Refused> refused;
  std::string space;
  Millis kept_for{};
  std::vector<std::string> keys;
  bool was_kept = false;
};

TEST_F(SvixCalls, AMessageIsPublishedWithTheBytesThatWereSent) {
  const http::Response response = send(
      R"({"later":{"payload":{}}, "payload" : {"b" : 1.0,  "a":[ ]} ,"eventType":"user.created",)"
      R"("channels":["x"],"deliverAt":"2023-11-14T22:13:21Z"})");

  EXPECT_EQ(response.status, 202);
  ASSERT_TRUE(published);
  EXPECT_EQ(published->application_ref, "one");
  EXPECT_EQ(published->event.payload, R"({"b" : 1.0,  "a":[ ]})");
  EXPECT_EQ(published->event.event_type, "user.created");
  EXPECT_EQ(published->event.channels, std::vector<std::string>{"x"});
  EXPECT_EQ(published->event.deliver_at, now + Millis{1000});
  EXPECT_NE(response.body.find(R"("payload":{"b" : 1.0,  "a":[ ]})"), std::string::npos);
}

TEST_F(SvixCalls, ARawPayloadGoesInPlaceOfTheOneThatIsShown) {
  send(R"({"eventType":"x","payload":{},"transformationsParams":{"rawPayload":"<a>","other":[1],)"
       R"("headers":{"Content-Type":"application/xml","X-Own":"o"}}})");

  ASSERT_TRUE(published);
  const webhook::Event& event = published->event;
  EXPECT_EQ(event.payload, "<a>");
  EXPECT_EQ(event.shown, "{}");
  EXPECT_EQ(event.content_type, "application/xml");
  EXPECT_EQ(event.headers, (std::vector<core::Header>{{"X-Own", "o"}}));
  EXPECT_EQ(event.other, R"({"other":[1]})");
}

TEST_F(SvixCalls, WhatIsWrongWithAMessageIsToldFieldByField) {
  const http::Response response =
      send(R"({"payload":[],"channels":["a","b c"],"tags":["1","2","3","4","5","6"],)"
           R"("deliverAt":"2001-01-01T00:00:00Z"})");

  EXPECT_EQ(response.status, 422);
  const auto body = json(response);  // g++ 12 keeps no part of what a range begins with
  std::string where;
  for (const auto& one : body.at("detail").as_array()) {
    for (const auto& step : one.at("loc").as_array()) {
      where += std::string(step.as_string().c_str()) + '.';
    }
    where += ' ';
  }
  EXPECT_EQ(where, "body.eventType. body.payload. body.channels.[1]. body.tags. body.deliverAt. ");
  EXPECT_EQ(body.at("detail").at(1).at("msg"), "Payload must be an object.");
  EXPECT_FALSE(published);
}

TEST_F(SvixCalls, RefusalsOfTheCoreHaveTheirCodes) {
  using Why = webhook::Refused::Why;
  struct Row {
    Why why;
    int status;
    std::string_view code;
  };
  const Row rows[] = {
      {Why::application_not_found, 404, "not_found"},
      {Why::event_id_taken, 409, "conflict"},
      {Why::payload_too_large, 413, "payload_too_large"},
      {Why::endpoint_disabled, 400, "endpoint_disabled"},
      {Why::payload_gone, 400, "missing_payload"},
      {Why::limit_reached, 400, "limit_reached"},
      {Why::event_type_unknown, 422, ""},
  };
  for (const Row& row : rows) {
    refused = webhook::Refused{row.why, "x"};

    const http::Response response = send(R"({"eventType":"x","payload":{}})");

    EXPECT_EQ(response.status, row.status) << row.code;
    EXPECT_EQ(code_of(response), row.code);
  }
}

TEST_F(SvixCalls, ErrorsAreToldAsClientsReadThem) {
  struct Row {
    std::string_view name;
    http::Response response;
    int status;
    std::string_view code;
  };
  const Row rows[] = {
      {"wrong token", call_as("nobody", "GET", "/api/v1/app"), 401, "authentication_failed"},
      {"no such path", call("GET", "/api/v1/app/one/nothing"), 404, "not_found"},
      {"no such application", call("GET", "/api/v1/app/three"), 404, "not_found"},
      {"method", call("DELETE", "/api/v1/event-type"), 405, "method_not_allowed"},
      {"not here", call("POST", "/api/v1/stream"), 501, "not_implemented"},
      {"a trailing slash is the same path", call("GET", "/api/v1/app/three/"), 404, "not_found"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(row.response.status, row.status) << row.name;
    EXPECT_EQ(code_of(row.response), row.code) << row.name;
  }
  EXPECT_TRUE(field(rows[3].response, "Allow"));
}

TEST_F(SvixCalls, AKeyCountsForOnePathAndOneCallerAndOnlySuccessesAreKept) {
  const std::string body = R"({"eventType":"x","payload":{}})";
  send(body, {{"Idempotency-Key", "k"}});
  EXPECT_TRUE(was_kept);
  EXPECT_EQ(space, core::svix_space);
  EXPECT_EQ(kept_for, options.idempotency_ttl);
  call("POST", "/api/v1/app/two/msg", {{"Idempotency-Key", "k"}}, body);
  EXPECT_NE(keys.at(0), keys.at(1));
  send(body, {{"Idempotency-Key", "k"}});
  EXPECT_EQ(keys.at(0), keys.at(2));
  send(body, {{"Idempotency-Key", "auto_1"}});
  EXPECT_EQ(kept_for, Millis{3'600'000});
  send("{}", {{"Idempotency-Key", "k2"}});
  EXPECT_FALSE(was_kept);

  EXPECT_EQ(send(body, {{"Idempotency-Key", std::string(256, 'k')}}).status, 422);
}

TEST_F(SvixCalls, ATokenOfAnApplicationSeesThatOneAlone) {
  const std::string token = app_token(1U);

  EXPECT_EQ(call_as(token, "GET", "/api/v1/app/one").status, 200);
  EXPECT_EQ(call_as(token, "GET", "/api/v1/app/" + ids["one"]).status, 200);
  EXPECT_EQ(call_as(token, "GET", "/api/v1/app/two").status, 404);
  EXPECT_EQ(call_as(token, "GET", "/api/v1/app/" + ids["two"] + "/endpoint").status, 404);
  EXPECT_EQ(call_as(token, "GET", "/api/v1/app").status, 403);
  EXPECT_EQ(code_of(call_as(token, "POST", "/api/v1/app/one/msg")), "insufficient access");
  EXPECT_EQ(call_as(token, "GET", "/v2/queues").status, 403);
  EXPECT_EQ(call_as(token + "x", "GET", "/api/v1/app/one").status, 401);
}

TEST_F(SvixCalls, WhatATokenMayDependsOnItsCapabilities) {
  const std::string path = "/api/v1/app/one/endpoint/" + ids["ep"];
  const auto bit = [](webhook::Capability one) { return 1U << static_cast<unsigned>(one); };
  const std::string viewer = app_token(bit(webhook::Capability::view_base));
  const std::string manager =
      app_token(bit(webhook::Capability::view_base) | bit(webhook::Capability::manage_endpoint));

  EXPECT_EQ(call_as(viewer, "DELETE", path).status, 403);
  EXPECT_EQ(call_as(manager, "DELETE", path).status, 204);
  EXPECT_EQ(call_as(viewer, "POST", path + "/secret/rotate", {}, "{}").status, 403);
  EXPECT_EQ(call_as(manager, "POST", path + "/secret/rotate", {}, "{}").status, 204);
  EXPECT_EQ(call_as(manager, "POST", path + "/recover", {}, "{}").status, 403);
}

TEST_F(SvixCalls, ValuesOfSecretHeadersAreNotShown) {
  const http::Response response = call("GET", "/api/v1/app/one/endpoint/" + ids["ep"] + "/headers");

  EXPECT_EQ(response.body, R"({"headers":{"X-One":"1"},"sensitive":["Authorization"]})");
}

TEST_F(SvixCalls, TheOwnApiTellsWrongFieldsByPointer) {
  const http::Response response =
      call("PATCH", "/api/v1/webhooks/app/one/endpoint/" + ids["ep"] + "/delivery", {},
           R"({"timeout":0,"retry":{"delays":[0,-1]},"order":"sideways"})");

  EXPECT_EQ(response.status, 422);
  EXPECT_EQ(response.content_type, "application/problem+json");
  std::string pointers;
  const auto errors = json(response);
  for (const auto& one : errors.at("errors").as_array()) {
    pointers += std::string(one.at("pointer").as_string().c_str()) + ' ';
  }
  EXPECT_EQ(pointers, "/retry/delays/1 /timeout /order ");
}

TEST_F(SvixCalls, DeliveryOptionsAreShownWhole) {
  const http::Response response =
      call("GET", "/api/v1/webhooks/app/one/endpoint/" + ids["ep"] + "/delivery");

  EXPECT_EQ(
      response.body,
      R"({"retry":{"preset":"standard","delays":null,"jitter":0.2,"retryAfterMaxSeconds":86400,)"
      R"("giveUpStatuses":[]},"timeout":30,"headerSet":"both","signing":{"standard":true,)"
      R"("stripe":false,"stripeHeader":"Stripe-Signature"},"order":"none","onExhausted":"skip",)"
      R"("parallelism":32,"circuit":{"failures":20,"openSeconds":30,"maxOpenSeconds":300},)"
      R"("disable":{"afterSeconds":432000,"minAttempts":10,"failures":null,"warnAt":[50,70,90]},)"
      R"("hold":{"enabled":true,"ttlSeconds":604800,"maxMessages":100000,"maxBytes":268435456},)"
      R"("resumeRate":null})");
}

TEST_F(SvixCalls, ADeliveryIsNoMessageOfQStash) {
  core::Message delivery;
  delivery.webhook = core::WebhookPart{.application = 10, .endpoint = 20, .event = 30};
  const std::string id = store(core::Seq{77}, delivery);
  store_dead(core::Seq{78}, now, delivery);

  EXPECT_EQ(call("GET", "/v2/messages/" + id).status, 404);
  EXPECT_EQ(call("GET", "/api/v1/jobs/" + id).status, 404);
  EXPECT_EQ(json(call("GET", "/v2/dlq")).at("messages").as_array().size(), 0U);
}

TEST(SvixScope, SaysWhichPathsAreNotHereOnPurpose) {
  for (const std::string_view path :
       {"/api/v1/stream", "/api/v1/stream/x/events?a=b", "/api/v1/msg/broadcast",
        "/api/v1/app/x/destination", "/api/v1/app/x/autoconfig", "/api/v1/app/x/poller/y",
        "/api/v1/auth/stream-portal-access/x", "/ingest/api/v1/source", "/api/v1/management/x"}) {
    EXPECT_TRUE(svix::is_out_of_scope(path)) << path;
  }
  for (const std::string_view path :
       {"/api/v1/app", "/api/v1/app/stream", "/api/v1/app/x/y", "/api/v1/jobs/x", "/v2/queues"}) {
    EXPECT_FALSE(svix::is_out_of_scope(path)) << path;
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::testing
