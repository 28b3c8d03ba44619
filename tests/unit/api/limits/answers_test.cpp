#include <map>
#include <set>

#include "api/aws/action.h"
#include "api/route_index.h"
#include "unit/api/fixture.h"

namespace hk::api::testing {
namespace HK_TEST_FILE {

using core::RateClass;

class Limits : public ApiTest {
 protected:
  http::Response admin(std::string method, std::string target, std::string body = {}) {
    return call_as("admin-token", std::move(method), std::move(target), {}, std::move(body));
  }
  /// Of tenant 1, as the engine would do it.
  void limit(const core::TenantLimits& limits) {
    core::Tenant tenant = submitter.reader->rows<core::Tenant>().at(core::TenantId{1});
    tenant.limits = limits;
    change(tenant);
  }
  /// Asks until it is refused: however slow the machine is, some requests fall into one second.
  http::Response refused(const std::string& method, const std::string& target) {
    http::Response response;
    for (int i = 0; i < 1000; ++i) {
      response = call(method, target);
      if (response.status == 429) {
        break;
      }
    }
    EXPECT_EQ(response.status, 429);
    return response;
  }
  std::string batch(std::size_t count) {
    std::string body = "[";
    for (std::size_t i = 0; i < count; ++i) {
      body += std::string(i == 0 ? "" : ",") + R"({"destination":"https://h"})";
    }
    return body + ']';
  }
};

core::TenantLimits publishes(std::uint64_t rate, std::uint64_t burst) {
  core::TenantLimits limits;
  limits.classes[static_cast<std::size_t>(RateClass::publish)] = {.rate = rate, .burst = burst};
  return limits;
}

TEST_F(Limits, EveryRouteHasItsClass) {
  const std::set<std::string> publishing = {"POST /v2/publish/{destination...}",
                                            "POST /v2/enqueue/{queue}/{destination...}",
                                            "POST /v2/batch", "POST /api/v1/app/{app}/msg"};
  const std::set<std::string> receiving = {"POST /api/v1/idempotency/claim"};
  const std::set<std::string> never = {
      "POST /api/v1/idempotency/renew",
      "POST /api/v1/idempotency/complete",
      "POST /api/v1/idempotency/fail",
      "POST /api/v1/jobs/{id}/complete",
      "POST /api/v1/jobs/{id}/fail",
      "POST /api/v1/transact",  // what is in it says which
      // Sources have rates of their own, and no tenant before they are verified.
      "POST /in/{source}",
      "POST /in/{source}/{rest...}",
      "GET /in/{source}",
      "GET /in/{source}/{rest...}",
  };
  std::size_t special = 0;
  for (const RouteTable& table : route_tables()) {
    for (const Route& route : table.routes) {
      const std::string row = std::string(route.method) + ' ' + std::string(route.pattern);
      SCOPED_TRACE(row);
      std::optional<RateClass> expected = route.method == "GET" ? RateClass::read
                                          : route.pattern.starts_with("/api/v1/ledger/")
                                              ? RateClass::ledger
                                              : RateClass::manage;
      if (publishing.contains(row)) expected = RateClass::publish;
      if (receiving.contains(row)) expected = RateClass::receive;
      if (never.contains(row)) expected = std::nullopt;
      special += publishing.contains(row) + receiving.contains(row) + never.contains(row);
      EXPECT_EQ(rate_class(route), expected);
    }
  }
  EXPECT_EQ(special, publishing.size() + receiving.size() + never.size());
}

TEST_F(Limits, EveryActionOfAwsHasItsClass) {
  const std::map<std::string_view, std::optional<RateClass>> special = {
      {"SendMessage", RateClass::publish},
      {"SendMessageBatch", RateClass::publish},
      {"Publish", RateClass::publish},
      {"PublishBatch", RateClass::publish},
      {"ReceiveMessage", RateClass::receive},
      {"DeleteMessage", std::nullopt},
      {"DeleteMessageBatch", std::nullopt},
      {"ChangeMessageVisibility", std::nullopt},
      {"ChangeMessageVisibilityBatch", std::nullopt},
  };
  std::size_t found = 0;
  for (const auto& rows : {sqs::actions(), sns::actions()}) {
    for (const aws::ActionRow& row : rows) {
      SCOPED_TRACE(row.name);
      const bool reads = row.name.starts_with("Get") || row.name.starts_with("List");
      std::optional<RateClass> expected = reads ? RateClass::read : RateClass::manage;
      if (const auto known = special.find(row.name); known != special.end()) {
        expected = known->second;
        ++found;
      }
      EXPECT_EQ(aws::rate_class(row), expected);
    }
  }
  EXPECT_EQ(found, special.size());
}

TEST_F(Limits, WithoutALimitNothingIsSaidOfOne) {
  const http::Response own = call("GET", "/api/v1/jobs/msg_x");
  EXPECT_EQ(field(own, "RateLimit"), std::nullopt);
  EXPECT_EQ(field(own, "RateLimit-Policy"), std::nullopt);
}

TEST_F(Limits, TheOwnApiTellsWhatIsLeftWithEveryAnswer) {
  limit({.own_rate = true, .all = {.rate = 100, .burst = 200}});

  for (const auto& [method, target] :
       {std::pair{"GET", "/api/v1/jobs/msg_x"}, std::pair{"POST", "/api/v1/idempotency/renew"}}) {
    const http::Response response = call(method, target);
    EXPECT_EQ(field(response, "RateLimit-Policy"), R"("tenant";q=100;w=1)");
    EXPECT_TRUE(field(response, "RateLimit").value_or("").starts_with(R"("tenant";r=)"));
    EXPECT_TRUE(field(response, "RateLimit").value_or("").ends_with(";t=1"));
  }
  EXPECT_EQ(field(call("GET", "/v2/queues"), "RateLimit"), std::nullopt);
}

TEST_F(Limits, QStashIsToldInItsWords) {
  limit(publishes(1, 1));

  const http::Response response = refused("POST", "/v2/publish/https://h");

  EXPECT_EQ(field(response, "Retry-After"), "1");
  EXPECT_EQ(field(response, "Burst-RateLimit-Limit"), "1");
  EXPECT_EQ(field(response, "Burst-RateLimit-Remaining"), "0");
  EXPECT_GT(field(response, "Burst-RateLimit-Reset"), "1700000000");
  EXPECT_EQ(field(response, "RateLimit-Limit"), std::nullopt);  // its client: a limit of the day
  EXPECT_EQ(field(response, "RateLimit-Policy"), R"("endpoint";q=1;w=1)");
  EXPECT_EQ(field(response, "RateLimit"), R"("endpoint";r=0;t=1)");
  EXPECT_EQ(error_of(response),
            "too many requests: the server takes 1 a second of class publish of this tenant; "
            "nothing was done, try again in 1 s");
}

TEST_F(Limits, TheOwnApiIsToldByAProblem) {
  limit({.own_rate = true, .all = {.rate = 1, .burst = 1}});

  const http::Response response = refused("GET", "/api/v1/jobs/msg_x");

  EXPECT_EQ(response.content_type, "application/problem+json");
  const boost::json::value body = json(response);
  EXPECT_EQ(body.at("code"), "rate_limited");
  EXPECT_EQ(body.at("level"), "tenant");
  EXPECT_EQ(body.at("limit"), 1);
  EXPECT_EQ(body.as_object().if_contains("class"), nullptr);
  EXPECT_LE(body.at("retry_after_ms").to_number<std::int64_t>(), 1000);
  EXPECT_GE(body.at("retry_after_ms").to_number<std::int64_t>(), 0);
  EXPECT_EQ(field(response, "Retry-After"), "1");
  EXPECT_EQ(field(response, "Burst-RateLimit-Limit"), std::nullopt);
  EXPECT_TRUE(field(response, "RateLimit"));
}

TEST_F(Limits, AProblemOfAClassNamesIt) {
  core::TenantLimits limits;
  limits.classes[static_cast<std::size_t>(RateClass::read)] = {.rate = 1, .burst = 1};
  limit(limits);

  const boost::json::value body = json(refused("GET", "/api/v1/jobs/msg_x"));

  EXPECT_EQ(body.at("level"), "endpoint");
  EXPECT_EQ(body.at("class"), "read");
}

TEST_F(Limits, EndsOfWorkAreNeverRefused) {
  limit({.own_rate = true, .all = {.rate = 1, .burst = 1}});
  refused("GET", "/v2/queues");

  for (const char* const verb : {"renew", "complete", "fail"}) {
    for (int i = 0; i < 20; ++i) {
      EXPECT_NE(call("POST", "/api/v1/idempotency/" + std::string(verb)).status, 429);
    }
  }
  for (const char* const open : {"/healthz", "/readyz", "/metrics"}) {
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(call("GET", open).status, 200);
    }
  }
}

TEST_F(Limits, ABatchCostsItsMessages) {
  limit(publishes(1, 1000));
  submitter.answer = [](core::Command& command) -> core::Reply {
    core::BatchPublished all;
    for (std::size_t i = 0; i < command.get<core::PublishBatch>().items.size(); ++i) {
      all.items.emplace_back(core::Published{id_of(core::Seq{900}), false});
    }
    return all;
  };
  const auto of_publish = [this] {
    return json(admin("GET", "/api/v1/tenants/1/limits"))
        .at("remaining")
        .at("classes")
        .at("publish")
        .to_number<std::int64_t>();
  };

  EXPECT_EQ(call("POST", "/v2/batch", {}, batch(600)).status, 200);
  EXPECT_LT(of_publish(), 1000 - 600 + 120);  // it fills by one a second meanwhile

  // As much as 600 does not come back for minutes; a refusal leaves all that is there.
  const std::int64_t before = of_publish();
  const std::size_t taken = submitter.taken.size();
  EXPECT_EQ(call("POST", "/v2/batch", {}, batch(950)).status, 429);
  EXPECT_EQ(submitter.taken.size(), taken);
  EXPECT_GE(of_publish(), before);

  // More than there can ever be.
  const http::Response never = call("POST", "/v2/batch", {}, batch(1001));
  EXPECT_EQ(never.status, 413);
  EXPECT_EQ(field(never, "Retry-After"), std::nullopt);
  EXPECT_NE(error_of(never).find("send fewer messages"), std::string::npos);

  // One large message is guessed as many, and corrected.
  const std::int64_t rest = of_publish();
  const std::string large = R"([{"destination":"https://h","body":")" +
                            std::string(std::size_t{100} * 1024, 'x') + "\"}]";
  EXPECT_EQ(call("POST", "/v2/batch", {}, large).status, 200);
  EXPECT_GE(of_publish(), rest - 1);
}

TEST_F(Limits, WhatIsUnderWayIsCountedUntilItsAnswer) {
  limit({.all = {.in_flight = 2}});
  const auto publish = [this] {
    http::Request request;
    request.method = "POST";
    request.target = "/v2/publish/https://h";
    request.fields = {{"Authorization", "Bearer token-1"}};
    return begin(std::move(request));
  };
  const std::uint64_t first = publish();
  const std::uint64_t second = publish();
  const std::uint64_t third = publish();

  ASSERT_TRUE(connection->responses.at(third).has_value());
  EXPECT_EQ(connection->responses.at(third)->status, 429);
  EXPECT_EQ(end(first).status, 201);
  EXPECT_EQ(end(second).status, 201);
  EXPECT_EQ(call("GET", "/v2/queues").status, 200);
}

TEST_F(Limits, TheGlobalOneIsOfAllTenants) {
  options.rates.global = {.rate = 1, .burst = 4};
  std::size_t served = 0;
  for (int i = 0; i < 1000; ++i) {
    const http::Response response =
        call_as(i % 2 == 0 ? "token-1" : "token-2", "GET", "/api/v1/jobs/msg_x");
    if (response.status == 429) {
      EXPECT_EQ(json(response).at("level"), "global");
      break;
    }
    ++served;
  }
  EXPECT_GE(served, 1U);
  EXPECT_LT(served, 1000U);
}

TEST_F(Limits, SnsIsToldInItsWords) {
  // A link needs no signature.
  limit({.own_rate = true, .all = {.rate = 1, .burst = 1}});
  submitter.answer = [](core::Command&) -> core::Reply {
    return fail(ErrorKind::not_found, "no such subscription");
  };
  http::Response response;
  for (int i = 0; i < 1000 && response.status != 429; ++i) {
    response = call_as("", "GET",
                       "/?Action=ConfirmSubscription&TopicArn=arn:aws:sns:us-east-1:000000000000:t"
                       "&Token=abc");
  }
  EXPECT_EQ(response.status, 429);
  EXPECT_NE(response.body.find("<Code>Throttled</Code>"), std::string::npos) << response.body;
  EXPECT_EQ(field(response, "Retry-After"), "1");
}

// ---- the admin's routes ----

TEST_F(Limits, AreSetAsAWholeAndShown) {
  const std::string body =
      R"({"rate":100,"burst":200,"weight":2,"in_flight":9,"classes":{"publish":{"rate":50},"read":{"in_flight":3}}})";

  const http::Response response = admin("PUT", "/api/v1/tenants/1/limits", body);

  ASSERT_EQ(response.status, 200) << response.body;
  const auto& command = submitter.taken.back().get<core::SetTenantLimits>();
  core::TenantLimits expected{
      .own_rate = true, .all = {.rate = 100, .burst = 200, .in_flight = 9}, .weight = 2};
  expected.classes[static_cast<std::size_t>(RateClass::publish)] = {.rate = 50, .burst = 50};
  expected.classes[static_cast<std::size_t>(RateClass::read)] = {.in_flight = 3};
  EXPECT_EQ(command.tenant, core::TenantId{1});
  EXPECT_EQ(command.limits, expected);
  EXPECT_EQ(json(response), boost::json::parse(R"({"rate":100,"burst":200,"in_flight":9,"weight":2,
    "classes":{"publish":{"rate":50,"burst":50,"in_flight":null},
               "read":{"rate":null,"burst":null,"in_flight":3}}})"));
  limit(expected);
  const boost::json::value now = json(admin("GET", "/api/v1/tenants/1/limits"));
  EXPECT_EQ(now.at("rate"), 100);
  EXPECT_EQ(now.at("factor"), 1);
  EXPECT_EQ(now.at("load"), 0);
  EXPECT_EQ(now.at("error_rate"), 0);
  EXPECT_EQ(now.at("remaining"), boost::json::parse(R"({"tenant":200,"classes":{"publish":50}})"));
}

TEST_F(Limits, NullRemovesAndZeroIsNoLimit) {
  struct Row {
    std::string_view body;
    core::TenantLimits limits;
  };
  const Row rows[] = {
      {"{}", {}},
      {R"({"rate":null,"burst":null,"in_flight":null,"weight":null,"classes":null})", {}},
      {R"({"classes":{"publish":null,"read":{}}})", {}},
      {R"({"rate":0})", {.own_rate = true}},
      {R"({"in_flight":0})", {}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.body);
    EXPECT_EQ(admin("PUT", "/api/v1/tenants/1/limits", std::string(row.body)).status, 200);
    EXPECT_EQ(submitter.taken.back().get<core::SetTenantLimits>().limits, row.limits);
  }
}

TEST_F(Limits, WhatIsWrongIsNamed) {
  struct Row {
    std::string_view body;
    std::string_view says;
  };
  const Row rows[] = {
      {"", "JSON"},
      {"[]", "must be a JSON object"},
      {R"({"rate":1,"rate":2})", "rate"},
      {R"({"speed":1})", "speed: is not known here; there may be rate, burst, weight"},
      {R"({"rate":"1"})", "rate: must be a whole number"},
      {R"({"rate":1.5})", "rate: must be a whole number"},
      {R"({"rate":-1})", "rate: must be a whole number"},
      {R"({"rate":99999999999999999999})", "rate: must be a whole number"},
      {R"({"burst":true})", "burst: must be a whole number"},
      {R"({"weight":"heavy"})", "weight: must be a whole number"},
      {R"({"in_flight":[]})", "in_flight: must be a whole number"},
      {R"({"classes":[]})", "classes: must be an object"},
      {R"({"classes":{"dance":{}}})", "classes.dance: is not a class; there are publish"},
      {R"({"classes":{"publish":5}})", "classes.publish: must be an object"},
      {R"({"classes":{"publish":{"weight":5}}})", "classes.publish.weight: is not known here"},
      {R"({"classes":{"publish":{"rate":"x"}}})", "classes.publish.rate: must be"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.body);
    const http::Response response = admin("PUT", "/api/v1/tenants/1/limits", std::string(row.body));
    EXPECT_EQ(response.status, 400);
    EXPECT_NE(response.body.find(row.says), std::string::npos) << response.body;
  }
  EXPECT_TRUE(submitter.taken.empty());
  for (const char* const method : {"GET", "PUT"}) {
    for (const char* const id : {"9", "x", "99999999999"}) {
      EXPECT_EQ(admin(method, "/api/v1/tenants/" + std::string(id) + "/limits", "{}").status, 404);
    }
  }
}

TEST_F(Limits, TheAdminIsNotLimited) {
  options.rates.global = {.rate = 1, .burst = 1};
  refused("GET", "/v2/queues");
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(admin("GET", "/api/v1/tenants").status, 200);
  }
}

