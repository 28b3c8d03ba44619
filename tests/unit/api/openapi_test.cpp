#include "api/openapi.h"

#include <set>

#include "api/route.h"
#include "api/text.h"
#include "base/ascii.h"
#include "fixture.h"

namespace hk::api::testing {
namespace HK_TEST_FILE {

using OpenApi = ApiTest;

boost::json::object document() { return boost::json::parse(openapi_document()).as_object(); }

std::string told_as(std::string_view pattern) {
  std::string path(pattern);
  const std::size_t dots = path.find("...");
  return dots == std::string::npos ? path : path.erase(dots, 3);
}

TEST_F(OpenApi, IsServedToEverybody) {
  const http::Response response = call_as("", "GET", "/api/openapi.json");

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(json(response).at("openapi"), "3.1.0");
}

TEST_F(OpenApi, HasEveryRouteAndNothingElse) {
  std::set<std::string> expected;
  for (const RouteTable& table : route_tables()) {
    for (const Route& route : table.routes) {
      expected.insert(lower_case(route.method) + " " + told_as(route.pattern));
    }
  }
  std::set<std::string> told;
  const boost::json::object whole = document();
  for (const auto& path : whole.at("paths").as_object()) {
    for (const auto& operation : path.value().as_object()) {
      told.insert(std::string(operation.key()) + " " + std::string(path.key()));
    }
  }

  EXPECT_EQ(told, expected);
}

TEST_F(OpenApi, SaysWhatEveryRouteIsFor) {
  for (const RouteTable& table : route_tables()) {
    for (const Route& route : table.routes) {
      EXPECT_FALSE(route.words.summary.empty() || route.words.tag.empty()) << route.pattern;
    }
  }
}

TEST_F(OpenApi, SaysWhoMayAndNamesEveryOperationOnce) {
  const boost::json::object whole = document();
  std::set<std::string> ids;
  for (const RouteTable& table : route_tables()) {
    for (const Route& route : table.routes) {
      SCOPED_TRACE(route.pattern);
      const boost::json::value& operation =
          whole.at("paths").at(told_as(route.pattern)).at(lower_case(route.method));
      EXPECT_TRUE(ids.insert(std::string(operation.at("operationId").as_string())).second);
      const boost::json::array& security = operation.at("security").as_array();
      EXPECT_EQ(security.empty(), route.access == Access::open);
      if (route.access == Access::admin) {
        EXPECT_TRUE(security.at(0).as_object().contains("adminToken"));
      }
      if (route.access == Access::metrics) {
        EXPECT_TRUE(security.at(0).as_object().empty());
        EXPECT_TRUE(security.at(1).as_object().contains("metricsToken"));
      }
      const bool own = table.surface == Surface::own;
      EXPECT_TRUE(operation.at("responses")
                      .at("default")
                      .at("content")
                      .as_object()
                      .contains(own ? "application/problem+json" : "application/json"));
    }
  }
}

void collect_references(const boost::json::value& value, std::set<std::string>& found) {
  if (const auto* const object = value.if_object()) {
    for (const auto& member : *object) {
      if (member.key() == "$ref") {
        found.insert(std::string(member.value().as_string()));
      }
      collect_references(member.value(), found);
    }
  } else if (const auto* const array = value.if_array()) {
    for (const boost::json::value& one : *array) {
      collect_references(one, found);
    }
  }
}

TEST_F(OpenApi, EveryReferenceLeadsToASchema) {
  const boost::json::object whole = document();
  std::set<std::string> references;
  collect_references(whole, references);
  const boost::json::object& schemas = whole.at("components").at("schemas").as_object();

  EXPECT_GT(references.size(), 10U);
  const std::string prefix = "#/components/schemas/";
  for (const std::string& reference : references) {
    ASSERT_TRUE(reference.starts_with(prefix)) << reference;
    EXPECT_TRUE(schemas.contains(reference.substr(prefix.size()))) << reference;
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::testing
