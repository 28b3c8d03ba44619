#include <chrono>

#include "unit/core/webhook/support.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

using namespace webhook;
using namespace std::chrono_literals;
using Why = Refused::Why;
using webhook::Application;
using webhook::Name;

CreateToken token(std::string digest, std::string session = {}, Millis kept_for = 3600s) {
  return {.tenant = tenant_one,
          .application_ref = "u",
          .token = {.digest = std::move(digest), .session = std::move(session)},
          .kept_for = kept_for};
}

bool opens(Rig& rig, const std::string& digest) {
  return find_token(rig.reader, tenant_one, digest, rig.now).has_value();
}

TEST(WebhookTokens, AreOfOneApplicationAndEndWithTheirTime) {
  Rig rig;
  const Application application = make_application(rig, {.uid = "u"});
  CreateToken command = token("d", "s", 3600s);
  command.token.capabilities = 5;
  command.token.feature_flags = {"f"};
  EXPECT_EQ(rig.run(std::move(command)).only<TokenStored>().application.number, application.number);
  const auto made = find_token(rig.reader, tenant_one, "d", rig.now);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->application, application.number);
  EXPECT_EQ(made->capabilities, 5U);
  EXPECT_EQ(made->feature_flags, std::vector<std::string>{"f"});
  EXPECT_EQ(made->session, "s");
  EXPECT_EQ(made->expires_at, rig.now + 3600s);
  EXPECT_FALSE(find_token(rig.reader, TenantId{2}, "d", rig.now));
  rig.pass(3600s - 1ms);
  rig.run();
  EXPECT_TRUE(opens(rig, "d"));
  rig.pass(1ms);
  EXPECT_FALSE(opens(rig, "d"));  // also before its timer
  rig.run();
  EXPECT_TRUE(rig.reader.rows<AppToken>().empty());
  EXPECT_TRUE(rig.reader.rows<Timer>().empty());
  EXPECT_EQ(find_application(rig.reader, tenant_one, "u")->tokens, 0U);
  EXPECT_EQ(rig.reader.rows<Name>().size(), 1U);
}

TEST(WebhookTokens, MakeTheirApplicationInTheSameCommit) {
  Rig rig;
  expect_refused(rig.run(token("d")), Why::application_not_found);
  CreateToken command = token("d");
  command.application = ApplicationFields{.name = "n", .uid = "u"};
  const CreateToken other{command.tenant,
                          command.application_ref,
                          command.application,
                          {.digest = "e"},
                          command.kept_for};
  const Ran ran = rig.run(command, other);
  EXPECT_EQ(ran.replies.at(0)->get<TokenStored>().application.number,
            ran.replies.at(1)->get<TokenStored>().application.number);
  EXPECT_EQ(rig.reader.rows<Application>().size(), 1U);
  EXPECT_EQ(find_application(rig.reader, tenant_one, "u")->tokens, 2U);
}

TEST(WebhookTokens, ExpireTogetherOrBySession) {
  Rig rig;
  make_application(rig, {.uid = "u"});
  make_application(rig, {.uid = "v"});
  CreateToken of_another = token("other");
  of_another.application_ref = "v";
  rig.run(token("a", "one"), token("b", "two"), token("c", "three"), of_another);
  rig.run(ExpireTokens{tenant_one, "u", 0s, {"one", "nobody"}}).only<Done>();
  EXPECT_FALSE(opens(rig, "a"));
  EXPECT_TRUE(opens(rig, "b"));
  rig.run(ExpireTokens{tenant_one, "u", 60s, {"two"}}).only<Done>();
  rig.pass(60s);
  rig.run();
  EXPECT_FALSE(opens(rig, "b"));
  EXPECT_TRUE(opens(rig, "c"));
  rig.run(ExpireTokens{tenant_one, "u", 7200s}).only<Done>();  // none lives longer for it
  EXPECT_EQ(find_token(rig.reader, tenant_one, "c", rig.now)->expires_at, rig.now + 3540s);
  rig.run(ExpireTokens{tenant_one, "u"}).only<Done>();
  EXPECT_FALSE(opens(rig, "c"));
  EXPECT_TRUE(opens(rig, "other"));
  EXPECT_EQ(find_application(rig.reader, tenant_one, "u")->tokens, 0U);
  expect_refused(rig.run(ExpireTokens{tenant_one, "w"}), Why::application_not_found);
}

