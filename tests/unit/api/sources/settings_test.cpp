#include "api/sources/settings.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/sources/directory.h"
#include "api/sources/event_message.h"

namespace hk::api::sources {
namespace HK_TEST_FILE {

ExactJson json_of(const std::string& text) {
  auto json = ExactJson::parse(text, 16);
  EXPECT_TRUE(json.has_value()) << text;
  return std::move(*json);
}

/// A good one, with further members.
std::string object_with(const std::string& more) {
  return R"({"name":"s","preset":"stripe","deliverTo":{"url":"https://a.example/"})" + more + "}";
}

TEST(SourceSettings, SayInFullWhatWasLeftOut) {
  const auto read = read_settings(json_of(object_with("")));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->document,
            R"({"name":"s","preset":"stripe","enabled":true,"verify":{},"toleranceSeconds":300,)"
            R"("dedup":{"from":null,"windowSeconds":2592000},"eventType":{"from":null},)"
            R"("deliverTo":{"url":"https://a.example/"},"forwardHeaders":"*",)"
            R"("onInvalid":"quarantine","maxBodyBytes":1048576,"ratePerSecond":null})");
  const auto again = read_settings(json_of(read->document));
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->document, read->document);
}

TEST(SourceSettings, ReadOptionsOfAUrlInTheirOwnSpelling) {
  const auto read = read_settings(json_of(
      R"({"name":"s","preset":"none","deliverTo":{"url":"https://a.example/",)"
      R"("options":{"retries":5,"retryDelay":"1000","failureCallback":"https://b.example/"}}})"));
  ASSERT_TRUE(read.has_value());
  const std::vector<std::pair<std::string, std::string>> want = {
      {"retries", "5"}, {"retry-delay", "1000"}, {"failure-callback", "https://b.example/"}};
  EXPECT_EQ(read->settings.target.options, want);
}

TEST(SourceSettings, NameEveryWrongFieldByItsPointer) {
  struct Row {
    std::string object;
    std::string pointer;
    std::string says;
  };
  const auto with_verify = [](const std::string& preset, const std::string& verify) {
    return R"({"name":"s","preset":")" + preset + R"(","deliverTo":{"queue":"q"},"verify":)" +
           verify + "}";
  };
  const Row rows[] = {
      {R"({"preset":"stripe","deliverTo":{"queue":"q"}})", "/name", "required"},
      {object_with("").replace(9, 1, "S"), "/name", "lower-case"},
      {R"({"name":"-a","preset":"stripe","deliverTo":{"queue":"q"}})", "/name", "begin"},
      {R"({"name":"processors","preset":"stripe","deliverTo":{"queue":"q"}})", "/name", "reserved"},
      {R"({"name":"s","deliverTo":{"queue":"q"}})", "/preset", "required"},
      {R"({"name":"s","preset":"paypal","deliverTo":{"queue":"q"}})", "/preset", "one of stripe"},
      {object_with(R"(,"unknown":1)"), "/unknown", "not known"},
      {object_with(R"(,"enabled":1)"), "/enabled", "true or false"},
      {object_with(R"(,"toleranceSeconds":0)"), "/toleranceSeconds", "from 1 to"},
      {object_with(R"(,"toleranceSeconds":1.5)"), "/toleranceSeconds", "whole number"},
      {object_with(R"(,"dedup":{"from":"nowhere"})"), "/dedup/from", "header:Name"},
      {object_with(R"(,"dedup":{"from":"body:id"})"), "/dedup/from", "header:Name"},
      {object_with(R"(,"dedup":{"windowSeconds":-2})"), "/dedup/windowSeconds", "from -1"},
      {object_with(R"(,"dedup":[])"), "/dedup", "object"},
      {object_with(R"(,"eventType":{"from":"content"})"), "/eventType/from", "header:Name"},
      {object_with(R"(,"verify":{"url":"x"})"), "/verify/url", "not known"},
      {object_with(R"(,"forwardHeaders":["a b"])"), "/forwardHeaders", "names of headers"},
      {object_with(R"(,"onInvalid":"drop")"), "/onInvalid", "quarantine, reject"},
      {object_with(R"(,"maxBodyBytes":99999999)"), "/maxBodyBytes", "from 1 to 10485760"},
      {object_with(R"(,"ratePerSecond":0)"), "/ratePerSecond", "from 1"},
      {R"({"name":"s","preset":"stripe"})", "/deliverTo", "required"},
      {R"({"name":"s","preset":"stripe","deliverTo":{"url":"u","queue":"q"}})", "/deliverTo",
       "exactly one"},
      {R"({"name":"s","preset":"stripe","deliverTo":{"app":"a"}})", "/deliverTo/app", "not"},
      {R"({"name":"s","preset":"stripe","deliverTo":{"queue":"q","options":{}}})",
       "/deliverTo/options", "url"},
      {R"({"name":"s","preset":"stripe","deliverTo":{"url":"u","options":{"cron":"x"}}})",
       "/deliverTo/options/cron", "not known"},
      {with_verify("hmac", "{}"), "/verify/header", "required"},
      {with_verify("hmac", R"({"header":"A","algorithm":"md5"})"), "/verify/algorithm", "sha256"},
      {with_verify("hmac", R"({"header":"A","template":"{x}"})"), "/verify/template", "not known"},
      {with_verify("hmac", R"({"header":"A","template":"{timestamp}"})"), "/verify/template",
       "timestampHeader"},
      {with_verify("hmac", R"({"header":"A","template":"{id}"})"), "/verify/template",
       "dedup.from"},
      {with_verify("hmac", R"({"header":"A","template":"{url}"})"), "/verify/template",
       "verify.url"},
      {with_verify("basic", "{}"), "/verify/username", "required"},
      {with_verify("apikey", "{}"), "/verify", "header or query"},
      {with_verify("apikey", R"({"header":"A","query":"b"})"), "/verify", "header or query"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.object);
    const auto read = read_settings(json_of(row.object));
    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error().front().pointer, row.pointer);
    EXPECT_NE(read.error().front().detail.find(row.says), std::string::npos)
        << read.error().front().detail;
  }
  const auto several =
      read_settings(json_of(R"({"preset":"x","enabled":1,"onInvalid":"y","deliverTo":{}})"));
  ASSERT_FALSE(several.has_value());
  EXPECT_EQ(several.error().size(), 5U);
}

TEST(MergePatch, DoesWhatRfc7396Says) {
  const struct {
    const char* target;
    const char* patch;
    const char* result;
  } rows[] = {{R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
              {R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
              {R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
              {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
              {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
              {R"({"a":"x"})", R"({"a":{"b":{"c":null}}})", R"({"a":{"b":{}}})"}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.patch);
    ExactJson target = json_of(row.target);
    merge_patch(target, json_of(row.patch));
    EXPECT_EQ(target.to_text(), row.result);
  }
}

TEST(Throttle, LetsARateInAndNoMore) {
  using std::chrono::milliseconds;
  Throttle throttle(10);
  std::chrono::nanoseconds now{1'000'000'000'000};
  int taken = 0;
  for (int i = 0; i < 100; ++i) {
    taken += throttle.take(now) ? 1 : 0;
  }
  EXPECT_EQ(taken, 10);
  EXPECT_FALSE(throttle.take(now + milliseconds(99)));
  EXPECT_TRUE(throttle.take(now + milliseconds(100)));
  EXPECT_FALSE(throttle.take(now + milliseconds(100)));
  Throttle none(0);
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(none.take(now));
  }
}

TEST(HeaderText, HoldsAnyIdSafely) {
  EXPECT_EQ(header_text("evt_1.a-b"), "evt_1.a-b");
  EXPECT_EQ(header_text("a b%\r\n\xc3\xa4"), "a%20b%25%0d%0a%c3%a4");
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::sources
