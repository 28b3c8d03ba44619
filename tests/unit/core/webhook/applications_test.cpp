#include "unit/core/webhook/support.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

using namespace webhook;
using Why = Refused::Why;
using webhook::Application;
using webhook::Endpoint;
using webhook::Name;

TEST(WebhookApplications, AreFoundByTheirIdAndTheirUid) {
  Rig rig;
  const Application made =
      make_application(rig, {.name = "n", .uid = "u", .rate = 5, .metadata = {{"k", "v"}}});
  EXPECT_EQ(made.name, "n");
  EXPECT_EQ(made.rate, 5U);
  EXPECT_EQ(made.made.at, rig.now);
  EXPECT_EQ(made.updated_at, rig.now);
  EXPECT_EQ(find_application(rig.reader, tenant_one, "u"), made);
  EXPECT_EQ(find_application(rig.reader, tenant_one, id_of(made)), made);
  // All bits of an id must agree, not only its number.
  Application other = made;
  ++other.made.random;
  EXPECT_EQ(find_application(rig.reader, tenant_one, id_of(other)), std::nullopt);
  EXPECT_EQ(find_application(rig.reader, TenantId{2}, "u"), std::nullopt);
  EXPECT_EQ(rig.reader.get<Totals>(tenant_one)->applications, 1U);
}

TEST(WebhookApplications, HaveUidsOfTheirOwn) {
  Rig rig;
  const Application made = make_application(rig, {.uid = "u"});
  expect_refused(rig.run(CreateApplication{tenant_one, {.name = "x", .uid = "u"}}), Why::uid_taken,
                 "u");
  const auto got =
      rig.run(CreateApplication{tenant_one, {.name = "x", .uid = "u"}, /*get_if_exists=*/true})
          .only<ApplicationStored>();
  EXPECT_FALSE(got.created);
  EXPECT_EQ(got.application, made);
  make_application(rig);
  make_application(rig);  // none is no uid
}

TEST(WebhookApplications, OfTheSameBatchAreSeen) {
  Rig rig;
  const Ran ran = rig.run(CreateApplication{tenant_one, {.name = "a", .uid = "u"}},
                          CreateApplication{tenant_one, {.uid = "u"}},
                          CreateApplication{tenant_one, {.uid = "u"}, true},
                          ChangeApplication{tenant_one, "u", {.name = "b"}});
  EXPECT_TRUE(ran.replies.at(0)->get<ApplicationStored>().created);
  EXPECT_EQ(ran.replies.at(1)->get<Refused>().why, Why::uid_taken);
  EXPECT_EQ(ran.replies.at(2)->get<ApplicationStored>().application.name, "a");
  EXPECT_EQ(find_application(rig.reader, tenant_one, "u")->name, "b");
}

TEST(WebhookApplications, AreChangedInWhatIsGiven) {
  Rig rig;
  const Application made =
      make_application(rig, {.name = "n", .uid = "u", .rate = 5, .metadata = {{"k", "v"}}});
  rig.pass(Millis{1000});
  const auto renamed =
      rig.run(ChangeApplication{tenant_one, "u", {.name = "m"}}).only<ApplicationStored>();
  EXPECT_FALSE(renamed.created);
  Application wanted = made;
  wanted.name = "m";
  wanted.updated_at = rig.now;
  EXPECT_EQ(renamed.application, wanted);

  rig.run(ChangeApplication{tenant_one, id_of(made), {.uid = "w", .rate = 0}})
      .only<ApplicationStored>();
  EXPECT_EQ(find_application(rig.reader, tenant_one, "u"), std::nullopt);
  EXPECT_EQ(find_application(rig.reader, tenant_one, "w")->rate, 0U);
  EXPECT_EQ(rig.reader.rows<Name>().size(), 1U);
  make_application(rig, {.uid = "u"});  // it is free
  expect_refused(rig.run(ChangeApplication{tenant_one, "u", {.uid = "w"}}), Why::uid_taken, "w");
  rig.run(ChangeApplication{tenant_one, "w", {.uid = "w"}}).only<ApplicationStored>();
  rig.run(ChangeApplication{tenant_one, "w", {.uid = ""}}).only<ApplicationStored>();
  expect_refused(rig.run(ChangeApplication{tenant_one, "w", {}}), Why::application_not_found);
}

TEST(WebhookApplications, AreMadeByAChangeThatMay) {
  Rig rig;
  const auto made = rig.run(ChangeApplication{tenant_one, "u", {.name = "n"}, /*create=*/true})
                        .only<ApplicationStored>();
  EXPECT_TRUE(made.created);
  EXPECT_EQ(made.application.uid, "u");
  const auto again =
      rig.run(ChangeApplication{tenant_one, "u", {.name = "m"}, true}).only<ApplicationStored>();
  EXPECT_FALSE(again.created);
  EXPECT_EQ(again.application.name, "m");
  EXPECT_EQ(rig.run(ChangeApplication{tenant_one, "x", {.uid = "y"}, true})
                .only<ApplicationStored>()
                .application.uid,
            "y");
  expect_refused(rig.run(ChangeApplication{tenant_one, "z", {.uid = "y"}, true}), Why::uid_taken,
                 "y");
  expect_refused(rig.run(ChangeApplication{tenant_one, "app_x", {}, true}), Why::ref_is_no_uid,
                 "app_x");
}

