#include "fixture.h"

#include "api/route_index.h"
#include "api/service.h"

namespace hk::api::testing {
namespace HK_TEST_FILE {

using TheService = ApiTest;

http::Request publish_request(std::string url = "https://h") {
  http::Request request;
  request.method = "POST";
  request.target = "/v2/publish/" + url;
  request.fields = {{"Authorization", "Bearer token-1"}};
  return request;
}

/// A target that the pattern fits.
std::string example_of(std::string_view pattern) {
  std::string target;
  bool inside = false;
  for (const char c : pattern) {
    if (c == '{') {
      inside = true;
      target += 'x';
    } else if (c == '}') {
      inside = false;
    } else if (!inside) {
      target += c;
    }
  }
  return target;
}

TEST_F(TheService, AConnectionTakesTheTurnsOfItsTenant) {
  call("GET", "/healthz");
  EXPECT_EQ(connection->party, 0U) << "nobody has said who it is";
  call_as("wrong", "GET", "/v2/queues");
  EXPECT_EQ(connection->party, 0U);
  call_as("token-2", "GET", "/v2/queues");
  EXPECT_EQ(connection->party, 2U);
  call_as("token-1", "GET", "/v2/queues");
  EXPECT_EQ(connection->party, 1U);
}

TEST_F(TheService, EveryRouteButTheOpenOnesNeedsAToken) {
  // Without it there is no certificate to be shown.
  submitter.reader->put<core::Document>(
      {.tenant = core::TenantId{1}, .kind = "sns_signing_key", .name = "1"});
  for (const RouteTable& table : route_tables()) {
    for (const Route& route : table.routes) {
      SCOPED_TRACE(route.pattern);
      const std::string method(route.method);
      const std::string target = example_of(route.pattern);

      const http::Response without = call_as("", method, target);
      const http::Response with_wrong = call_as("wrong", method, target);

      if (route.access == Access::open || route.access == Access::metrics) {
        // A source that is not there; one that is lets in what its signature says.
        const bool is_door = route.pattern.starts_with("/in/");
        EXPECT_EQ(without.status, is_door ? 404 : route.words.status);
        continue;
      }
      EXPECT_EQ(without.status, 401);
      EXPECT_EQ(with_wrong.status, 401);
      EXPECT_EQ(field(without, "WWW-Authenticate"), "Bearer");
      EXPECT_EQ(without.content_type,
                table.surface == Surface::own ? "application/problem+json" : "application/json");
    }
  }
  EXPECT_TRUE(submitter.taken.empty());
}

TEST_F(TheService, ATokenOfATenantOpensNoAdminRoute) {
  EXPECT_EQ(call("POST", "/api/v1/admin/backup").status, 401);
}

TEST_F(TheService, MetricsAndTheDescriptionOfTheApiCanBeClosed) {
  options.metrics_token = Secret("watch");
  options.admin_token = Secret("admin");
  for (const std::string target : {"/metrics", "/api/openapi.json"}) {
    SCOPED_TRACE(target);
    for (const std::string token : {"", "wrong", "token-1", "watc", "watchx"}) {
      const http::Response refused = call_as(token, "GET", target);
      EXPECT_EQ(refused.status, 401) << token;
      EXPECT_EQ(field(refused, "WWW-Authenticate"), "Bearer");
      EXPECT_EQ(refused.content_type, "application/problem+json");
    }
    EXPECT_EQ(call_as("watch", "GET", target).status, 200);
    EXPECT_EQ(call_as("admin", "GET", target).status, 200);
  }
  EXPECT_EQ(call_as("", "GET", "/healthz").status, 200);
  EXPECT_EQ(call_as("watch", "GET", "/v2/keys").status, 401);
  EXPECT_EQ(call_as("watch", "GET", "/api/v1/tenants").status, 401);
}

TEST_F(TheService, WithoutAnAdminTokenNoEmptyOneOpensTheMetrics) {
  options.metrics_token = Secret("watch");
  options.admin_token = Secret();
  EXPECT_EQ(call_as("", "GET", "/metrics").status, 401);
}

TEST_F(TheService, ATokenInTheQueryCanBeRefused) {
  options.allow_token_in_query = false;
  options.admin_token = Secret("admin");
  for (const std::string target : {"/v2/keys", "/v2/dlq?count=1"}) {
    const std::string join = target.find('?') == std::string::npos ? "?" : "&";
    const http::Response refused = call_as("", "GET", target + join + "qstash_token=token-1");
    EXPECT_EQ(refused.status, 401);
    EXPECT_NE(error_of(refused).find("Authorization: Bearer"), std::string::npos);
    EXPECT_EQ(call("GET", target).status, 200);
  }
  EXPECT_EQ(call_as("", "POST", "/v2/publish/https://h?qstash_token=token-1").status, 401);
  EXPECT_EQ(call_as("", "GET", "/api/v1/tenants?qstash_token=admin").status, 401);
  EXPECT_TRUE(submitter.taken.empty());
}

TEST_F(TheService, TheBearerSchemeIsReadInAnyCaseAndTheQueryIsSecond) {
  const std::pair<std::vector<net::Field>, std::string> good[] = {
      {{{"authorization", "bearer token-1"}}, ""},
      {{{"AUTHORIZATION", "BEARER token-1"}}, ""},
      {{}, "?qstash_token=token-1"},
      {{}, "?a=1&qstash_token=token%2D1"},
      {{{"Authorization", "Basic abc"}}, "?qstash_token=token-1"},
  };
  for (const auto& [fields, query] : good) {
    EXPECT_EQ(call_as("", "GET", "/v2/keys" + query, fields).status, 200);
  }
  EXPECT_EQ(call_as("", "GET", "/v2/keys?qstash_token=token-1", {{"Authorization", "Bearer wrong"}})
                .status,
            401);
  EXPECT_EQ(call_as("", "GET", "/v2/keys", {{"Authorization", "token-1"}}).status, 401);
}

TEST_F(TheService, WhatIsRefusedBeforeItComesHereIsToldInTheWordsOfWhomItAsks) {
  http::Request request{.method = "POST", .target = "/v2/publish/https://h"};
  EXPECT_EQ(error_of(Service::refusal(request, 413, "too large")), "too large");
  request.target = "/api/v1/queues/q/halted";
  EXPECT_EQ(Service::refusal(request, 503, "full").content_type, "application/problem+json");

  request.target = "/";
  request.fields = {{"X-Amz-Target", "AmazonSQS.SendMessage"}};
  const http::Response large = Service::refusal(request, 413, "too large");
  EXPECT_EQ(large.status, 413);
  EXPECT_EQ(large.body, R"({"__type":"com.amazon.coral.service#RequestEntityTooLargeException",)"
                        R"("message":"too large"})");
  EXPECT_EQ(field(large, "x-amzn-query-error"), "RequestEntityTooLarge;Sender");
  EXPECT_EQ(field(large, "x-amzn-RequestId")->size(), 36U);

  const std::pair<std::string, std::string> services[] = {
      {"sqs", "http://queue.amazonaws.com/doc/2012-11-05/"},
      {"sns", "http://sns.amazonaws.com/doc/2010-03-31/"}};
  const std::pair<int, std::string> statuses[] = {
      {408, "RequestTimeout"}, {413, "RequestEntityTooLarge"}, {503, "ServiceUnavailable"}};
  for (const auto& [service, name] : services) {
    request.fields = {{"Host", "a"},
                      {"X-Amz-Date", "20260102T030405Z"},
                      {"Authorization",
                       "AWS4-HMAC-SHA256 Credential=A/20260102/us-east-1/" + service +
                           "/aws4_request, SignedHeaders=host, Signature=" + std::string(64, 'a')}};
    for (const auto& [status, code] : statuses) {
      const http::Response response = Service::refusal(request, status, "why");
      EXPECT_EQ(response.status, status);
      EXPECT_EQ(response.content_type, "text/xml");
      EXPECT_NE(response.body.find(name), std::string::npos) << response.body;
      EXPECT_NE(response.body.find("<Code>" + code + "</Code><Message>why</Message>"),
                std::string::npos)
          << response.body;
    }
  }
}

TEST_F(TheService, UnknownPathsAndWrongMethodsAreToldApart) {
  EXPECT_EQ(call("GET", "/v2/nothing").status, 404);
  EXPECT_EQ(call("GET", "/").status, 404);
  EXPECT_EQ(call("GET", "/v2/messages").status, 405);
  EXPECT_EQ(call("GET", "/v2/messages/a/b").status, 404);
  EXPECT_FALSE(error_of(call("GET", "/v2/nothing")).empty());
  EXPECT_EQ(call("GET", "/api/v1/nothing").content_type, "application/problem+json");

  EXPECT_EQ(field(call("HEAD", "/v2/publish/https://h"), "Allow"), "POST");

  const http::Response response = call("PUT", "/v2/dlq");
  EXPECT_EQ(response.status, 405);
  EXPECT_EQ(field(response, "Allow"), "GET, HEAD, DELETE");
  EXPECT_FALSE(error_of(response).empty());
}

TEST_F(TheService, AHeadIsAnsweredAsAGet) {
  EXPECT_EQ(call("HEAD", "/v2/keys").status, 200);
  EXPECT_EQ(call("HEAD", "/v2/keys").body, call("GET", "/v2/keys").body);  // the edge leaves it out
  EXPECT_EQ(call_as("", "HEAD", "/v2/keys", {}).status, 401);
  EXPECT_EQ(call("HEAD", "/v2/nothing").status, 404);
}

TEST_F(TheService, PartsOfTheHostedServiceThatAreNotHereSaySo) {
  for (const std::string target :
       {"/v2/workflows/runs/x?cancel=true", "/v2/wait/event", "/v2/notify/event",
        "/llm/v1/chat/completions", "/v1/publish/https://h"}) {
    const http::Response response = call("POST", target);
    EXPECT_EQ(response.status, 404) << target;
    EXPECT_NE(error_of(response).find("not supported"), std::string::npos) << response.body;
  }
  const http::Response llm = call("POST", "/v2/publish/api/llm");
  EXPECT_EQ(llm.status, 400);
  EXPECT_NE(error_of(llm).find("not supported"), std::string::npos) << llm.body;
}

TEST_F(TheService, ATrailingSlashAndTheCaseOfTheResourceChangeNothing) {
  EXPECT_EQ(call("GET", "/v2/keys/").status, 200);
  EXPECT_EQ(call("GET", "/V2/Keys").status, 200);
  EXPECT_EQ(call("GET", "/v2/DLQ/?count=1").status, 200);
  EXPECT_EQ(call("POST", "/v2/Publish/https://h").status, 201);
}

TEST_F(TheService, TheRequestsOfOnePollRoundAreSubmittedTogether) {
  const std::uint64_t first = begin(publish_request());
  const std::uint64_t second = begin(publish_request());
  const std::uint64_t third = begin(publish_request());
  EXPECT_TRUE(submitter.batches.empty());

  EXPECT_EQ(end(first).status, 201);
  EXPECT_EQ(end(second).status, 201);
  EXPECT_EQ(end(third).status, 201);
  EXPECT_EQ(submitter.batches, std::vector<std::size_t>{3});

  EXPECT_EQ(end(begin(publish_request())).status, 201);
  EXPECT_EQ(submitter.batches, (std::vector<std::size_t>{3, 1}));
}

TEST_F(TheService, WhatTheInboxCannotTakeIsAnswered503AndNothingElseIs) {
  submitter.room = 1;
  const std::uint64_t taken = begin(publish_request("https://a"));
  const std::uint64_t left = begin(publish_request("https://b"));

  const http::Response refused = end(left);
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(field(refused, "Retry-After"), "1");
  EXPECT_FALSE(error_of(refused).empty());
  EXPECT_EQ(end(taken).status, 201);

  submitter.room = SIZE_MAX;
  EXPECT_EQ(end(begin(publish_request())).status, 201);
  EXPECT_EQ(submitter.batches, (std::vector<std::size_t>{2, 1}));
}

TEST_F(TheService, ABrokenRecordIsOurFaultAndItsPlaceStaysInTheLog) {
  const std::string id = store(core::Seq{1});
  submitter.reader->stored<core::Message>().broken = true;

  for (const std::string& target : {"/v2/messages/" + id, "/v2/events?messageId=" + id}) {
    const http::Response response = call("GET", target);
    EXPECT_EQ(response.status, 500);
    EXPECT_EQ(response.body.find("secret place"), std::string::npos);
  }
  EXPECT_EQ(call("GET", "/api/v1/jobs/" + id).status, 500);
}

TEST_F(TheService, KeysAreThoseOfTheTenantThatAsks) {
  EXPECT_EQ(call("GET", "/v2/keys").body,
            R"({"current":"sig_currentdefault","next":"sig_nextdefault"})");
  EXPECT_EQ(call_as("token-2", "GET", "/v2/keys").body,
            R"({"current":"sig_currentother","next":"sig_nextother"})");
}

TEST_F(TheService, HealthReadinessAndMetricsAnswer) {
  bool ready = false;
  options.ready = [&ready] { return ready; };

  EXPECT_EQ(call_as("", "GET", "/healthz").body, R"({"status":"ok"})");
  EXPECT_EQ(call_as("", "GET", "/readyz").status, 503);
  ready = true;
  EXPECT_EQ(call_as("", "GET", "/readyz").status, 200);
  call("POST", "/v2/publish/https://h");
  const http::Response metrics_page = call_as("", "GET", "/metrics");
  EXPECT_EQ(metrics_page.content_type, "text/plain; version=0.0.4");
  EXPECT_NE(metrics_page.body.find("hikyaku_messages_published_total"), std::string::npos);
}

TEST_F(TheService, ABackupRunsElsewhereAndAnswersWhenItIsDone) {
  std::vector<std::string> made;
  Result<void> outcome{};
  options.backup = [&](const std::string& directory) {
    made.push_back(directory);
    return outcome;
  };
  const auto ask = [&](std::string body) {
    http::Request request;
    request.method = "POST";
    request.target = "/api/v1/admin/backup";
    request.fields = {{"Authorization", "Bearer admin-token"}};
    request.body = std::move(body);
    return begin(std::move(request));
  };

  const std::uint64_t slot = ask(R"({"directory":"/backup/1"})");
  EXPECT_TRUE(made.empty());
  EXPECT_EQ(end(ask(R"({"directory":"/backup/2"})")).status, 409);
  ASSERT_EQ(blocking.size(), 1U);
  blocking[0]();
  EXPECT_EQ(end(slot).body, R"({"directory":"/backup/1"})");
  EXPECT_EQ(made, std::vector<std::string>{"/backup/1"});

  outcome = fail(ErrorKind::conflict, "the directory is not empty");
  const std::uint64_t again = ask(R"({"directory":"/backup/1"})");
  blocking[1]();
  const http::Response refused = end(again);
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(refused.content_type, "application/problem+json");
  EXPECT_EQ(json(refused).at("detail"), "the directory is not empty");
  EXPECT_EQ(json(refused).at("status"), 409);

  for (const char* const body : {"", "[]", "{}", R"({"directory":1})", R"({"directory":""})",
                                 R"({"directory":"x","more":1})", "{"}) {
    EXPECT_EQ(end(ask(body)).status, 400) << body;
  }
}

TEST_F(TheService, WithoutAnAdminTokenTheAdminApiIsClosed) {
  options.admin_token = Secret();

  EXPECT_EQ(call_as("", "POST", "/api/v1/admin/backup").status, 403);
  EXPECT_EQ(call_as("admin-token", "POST", "/api/v1/admin/backup").status, 403);
}

std::string member(const http::Response& response, std::string_view name) {
  return std::string(json(response).at(name).as_string());
}

TEST_F(TheService, TellsErrorsOfItsOwnApiAsProblems) {
  struct Row {
    const char* name;
    std::string token;
    std::string method;
    std::string target;
    int status;
    std::string code;
  };
  options.admin_token = Secret("admin-token");
  const Row rows[] = {
      {"no such path", "token-1", "GET", "/api/v1/nothing", 404, "not_found"},
      {"another method", "token-1", "PUT", "/api/v1/jobs/msg_x", 405, "method_not_allowed"},
      {"no token", "", "GET", "/api/v1/jobs/msg_x", 401, "unauthenticated"},
      {"a broken path", "token-1", "GET", "/api/v1/jobs/%zz", 400, "invalid"},
      {"no such job", "token-1", "GET", "/api/v1/jobs/msg_x", 404, "not_found"},
      {"no such tenant", "admin-token", "GET", "/api/v1/tenants/9/access-keys", 404, "not_found"},
      {"a wrong body", "admin-token", "POST", "/api/v1/tenants", 400, "invalid"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const http::Response response = call_as(row.token, row.method, row.target);

    EXPECT_EQ(response.status, row.status);
    EXPECT_EQ(response.content_type, "application/problem+json");
    EXPECT_EQ(member(response, "type"), "urn:hikyaku:problem:" + row.code);
    EXPECT_EQ(member(response, "code"), row.code);
    EXPECT_EQ(json(response).at("status"), row.status);
    EXPECT_NE(member(response, "title"), "");
    EXPECT_NE(member(response, "detail"), "");
    EXPECT_EQ(member(response, "request_id").size(), 32U);
    EXPECT_EQ(field(response, "X-Request-Id"), member(response, "request_id"));
  }
  http::Request request;
  request.method = "POST";
  request.target = "/api/v1/tenants";
  const http::Response refused = Service::refusal(request, 413, "too much");
  EXPECT_EQ(member(refused, "code"), "too_large");
  EXPECT_EQ(field(refused, "X-Request-Id"), member(refused, "request_id"));
}

TEST_F(TheService, CallsARequestWhatItsClientCallsIt) {
  struct Row {
    std::string given;
    bool taken;
  };
  for (const Row& row :
       {Row{"order-17/3", true}, Row{std::string(128, 'a'), true},
        Row{std::string(129, 'a'), false}, Row{"two words", false}, Row{"", false}}) {
    SCOPED_TRACE(row.given);
    const http::Response response =
        call("GET", "/api/v1/jobs/msg_x", {{"X-Request-Id", row.given}});

    EXPECT_EQ(member(response, "request_id") == row.given, row.taken);
    EXPECT_EQ(field(response, "X-Request-Id") == row.given, row.taken);
  }
  EXPECT_FALSE(field(call("GET", "/v2/queues", {{"X-Request-Id", "x"}}), "X-Request-Id"));
}

void nobody(const Services& /*services*/, Call& /*call*/) {}

constexpr Route example_routes[] = {
    {"POST", "/v2/enqueue/{queue}/{destination...}", Access::open, nobody},
    {"GET", "/v2/dlq", Access::open, nobody},
    {"POST", "/v2/dlq/retry", Access::open, nobody},
    {"GET", "/v2/dlq/{id}", Access::open, nobody},
    {"DELETE", "/v2/dlq/{id}", Access::open, nobody},
    {"GET", "/app/{app}/endpoint/{endpoint}/msg/{message}", Access::open, nobody},
    {"POST", "/v2/schedules/{id}/pause", Access::open, nobody},
    {"POST", "/v2/schedules/{destination...}", Access::open, nobody},
};

Found find_example(std::string_view method, std::string_view target) {
  const RouteTable table{Surface::own, example_routes};
  static const RouteIndex index({&table, 1});
  return index.find(method, target);
}

TEST(FindRoute, KeepsTheRestRaw) {
  const Found found = find_example("POST", "/v2/enqueue/q%20/https://h/a//b?x=/y");

  ASSERT_EQ(found.route, &example_routes[0]);
  EXPECT_EQ(found.params_count, 1U);
  EXPECT_EQ(found.params[0], "q%20");
  EXPECT_EQ(found.rest, "https://h/a//b?x=/y");
  EXPECT_EQ(find_example("POST", "/v2/enqueue/q?x=1").rest, "?x=1");
  EXPECT_EQ(find_example("POST", "/v2/enqueue/q/").rest, "");
}

TEST(FindRoute, TakesTheRowThatFitsBest) {
  struct Row {
    const char* method;
    std::string target;
    const char* pattern;  ///< "": none
    std::string allowed{};
  };
  const Row rows[] = {
      {"GET", "/v2/dlq", "/v2/dlq"},
      {"HEAD", "/v2/dlq", "/v2/dlq"},
      {"GET", "/V2/DLQ/", "/v2/dlq"},
      {"GET", "/v2/dlq?x=/v2/other", "/v2/dlq"},
      {"GET", "/v2/dlqs", ""},
      {"GET", "", ""},
      {"GET", "*", ""},
      {"GET", "/", ""},
      {"GET", "/v2", ""},
      {"POST", "/v2/dlq/retry", "/v2/dlq/retry"},
      {"GET", "/v2/dlq/retry", "/v2/dlq/{id}"},
      {"PUT", "/v2/dlq/retry", "", "POST, GET, HEAD, DELETE"},
      {"POST", "/v2/dlq", "", "GET, HEAD"},
      {"POST", "/v2/enqueue//https://h", ""},
      {"POST", "/v2/schedules/s/pause", "/v2/schedules/{id}/pause"},
      {"POST", "/v2/schedules/https://h/pause", "/v2/schedules/{destination...}"},
      {"POST", "/v2/schedules", "/v2/schedules/{destination...}"},
      {"GET", "/v2/schedules/s/pause", "", "POST"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.method) + " " + row.target);
    const Found found = find_example(row.method, row.target);

    EXPECT_EQ(found.route == nullptr ? "" : found.route->pattern, row.pattern);
    if (found.route == nullptr) {
      EXPECT_EQ(found.allowed, row.allowed);
    }
  }
}

TEST(FindRoute, TakesAnyNumberOfParameters) {
  const Found found = find_example("GET", "/app/a/endpoint/b%2Fc/msg/d?x");

  ASSERT_NE(found.route, nullptr);
  ASSERT_EQ(found.params_count, 3U);
  EXPECT_EQ(found.params[0], "a");
  EXPECT_EQ(found.params[1], "b%2Fc");
  EXPECT_EQ(found.params[2], "d");
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::testing
