#include "delivery/envelope/svix.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "delivery/destination.h"
#include "delivery/envelope/envelopes.h"
#include "delivery/request_head.h"
#include "delivery/response.h"

namespace hk::delivery {
namespace HK_TEST_FILE {

using core::webhook::HeaderSet;

constexpr std::string_view secret_a = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
constexpr std::string_view secret_b = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
constexpr std::string_view pair =
    "whsk_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8DoQe/884Qvh1w3RjnS8CZZ+TWMJulDV8d3IZkElUxuA==";
constexpr std::string_view v1_a = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
constexpr std::string_view v1_b = "v1,78nXHjpFP0tVJQW5D0SBwmVyyW87BV/rL6MgfM/Bw44=";
constexpr std::string_view v1a =
    "v1a,yoUrgEkc12aGqm0n4Sydmdz55xJfTz4AsAgieHFjmkR7LJtqVCZOQYzvvHjI5kAey+r4iaBGxTFRrl2iBQxtDQ==";
constexpr std::string_view stripe_a =
    "v1=2e37df5d4a028c51a7f3133d64ae1e300d2c2c900f1b1d49d4369ad2530f8964";
constexpr std::string_view stripe_b =
    "v1=95d993ff26ccd698cc4b6d4f2349bddca4f491f3067821823cd5b804f3aef1b6";
constexpr Moment began = Moment{Millis{1'614'265'330'000}};

std::string sealed(std::string_view secret) { return "sealed " + std::string(secret); }

Result<Secret> unsealed(core::TenantId tenant, std::string_view text) {
  if (tenant != core::TenantId{1} || !text.starts_with("sealed ")) {
    return fail(ErrorKind::corruption, "the wrong master key");
  }
  return Secret(std::string(text.substr(7)));
}

/// The common vector: id, time and body are its.
struct Case {
  core::Message message{};
  core::WebhookTarget target{};
  Request request{};
  Envelopes envelopes{[](core::TenantId) { return nullptr; }, 1, unsealed, "0.1.0"};

  explicit Case(const std::vector<std::string_view>& secrets = {secret_a}) {
    message.id = {core::Seq{5}, 6};
    message.url = "https://example.com/hook?x=1";
    message.method = "POST";
    message.body = R"({"test": 2432232314})";
    message.headers = {{"content-type", "application/json"}};
    target.id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    target.attempt = "2";
    target.stripe_header = "Stripe-Signature";
    for (const std::string_view secret : secrets) {
      target.secrets.push_back({.sealed = sealed(secret)});
    }
    request.tenant = core::TenantId{1};
    request.id = message.id;
    request.fence = {3, 2};
    request.started_at = began;
  }

