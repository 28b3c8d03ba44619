#include "api/aws/sigv4.h"

#include <gtest/gtest.h>

#include "base/date.h"
#include "base/encoding.h"
#include "base/random.h"
#include "security/digest.h"
#include "unit/api/aws/signer.h"

namespace hk::api::aws {
namespace HK_TEST_FILE {

using testing::hash;
using testing::Plan;
using testing::sign;

const Secret secret{"wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"};
const Moment signed_at = *parse_basic_date("20260102T030405Z");

Circumstances at(Moment now) { return {.now = now, .service = "sqs", .tls = false, .region = ""}; }

/// The whole way of a request; "" when it is accepted.
std::string refused(const http::Request& request, const Circumstances& circumstances,
                    const Secret* known = &secret) {
  const Checked<Signature> signature = parse_signature(request);
  if (!signature) {
    return std::string(query_code(Dialect::sqs_query, signature.error().code));
  }
  SigningKeys keys;
  const auto verified = verify(request, *signature, known, keys, circumstances);
  return verified ? "" : std::string(query_code(Dialect::sqs_query, verified.error().code));
}
std::string refused(const http::Request& request) { return refused(request, at(signed_at)); }

void set(http::Request& request, std::string_view name, std::string value) {
  for (net::Field& field : request.fields) {
    if (field.name == name) field.value = value;
  }
}
void drop(http::Request& request, std::string_view name) {
  std::erase_if(request.fields, [name](const net::Field& field) { return field.name == name; });
}
void replace(std::string& text, std::string_view from, std::string_view to) {
  const std::size_t place = text.find(from);
  ASSERT_NE(place, std::string::npos) << from;
  text.replace(place, from.size(), to);
}
http::Request with_authorization(std::string_view from, std::string_view to) {
  http::Request request = sign({}).request;
  for (net::Field& field : request.fields) {
    if (field.name == "Authorization") replace(field.value, from, to);
  }
  return request;
}
http::Request with_target(std::string_view from, std::string_view to) {
  Plan plan;
  plan.expires = "60";
  http::Request request = sign(plan).request;
  replace(request.target, from, to);
  return request;
}

TEST(SigV4, GivesTheVectorOfASignedHeader) {
  Plan plan;
  plan.body = "{}";
  plan.signed_fields = {{"Content-Type", "application/x-amz-json-1.0"},
                        {"X-Amz-Target", "AmazonSQS.ListQueues"}};
  const auto [request, canonical, signature] = sign(plan);
  const auto parsed = parse_signature(request);

  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->scope, (CredentialScope{"AKIDEXAMPLE", "20260102", "us-east-1", "sqs"}));
  EXPECT_EQ(parsed->signature, "c71925018dea8de6ab3c62a7227b2ff8e4e217615827d61f6a48041c3d542064");
  EXPECT_EQ(parsed->signed_headers,
            (std::vector<std::string>{"content-type", "host", "x-amz-date", "x-amz-target"}));
  const auto ours = canonical_request(request, *parsed, hash("{}"));
  ASSERT_TRUE(ours);
  EXPECT_EQ(hash(*ours), "7e8ecd2041a20c04f3dd443f5ae7add93c7e6f6735b39036d2a26412249a249e");
  EXPECT_EQ(hex(SigningKeys().get(parsed->scope, secret).reveal()),
            "2ff297a9677e4dae14c807deddfda42a648728a19457402a48e239ed0efff414");
  EXPECT_EQ(refused(request), "");
}

TEST(SigV4, GivesTheVectorOfAPresignedUrl) {
  Plan plan;
  plan.method = "GET";
  plan.segments = {"000000000000", "q"};
  plan.parameters = {
      {"Action", "ReceiveMessage"}, {"Version", "2012-11-05"}, {"MessageAttributeName.1", "a.*"}};
  plan.expires = "60";
  const auto request = sign(plan).request;
  const auto parsed = parse_signature(request);

  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->signature, "2fd13f8da8e085cbae372d1f25c7b1659d37d104b4e4a21ef469ebb143eef7ad");
  EXPECT_EQ(parsed->expires, std::chrono::seconds(60));
  const auto ours = canonical_request(request, *parsed, hash(""));
  ASSERT_TRUE(ours);
  EXPECT_EQ(hash(*ours), "ad7e56e966d75f5a9d5b12e4befef0422c1e86baa75589a4b9140dab25070306");
  EXPECT_EQ(refused(request), "");
}

