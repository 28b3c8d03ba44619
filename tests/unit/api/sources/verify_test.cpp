#include "api/sources/verify/verify.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "api/sources/settings.h"
#include "api/sources/verify/hint.h"
#include "base/encoding.h"
#include "base/exact_json.h"
#include "security/digest.h"

namespace hk::api::sources {
namespace HK_TEST_FILE {

constexpr std::string_view common_body = "{\"test\": 2432232314}";
const Moment common_time = moment_from_ms(1'614'265'330'000);

/// A request, and the source that it is for.
struct Case {
  std::string preset{};
  std::string verify{"{}"};
  std::vector<std::string> secrets{};
  std::vector<net::Field> fields{};
  std::string body{common_body};
  std::string target{"/in/s"};
  std::string method{"POST"};
  Moment at = common_time;
  std::string more{};  ///< further members of the settings

  [[nodiscard]] Scheme scheme() const {
    const std::string text = R"({"name":"s","preset":")" + preset + R"(","verify":)" + verify +
                             R"(,"deliverTo":{"url":"https://a.example/"})" + more + "}";
    const auto json = ExactJson::parse(text, 16);
    EXPECT_TRUE(json.has_value()) << text;
    auto read = read_settings(*json);
    if (!read) {
      ADD_FAILURE() << read.error().front().pointer << ' ' << read.error().front().detail;
      return {};
    }
    return std::move(read->settings.scheme);
  }
  [[nodiscard]] std::vector<Key> keys() const {
    std::vector<Key> made;
    for (const std::string& secret : secrets) {
      auto key = make_key(scheme(), "sec_" + std::to_string(made.size()), Secret(secret), never);
      EXPECT_TRUE(key.has_value()) << key.error().message;
      made.push_back(std::move(*key));
    }
    return made;
  }
  [[nodiscard]] Received received() const {
    return {.method = method, .target = target, .fields = fields, .body = body, .at = at};
  }
  /// "": it is good; else the name of the fault.
  [[nodiscard]] std::string fault() const {
    const Verified verified = verify_it();
    return verified ? "" : std::string(name_of(verified.error().fault));
  }
  [[nodiscard]] Verified verify_it() const {
    const auto made = keys();
    return sources::verify(scheme(), made, received());
  }
  [[nodiscard]] EventNames names() const {
    auto named = name_event(scheme(), received());
    EXPECT_TRUE(named.has_value());
    return named.value_or(EventNames{});
  }
  Case with(std::string name, std::string value) const {
    Case changed = *this;
    std::erase_if(changed.fields, [&](const net::Field& one) { return one.name == name; });
    changed.fields.push_back({std::move(name), std::move(value)});
    return changed;
  }
  Case without(const std::string& name) const {
    Case changed = *this;
    std::erase_if(changed.fields, [&](const net::Field& one) { return one.name == name; });
    return changed;
  }
  Case with_body(std::string other) const {
    Case changed = *this;
    changed.body = std::move(other);
    return changed;
  }
  Case later(std::chrono::seconds by) const {
    Case changed = *this;
    changed.at += by;
    return changed;
  }
  Case with_secrets(std::vector<std::string> others) const {
    Case changed = *this;
    changed.secrets = std::move(others);
    return changed;
  }
};

const std::string secret_a = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const std::string secret_b = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

Case stripe() {
  return {.preset = "stripe",
          .secrets = {secret_a},
          .fields = {{"Stripe-Signature",
                      "t=1614265330,v1=2e37df5d4a028c51a7f3133d64ae1e300d2c2c900f1b1d49d4369ad2530f"
                      "8964"}}};
}
Case github() {
  return {.preset = "github",
          .secrets = {"It's a Secret to Everybody"},
          .fields = {{"X-Hub-Signature-256",
                      "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"},
                     {"X-GitHub-Delivery", "d-1"},
                     {"X-GitHub-Event", "push"}},
          .body = "Hello, World!"};
}
Case shopify() {
  return {.preset = "shopify",
          .secrets = {"hush"},
          .fields = {{"X-Shopify-Hmac-SHA256", "qBvrsZF7RfB1iS6BX6IHqJTp5L911P7intnPeTPsH0I="},
                     {"X-Shopify-Webhook-Id", "w-1"},
                     {"X-Shopify-Topic", "orders/create"}},
          .body = R"({"id":820982911946154508})"};
}
Case slack() {
  return {.preset = "slack",
          .secrets = {"slack-secret"},
          .fields = {{"X-Slack-Signature",
                      "v0=da3503f538bb974377bdb02cbe1c69bb69dae0796a4fb0ede1a611f5818d6d14"},
                     {"X-Slack-Request-Timestamp", "1614265330"}}};
}
Case standard() {
  return {.preset = "standard",
          .secrets = {secret_a},
          .fields = {{"webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek"},
                     {"webhook-timestamp", "1614265330"},
                     {"webhook-signature", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="}}};
}
Case standard_pair() {
  return standard()
      .with_secrets({"whpk_A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg="})
      .with("webhook-signature",
            "v1a,yoUrgEkc12aGqm0n4Sydmdz55xJfTz4AsAgieHFjmkR7LJtqVCZOQYzvvHjI5kAey+"
            "r4iaBGxTFRrl2iBQxtDQ==");
}
Case twitter() {
  const std::string_view parts[] = {common_body};
  return {.preset = "twitter",
          .secrets = {"consumer-secret"},
          .fields = {{"x-twitter-webhooks-signature",
                      "sha256=" + base64(security::hmac(security::Hash::sha256, "consumer-secret",
                                                        parts))}}};
}
Case meta() {
  return {.preset = "meta",
          .verify = R"({"verifyToken":"vt"})",
          .secrets = {"app-secret"},
          .fields = {{"X-Hub-Signature-256",
                      "sha256=b04ad4d5cf92173690b5d8fc495fe92f05a18f26ccac86776a918f7b29b38c06"}}};
}
Case msgraph() {
  return {.preset = "msgraph",
          .secrets = {"client-state"},
          .body = R"({"value":[{"clientState":"client-state","changeType":"created"},)"
                  R"({"clientState":"client-state"}]})"};
}
Case hmac_sha512() {
  return {.preset = "hmac",
          .verify = R"({"algorithm":"sha512","encoding":"base64","header":"X-Signature",)"
                    R"("template":"{timestamp}.{body}","timestampHeader":"X-Timestamp"})",
          .secrets = {"generic-secret"},
          .fields = {{"X-Signature",
                      "8dmlz8cD4WWO79dTyUrY6Xv/NP26+MOXnOi/"
                      "jFtruz9sABeCgwit9DGxfCfUwXr0Ci2cTqJq3Kb5cKIzh14CGQ=="},
                     {"X-Timestamp", "1614265330"}}};
}
Case hmac_sha1() {
  return {.preset = "hmac",
          .verify = R"({"algorithm":"sha1","header":"X-Signature"})",
          .secrets = {"generic-secret"},
          .fields = {{"X-Signature", "644af7dea12375f7bffa395c62103431b177545c"}}};
}
std::string qstash_token(const std::string& key, const std::string& claims) {
  const std::string text = base64url(R"({"alg":"HS256","typ":"JWT"})") + '.' + base64url(claims);
  const std::string_view parts[] = {text};
  return text + '.' + base64url(security::hmac(security::Hash::sha256, key, parts));
}
constexpr std::string_view qstash_claims =
    R"({"iss":"Upstash","sub":"https://example.com/in/q","exp":1614265630,"nbf":1614265330,)"
    R"("iat":1614265330,"jti":"jwt_1","body":"roWJMfZ4h-gVDW-Wyf4DBiwd82tEZMTdyOACwITV0Zg"})";
Case qstash() {
  return {
      .preset = "qstash",
      .verify = R"({"url":"https://example.com/in/q"})",
      .secrets = {"sig_next", "sig_current"},
      .fields = {{"Upstash-Signature", qstash_token("sig_current", std::string(qstash_claims))}}};
}
Case basic() {
  return {.preset = "basic",
          .verify = R"({"username":"user"})",
          .secrets = {"pass:word"},
          .fields = {{"Authorization", "Basic " + base64("user:pass:word")}}};
}
Case apikey() {
  return {.preset = "apikey",
          .verify = R"({"header":"X-Api-Key"})",
          .secrets = {"key-1"},
          .fields = {{"X-Api-Key", "key-1"}}};
}

std::vector<std::pair<std::string, Case>> all_good() {
  return {{"stripe", stripe()},       {"github", github()},
          {"shopify", shopify()},     {"slack", slack()},
          {"standard", standard()},   {"standard v1a", standard_pair()},
          {"twitter", twitter()},     {"meta", meta()},
          {"msgraph", msgraph()},     {"hmac sha512", hmac_sha512()},
          {"hmac sha1", hmac_sha1()}, {"qstash", qstash()},
          {"basic", basic()},         {"apikey", apikey()}};
}

TEST(VerifySource, TakesWhatIsSignedAsTheVectorsSay) {
  for (const auto& [name, one] : all_good()) {
    SCOPED_TRACE(name);
    EXPECT_EQ(one.fault(), "");
  }
}

TEST(VerifySource, RefusesAnotherSecretAndAnotherBody) {
  const std::string other = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
  for (const auto& [name, one] : all_good()) {
    SCOPED_TRACE(name);
    EXPECT_NE(one.with_secrets({other}).fault(), "");
    if (name != "basic" && name != "apikey" && name != "msgraph") {
      EXPECT_NE(one.with_body(one.body + " ").fault(), "");
      EXPECT_NE(one.with_body("").fault(), "");
    }
  }
}

TEST(VerifySource, TriesAllLiveSecretsAndNoOthers) {
  Case rotated = stripe().with_secrets({secret_b, secret_a});
  EXPECT_EQ(rotated.fault(), "");
  auto keys = rotated.keys();
  keys[1].expires_at = common_time;
  const Scheme scheme = rotated.scheme();
  const Verified verified = verify(scheme, keys, rotated.received());
  ASSERT_FALSE(verified.has_value());
  EXPECT_NE(verified.error().details.find(R"("secretsTried":["sec_0"])"), std::string::npos)
      << verified.error().details;
  keys[1].expires_at = common_time + Millis{1};
  EXPECT_TRUE(verify(scheme, keys, rotated.received()).has_value());
}

TEST(VerifySource, JudgesTheTimeInBothDirections) {
  using std::chrono::seconds;
  for (const Case& one : {stripe(), slack(), standard(), standard_pair(), hmac_sha512()}) {
    SCOPED_TRACE(one.preset);
    EXPECT_EQ(one.later(seconds(300)).fault(), "");
    EXPECT_EQ(one.later(seconds(301)).fault(), "timestamp_too_old");
    EXPECT_EQ(one.later(seconds(-300)).fault(), "");
    EXPECT_EQ(one.later(seconds(-301)).fault(), "timestamp_too_new");
  }
  EXPECT_EQ(qstash().later(seconds(299)).fault(), "");
  EXPECT_EQ(qstash().later(seconds(300)).fault(), "token_expired");
  EXPECT_EQ(qstash().later(seconds(-301)).fault(), "timestamp_too_new");
}

TEST(VerifySource, SaysWhatIsWrong) {
  struct Row {
    std::string name;
    Case request;
    std::string_view fault;
    std::string_view details{};
  };
  const Row rows[] = {
      {"no header", stripe().without("Stripe-Signature"), "header_missing",
       R"("header":"Stripe-Signature")"},
      {"no timestamp", stripe().with("Stripe-Signature", "v1=00"), "timestamp_missing"},
      {"not a list", stripe().with("Stripe-Signature", "rubbish"), "header_malformed",
       R"("expectedForm":"t=<seconds>,v1=<hex>")"},
      {"other scheme", stripe().with("Stripe-Signature", "t=1614265330,v0=00"), "scheme_unknown",
       R"({"found":["v0"],"wanted":"v1"})"},
      {"mismatch", stripe().with("Stripe-Signature", "t=1614265330,v1=0123456789abcdef"),
       "signature_mismatch", R"("expectedPrefix":"2e37df5d","gotPrefix":"01234567")"},
      {"only SHA-1", github().without("X-Hub-Signature-256").with("X-Hub-Signature", "sha1=00"),
       "scheme_unknown", R"("wanted":"sha256")"},
      {"no prefix", github().with("X-Hub-Signature-256", "757107"), "header_malformed"},
      {"slack without time", slack().without("X-Slack-Request-Timestamp"), "timestamp_missing"},
      {"slack with a wrong time", slack().with("X-Slack-Request-Timestamp", "x"),
       "header_malformed"},
      {"standard without id", standard().without("webhook-id"), "header_missing"},
      {"standard with others", standard().with("webhook-signature", "v2,AA== v3,AA=="),
       "scheme_unknown", R"("found":["v2","v3"])"},
      {"no JWT", qstash().with("Upstash-Signature", "a.b"), "header_malformed"},
      {"no algorithm",
       qstash().with("Upstash-Signature",
                     base64url(R"({"alg":"none"})") + '.' + base64url("{}") + "."),
       "scheme_unknown", R"("found":["none"])"},
      {"another subject",
       Case{.preset = "qstash",
            .verify = R"({"url":"https://other.example/"})",
            .secrets = {"sig_current"},
            .fields = qstash().fields},
       "token_subject_mismatch", R"("expected":"https://other.example/")"},
      {"another body", qstash().with_body("x"), "token_body_mismatch"},
      {"graph that is no JSON", msgraph().with_body("x"), "body_not_json"},
      {"graph with one wrong state",
       msgraph().with_body(R"({"value":[{"clientState":"client-state"},{"clientState":"x"}]})"),
       "credentials_mismatch"},
      {"graph without states", msgraph().with_body(R"({"value":[]})"), "credentials_mismatch"},
      {"wrong user", basic().with("Authorization", "Basic " + base64("other:pass:word")),
       "credentials_mismatch"},
      {"no credentials", basic().without("Authorization"), "credentials_mismatch"},
      {"no key", apikey().without("X-Api-Key"), "credentials_mismatch"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const Verified verified = row.request.verify_it();
    ASSERT_FALSE(verified.has_value());
    EXPECT_EQ(name_of(verified.error().fault), row.fault);
    EXPECT_NE(verified.error().details.find(row.details), std::string::npos)
        << verified.error().details;
    EXPECT_TRUE(ExactJson::parse(verified.error().details, 16).has_value());
  }
}

TEST(VerifySource, ReadsTheOtherFormsOfARequest) {
  EXPECT_EQ(shopify()
                .without("X-Shopify-Hmac-SHA256")
                .with("Shopify-Hmac-Sha256", "qBvrsZF7RfB1iS6BX6IHqJTp5L911P7intnPeTPsH0I")
                .fault(),
            "");
  Case svix = standard();
  for (net::Field& one : svix.fields) {
    one.name = "svix-" + one.name.substr(8);
  }
  EXPECT_EQ(svix.fault(), "");
  EXPECT_EQ(standard()
                .with("webhook-signature",
                      "v2,xx v1,AAAA v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
                .fault(),
            "");
  Case query{.preset = "apikey",
             .verify = R"({"query":"key"})",
             .secrets = {"k 1"},
             .target = "/in/s?a=b&key=k%201"};
  EXPECT_EQ(query.fault(), "");
  query.target = "/in/s";
  EXPECT_EQ(query.fault(), "credentials_mismatch");
  Case list = hmac_sha1();
  list.verify =
      R"({"algorithm":"sha1","header":"X-Signature","prefix":"v=","separator":";","key":"hex"})";
  list.secrets = {hex("generic-secret")};
  EXPECT_EQ(
      list.with("X-Signature", "v=00; x=1; v=644AF7DEA12375F7BFFA395C62103431B177545C").fault(),
      "");
}

TEST(VerifySource, SignsWhatTheTemplateSays) {
  const std::string_view signed_parts[] = {"{POST /in/s https://s.example/in e-1 h 1614265330000 ",
                                           common_body};
  const Case templated{
      .preset = "hmac",
      .verify = R"({"header":"X-S","template":)"
                R"("{{{method} {path} {url} {id} {header:X-H} {timestamp} {body}",)"
                R"("timestampHeader":"X-T","timestampUnit":"ms","url":"https://s.example/in"})",
      .secrets = {"s"},
      .fields = {{"X-S", hex(security::hmac(security::Hash::sha256, "s", signed_parts))},
                 {"X-T", "1614265330000"},
                 {"X-Id", "e-1"},
                 {"X-H", "h"}},
      .target = "/in/s?query=1",
      .more = R"(,"dedup":{"from":"header:X-Id"})"};
  EXPECT_EQ(templated.fault(), "");
  EXPECT_EQ(templated.with("X-H", "i").fault(), "signature_mismatch");
}

TEST(NameEvent, FindsIdAndTypeWhereEachServicePutsThem) {
  struct Row {
    std::string name;
    Case request;
    std::string id;
    std::string type;
  };
  const std::string content = hex(security::sha256(common_body));
  const Row rows[] = {
      {"stripe", stripe().with_body(R"({"id":"evt_1","type":"charge.succeeded"})"), "evt_1",
       "charge.succeeded"},
      {"stripe without id", stripe(), content, ""},
      {"github", github(), "d-1", "push"},
      {"github with action", github().with_body(R"({"action":"opened"})"), "d-1", "push.opened"},
      {"shopify", shopify(), "w-1", "orders.create"},
      {"shopify, by event",
       shopify().without("X-Shopify-Webhook-Id").with("X-Shopify-Event-Id", "e-1"),
       "e-1.orders/create", "orders.create"},
      {"slack", slack().with_body(R"({"event_id":"Ev1","event":{"type":"message"},"type":"x"})"),
       "Ev1", "message"},
      {"slack without event", slack().with_body(R"({"event_id":"Ev1","type":"x"})"), "Ev1", "x"},
      {"standard", standard().with_body(R"({"eventType":"a.b"})"), "msg_p5jXN8AQM9LWM0D4loKWxJek",
       "a.b"},
      {"qstash", qstash(), "jwt_1", ""},
      {"qstash with a message", qstash().with("Upstash-Message-Id", "msg_1"), "msg_1", ""},
      {"twitter", twitter().with_body(R"({"for_user_id":"1","favorite_events":[],"x_events":1})"),
       hex(security::sha256(R"({"for_user_id":"1","favorite_events":[],"x_events":1})")),
       "favorite_events"},
      {"meta", meta().with_body(R"({"object":"page"})"),
       hex(security::sha256(R"({"object":"page"})")), "page"},
      {"msgraph", msgraph(), hex(security::sha256(msgraph().body)), "created"},
      {"none", Case{.preset = "none"}, content, ""},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const EventNames names = row.request.names();
    EXPECT_EQ(names.id, row.id);
    EXPECT_EQ(names.type, row.type);
  }
}

TEST(NameEvent, CanBeToldWhereTheyAre) {
  Case one{.preset = "none", .fields = {{"X-Id", "7"}}, .body = R"({"a":{"b":[1,"id"]},"t~":"x"})"};
  const auto names = [&one](std::string from, std::string type) {
    one.more = R"(,"dedup":{"from":")" + from + R"("},"eventType":{"from":")" + type + "\"}";
    return one.names();
  };
  EXPECT_EQ(names("header:X-Id", "fixed:f").id, "7");
  EXPECT_EQ(names("header:X-Id", "fixed:f").type, "f");
  EXPECT_EQ(names("body:/a/b/1", "body:/t~0").id, "id");
  EXPECT_EQ(names("body:/a/b/0", "body:/t~0").type, "x");
  EXPECT_EQ(names("none", "none").id, "");
  EXPECT_EQ(names("content", "none").id, hex(security::sha256(one.body)));
  EXPECT_EQ(names("body:/a", "none").id, hex(security::sha256(one.body)));
  const std::string text(300, 'i');
  one.fields = {{"X-Id", text}};
  EXPECT_EQ(names("header:X-Id", "none").id, hex(security::sha256(text)));
}

TEST(NameEvent, NeedsABodyThatCanBeRead) {
  for (const Case& one : {stripe().with_body("{"), slack().with_body("a=b"),
                          stripe().with_body(R"({"id":"x"} trailing)")}) {
    const auto names = name_event(one.scheme(), one.received());
    ASSERT_FALSE(names.has_value());
    EXPECT_EQ(names.error().fault, Fault::body_not_json);
    EXPECT_EQ(answer_to(names.error().fault).status, 400);
  }
  EXPECT_EQ(stripe().with_body(R"({"id":"x","id":"y"})").names().id, "y") << "the last one counts";
}

TEST(Handshake, IsAnsweredAsEachServiceWantsIt) {
  Case crc = twitter();
  crc.method = "GET";
  crc.target = "/in/s?crc_token=MTYxNDI2NTMzMA&nonce=1";
  auto keys = crc.keys();
  auto answer = handshake(crc.scheme(), keys, crc.received());
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->body,
            R"({"response_token":"sha256=gUDq9vtFecPQA8K0iDIAxpCCeUmjO0HTbV4FwyITcKM="})");
  crc.target = "/in/s?crc_token=" + std::string(4097, 'x');
  EXPECT_EQ(handshake(crc.scheme(), keys, crc.received())->status, 400);

  Case subscribe = meta();
  subscribe.method = "GET";
  subscribe.target = "/in/s?hub.mode=subscribe&hub.verify_token=vt&hub.challenge=c%2B1";
  answer = handshake(subscribe.scheme(), subscribe.keys(), subscribe.received());
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "c+1");
  subscribe.target = "/in/s?hub.mode=subscribe&hub.verify_token=wrong&hub.challenge=c";
  EXPECT_EQ(handshake(subscribe.scheme(), subscribe.keys(), subscribe.received())->status, 403);

  Case graph = msgraph();
  graph.target = "/in/s?validationToken=a%20b%26";
  answer = handshake(graph.scheme(), graph.keys(), graph.received());
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->body, "a b&");
  EXPECT_EQ(answer->content_type, "text/plain");

  Case url = slack().with_body(R"({"type":"url_verification","challenge":"ch"})");
  EXPECT_FALSE(handshake(url.scheme(), url.keys(), url.received()).has_value())
      << "not before it is verified";
  EXPECT_EQ(verified_handshake(url.scheme(), url.received())->body, "ch");
  EXPECT_FALSE(handshake(stripe().scheme(), stripe().keys(), crc.received()).has_value());
}

std::string hint_of(const Case& one, std::vector<OtherSource> others = {}) {
  return find_hint(one.scheme(), one.keys(), one.received(), others).value_or("");
}

TEST(Hint, NamesTheUsualMistakes) {
  const std::string raw(24, 'k');
  const std::string_view parts[] = {common_body};
  const auto signed_with = [&](std::string_view key) {
    return Case{.preset = "github",
                .secrets = {base64(raw)},
                .fields = {{"X-Hub-Signature-256",
                            "sha256=" + hex(security::hmac(security::Hash::sha256, key, parts))}}};
  };
  EXPECT_NE(hint_of(signed_with(raw)).find("Base64-decoded"), std::string::npos);
  EXPECT_NE(hint_of(signed_with("whsec_" + base64(raw))).find("whsec_"), std::string::npos);
  EXPECT_EQ(hint_of(signed_with("something else")), "");

  Case as_text = standard();
  const std::string_view standard_parts[] = {"msg_p5jXN8AQM9LWM0D4loKWxJek", ".", "1614265330", ".",
                                             common_body};
  as_text = as_text.with(
      "webhook-signature",
      "v1," + base64(security::hmac(security::Hash::sha256, secret_a, standard_parts)));
  EXPECT_NE(hint_of(as_text).find("text of the secret"), std::string::npos);

  EXPECT_NE(hint_of(stripe().with_body(std::string(common_body) + "\n")).find("line end"),
            std::string::npos);
  const std::string_view compact[] = {R"({"test":1})"};
  Case proxied{.preset = "github",
               .secrets = {"s"},
               .fields = {{"X-Hub-Signature-256",
                           "sha256=" + hex(security::hmac(security::Hash::sha256, "s", compact))}},
               .body = "{ \"test\": 1 }"};
  EXPECT_NE(hint_of(proxied).find("compact JSON"), std::string::npos);

  Case expired = stripe().with_secrets({secret_b, secret_a});
  auto keys = expired.keys();
  keys[1].expires_at = common_time;
  EXPECT_NE(find_hint(expired.scheme(), keys, expired.received(), {}).value_or("").find("expired"),
            std::string::npos);

  const Case of_another = stripe().with_secrets({secret_b});
  std::vector<OtherSource> others(1);
  others[0].name = "other-one";
  others[0].keys = stripe().keys();
  EXPECT_NE(hint_of(of_another, std::move(others)).find("other-one"), std::string::npos);
}

TEST(SignedTexts, AreReadOrRefusedWithAReason) {
  for (const std::string_view good :
       {"{body}", "{{", "a{{b{body}}", "{header:X-A}", "{timestamp}.{id}.{body}"}) {
    EXPECT_TRUE(SignedText::parse(good).has_value()) << good;
  }
  for (const std::string_view bad : {"", "{", "{body", "{}", "{header:}", "{Body}", "{ body}"}) {
    EXPECT_FALSE(SignedText::parse(bad).has_value()) << bad;
  }
  EXPECT_FALSE(SignedText::parse(std::string(513, 'x')).has_value());
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::sources
