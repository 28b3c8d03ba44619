/// Bytes of webhooks as they are on disk. A golden record is never changed: a new field gets a new
/// record, and the old ones must still decode to what they meant.
#include <gtest/gtest.h>

#include "base/encoding.h"
#include "core/webhook/options.h"
#include "store/codec.h"
#include "store/records.pb.h"

namespace hk::store {
namespace HK_TEST_FILE {

using namespace core::webhook;

constexpr core::TenantId tenant{1};
constexpr Moment early = moment_from_ms(1000);
constexpr Moment late = moment_from_ms(1'700'000'000'000);
constexpr Made made{.at = early, .random = 0x0102030405060708};

template <class R>
void expect_read_back(const R& record, const std::string& bytes) {
  const auto back = Codec<R>::decode(core::own_key(record), bytes);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, record);
}

/// `Written`: what Protocol Buffers would have written.
template <class Written, class R>
void expect_golden(const R& record, std::string_view golden) {
  const std::string bytes = Codec<R>::encode(record);
  EXPECT_EQ(hex(bytes), golden);
  expect_read_back(record, *unhex(golden));
  Written written;
  ASSERT_TRUE(written.ParseFromString(bytes));
  EXPECT_EQ(written.GetReflection()->GetUnknownFields(written).field_count(), 0);
  EXPECT_EQ(hex(written.SerializeAsString()), hex(bytes));
  // Cut anywhere, it is refused or a record that has less: never undefined.
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    static_cast<void>(
        Codec<R>::decode(core::own_key(record), std::string_view(bytes).substr(0, length)));
  }
}

/// Every part is set, and to something else than the default.
OwnDelivery all_options() {
  return {
      .set = all_delivery_parts,
      .values = {.delays = {Millis{0}, Millis{300}},
                 .preset = "",
                 .jitter = 0.5,
                 .retry_after_max = Millis{7},
                 .give_up_statuses = {400, 422},
                 .timeout = Millis{9000},
                 .header_set = HeaderSet::webhook,
                 .sign_standard = false,
                 .sign_stripe = true,
                 .stripe_header = "X-Sig",
                 .order = Order::tag,
                 .halt = true,
                 .parallelism = 4,
                 .circuit = Delivery::Circuit{5, Millis{6}, Millis{7}},
                 .disable = Delivery::Disable{Millis{8}, 9, 10, {20, 300}},
                 .hold = {.enabled = false, .ttl = Millis{11}, .messages_max = 12, .bytes_max = 13},
                 .resume_rate = 14}};
}

TEST(WebhookGolden, Application) {
  expect_golden<records::WebhookApplication>(
      core::webhook::Application{.tenant = tenant,
                                 .number = 7,
                                 .made = made,
                                 .name = "n",
                                 .uid = "u",
                                 .rate = 5,
                                 .metadata = {{"", "x"}, {"k", "v"}},
                                 .updated_at = late,
                                 .endpoints = 3,
                                 .disabled = 2,
                                 .tokens = 1},
      "0a0c08e80711080706050403020112016e1a017520052a031201782a060a016b1201763080d095ff"
      "bc31380340024801");
}

TEST(WebhookGolden, EventType) {
  expect_golden<records::WebhookEventType>(
      core::webhook::EventType{.tenant = tenant,
                               .name = "a.b",
                               .description = "d",
                               .schemas = R"({"1":{}})",
                               .group = "g",
                               .feature_flags = {"f", ""},
                               .archived = true,
                               .deprecated = true,
                               .created_at = early,
                               .updated_at = late},
      "0a016412087b2231223a7b7d7d1a016722016622002801300138e8074080d095ffbc31");
}