TEST(SigV4, AcceptsTheHeaderSetsOfTheClients) {
  const std::string json = R"({"QueueUrl":"http://127.0.0.1:8080/000000000000/q"})";
  const std::string form = "Action=SendMessage&MessageBody=caf%C3%A9+x&Version=2012-11-05";
  const std::vector<net::Field> js = {{"amz-sdk-invocation-id", "5a1b"},
                                      {"amz-sdk-request", "attempt=1; max=3"},
                                      {"content-length", "54"},
                                      {"x-amz-user-agent", "aws-sdk-js/3.600.0"}};
  struct Row {
    std::string_view name;
    Plan plan;
  };
  Row rows[] = {
      {"JS v3, JSON", {}},          {"JS v3, Query", {}}, {"JS v2", {}},
      {"boto3, Query", {}},         {"Celery", {}},       {"PHP, to the queue's path", {}},
      {"temporary credentials", {}}};
  rows[0].plan.body = json;
  rows[0].plan.signed_fields = js;
  rows[0].plan.signed_fields.insert(rows[0].plan.signed_fields.end(),
                                    {{"content-type", "application/x-amz-json-1.0"},
                                     {"x-amz-content-sha256", hash(json)},
                                     {"x-amz-target", "AmazonSQS.SendMessage"},
                                     {"x-amzn-query-mode", "true"}});
  rows[0].plan.other_fields = {{"connection", "keep-alive"}};
  rows[1].plan.body = form;
  rows[1].plan.signed_fields = js;
  rows[1].plan.signed_fields.insert(rows[1].plan.signed_fields.end(),
                                    {{"content-type", "application/x-www-form-urlencoded"},
                                     {"x-amz-content-sha256", hash(form)}});
  rows[2].plan.body = form;
  rows[2].plan.signed_fields = {{"X-Amz-Content-Sha256", hash(form)}};
  rows[2].plan.other_fields = {{"User-Agent", "aws-sdk-nodejs/2.1"}, {"Content-Length", "54"}};
  rows[3].plan.body = form;
  rows[3].plan.signed_fields = {
      {"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}};
  rows[3].plan.other_fields = {{"amz-sdk-invocation-id", "77"}, {"amz-sdk-request", "attempt=1"}};
  rows[4].plan.body = form;
  rows[4].plan.segments = {"000000000000", "celery"};
  rows[4].plan.other_fields = {{"Content-Type", "application/x-www-form-urlencoded"}};
  rows[5].plan.body = json;
  rows[5].plan.segments = {"000000000000", "q", ""};
  rows[5].plan.signed_fields = {{"X-Amz-Target", "AmazonSQS.SendMessage"}};
  rows[6].plan.signed_fields = {{"X-Amz-Security-Token", "IQoJb3JpZ2luX2VjE=="}};

  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const auto request = sign(row.plan).request;
    EXPECT_EQ(refused(request), "");
    http::Request other = request;
    other.body += " ";
    EXPECT_EQ(refused(other), "SignatureDoesNotMatch");
  }
  EXPECT_EQ(parse_signature(sign(rows[6].plan).request)->security_token, "IQoJb3JpZ2luX2VjE==");
}

TEST(SigV4, CanonicalRequestsAreMadeByTheRules) {
  struct Row {
    std::string_view name;
    std::string target;
    std::vector<net::Field> fields;
    std::string_view path;
    std::string_view query;
    std::string_view header;
  };
  const Row rows[] = {
      {"root", "/", {{"A", "x"}}, "/", "", "a:x"},
      {"encoded once more", "/a%20b/c~d", {{"a", "x"}}, "/a%2520b/c~d", "", "a:x"},
      {"raw characters", "/a:b@c/", {{"a", "x"}}, "/a%3Ab%40c/", "", "a:x"},
      {"query", "/?b=2&a=1+x&a=%2b&c", {{"a", "x"}}, "/", "a=%2B&a=1%20x&b=2&c=", "a:x"},
      {"names that begin each other", "/?a-=2&a=3&a=1", {{"a", "x"}}, "/", "a=1&a=3&a-=2", "a:x"},
      {"sorted as encoded", "/?%C3%A9=1&z=2&%2A=3", {{"a", "x"}}, "/", "%2A=3&%C3%A9=1&z=2", "a:x"},
      {"blanks", "/", {{"A", "  a \t b   c "}}, "/", "", "a:a b c"},
      {"several of one name", "/", {{"A", "x"}, {"B", "y"}, {"a", " z "}}, "/", "", "a:x,z"},
      {"absent", "/", {}, "/", "", "a:"},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    http::Request request;
    request.method = "GET";
    request.target = row.target;
    request.fields = row.fields;
    Signature signature;
    signature.signed_headers = {"a"};
    const auto canonical = canonical_request(request, signature, "HASH");
    ASSERT_TRUE(canonical);
    EXPECT_EQ(*canonical, "GET\n" + std::string(row.path) + "\n" + std::string(row.query) + "\n" +
                              std::string(row.header) + "\n\na\nHASH");
  }
}

TEST(SigV4, EveryIncompleteHeaderIsRefusedAsSuch) {
  struct Row {
    std::string_view name;
    http::Request request;
    std::string_view code;
  };
  http::Request none = sign({}).request;
  drop(none, "Authorization");
  http::Request undated = sign({}).request;
  drop(undated, "X-Amz-Date");
  http::Request misdated = sign({}).request;
  set(misdated, "X-Amz-Date", "2026-01-02T03:04:05Z");
  http::Request both = sign({}).request;
  both.target += "?X-Amz-Signature=00";
  http::Request broken = sign({}).request;
  broken.target += "?a=%";
  const Row rows[] = {
      {"nothing", none, "MissingAuthenticationToken"},
      {"another scheme", with_authorization("AWS4-HMAC-SHA256 ", "Bearer "), "IncompleteSignature"},
      {"another algorithm", with_authorization("AWS4-HMAC-SHA256", "AWS4-ECDSA-P256-SHA256"),
       "IncompleteSignature"},
      {"glued algorithm", with_authorization("SHA256 ", "SHA256"), "IncompleteSignature"},
      {"no credential", with_authorization("Credential=", "Credit="), "IncompleteSignature"},
      {"empty credential",
       with_authorization("AKIDEXAMPLE/20260102/us-east-1/sqs/aws4_request", ""),
       "IncompleteSignature"},
      {"short scope", with_authorization("/us-east-1/sqs/aws4_request", ""), "IncompleteSignature"},
      {"empty region", with_authorization("us-east-1", ""), "IncompleteSignature"},
      {"empty key", with_authorization("AKIDEXAMPLE", ""), "IncompleteSignature"},
      {"no signed headers", with_authorization("SignedHeaders=host;x-amz-date, ", ""),
       "IncompleteSignature"},
      {"empty signed header", with_authorization("host;x-", "host;;x-"), "IncompleteSignature"},
      {"signed header in upper case", with_authorization("=host", "=Host"), "IncompleteSignature"},
      {"no signature", with_authorization(", Signature=", ", Signed="), "IncompleteSignature"},
      {"twice", with_authorization("SignedHeaders=", "Credential=x, SignedHeaders="),
       "IncompleteSignature"},
      {"not a pair", with_authorization("SignedHeaders=", "x, SignedHeaders="),
       "IncompleteSignature"},
      {"no date", undated, "IncompleteSignature"},
      {"a date in another form", misdated, "IncompleteSignature"},
      {"signed twice", both, "IncompleteSignature"},
      {"broken query", broken, "IncompleteSignature"},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(refused(row.request), row.code);
  }
}

TEST(SigV4, EveryIncompletePresignedUrlIsRefusedAsSuch) {
  struct Row {
    std::string_view from;
    std::string_view to;
  };
  const Row rows[] = {
      {"X-Amz-Algorithm=AWS4-HMAC-SHA256", "X-Amz-Algorithm=AWS3"},
      {"X-Amz-Algorithm=", "X-Amz-Algorism="},
      {"X-Amz-Credential=", "X-Amz-Credit="},
      {"X-Amz-Credential=AKIDEXAMPLE%2F", "X-Amz-Credential="},
      {"X-Amz-Date=", "X-Amz-Day="},
      {"X-Amz-Date=2026", "X-Amz-Date=26"},
      {"X-Amz-Expires=60", "X-Amz-Expire=60"},
      {"X-Amz-Expires=60", "X-Amz-Expires=0"},
      {"X-Amz-Expires=60", "X-Amz-Expires=604801"},
      {"X-Amz-Expires=60", "X-Amz-Expires=-1"},
      {"X-Amz-Expires=60", "X-Amz-Expires=60&X-Amz-Expires=60"},
      {"X-Amz-SignedHeaders=host", "X-Amz-SignedHeaders="},
      {"X-Amz-Signature=", "X-Amz-Signatur="},
      {"X-Amz-Signature=", "X-Amz-Signature=&X-Amz-Signature="},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.from) + " -> " + std::string(row.to));
    EXPECT_EQ(refused(with_target(row.from, row.to)), "IncompleteSignature");
  }
}

