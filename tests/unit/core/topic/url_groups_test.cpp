#include <gtest/gtest.h>

#include "unit/core/rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

using Endpoints = std::vector<Endpoint>;

Endpoint at(std::string url, std::string name = {}) {
  return {.name = std::move(name), .url = std::move(url), .host = "http://h"};
}

UpsertEndpoints adding(Endpoints endpoints) {
  return {.tenant = tenant_one, .group = "g", .endpoints = std::move(endpoints)};
}
RemoveEndpoints removing(Endpoints endpoints) {
  return {.tenant = tenant_one, .group = "g", .endpoints = std::move(endpoints)};
}

/// As "name=url", in the group's order.
std::vector<std::string> stored(const Rig& rig) {
  const auto found = rig.reader.rows<Topic>().find({tenant_one, "g"});
  std::vector<std::string> out;
  if (found != rig.reader.rows<Topic>().end()) {
    for (const Subscription& one : found->second.subscriptions) {
      out.push_back(one.id + "=" + one.url);
    }
  }
  return out;
}

TEST(UrlGroup, KnowsAnEndpointByItsNameAndByItsUrl) {
  struct Row {
    std::string_view name;
    Endpoints added;
    std::vector<std::string> endpoints;
  };
  const Row rows[] = {
      {"another one comes last", {at("c")}, {"one=a", "two=b", "=c"}},
      {"the same name has another url", {at("c", "one")}, {"one=c", "two=b"}},
      {"the same url has another name", {at("b", "zwei")}, {"one=a", "zwei=b"}},
      {"the same url without a name", {at("a")}, {"=a", "two=b"}},
      {"the same again", {at("a", "one")}, {"one=a", "two=b"}},
      {"one takes the url of the other", {at("b", "one")}, {"one=b"}},
      {"two takes the url of the first", {at("a", "two")}, {"two=a"}},
      {"twice in one command", {at("c"), at("c")}, {"one=a", "two=b", "=c"}},
      {"names change places", {at("x", "one"), at("a", "two"), at("b", "one")}, {"one=b", "two=a"}},
      {"without a name they are told apart by url",
       {at("c"), at("d")},
       {"one=a", "two=b", "=c", "=d"}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Rig rig;
    rig.run(adding({at("a", "one"), at("b", "two")}));

    rig.run(adding(row.added)).only<Done>();

    EXPECT_EQ(stored(rig), row.endpoints);
  }
}

TEST(UrlGroup, RemovesWhatIsNamedByNameOrUrl) {
  struct Row {
    std::string_view name;
    Endpoints removed;
    std::vector<std::string> endpoints;
  };
  const Row rows[] = {
      {"by name", {at("", "one")}, {"two=b", "=c"}},
      {"by url", {at("b")}, {"one=a", "=c"}},
      {"by both", {at("a", "one")}, {"two=b", "=c"}},
      {"a name that has changed, and its url", {at("b", "old")}, {"one=a", "=c"}},
      {"several", {at("", "one"), at("c")}, {"two=b"}},
      {"what is not there", {at("x"), at("", "x")}, {"one=a", "two=b", "=c"}},
      {"all of them", {at("a"), at("b"), at("c")}, {}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Rig rig;
    rig.run(adding({at("a", "one"), at("b", "two"), at("c")}));

    rig.run(removing(row.removed)).only<Done>();

    EXPECT_EQ(stored(rig), row.endpoints);
    EXPECT_EQ(rig.reader.rows<Topic>().size(), row.endpoints.empty() ? 0U : 1U);
  }
}

TEST(UrlGroup, TellsWhenItWasMadeAndChanged) {
  Rig rig;
  const Moment made = rig.now;
  rig.run(adding({at("a")}));
  rig.pass(Millis{5});

  rig.run(removing({at("unknown")}));
  EXPECT_EQ(rig.reader.rows<Topic>().at({tenant_one, "g"}).updated_at, made);
  rig.run(adding({at("b")}));

  const Topic& group = rig.reader.rows<Topic>().at({tenant_one, "g"});
  EXPECT_EQ(group.created_at, made);
  EXPECT_EQ(group.updated_at, made + Millis{5});
}

TEST(UrlGroup, RefusesWhatMakesNoSenseAndChangesNothing) {
  struct Row {
    std::string_view name;
    Command command;
    ErrorKind refused;
  };
  Limits limits;
  limits.subscriptions_max = 3;
  UpsertEndpoints stranger = adding({at("c")});
  stranger.tenant = TenantId{9};
  RemoveEndpoints elsewhere = removing({at("a")});
  elsewhere.group = "unknown";
  Row rows[] = {
      {"no endpoint", adding({}), ErrorKind::invalid_argument},
      {"one too many", adding({at("c"), at("d")}), ErrorKind::quota_reached},
      {"far too many, though the same", adding(Endpoints(4, at("a"))), ErrorKind::quota_reached},
      {"of no tenant", std::move(stranger), ErrorKind::not_found},
      {"to remove nothing", removing({}), ErrorKind::invalid_argument},
      {"to remove too many", removing(Endpoints(4, at("a"))), ErrorKind::quota_reached},
      {"to remove from no group", std::move(elsewhere), ErrorKind::not_found},
      {"options of no group", SetGroupOptions{.tenant = tenant_one, .group = "unknown"},
       ErrorKind::not_found},
  };
  for (Row& row : rows) {
    SCOPED_TRACE(row.name);
    Rig rig(limits);
    rig.run(adding({at("a"), at("b")}));

    const Ran ran = rig.run(std::move(row.command));

    ASSERT_FALSE(ran.replies.at(0).has_value());
    EXPECT_EQ(ran.replies[0].error().kind, row.refused);
    EXPECT_EQ(stored(rig), (std::vector<std::string>{"=a", "=b"}));
    EXPECT_EQ(rig.reader.rows<Topic>().size(), 1U);
  }
}

TEST(UrlGroup, ReplacesItsOptionsAsAWhole) {
  Rig rig;
  rig.run(adding({at("a")}));
  rig.run(SetGroupOptions{tenant_one, "g", {{"Upstash-Retries", "3"}, {"Upstash-Delay", "1s"}}});

  rig.run(SetGroupOptions{tenant_one, "g", {{"Upstash-Timeout", "9s"}}}).only<Done>();
  rig.run(adding({at("b")}));

  EXPECT_EQ(rig.reader.rows<Topic>().at({tenant_one, "g"}).options,
            (std::vector<Header>{{"Upstash-Timeout", "9s"}}));
}

TEST(UrlGroup, IsDeletedOnceAndDeletingItAgainIsSuccess) {
  Rig rig;
  rig.run(adding({at("a")}));

  rig.run(DeleteTopic{tenant_one, TopicKind::url_group, "g"}).only<Done>();
  rig.run(DeleteTopic{tenant_one, TopicKind::url_group, "g"}).only<Done>();

  EXPECT_TRUE(rig.reader.rows<Topic>().empty());
}

TEST(UrlGroup, GroupsOfTenantsAreTheirOwn) {
  Rig rig;
  rig.run(UpsertTenant{.tenant = {.name = "two"}});
  rig.run(adding({at("a")}));

  rig.run(DeleteTopic{TenantId{2}, TopicKind::url_group, "g"}).only<Done>();
  RemoveEndpoints theirs = removing({at("a")});
  theirs.tenant = TenantId{2};

  EXPECT_FALSE(rig.run(theirs).replies.at(0).has_value());
  EXPECT_EQ(stored(rig), (std::vector<std::string>{"=a"}));
}

TEST(UrlGroup, SurvivesARestart) {
  Rig rig;
  rig.run(adding({at("a", "one"), at("b")}));
  rig.restart();

  rig.run(adding({at("c", "one")}));

  EXPECT_EQ(stored(rig), (std::vector<std::string>{"one=c", "=b"}));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