TEST(WebhookGolden, Endpoint) {
  expect_golden<records::WebhookEndpoint>(
      core::webhook::Endpoint{
          .tenant = tenant,
          .application = 7,
          .number = 8,
          .made = made,
          .uid = "u",
          .url = "https://a/x",
          .host = "https://a:443",
          .description = "d",
          .event_types = {"a.b"},
          .channels = {"c"},
          .rate = 5,
          .secrets = {{.sealed = "s", .kind = SigningSecret::Kind::ed25519, .created_at = late},
                      {.sealed = "t", .created_at = early, .expires_at = late}},
          .headers = {{"X-A", "1"}},
          .metadata = {{"k", "v"}},
          .disabled = core::webhook::Endpoint::Disabled::gone,
          .paused = true,
          .delivery = all_options(),
          .updated_at = late},
      "0a0c08e8071108070605040302011201751a0b68747470733a2f2f612f78220d68747470733a2f2f"
      "613a3434332a01643203612e623a016340054a150a017310011880d095ffbc312080808080808080"
      "104a0d0a017418e8072080d095ffbc3152080a03582d411201315a060a016b12017660036801724f"
      "08ff7f120300ac0221000000000000e03f280732049003a60338a846400250015a05582d53696760"
      "03680170047a0608051006180782010b08081009180a220314ac028a0106100b180c200d90010e78"
      "80d095ffbc31");
}

TEST(WebhookGolden, AnEndpointKeepsOnlyTheOptionsThatItSetsItself) {
  const OwnDelivery every = all_options();
  for (std::uint32_t part = 0; all_delivery_parts >> part != 0; ++part) {
    SCOPED_TRACE(part);
    core::webhook::Endpoint endpoint{.tenant = tenant, .application = 7, .number = 8};
    endpoint.delivery.set = 1U << part;
    // With the values of all other parts, which are not its own: they are not kept.
    core::webhook::Endpoint given = endpoint;
    given.delivery.values = every.values;
    const auto read = Codec<core::webhook::Endpoint>::decode(
        core::own_key(endpoint), Codec<core::webhook::Endpoint>::encode(given));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->delivery.set, endpoint.delivery.set);
    EXPECT_NE(read->delivery.values, Delivery{});
    EXPECT_NE(read->delivery.values, every.values);
    expect_read_back(*read, Codec<core::webhook::Endpoint>::encode(*read));
  }
  // Zero and off are something else than nothing said.
  core::webhook::Endpoint off{.tenant = tenant, .application = 7, .number = 8};
  off.delivery.set = all_delivery_parts;
  off.delivery.values = {.preset = "svix",
                         .jitter = 0,
                         .retry_after_max = {},
                         .timeout = {},
                         .sign_standard = false,
                         .stripe_header = {},
                         .parallelism = 0,
                         .circuit = std::nullopt,
                         .disable = std::nullopt,
                         .hold = {.enabled = false, .ttl = {}, .messages_max = 0, .bytes_max = 0}};
  expect_read_back(off, Codec<core::webhook::Endpoint>::encode(off));
}