TEST(SigV4, EveryWrongScopeOrTimeIsRefused) {
  using namespace std::chrono_literals;
  struct Row {
    std::string_view name;
    Plan plan;
    Circumstances circumstances;
    std::string_view code;
  };
  const auto plan = [](auto change) {
    Plan changed;
    change(changed);
    return changed;
  };
  const auto presigned = plan([](Plan& p) { p.expires = "3600"; });
  Circumstances sns = at(signed_at);
  sns.service = "sns";
  Circumstances here = at(signed_at);
  here.region = "us-east-1";
  Circumstances elsewhere = at(signed_at);
  elsewhere.region = "eu-west-1";
  const Row rows[] = {
      {"good", {}, at(signed_at), ""},
      {"another service", {}, sns, "SignatureDoesNotMatch"},
      {"any region", plan([](Plan& p) { p.region = "mars-1"; }), at(signed_at), ""},
      {"the pinned region", {}, here, ""},
      {"not the pinned region", {}, elsewhere, "SignatureDoesNotMatch"},
      {"15 minutes late", {}, at(signed_at + 15min), ""},
      {"later", {}, at(signed_at + 15min + 1ms), "SignatureDoesNotMatch"},
      {"15 minutes early", {}, at(signed_at - 15min), ""},
      {"earlier", {}, at(signed_at - 15min - 1ms), "SignatureDoesNotMatch"},
      {"presigned", presigned, at(signed_at), ""},
      {"presigned, at its end", presigned, at(signed_at + 1h), ""},
      {"presigned, after it", presigned, at(signed_at + 1h + 1ms), "RequestExpired"},
      {"presigned, 15 minutes early", presigned, at(signed_at - 15min), ""},
      {"presigned, earlier", presigned, at(signed_at - 15min - 1ms), "SignatureDoesNotMatch"},
      {"presigned for POST, sent as such", presigned, at(signed_at), ""},
      {"a key with slashes", plan([](Plan& p) { p.access_key = "a/b"; }), at(signed_at), ""},
      {"another secret", plan([](Plan& p) { p.secret = "other"; }), at(signed_at),
       "SignatureDoesNotMatch"},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(refused(sign(row.plan).request, row.circumstances), row.code);
  }
  EXPECT_EQ(refused(sign({}).request, at(signed_at), nullptr), "InvalidClientTokenId");
  EXPECT_EQ(refused(with_authorization("/20260102/", "/20260103/")), "SignatureDoesNotMatch");
  EXPECT_EQ(refused(with_authorization("aws4_request", "aws4_req")), "SignatureDoesNotMatch");
  EXPECT_EQ(refused(with_authorization("host;", "")), "SignatureDoesNotMatch");
  EXPECT_EQ(refused(with_authorization("Signature=", "Signature=0")), "SignatureDoesNotMatch");
  http::Request retargeted = sign({}).request;
  retargeted.fields.push_back({"X-Amz-Target", "AmazonSQS.PurgeQueue"});
  EXPECT_EQ(refused(retargeted), "SignatureDoesNotMatch");
  http::Request moved = sign(presigned).request;
  moved.method = "GET";
  EXPECT_EQ(refused(moved), "SignatureDoesNotMatch");
}