TEST(WebhookApplications, TheHiddenOneIsNotTheirs) {
  Rig rig;
  const std::string hidden = id_of(Application{});
  for (const std::string& ref : {std::string(), hidden}) {
    SCOPED_TRACE(ref);
    expect_refused(rig.run(ChangeApplication{tenant_one, ref, {.name = "x"}}),
                   Why::application_not_found);
    expect_refused(rig.run(DeleteApplication{tenant_one, ref}), Why::application_not_found);
    EXPECT_EQ(find_application(rig.reader, tenant_one, ref), std::nullopt);
  }
  expect_refused(rig.run(CreateEndpoint{tenant_one, hidden, to_host("a"), secret()}),
                 Why::application_not_found);
}

TEST(WebhookApplications, GoWithEverythingThatIsTheirs) {
  Rig rig;
  make_application(rig, {.uid = "other"});
  const Application made = make_application(rig, {.uid = "u"});
  make_endpoint(rig, "u", to_host("a", "e"));
  make_endpoint(rig, "u", to_host("b"));
  rig.run(CreateToken{tenant_one, "u", {}, {.digest = "d"}, Millis{1000}}).only<TokenStored>();
  const auto integration =
      rig.run(CreateIntegration{tenant_one, "u", "i", {}}).only<IntegrationStored>().integration;
  rig.run(RotateIntegrationKey{tenant_one, "u", id_of(integration), "k"}).only<IntegrationStored>();

  rig.run(DeleteApplication{tenant_one, "u"}).only<Done>();
  EXPECT_EQ(rig.reader.rows<Application>().size(), 1U);
  EXPECT_EQ(rig.reader.rows<Name>().size(), 1U);  // the uid of the other one
  EXPECT_TRUE(rig.reader.rows<Endpoint>().empty());
  EXPECT_TRUE(rig.reader.rows<AppToken>().empty());
  EXPECT_TRUE(rig.reader.rows<Integration>().empty());
  EXPECT_EQ(rig.reader.get<Totals>(tenant_one)->applications, 1U);
  expect_refused(rig.run(DeleteApplication{tenant_one, "u"}), Why::application_not_found);
  expect_refused(rig.run(DeleteApplication{tenant_one, id_of(made)}), Why::application_not_found);
  make_application(rig, {.uid = "u"});
  rig.pass(Millis{1000});
  rig.run();  // the token's timer finds nothing
}

TEST(WebhookApplications, GoWithWhatTheSameBatchHasMade) {
  Rig rig;
  rig.run(CreateApplication{tenant_one, {.uid = "u"}},
          CreateEndpoint{tenant_one, "u", to_host("a", "e"), secret()},
          CreateToken{tenant_one, "u", {}, {.digest = "d"}, Millis{1000}},
          CreateIntegration{tenant_one, "u", "i", {}}, DeleteApplication{tenant_one, "u"});
  EXPECT_TRUE(rig.reader.rows<Application>().empty());
  EXPECT_TRUE(rig.reader.rows<Name>().empty());
  EXPECT_TRUE(rig.reader.rows<Endpoint>().empty());
  EXPECT_TRUE(rig.reader.rows<AppToken>().empty());
  EXPECT_TRUE(rig.reader.rows<Integration>().empty());
}

TEST(WebhookApplications, AreSoManyAtMost) {
  Limits limits;
  limits.webhook_applications_max = 2;
  Rig rig(limits);
  make_application(rig, {.uid = "u"});
  make_application(rig);
  expect_refused(rig.run(CreateApplication{tenant_one, {}}), Why::limit_reached, "applications");
  rig.run(DeleteApplication{tenant_one, "u"}).only<Done>();
  make_application(rig);
}

TEST(WebhookApplications, OfATenantThatIsNotThereAreRefused) {
  Rig rig;
  const Ran ran =
      rig.run(CreateApplication{TenantId{9}, {}}, ChangeApplication{TenantId{9}, "u", {}, true});
  for (const Reply& reply : ran.replies) {
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().kind, ErrorKind::not_found);
  }
  EXPECT_TRUE(rig.reader.rows<Application>().empty());
}

TEST(WebhookApplications, AreTheSameAfterARestart) {
  Rig rig;
  const Application made = make_application(rig, {.name = "n", .uid = "u"});
  make_endpoint(rig, "u");
  rig.restart();
  const auto changed =
      rig.run(ChangeApplication{tenant_one, "u", {.name = "m"}}).only<ApplicationStored>();
  EXPECT_EQ(changed.application.number, made.number);
  EXPECT_EQ(changed.application.endpoints, 1U);
}

TEST(WebhookApplications, OutOfMemoryAreReadAgain) {
  Limits limits;
  limits.webhook_memory_bytes = 0;
  Rig rig(limits);
  make_application(rig, {.uid = "u"});
  for (int i = 0; i < 3; ++i) {
    const Endpoint made = make_endpoint(rig, "u", to_host("a", "e" + std::to_string(i)));
    EXPECT_EQ(find_endpoint(rig.reader, tenant_one, made.application, made.uid), made);
  }
  EXPECT_EQ(find_application(rig.reader, tenant_one, "u")->endpoints, 3U);
  expect_refused(rig.run(CreateEndpoint{tenant_one, "u", to_host("a", "e1"), secret()}),
                 Why::uid_taken, "e1");
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
