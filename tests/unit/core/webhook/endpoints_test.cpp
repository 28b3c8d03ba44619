#include <algorithm>
#include <chrono>

#include "core/webhook/operational.h"
#include "core/webhook/options.h"
#include "unit/core/webhook/support.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

using namespace webhook;
using namespace std::chrono_literals;
using Why = Refused::Why;
using webhook::Application;
using webhook::Delivery;
using webhook::Endpoint;
using webhook::Name;

Endpoint read(Rig& rig, const std::string& ref, const std::string& application_ref = "u") {
  const auto application = find_application(rig.reader, tenant_one, application_ref);
  const auto found = find_endpoint(rig.reader, tenant_one, application->number, ref);
  EXPECT_TRUE(found);
  return found.value_or(Endpoint{});
}

TEST(WebhookEndpoints, AreStoredAndCounted) {
  Rig rig;
  make_application(rig, {.uid = "u"});
  make_event_types(rig, {"a", "b"});
  const EndpointFields fields{.uid = "e",
                              .url = "https://a/in",
                              .host = "https://a:443",
                              .description = "d",
                              .event_types = {"a", "b"},
                              .channels = {"c"},
                              .rate = 3,
                              .headers = {{"X-A", "1"}},
                              .metadata = {{"k", "v"}},
                              .disabled = true};
  const auto stored =
      rig.run(CreateEndpoint{tenant_one, "u", fields, secret()}).only<EndpointStored>();
  EXPECT_TRUE(stored.created);
  const Endpoint& made = stored.endpoint;
  EXPECT_EQ(made.url, "https://a/in");
  EXPECT_EQ(made.host, "https://a:443");
  EXPECT_EQ(made.description, "d");
  EXPECT_EQ(made.event_types, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(made.channels, std::vector<std::string>{"c"});
  EXPECT_EQ(made.rate, 3U);
  EXPECT_EQ(made.headers, fields.headers);
  EXPECT_EQ(made.metadata, fields.metadata);
  EXPECT_EQ(made.disabled, Endpoint::Disabled::manual);
  EXPECT_FALSE(made.paused);
  ASSERT_EQ(made.secrets.size(), 1U);
  EXPECT_EQ(made.secrets[0].sealed, "s0");
  EXPECT_EQ(made.secrets[0].created_at, rig.now);
  EXPECT_EQ(made.secrets[0].expires_at, never);
  EXPECT_EQ(read(rig, "e"), made);
  EXPECT_EQ(read(rig, id_of(made)), made);
  make_endpoint(rig, "u");
  const auto application = find_application(rig.reader, tenant_one, "u");
  EXPECT_EQ(application->endpoints, 2U);
  EXPECT_EQ(application->disabled, 1U);
}

TEST(WebhookEndpoints, AreRefusedForWhatIsWrongWithThem) {
  Limits limits;
  Rig rig(limits);
  make_application(rig, {.uid = "u"});
  make_event_types(rig, {"known", "archived"});
  rig.run(DeleteEventType{tenant_one, "archived"});
  rig.run(PutSettings{{.tenant = tenant_one, .https_only = true, .endpoints_max = 2}}).only<Done>();
  make_endpoint(rig, "u", to_host("a", "e"));

  EndpointFields of_types = to_host("a");
  of_types.event_types = {"b", "known", "archived"};
  EndpointFields plain = to_host("a");
  plain.host = "http://a:80";
  const struct {
    const char* what;
    const char* application;
    EndpointFields fields;
    Why why;
    const char* detail;
  } rows[] = {
      {"no application", "v", to_host("a"), Why::application_not_found, ""},
      {"event types", "u", of_types, Why::event_types_unknown, "b, archived"},
      {"not https", "u", plain, Why::https_only, ""},
      {"the uid of another", "u", to_host("a", "e"), Why::uid_taken, "e"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    expect_refused(rig.run(CreateEndpoint{tenant_one, row.application, row.fields, secret()}),
                   row.why, row.detail);
  }
  make_endpoint(rig, "u");
  expect_refused(rig.run(CreateEndpoint{tenant_one, "u", to_host("a"), secret()}),
                 Why::limit_reached, "endpoints of an application");
  rig.run(DeleteEndpoint{tenant_one, "u", "e"}).only<Done>();
  make_endpoint(rig, "u", to_host("a", "e"));
  make_application(rig, {.uid = "v"});
  make_endpoint(rig, "v", to_host("a", "e"));  // uids are those of an application
}

TEST(WebhookEndpoints, AreChangedInWhatIsGiven) {
  Rig rig;
  make_application(rig, {.uid = "u"});
  make_event_types(rig, {"a", "b"});
  EndpointFields fields = to_host("a", "e");
  fields.event_types = {"a"};
  Endpoint wanted = make_endpoint(rig, "u", fields);
  rig.run(DeleteEventType{tenant_one, "a"});
  rig.pass(Millis{1000});
  // A filter that it has may stay, though nobody else gets it any more.
  const auto changed = rig.run(ChangeEndpoint{tenant_one,
                                              "u",
                                              "e",
                                              {.uid = "f",
                                               .url = std::pair{"https://b/x", "https://b:443"},
                                               .description = "d",
                                               .event_types = std::vector<std::string>{"a", "b"},
                                               .channels = std::vector<std::string>{"c"},
                                               .rate = 9,
                                               .metadata = Metadata{{"k", "v"}}}})
                           .only<EndpointStored>();
  wanted.uid = "f";
  wanted.url = "https://b/x";
  wanted.host = "https://b:443";
  wanted.description = "d";
  wanted.event_types = {"a", "b"};
  wanted.channels = {"c"};
  wanted.rate = 9;
  wanted.metadata = {{"k", "v"}};
  wanted.updated_at = rig.now;
  EXPECT_FALSE(changed.created);
  EXPECT_EQ(changed.endpoint, wanted);
  EXPECT_EQ(read(rig, "f"), wanted);
  expect_refused(rig.run(ChangeEndpoint{tenant_one, "u", "e", {}}), Why::endpoint_not_found);
  expect_refused(
      rig.run(ChangeEndpoint{tenant_one, "u", "f", {.event_types = std::vector<std::string>{"x"}}}),
      Why::event_types_unknown, "x");
  make_endpoint(rig, "u", to_host("a", "e"));
  expect_refused(rig.run(ChangeEndpoint{tenant_one, "u", "f", {.uid = "e"}}), Why::uid_taken, "e");
  rig.run(ChangeEndpoint{tenant_one, "u", "f", {.uid = ""}}).only<EndpointStored>();
  expect_refused(rig.run(ChangeEndpoint{tenant_one, "u", "f", {}}), Why::endpoint_not_found);
}

TEST(WebhookEndpoints, ThatWereThereBeforeHttpsWasAskedForMayStayPlain) {
  Rig rig;
  make_application(rig, {.uid = "u"});
  EndpointFields plain = to_host("a", "e");
  plain.url = "http://a/";
  plain.host = "http://a:80";
  make_endpoint(rig, "u", plain);
  rig.run(PutSettings{{.tenant = tenant_one, .https_only = true}}).only<Done>();
  rig.run(ChangeEndpoint{tenant_one, "u", "e", {.url = std::pair{plain.url, plain.host}}})
      .only<EndpointStored>();
  expect_refused(
      rig.run(ChangeEndpoint{tenant_one, "u", "e", {.url = std::pair{"http://b/", "http://b:80"}}}),
      Why::https_only);
}

TEST(WebhookEndpoints, AreMadeByAChangeThatMay) {
  Rig rig;
  make_application(rig, {.uid = "u"});
  const EndpointChanges changes{.url = std::pair{"https://a/", "https://a:443"}, .rate = 3};
  const auto made = rig.run(ChangeEndpoint{tenant_one, "u", "e", changes, true, secret("s")})
                        .only<EndpointStored>();
  EXPECT_TRUE(made.created);
  EXPECT_EQ(made.endpoint.uid, "e");
  EXPECT_EQ(made.endpoint.rate, 3U);
  EXPECT_EQ(made.endpoint.secrets.at(0).sealed, "s");
  const auto again = rig.run(ChangeEndpoint{tenant_one, "u", "e", changes, true, secret("t")})
                         .only<EndpointStored>();
  EXPECT_FALSE(again.created);
  EXPECT_EQ(again.endpoint.secrets.at(0).sealed, "s");
  expect_refused(rig.run(ChangeEndpoint{tenant_one, "u", "ep_x", changes, true, secret()}),
                 Why::ref_is_no_uid, "ep_x");
  expect_refused(rig.run(ChangeEndpoint{tenant_one, "v", "e", changes, true, secret()}),
                 Why::application_not_found);
}

TEST(WebhookEndpoints, KeepTheReasonWhyTheyAreDisabledUntilTheyAreEnabled) {
  Rig rig;
  make_application(rig, {.uid = "u"});
  Endpoint gone = make_endpoint(rig, "u", to_host("a", "e"));
  gone.disabled = Endpoint::Disabled::gone;
  rig.reader.put<Endpoint>(gone);
  Application application = *find_application(rig.reader, tenant_one, "u");
  application.disabled = 1;
  rig.reader.put<Application>(application);
  rig.restart();
  rig.run(ChangeEndpoint{tenant_one, "u", "e", {.disabled = true}}).only<EndpointStored>();
  EXPECT_EQ(read(rig, "e").disabled, Endpoint::Disabled::gone);
  rig.run(ChangeEndpoint{tenant_one, "u", "e", {.disabled = false}}).only<EndpointStored>();
  EXPECT_EQ(read(rig, "e").disabled, Endpoint::Disabled::no);
  EXPECT_EQ(find_application(rig.reader, tenant_one, "u")->disabled, 0U);
  rig.run(ChangeEndpoint{tenant_one, "u", "e", {.disabled = true}}).only<EndpointStored>();
  EXPECT_EQ(read(rig, "e").disabled, Endpoint::Disabled::manual);
  EXPECT_EQ(find_application(rig.reader, tenant_one, "u")->disabled, 1U);
}

TEST(WebhookEndpoints, AreGoneWhenTheyAreDeleted) {
  Rig rig;
  make_application(rig, {.uid = "u"});
  EndpointFields fields = to_host("a", "e");
  fields.disabled = true;
  make_endpoint(rig, "u", fields);
  rig.run(DeleteEndpoint{tenant_one, "u", "e"}).only<Done>();
  EXPECT_TRUE(rig.reader.rows<Endpoint>().empty());
  EXPECT_EQ(rig.reader.rows<Name>().size(), 1U);  // of the application
  const auto application = find_application(rig.reader, tenant_one, "u");
  EXPECT_EQ(application->endpoints, 0U);
  EXPECT_EQ(application->disabled, 0U);
  expect_refused(rig.run(DeleteEndpoint{tenant_one, "u", "e"}), Why::endpoint_not_found);
}

TEST(WebhookEndpoints, OldSecretsSignUntilTheirGraceIsOver) {
  Rig rig;
  make_application(rig, {.uid = "u"});
  make_endpoint(rig, "u", to_host("a", "e"));
  const auto rotate = [&](const std::string& sealed, Millis grace) {
    return rig.run(RotateSecret{tenant_one, "u", "e", secret(sealed), grace});
  };
  const auto sealed = [&] {
    std::vector<std::string> all;
    for (const SigningSecret& one : read(rig, "e").secrets) {
      all.push_back(one.sealed);
    }
    return all;
  };
  rotate("s1", 10s).only<EndpointStored>();
  EXPECT_EQ(sealed(), (std::vector<std::string>{"s1", "s0"}));
  EXPECT_EQ(read(rig, "e").secrets.at(1).expires_at, rig.now + 10s);
  rig.pass(5s);
  rotate("s2", 60s).only<EndpointStored>();
  EXPECT_EQ(sealed(), (std::vector<std::string>{"s2", "s1", "s0"}));
  EXPECT_EQ(read(rig, "e").secrets.at(2).expires_at, rig.now + 5s);  // its own
  rig.pass(5s);
  rotate("s3", 0s).only<EndpointStored>();  // s2 is dropped, s0 is over
  EXPECT_EQ(sealed(), (std::vector<std::string>{"s3", "s1"}));
  EXPECT_EQ(read(rig, "e").secrets.at(0).expires_at, never);
}

TEST(WebhookEndpoints, HaveTenOldSecretsAtMost) {
  Rig rig;
  make_application(rig, {.uid = "u"});
  make_endpoint(rig, "u", to_host("a", "e"));
  const auto rotate = [&](Millis grace) {
    return rig.run(RotateSecret{tenant_one, "u", "e", secret(), grace});
  };
  for (int i = 0; i < 10; ++i) {
    rotate(60s).only<EndpointStored>();
  }
  EXPECT_EQ(read(rig, "e").secrets.size(), 11U);
  expect_refused(rotate(60s), Why::limit_reached, "old secrets of an endpoint");
  rotate(0s).only<EndpointStored>();
  expect_refused(rotate(60s), Why::limit_reached, "old secrets of an endpoint");
  rig.pass(60s);
  rotate(60s).only<EndpointStored>();
  EXPECT_EQ(read(rig, "e").secrets.size(), 2U);
}

TEST(WebhookEndpoints, HeadersAreMergedWhateverTheirCase) {
  Rig rig;
  make_application(rig, {.uid = "u"});
  make_endpoint(rig, "u", to_host("a", "e"));
  const auto change = [&](bool replace, std::vector<Header> set, std::vector<std::string> remove) {
    rig.run(ChangeHeaders{tenant_one, "u", "e", replace, std::move(set), std::move(remove)})
        .only<EndpointStored>();
    return read(rig, "e").headers;
  };
  EXPECT_EQ(change(false, {{"X-A", "1"}, {"X-B", "2"}}, {}),
            (std::vector<Header>{{"X-A", "1"}, {"X-B", "2"}}));
  EXPECT_EQ(change(false, {{"x-a", "3"}, {"X-C", "4"}}, {"x-B", "nothing"}),
            (std::vector<Header>{{"x-a", "3"}, {"X-C", "4"}}));
  EXPECT_EQ(change(true, {{"X-D", "5"}}, {}), (std::vector<Header>{{"X-D", "5"}}));
  std::vector<Header> many;
  for (int i = 0; i < 50; ++i) {
    many.push_back({"X-" + std::to_string(i), ""});
  }
  expect_refused(rig.run(ChangeHeaders{tenant_one, "u", "e", false, many, {}}), Why::limit_reached,
                 "headers of an endpoint");
  EXPECT_EQ(change(true, many, {}).size(), 50U);
}

TEST(WebhookEndpoints, SetDeliveryOptionsOfTheirOwnAndInheritTheRest) {
  Rig rig;
  make_application(rig, {.uid = "u"});
  make_endpoint(rig, "u", to_host("a", "e"));
  rig.run(PutSettings{{.tenant = tenant_one,
                       .delivery = {.set = bit_of(DeliveryPart::timeout),
                                    .values = {.timeout = 7s, .parallelism = 1}}}})
      .only<Done>();
  rig.run(ChangeDelivery{tenant_one,
                         "u",
                         "e",
                         {.set = bit_of(DeliveryPart::schedule) | bit_of(DeliveryPart::timeout),
                          .values = {.preset = "svix", .timeout = 9s}},
                         0})
      .only<EndpointStored>();
  const auto now = [&] { return effective(read(rig, "e"), settings_of(rig.reader, tenant_one)); };
  EXPECT_EQ(now().timeout, 9s);
  EXPECT_EQ(now().delays, *preset_delays("svix"));
  EXPECT_EQ(now().parallelism, 32U);  // it was not set, so its value counts for nothing
  rig.run(ChangeDelivery{tenant_one, "u", "e", {}, bit_of(DeliveryPart::timeout)})
      .only<EndpointStored>();
  EXPECT_EQ(now().timeout, 7s);
  rig.restart();
  EXPECT_EQ(now().timeout, 7s);
}

TEST(WebhookEndpoints, OfTheStripeLayoutHaveASymmetricSecret) {
  Rig rig;
  make_application(rig, {.uid = "u"});
  make_endpoint(rig, "u", to_host("a", "e"));
  const SigningSecret asymmetric{.sealed = "x", .kind = SigningSecret::Kind::ed25519};
  const OwnDelivery stripe{.set = bit_of(DeliveryPart::signing), .values = {.sign_stripe = true}};
  rig.run(RotateSecret{tenant_one, "u", "e", asymmetric, 0s}).only<EndpointStored>();
  expect_refused(rig.run(ChangeDelivery{tenant_one, "u", "e", stripe, 0}),
                 Why::needs_symmetric_secret);
  rig.run(RotateSecret{tenant_one, "u", "e", secret(), 0s}).only<EndpointStored>();
  rig.run(ChangeDelivery{tenant_one, "u", "e", stripe, 0}).only<EndpointStored>();
  expect_refused(rig.run(RotateSecret{tenant_one, "u", "e", asymmetric, 0s}),
                 Why::needs_symmetric_secret);
  rig.run(PutSettings{{.tenant = tenant_one, .delivery = stripe}}).only<Done>();
  expect_refused(rig.run(CreateEndpoint{tenant_one, "u", to_host("a"), asymmetric}),
                 Why::needs_symmetric_secret);
}

TEST(WebhookEndpoints, OfTheHiddenApplicationTakeItsEventTypesOnly) {
  Rig rig;
  make_event_types(rig, {"a"});
  EndpointFields fields = to_host("a", "e");
  fields.event_types = {"endpoint.disabled", "a", "message.attempt.log"};
  expect_refused(rig.run(CreateEndpoint{tenant_one, "", fields, secret()}),
                 Why::event_types_unknown, "a, message.attempt.log");
  fields.event_types = {"endpoint.disabled"};
  const Endpoint made = make_endpoint(rig, "", fields);
  EXPECT_EQ(made.application, operational);
  EXPECT_EQ(find_endpoint(rig.reader, tenant_one, operational, "e"), made);
  EXPECT_TRUE(rig.reader.rows<Application>().empty());
  rig.restart();
  rig.run(ChangeEndpoint{tenant_one, "", "e", {.rate = 3}}).only<EndpointStored>();
  rig.run(DeleteEndpoint{tenant_one, "", id_of(made)}).only<Done>();
  EXPECT_TRUE(rig.reader.rows<Endpoint>().empty());
  for (const std::string_view name : operational_event::all) {
    EXPECT_TRUE(is_operational_event(name));
  }
}

TEST(WebhookEndpoints, CommandsOfOneBatchSeeEachOther) {
  Rig rig;
  rig.run(CreateApplication{tenant_one, {.uid = "u"}},
          CreateEndpoint{tenant_one, "u", to_host("a", "e"), secret("s0")},
          RotateSecret{tenant_one, "u", "e", secret("s1"), 10s},
          ChangeHeaders{tenant_one, "u", "e", false, {{"X-A", "1"}}, {}},
          CreateEndpoint{tenant_one, "u", to_host("b", "f"), secret()},
          DeleteEndpoint{tenant_one, "u", "f"});
  const Endpoint made = read(rig, "e");
  EXPECT_EQ(made.secrets.size(), 2U);
  EXPECT_EQ(made.headers.size(), 1U);
  EXPECT_EQ(find_application(rig.reader, tenant_one, "u")->endpoints, 1U);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