TEST_F(Limits, AreCountedByClassAndLevel) {
  limit(publishes(1, 1));
  refused("POST", "/v2/publish/https://h");

  const auto& totals = service().admissions().totals();
  EXPECT_GE(totals.allowed[static_cast<std::size_t>(RateClass::publish)], 1U);
  EXPECT_EQ(totals.refused[static_cast<std::size_t>(RateClass::publish)], 1U);
  EXPECT_EQ(totals.refused_by[static_cast<std::size_t>(limits::Level::endpoint)], 1U);
  EXPECT_NE(metrics.render().find(R"(hikyaku_publish_refused_total{reason="rate_limited"} 1)"),
            std::string::npos);
}

TEST_F(Limits, TightenWhenTheServerIsBusy) {
  std::uint64_t load = 0;
  options.load = [&load] { return load; };
  limit({.own_rate = true, .all = {.rate = 100, .burst = 100}});
  service();
  load = 1'000'000;
  const auto falls = [this] {
    service().measure();
    return service().admissions().factor() < limits::all_of_it;
  };

  // It needs time that passes: a thousandth of a second at least.
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{60};
  while (!falls() && std::chrono::steady_clock::now() < until) {
  }

  EXPECT_LT(service().admissions().factor(), limits::all_of_it);
  EXPECT_EQ(json(admin("GET", "/api/v1/tenants/1/limits")).at("load"), 1);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::testing