TEST(SigV4, ABodyThatIsNotSignedNeedsTls) {
  Plan plan;
  plan.body = "Action=ListQueues";
  plan.payload = "UNSIGNED-PAYLOAD";
  plan.signed_fields = {{"X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD"}};
  const auto request = sign(plan).request;
  Circumstances tls = at(signed_at);
  tls.tls = true;

  EXPECT_EQ(refused(request), "InvalidSecurity");
  EXPECT_EQ(refused(request, tls), "");
  http::Request told_otherwise = sign({}).request;
  told_otherwise.fields.push_back({"X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD"});
  EXPECT_EQ(refused(told_otherwise, tls), "SignatureDoesNotMatch");
  told_otherwise.fields.back().value = hash("another body");
  EXPECT_EQ(refused(told_otherwise, tls), "SignatureDoesNotMatch");
}

TEST(SigV4, TheDateHeaderServesWithoutXAmzDate) {
  Plan plan;
  plan.signed_fields = {{"Date", "Fri, 02 Jan 2026 03:04:05 GMT"}};
  http::Request request = sign(plan).request;
  drop(request, "X-Amz-Date");
  const auto parsed = parse_signature(request);

  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->date_time, "20260102T030405Z");
  EXPECT_EQ(parsed->signed_at, signed_at);
}