TEST(WebhookTokens, OfTheSameBatchExpireToo) {
  Rig rig;
  make_application(rig, {.uid = "u"});
  rig.run(token("a"), ExpireTokens{tenant_one, "u"});
  EXPECT_FALSE(opens(rig, "a"));
  EXPECT_EQ(find_application(rig.reader, tenant_one, "u")->tokens, 0U);
}

TEST(WebhookTokens, AreDroppedOnce) {
  Rig rig;
  make_application(rig, {.uid = "u"});
  rig.run(token("a"));
  rig.run(DropToken{tenant_one, "a"}).only<Done>();
  EXPECT_FALSE(opens(rig, "a"));
  expect_refused(rig.run(DropToken{tenant_one, "a"}), Why::token_not_found);
}

TEST(WebhookTokens, AreSoManyAtMost) {
  Limits limits;
  limits.webhook_tokens_max = 2;
  Rig rig(limits);
  make_application(rig, {.uid = "u"});
  rig.run(token("a"), token("b"));
  expect_refused(rig.run(token("c")), Why::limit_reached, "tokens of an application");
  rig.run(DropToken{tenant_one, "a"});
  rig.run(token("c")).only<TokenStored>();
}

TEST(WebhookIntegrations, HaveAKeyThatIsAToken) {
  Rig rig;
  make_application(rig, {.uid = "u"});
  Integration made =
      rig.run(CreateIntegration{tenant_one, "u", "n", {"f"}}).only<IntegrationStored>().integration;
  EXPECT_EQ(made.digest, "");
  EXPECT_TRUE(rig.reader.rows<AppToken>().empty());
  const std::string id = id_of(made);
  rig.run(RotateIntegrationKey{tenant_one, "u", id, "k1"}).only<IntegrationStored>();
  const auto key = find_token(rig.reader, tenant_one, "k1", rig.now);
  ASSERT_TRUE(key);
  EXPECT_EQ(key->integration, made.number);
  EXPECT_EQ(key->capabilities, all_capabilities);
  EXPECT_EQ(key->feature_flags, std::vector<std::string>{"f"});
  EXPECT_FALSE(key->all_feature_flags);
  EXPECT_EQ(key->expires_at, never);
  rig.run(ExpireTokens{tenant_one, "u"}).only<Done>();  // of sessions
  EXPECT_TRUE(opens(rig, "k1"));

  rig.run(RotateIntegrationKey{tenant_one, "u", id, "k2"}).only<IntegrationStored>();
  EXPECT_FALSE(opens(rig, "k1"));
  rig.run(ChangeIntegration{tenant_one, "u", id, "m", {}}).only<IntegrationStored>();
  EXPECT_TRUE(find_token(rig.reader, tenant_one, "k2", rig.now)->all_feature_flags);
  made = list_integrations(rig.reader, tenant_one, made.application, {}, ListOrder::ascending, 9)
             .at(0);
  EXPECT_EQ(made.name, "m");
  EXPECT_EQ(made.digest, "k2");

  rig.run(DropToken{tenant_one, "k2"}).only<Done>();
  EXPECT_EQ(find_integration(rig.reader, tenant_one, made.application, id)->digest, "");
  rig.run(RotateIntegrationKey{tenant_one, "u", id, "k3"}).only<IntegrationStored>();
  rig.run(DeleteIntegration{tenant_one, "u", id}).only<Done>();
  EXPECT_FALSE(opens(rig, "k3"));
  EXPECT_FALSE(find_integration(rig.reader, tenant_one, made.application, id));
  expect_refused(rig.run(DeleteIntegration{tenant_one, "u", id}), Why::integration_not_found);
  expect_refused(rig.run(RotateIntegrationKey{tenant_one, "u", "x", "k"}),
                 Why::integration_not_found);
}

TEST(WebhookIntegrations, AreSoManyAtMost) {
  Limits limits;
  limits.webhook_integrations_max = 2;
  Rig rig(limits);
  make_application(rig, {.uid = "u"});
  rig.run(CreateIntegration{tenant_one, "u", "a"}, CreateIntegration{tenant_one, "u", "b"});
  expect_refused(rig.run(CreateIntegration{tenant_one, "u", "c"}), Why::limit_reached,
                 "integrations of an application");
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
