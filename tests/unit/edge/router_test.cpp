#include "edge/http/router.h"

#include <gtest/gtest.h>

namespace hk::http {

namespace {

Router make_router() {
  Router router;
  for (const auto& [method, pattern] :
       std::vector<std::pair<std::string, std::string>>{{"GET", "/"},
                                                        {"POST", "/v2/publish/{destination...}"},
                                                        {"POST", "/v2/batch"},
                                                        {"GET", "/v2/queues"},
                                                        {"GET", "/v2/queues/{name}"},
                                                        {"DELETE", "/v2/queues/{name}"},
                                                        {"POST", "/v2/queues/{name}/pause"},
                                                        {"GET", "/v2/queues/special"},
                                                        {"GET", "/v2/messages/{id}"},
                                                        {"HEAD", "/api/v1/thing"},
                                                        {"GET", "/api/v1/thing"},
                                                        {"GET", "/ui/{file...}"},
                                                        {"GET", "/ui/login"},
                                                        {"POST", "/in/{source}/{rest...}"}}) {
    router.add({method, pattern, {}});
  }
  return router;
}

std::string found(const Router& router, std::string_view method, std::string_view target) {
  const Router::Match match = router.find(method, target);
  switch (match.outcome) {
    case Router::Outcome::found: return match.route->method + " " + match.route->pattern;
    case Router::Outcome::not_found: return "404";
    case Router::Outcome::method_not_allowed: return "405 " + match.allow;
  }
  return "";
}

}  // namespace

TEST(Router, RequestsReachTheirRoutes) {
  struct Row {
    std::string method;
    std::string target;
    std::string expected;
  };
  const Row rows[] = {
      {"GET", "/", "GET /"},
      {"GET", "/?x=1", "GET /"},
      {"POST", "/v2/batch", "POST /v2/batch"},
      {"POST", "/v2/batch/", "POST /v2/batch"},
      {"POST", "/v2/batch?x=/y", "POST /v2/batch"},
      {"POST", "/V2/Batch", "POST /v2/batch"},
      {"GET", "/v2/queues", "GET /v2/queues"},
      {"GET", "/v2/queues/", "GET /v2/queues"},
      {"GET", "/v2/queues/q1", "GET /v2/queues/{name}"},
      {"GET", "/v2/queues/q1/", "GET /v2/queues/{name}"},
      {"DELETE", "/v2/queues/special", "DELETE /v2/queues/{name}"},
      {"GET", "/v2/queues/special", "GET /v2/queues/special"},
      {"GET", "/v2/queues/SPECIAL", "GET /v2/queues/special"},
      {"POST", "/v2/queues/a/pause", "POST /v2/queues/{name}/pause"},
      {"HEAD", "/v2/queues", "GET /v2/queues"},
      {"HEAD", "/api/v1/thing", "HEAD /api/v1/thing"},
      {"GET", "/api/v1/thing", "GET /api/v1/thing"},
      {"GET", "/API/v1/thing", "404"},
      {"GET", "/ui/login", "GET /ui/login"},
      {"GET", "/ui/a/b.js", "GET /ui/{file...}"},
      {"GET", "/ui", "GET /ui/{file...}"},
      {"GET", "/nothing", "404"},
      {"GET", "/v2/queues/a/b", "404"},
      {"GET", "/v2/queues//", "404"},
      {"GET", "//v2/queues", "404"},
      {"GET", "", "404"},
      {"PUT", "/v2/queues/a", "405 DELETE, GET, HEAD"},
      {"GET", "/v2/batch", "405 POST"},
      {"post", "/v2/batch", "405 POST"},
      {"DELETE", "/v2/publish/https://a/b", "405 POST"},
  };
  const Router router = make_router();
  for (const Row& row : rows) {
    EXPECT_EQ(found(router, row.method, row.target), row.expected)
        << row.method << " " << row.target;
  }
}

TEST(Router, ParametersAreTakenRaw) {
  const Router router = make_router();

  const auto queue = router.find("GET", "/v2/queues/My%20Queue?x=1");
  ASSERT_EQ(queue.outcome, Router::Outcome::found);
  EXPECT_EQ(queue.parameters.at("name"), "My%20Queue");

  const auto inbound = router.find("POST", "/in/github/a/b?c");
  ASSERT_EQ(inbound.outcome, Router::Outcome::found);
  EXPECT_EQ(inbound.parameters.at("source"), "github");
  EXPECT_EQ(inbound.parameters.at("rest"), "a/b?c");
}

TEST(Router, TheRestKeepsAUrlAsItWasSent) {
  const Router router = make_router();
  for (const std::string destination :
       {"https://example.com/hook?x=1&y=//z", "https://example.com", "https://example.com/a//b/",
        "topic-name", "", "?x=1", "http://[::1]:8080/%2F"}) {
    const auto match = router.find("POST", "/v2/publish/" + destination);
    ASSERT_EQ(match.outcome, Router::Outcome::found) << destination;
    EXPECT_EQ(match.parameters.at("destination"), destination);
  }
}

TEST(Router, TheTableCanBeEnumerated) {
  const Router router = make_router();

  ASSERT_EQ(router.routes().size(), 14U);
  EXPECT_EQ(router.routes()[1]->pattern, "/v2/publish/{destination...}");
}

}  // namespace hk::http