TEST(SigningKeys, AreRememberedForTheirSecretAndBounded) {
  SigningKeys keys(2);
  const CredentialScope scope{"key", "20260102", "r", "sqs"};
  const Secret marker{std::string(32, 'm')};
  const std::string derived(keys.get(scope, secret).reveal());

  keys.remember(scope, secret, marker);
  EXPECT_EQ(keys.get(scope, secret).reveal(), marker.reveal());  // not derived again
  EXPECT_NE(keys.get(scope, Secret("new")).reveal(), marker.reveal());
  EXPECT_EQ(keys.get({"key", "20260103", "r", "sqs"}, secret).reveal().size(), 32U);
  for (int day = 1; day < 50; ++day) {
    keys.remember({"key", std::to_string(day), "r", "sqs"}, secret, marker);
    EXPECT_LE(keys.size(), 2U);
  }
  EXPECT_EQ(keys.get(scope, secret).reveal(), derived);
}

TEST(SigningKeys, ABadSignatureLeavesNoTrace) {
  SigningKeys keys;
  http::Request request = sign({}).request;
  request.body = "changed";

  EXPECT_FALSE(verify(request, *parse_signature(request), &secret, keys, at(signed_at)));
  EXPECT_EQ(keys.size(), 0U);
  request.body.clear();
  EXPECT_TRUE(verify(request, *parse_signature(request), &secret, keys, at(signed_at)));
  EXPECT_EQ(keys.size(), 1U);
  EXPECT_TRUE(verify(request, *parse_signature(request), &secret, keys, at(signed_at)));
}

std::string random_text(SeededRng& rng, std::size_t most) {
  std::string text;
  for (std::size_t left = rng.below(most + 1); left > 0; --left) {
    const bool plain = rng.below(3) != 0;
    text += static_cast<char>(plain ? 'a' + static_cast<int>(rng.below(26)) : rng.below(256));
  }
  return text;
}

Plan random_plan(SeededRng& rng) {
  Plan plan;
  plan.method = rng.below(2) == 0 ? "POST" : "GET";
  for (std::uint64_t left = rng.below(3); left > 0; --left) {
    plan.segments.push_back("s" + random_text(rng, 6));
  }
  for (std::uint64_t i = rng.below(4); i > 0; --i) {
    plan.parameters.emplace_back("P" + std::to_string(i), random_text(rng, 8));
  }
  plan.body = random_text(rng, 40);
  if (rng.below(2) == 0) plan.expires = "60";
  if (rng.below(2) == 0) plan.signed_fields.push_back({"Content-Type", "text/x-plain"});
  if (rng.below(2) == 0) plan.signed_fields.push_back({"X-Two", "a  b"});
  if (rng.below(2) == 0) plan.signed_fields.push_back({"X-Two", "c"});
  return plan;
}

char another(SeededRng& rng, char old) {
  // A letter never becomes a blank or a hexadecimal digit of the other case, which mean the same.
  const char changed = static_cast<char>('g' + static_cast<int>(rng.below(20)));
  return changed == old ? '!' : changed;
}

TEST(SigV4Property, WhatAClientSignsIsAcceptedAndNoOtherByteIs) {
  SeededRng rng(20260102);
  int changed_queries = 0;
  for (int round = 0; round < 100; ++round) {
    const Plan plan = random_plan(rng);
    const http::Request good = sign(plan).request;
    SCOPED_TRACE(round);
    ASSERT_EQ(refused(good), "") << good.method << " " << good.target;

    http::Request method = good;
    const std::size_t letter = rng.below(good.method.size());
    method.method[letter] = another(rng, good.method[letter]);
    EXPECT_NE(refused(method), "");

    for (std::size_t i = 0; i < good.target.size(); ++i) {
      http::Request target = good;
      target.target[i] = another(rng, good.target[i]);
      const auto before = http::parse_query(good.query());
      const auto after = http::parse_query(target.query());
      if (target.path() == good.path() && after && *after == *before) {
        continue;  // "a=&b" and "a&&b" are the same parameters
      }
      ++changed_queries;
      EXPECT_NE(refused(target), "") << good.target << "\n" << target.target;
    }
    for (std::size_t i = 0; i < good.body.size(); ++i) {
      http::Request body = good;
      body.body[i] = another(rng, good.body[i]);
      EXPECT_NE(refused(body), "");
    }
    for (std::size_t f = 0; f < good.fields.size(); ++f) {
      const std::string& value = good.fields[f].value;
      const std::size_t from = good.fields[f].name == "Authorization" ? value.find("/2026") : 0;
      for (std::size_t i = from; i < value.size(); ++i) {
        if (value[i] == ' ' || (from != 0 && value[i] == ',')) continue;
        http::Request header = good;
        header.fields[f].value[i] = another(rng, value[i]);
        EXPECT_NE(refused(header), "") << header.fields[f].value;
      }
    }
  }
  EXPECT_GT(changed_queries, 1'000);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::aws