  Result<std::string> build() {
    request.message = std::make_shared<const core::Message>(message);
    request.webhook = std::make_shared<const core::WebhookTarget>(target);
    request.envelope = &envelopes.of(*request.message, nullptr, request.webhook.get());
    std::string out = "before";
    const auto built =
        append_request_head(out, request, *parse_destination(request.url()),
                            std::chrono::floor<std::chrono::seconds>(request.started_at));
    if (!built) {
      EXPECT_EQ(out, "before");
      return std::unexpected(built.error());
    }
    return out.substr(6);
  }
};

/// The value of the one field of that name; "(none)", "(several)".
std::string field(const std::string& head, const std::string& name) {
  const std::string begin = "\r\n" + name + ": ";
  const std::size_t at = head.find(begin);
  if (at == std::string::npos) {
    return "(none)";
  }
  if (head.find(begin, at + 1) != std::string::npos) {
    return "(several)";
  }
  const std::size_t value = at + begin.size();
  return head.substr(value, head.find("\r\n", value) - value);
}

TEST(SvixEnvelope, IsExactlyTheseBytes) {
  Case one;
  one.message.headers.push_back({"X-Shop", "42"});
  one.message.trace.trace_id = {0x0a, 0xf7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x1c};
  one.message.trace.flags = 1;
  one.request.span_id = {0xb7, 0, 0, 0, 0, 0, 0, 0x31};

  const auto head = one.build();

  ASSERT_TRUE(head.has_value()) << head.error().message;
  EXPECT_EQ(*head,
            "POST /hook?x=1 HTTP/1.1\r\n"
            "Host: example.com\r\n"
            "content-type: application/json\r\n"
            "X-Shop: 42\r\n"
            "User-Agent: Hikyaku-Webhooks/0.1.0\r\n"
            "Accept-Encoding: identity\r\n"
            "svix-id: msg_p5jXN8AQM9LWM0D4loKWxJek\r\n"
            "svix-timestamp: 1614265330\r\n"
            "svix-signature: v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=\r\n"
            "webhook-id: msg_p5jXN8AQM9LWM0D4loKWxJek\r\n"
            "webhook-timestamp: 1614265330\r\n"
            "webhook-signature: v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=\r\n"
            "hikyaku-attempt: 2\r\n"
            "traceparent: 00-0af7000000000000000000000000001c-b700000000000031-01\r\n"
            "Content-Length: 20\r\n"
            "\r\n");
}

TEST(SvixEnvelope, SignsWithEveryLiveKeyTheCurrentOneFirst) {
  struct Row {
    std::string_view name;
    std::vector<std::string_view> secrets;
    std::string standard;
    std::string stripe;
  };
  const std::string t = "t=1614265330,";
  const auto both = [](std::string_view a, std::string_view b, char between) {
    return std::string(a) + between + std::string(b);
  };
  const Row rows[] = {
      {"one", {secret_a}, std::string(v1_a), t + std::string(stripe_a)},
      {"rotated", {secret_b, secret_a}, both(v1_b, v1_a, ' '), t + both(stripe_b, stripe_a, ',')},
      {"from ed25519", {secret_a, pair}, both(v1_a, v1a, ' '), t + std::string(stripe_a)},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Case one(row.secrets);
    one.target.sign_stripe = true;

    const auto head = one.build();

    ASSERT_TRUE(head.has_value()) << head.error().message;
    EXPECT_EQ(field(*head, "svix-signature"), row.standard);
    EXPECT_EQ(field(*head, "webhook-signature"), row.standard);
    EXPECT_EQ(field(*head, "Stripe-Signature"), row.stripe);
  }
  Case ed25519({pair});
  EXPECT_EQ(field(ed25519.build().value(), "webhook-signature"), v1a);
}

TEST(SvixEnvelope, AKeyThatWasDeadWhenTheAttemptBeganDoesNotSign) {
  Case one({secret_b, secret_a});
  one.target.secrets[1].expires_at = began;
  EXPECT_EQ(field(one.build().value(), "svix-signature"), v1_b);

  one.target.secrets[1].expires_at = began + Millis{1};
  EXPECT_EQ(field(one.build().value(), "svix-signature"),
            std::string(v1_b) + " " + std::string(v1_a));
}

TEST(SvixEnvelope, TheFamiliesOfFieldsAreAsTheEndpointWantsThem) {
  struct Row {
    HeaderSet set;
    bool svix;
    bool webhook;
  };
  for (const Row& row : {Row{HeaderSet::both, true, true},
                         {HeaderSet::svix, true, false},
                         {HeaderSet::webhook, false, true}}) {
    SCOPED_TRACE(static_cast<int>(row.set));
    Case one;
    one.target.header_set = row.set;

    const std::string head = one.build().value();

    for (const std::string name : {"id", "timestamp", "signature"}) {
      EXPECT_EQ(field(head, "svix-" + name) != "(none)", row.svix);
      EXPECT_EQ(field(head, "webhook-" + name) != "(none)", row.webhook);
    }
  }
}

TEST(SvixEnvelope, StripesLayoutMayStandAloneUnderItsOwnName) {
  Case one;
  one.target.sign_standard = false;
  one.target.sign_stripe = true;
  one.target.stripe_header = "X-Bank-Signature";

  const std::string head = one.build().value();

  EXPECT_EQ(field(head, "X-Bank-Signature"), "t=1614265330," + std::string(stripe_a));
  EXPECT_EQ(field(head, "Stripe-Signature"), "(none)");
  EXPECT_EQ(field(head, "svix-signature"), "(none)");
  EXPECT_EQ(field(head, "webhook-signature"), "(none)");
  EXPECT_EQ(field(head, "svix-id"), one.target.id);
}

TEST(SvixEnvelope, IsNeverSentUnsigned) {
  struct Row {
    std::string_view name;
    std::function<void(Case&)> spoil;
    std::string_view says;
  };
  const Row rows[] = {
      {"no secret", [](Case& c) { c.target.secrets.clear(); }, "has no secret"},
      {"all expired", [](Case& c) { c.target.secrets[0].expires_at = began; }, "has no secret"},
      {"another master key", [](Case& c) { c.target.secrets[0].sealed = "torn"; },
       "cannot be opened: the wrong master key"},
      {"the old key cannot be opened",
       [](Case& c) { c.target.secrets.push_back({.sealed = "torn"}); }, "cannot be opened"},
      {"another tenant", [](Case& c) { c.request.tenant = core::TenantId{2}; }, "cannot be opened"},
      {"nothing that signs",
       [](Case& c) {
         c.target.secrets[0].sealed = sealed("whpk_A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=");
       },
       "cannot sign"},
      {"no secret at all", [](Case& c) { c.target.secrets[0].sealed = sealed("what?"); },
       "cannot sign"},
      {"no kind of signature", [](Case& c) { c.target.sign_standard = false; },
       "no kind of signature"},
      {"Stripe's layout with an ed25519 key",
       [](Case& c) {
         c.target.secrets = {{.sealed = sealed(pair)}};
         c.target.sign_stripe = true;
       },
       "needs a whsec_ secret"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Case one;
    row.spoil(one);

    const auto head = one.build();

    ASSERT_FALSE(head.has_value());
    EXPECT_EQ(head.error().kind, ErrorKind::unavailable);
    EXPECT_TRUE(head.error().message.starts_with("no signing key: ")) << head.error().message;
    EXPECT_NE(head.error().message.find(row.says), std::string::npos) << head.error().message;
  }
}

TEST(SvixEnvelope, NoFieldOfTheEndpointTakesThePlaceOfOurs) {
  Case one;
  one.target.sign_stripe = true;
  const std::vector<std::string> names = {
      "user-agent",     "SVIX-ID",           "svix-signature",  "Webhook-Signature",
      "webhook-id",     "stripe-signature",  "Hikyaku-Attempt", "content-length",
      "Host",           "Transfer-Encoding", "Connection",      "Idempotency-Key",
      "Upstash-Method", "Proxy-Connection",  "traceparent"};
  for (const std::string& name : names) {
    one.message.headers.push_back({name, "evil"});
  }
  one.message.headers.push_back({"X-Kept", "1"});

  const auto head = one.build();

  ASSERT_TRUE(head.has_value()) << head.error().message;
  EXPECT_EQ(head->find("evil"), std::string::npos);
  EXPECT_EQ(field(*head, "X-Kept"), "1");
  EXPECT_EQ(field(*head, "content-type"), "application/json");
  EXPECT_EQ(field(*head, "Content-Length"), "20");

  one.target.sign_stripe = false;  // then the name is free
  EXPECT_EQ(field(one.build().value(), "stripe-signature"), "evil");
}

TEST(SvixEnvelope, EveryFieldThatAnEndpointAndAnEventMayHaveIsSent) {
  Case one;
  for (int i = 0; i < 100; ++i) {
    one.message.headers.push_back({"X-" + std::to_string(i), std::string(4096, 'v')});
  }

  const auto head = one.build();

  ASSERT_TRUE(head.has_value()) << head.error().message;
  EXPECT_EQ(field(*head, "X-99"), std::string(4096, 'v'));
}

TEST(SvixEnvelope, AnEmptyBodyHasALengthToo) {
  Case one;
  one.message.body.clear();
  EXPECT_EQ(field(one.build().value(), "Content-Length"), "0");
}

TEST(SvixEnvelope, JudgesAnswersAsTheEndpointSays) {
  struct Row {
    int status;
    bool marked;
    std::vector<core::Header> headers;
    Outcome outcome;
  };
  const auto delivered = Outcome{.delivered = true};
  const auto failed = [](int status) {
    return Outcome{.error = "status " + std::to_string(status)};
  };
  const auto given_up = [](int status) {
    return Outcome{.give_up = true, .error = "status " + std::to_string(status)};
  };
  const Row rows[] = {
      {200, false, {}, delivered},
      {204, true, {}, delivered},
      {299, false, {{"Retry-After", "5"}}, delivered},
      {404, false, {}, given_up(404)},
      {501, false, {{"Retry-After", "5"}}, given_up(501)},
      {400, true, {}, failed(400)},
      {410, false, {}, failed(410)},
      {489, false, {}, failed(489)},
      {489, true, {}, {.give_up = true, .error = "the receiver marked the error as not retryable"}},
      {500, false, {}, failed(500)},
      {429, false, {{"Retry-After", "7"}}, {.retry_after = Millis{7'000}, .error = "status 429"}},
      {429, false, {{"Retry-After", "0.2"}}, {.retry_after = Millis{1'000}, .error = "status 429"}},
      {503,
       false,
       {{"retry-after", "1.001"}},
       {.retry_after = Millis{2'000}, .error = "status 503"}},
      {503,
       false,
       {{"Retry-After", "172800"}},
       {.retry_after = Millis{172'800'000}, .error = "status 503"}},
      {503, false, {{"Retry-After", "1e9"}}, failed(503)},
      {503, false, {{"X-RateLimit-Reset", "7"}}, failed(503)},
      {500,
       false,
       {{"X-RateLimit-Reset", "7"}, {"Retry-After", "9"}},
       {.retry_after = Millis{9'000}, .error = "status 500"}},
      {301, false, {}, {.error = "status 301: redirect not followed"}},
      {302, false, {{"Location", "/elsewhere"}}, {.error = "status 302: redirect not followed"}},
      {307,
       false,
       {{"location", "https://user.example/in?token=1#a"}},
       {.error = "status 307: redirect to https://user.example:443 not followed"}},
      {308,
       false,
       {{"Location", "https://a:b@user.example/"}},
       {.error = "status 308: redirect not followed"}},
  };
  Case one;
  one.target.give_up_statuses = {404, 501, 200};
  ASSERT_TRUE(one.build().has_value());
  for (const Row& row : rows) {
    SCOPED_TRACE(row.status);
    Response response;
    response.status = row.status;
    response.non_retryable = row.marked;
    response.headers = row.headers;
    for (const core::Header& header : row.headers) {
      (void)response.retry_after.field(header.name, header.value, began);
    }

    EXPECT_EQ(one.request.envelope->judge(one.request, response), row.outcome)
        << one.request.envelope->judge(one.request, response).error;
  }
}

TEST(SvixEnvelope, SaysWhatWentWrongInPlainWords) {
  const SvixEnvelope envelope({}, "1");
  struct Row {
    const char* error;
    const char* shown;
  };
  const Row rows[] = {
      {"not connected: Connection refused", "connection refused"},
      {"connection broken: Connection reset by peer", "connection reset by peer"},
      {"timeout: no complete answer within 30000 ms", "timed out after 30000 ms"},
      {"blocked_by_policy", "address not allowed"},
      {"blocked_by_policy: this server delivers to https URLs only",
       "address not allowed: this server delivers to https URLs only"},
      {"host name not resolved: Name or service not known",
       "host name not resolved: Name or service not known"},
      {"TLS cannot be set up for this host name", "TLS cannot be set up for this host name"},
      {"not sent: no signing key: x", "not sent: no signing key: x"},
      {"the answer is malformed", "the answer is malformed"},
      {"", ""},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(envelope.explained(row.error), row.shown);
  }
}

TEST(WebhookKeys, OpenEachSecretOnceAndKeepThoseThatWereUsedLast) {
  std::vector<std::string> opened;
  WebhookKeys keys(
      [&opened](core::TenantId tenant, std::string_view text) {
        opened.emplace_back(text);
        return unsealed(tenant, text);
      },
      2);
  const core::TenantId tenant{1};
  const std::string a = sealed(secret_a);
  const std::string b = sealed(secret_b);
  const std::string c = sealed(pair);

  ASSERT_TRUE(keys.find(tenant, a));
  ASSERT_TRUE(keys.find(tenant, b));
  ASSERT_TRUE(keys.find(tenant, a));
  EXPECT_EQ(opened, (std::vector<std::string>{a, b}));

  const auto held = keys.find(tenant, b);
  ASSERT_TRUE(keys.find(tenant, a));
  ASSERT_TRUE(keys.find(tenant, c));  // takes the place of b, which is still held
  EXPECT_EQ(keys.kept(), 2U);
  EXPECT_NE(*held, nullptr);
  ASSERT_TRUE(keys.find(tenant, a));
  ASSERT_TRUE(keys.find(tenant, b));
  EXPECT_EQ(opened, (std::vector<std::string>{a, b, c, b}));
}

TEST(WebhookKeys, GiveNoTenantTheSecretOfAnother) {
  WebhookKeys keys(unsealed);
  ASSERT_TRUE(keys.find(core::TenantId{1}, sealed(secret_a)));

  const auto other = keys.find(core::TenantId{2}, sealed(secret_a));

  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, ErrorKind::unavailable);
  EXPECT_TRUE(keys.find(core::TenantId{1}, sealed(secret_a)));
}

TEST(WebhookKeys, TryAgainWhatCouldNotBeOpened) {
  bool broken = true;
  WebhookKeys keys([&broken](core::TenantId tenant, std::string_view text) -> Result<Secret> {
    return broken ? fail(ErrorKind::corruption, "no") : unsealed(tenant, text);
  });
  EXPECT_FALSE(keys.find(core::TenantId{1}, sealed(secret_a)));
  EXPECT_EQ(keys.kept(), 0U);

  broken = false;
  EXPECT_TRUE(keys.find(core::TenantId{1}, sealed(secret_a)));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::delivery