TEST(WebhookGolden, Health) {
  expect_golden<records::WebhookHealth>(
      core::webhook::Health{.tenant = tenant,
                            .endpoint = 8,
                            .failing_since = early,
                            .failures = 1,
                            .warned = 50,
                            .circuit_for = Millis{30'000},
                            .shut_until = late,
                            .by_circuit = true,
                            .waiting = 2,
                            .waiting_bytes = 300,
                            .ramp = 50,
                            .hold_announced = true,
                            .window_start = early,
                            .window_count = 3},
      "08e8071001183220b0ea012880d095ffbc313001380240ac024832500158e8076003");
}

TEST(WebhookGolden, Event) {
  core::webhook::Event event{.tenant = tenant,
                             .application = 7,
                             .number = 9,
                             .made = made,
                             .event_type = "a.b",
                             .event_id = "e",
                             .channels = {"c"},
                             .tags = {"t", "u"},
                             .deliver_at = late,
                             .payload = std::string("{\"a\":\0}", 7),
                             .shown = "{}",
                             .content_type = "text/plain",
                             .headers = {{"X-A", "1"}},
                             .payload_expires_at = late,
                             .expunged = true,
                             .other = R"({"x":1})",
                             .trace = {.flags = 3, .state = "v=1"},
                             .addressed = {{8, core::Seq{300}}, {10, core::Seq{301}}}};
  event.trace.trace_id.fill(0xab);
  event.trace.parent_span.fill(0xcd);
  expect_golden<records::WebhookEvent>(
      event,
      "0a0c08e8071108070605040302011203612e621a01652201632a01742a01753080d095ffbc313a07"
      "7b2261223a007d42027b7d4a0a746578742f706c61696e52080a03582d411201315880d095ffbc31"
      "60016a077b2278223a317d72230a10abababababababababababababababab1208cdcdcdcdcdcdcd"
      "cd18032203763d317a05080810ac027a05080a10ad02");
}

TEST(WebhookGolden, WhatIsListedOfAnEndpoint) {
  expect_golden<records::WebhookDeliveryRow>(
      core::webhook::DeliveryRow{
          .tenant = tenant, .endpoint = 8, .event = 9, .generation = 1, .delivery = core::Seq{300}},
      "08ac02");
  expect_golden<records::WebhookAttemptRow>(core::webhook::AttemptRow{.tenant = tenant,
                                                                      .endpoint = 8,
                                                                      .ended_at = late,
                                                                      .delivery = core::Seq{300},
                                                                      .attempt = 2,
                                                                      .event = 9,
                                                                      .status_code = 503,
                                                                      .succeeded = true,
                                                                      .manual = true},
                                            "080910f70318012001");
  expect_golden<records::WebhookStats>(core::webhook::Stats{.tenant = tenant,
                                                            .endpoint = 8,
                                                            .hour = 472'222,
                                                            .succeeded = 1,
                                                            .failed = 2,
                                                            .created = 3,
                                                            .begun = 4,
                                                            .settled = 5,
                                                            .canceled = 600},
                                       "0801100218032004280530d804");
}

TEST(WebhookGolden, Names) {
  using core::webhook::Name;
  for (const Name::Kind kind : {Name::Kind::application_uid, Name::Kind::endpoint_uid,
                                Name::Kind::event_id, Name::Kind::token}) {
    expect_golden<records::WebhookName>(
        Name{.tenant = tenant, .kind = kind, .scope = 7, .name = "n", .number = 300}, "08ac02");
  }
  const core::KeyOf<Name> of_no_kind{tenant, 5, 7, "n"};
  EXPECT_FALSE(Codec<Name>::decode(of_no_kind, ""));
}

TEST(WebhookGolden, TokensAndIntegrations) {
  expect_golden<records::WebhookToken>(core::webhook::AppToken{.tenant = tenant,
                                                               .digest = "d",
                                                               .application = 7,
                                                               .capabilities = 0x21,
                                                               .feature_flags = {"f"},
                                                               .all_feature_flags = true,
                                                               .session = "s",
                                                               .created_at = early,
                                                               .expires_at = late,
                                                               .integration = 3},
                                       "080710211a016620012a017330e8073880d095ffbc314003");
  expect_golden<records::WebhookIntegration>(
      core::webhook::Integration{.tenant = tenant,
                                 .application = 7,
                                 .number = 3,
                                 .made = made,
                                 .name = "n",
                                 .feature_flags = {"f"},
                                 .digest = "d",
                                 .updated_at = late},
      "0a0c08e80711080706050403020112016e1a01662201642880d095ffbc31");
}

TEST(WebhookGolden, SettingsAndTotals) {
  expect_golden<records::WebhookSettings>(
      core::webhook::Settings{
          .tenant = tenant,
          .delivery = {.set = bit_of(DeliveryPart::jitter), .values = {.jitter = 0.25}},
          .known_types_only = true,
          .schema_check = core::webhook::Settings::SchemaCheck::refuse,
          .https_only = true,
          .payload_bytes_max = 300,
          .endpoints_max = 4},
      "0a0b080221000000000000d03f10011802200128ac023004");
  expect_golden<records::WebhookTotals>(
      core::webhook::Totals{.tenant = tenant, .applications = 300, .event_types = 2}, "08ac021002");
}

TEST(WebhookGolden, WhatIsHeldAndSwept) {
  expect_golden<records::WebhookHealth>(
      core::webhook::Health{
          .tenant = tenant, .endpoint = 8, .hold_announced = true, .hold_canceled = 300},
      "500168ac02");
  expect_golden<records::WebhookSweep>(
      core::webhook::Sweep{.tenant = tenant,
                           .endpoint = 8,
                           .number = 2,
                           .application = 7,
                           .up_to = core::Seq{300},
                           .reason = core::CancelReason::hold_expired,
                           .event_type = "a.b",
                           .channel = "c",
                           .tag = "t",
                           .replay = 4,
                           .due_before = early},
      "080710ac0218052203612e622a0163320174380440e807");
}

TEST(WebhookGolden, Tasks) {
  core::Task task{.tenant = tenant,
                  .number = 3,
                  .work = ReplayEvents{.application = 7,
                                       .purpose = ReplayEvents::Purpose::missing,
                                       .endpoints = {8, 300},
                                       .since = early,
                                       .until = late,
                                       .filter = {.event_types = {"a.b"},
                                                  .channels = {"c"},
                                                  .tags = {"t"},
                                                  .statuses = 20,
                                                  .status_classes = {0, 500},
                                                  .event_refs = {"e"}},
                                       .missing_only = true,
                                       .newest_first = true,
                                       .retry = true,
                                       .redirect_to = 10,
                                       .phase = ReplayEvents::Phase::making,
                                       .after = 11,
                                       .after_endpoint = 12,
                                       .succeeded = 1,
                                       .failed = 2,
                                       .canceled = 3,
                                       .skipped = 4,
                                       .bytes = 5},
                  .total = 9,
                  .processed = 4,
                  .started_at = early,
                  .up_to = core::Seq{77}};
  expect_golden<records::Task>(
      task,
      "20012809300438e807484d5a48080710021a0308ac0220e8072880d095ffbc31300138014001480a"
      "5001580b600c680170027803800104880105920103612e629a010163a2010174a80114b2010300f4"
      "03ba010165");
  task = {.tenant = tenant,
          .number = 4,
          .work = ExpungeContents{.application = 7, .up_to = 300, .after = 9},
          .started_at = early};
  expect_golden<records::Task>(task, "200138e8076207080710ac021809");
}

TEST(WebhookGolden, EventsThatExpire) {
  expect_golden<records::Expiry>(
      core::Expiry{
          .at = early, .batch = 2, .events = {{tenant, 7, 300}, {core::TenantId{2}, 8, 9}}},
      "22070107ac02020809");
}

TEST(WebhookGolden, TimersAreTheirKeysAlone) {
  for (const core::Timer::Kind kind :
       {core::Timer::Kind::webhook_hold, core::Timer::Kind::webhook_ramp,
        core::Timer::Kind::webhook_token}) {
    const core::Timer timer{.due = early, .kind = kind, .tenant = tenant, .key = "k"};
    EXPECT_EQ(Codec<core::Timer>::encode(timer), "");
    expect_read_back(timer, "");
  }
}

TEST(WebhookGolden, ADeliveryIsAMessageWithAPartOfItsOwn) {
  core::Message message{.id = {core::Seq{5}, 6}, .tenant = tenant};
  message.retry.delay = core::TableDelay{};
  const std::string without = Codec<core::Message>::encode(message);
  message.webhook = core::WebhookPart{.application = 7,
                                      .endpoint = 8,
                                      .event = 9,
                                      .generation = 1,
                                      .manual = true,
                                      .settles = {core::Seq{300}, 0x0102030405060708},
                                      .replay = 4,
                                      .bytes = 3};
  const std::string with = Codec<core::Message>::encode(message);
  EXPECT_EQ(hex(with.substr(without.size())),
            "9a021a0807100818092001280130ac0239080706050403020140044803");
  const auto back = Codec<core::Message>::decode(message.id.seq, with);
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, message);
}

TEST(WebhookGolden, AStateSaysWhyItWasCancelled) {
  core::MessageState state{.status = core::Status::canceled,
                           .cancel_reason = core::CancelReason::skipped};
  const std::string bytes = Codec<core::MessageState>::encode(state);
  EXPECT_EQ(hex(bytes), "08053880808080808080105807");
  EXPECT_EQ(Codec<core::MessageState>::decode({}, bytes), state);
  EXPECT_FALSE(Codec<core::MessageState>::decode({}, *unhex("08055808")));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::store
