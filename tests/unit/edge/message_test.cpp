#include "edge/http/message.h"

#include <gtest/gtest.h>

#include "edge/http/response_writer.h"

namespace hk::http {

using Pairs = std::vector<std::pair<std::string, std::string>>;

TEST(Message, HeadersAreFoundWithoutRegardToCase) {
  Request request;
  request.fields = {{"X-One", "1"}, {"x-one", "2"}};

  EXPECT_EQ(request.header("x-ONE"), "1");
  EXPECT_EQ(request.header("X-On"), std::nullopt);
}

TEST(Message, PathAndQueryAreSplitAtTheFirstQuestionMark) {
  Request request;
  request.target = "/a//b?c=d?e";
  EXPECT_EQ(request.path(), "/a//b");
  EXPECT_EQ(request.query(), "c=d?e");

  request.target = "/a";
  EXPECT_EQ(request.path(), "/a");
  EXPECT_EQ(request.query(), "");
}

TEST(Message, PercentDecodingIsExactOrNothing) {
  EXPECT_EQ(percent_decode("%41b%2fc+"), "Ab/c+");
  EXPECT_EQ(percent_decode("%00"), std::string(1, '\0'));
  EXPECT_EQ(percent_decode(""), "");
  for (const std::string_view bad : {"%", "%4", "a%", "%g0", "%0g", "%-1", "% 1"}) {
    EXPECT_EQ(percent_decode(bad), std::nullopt) << bad;
  }
}

TEST(Message, QueriesAreParsedInOrder) {
  EXPECT_EQ(parse_query("a=1&b=x%20y+z&a=2"), (Pairs{{"a", "1"}, {"b", "x y z"}, {"a", "2"}}));
  EXPECT_EQ(parse_query("a&b=&=c&&d=e=f"), (Pairs{{"a", ""}, {"b", ""}, {"", "c"}, {"d", "e=f"}}));
  EXPECT_EQ(parse_query(""), Pairs{});
  EXPECT_EQ(parse_query("a=%zz"), std::nullopt);
  EXPECT_EQ(parse_query("%=1"), std::nullopt);
}

TEST(Message, ReasonsAreThoseOfTheStandard) {
  EXPECT_EQ(reason_phrase(200), "OK");
  EXPECT_EQ(reason_phrase(431), "Request Header Fields Too Large");
  EXPECT_EQ(reason_phrase(299), "");
}

TEST(ResponseWriter, AResponseIsWrittenWithItsLength) {
  Response response;
  response.body = "{}";
  response.fields = {{"X-Id", "7"}};
  std::string out;
  append_response(out, response, {}, "Date: now\r\n");

  EXPECT_EQ(
      out,
      "HTTP/1.1 200 OK\r\nDate: now\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
      "X-Id: 7\r\n\r\n{}");
}

TEST(ResponseWriter, UnsafeAndOwnFieldsAreLeftOut) {
  Response response;
  response.content_type = "text/plain\r\nX-Evil: 1";
  response.fields = {{"X-A", "b\r\nX-Evil: 1"}, {"X-Evil\r\nX", "1"},
                     {"Content-Length", "99"},  {"transfer-encoding", "chunked"},
                     {"Connection", "close"},   {"X-Ok", "1"}};
  std::string out;
  append_response(out, response, {}, "");

  EXPECT_EQ(out, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Ok: 1\r\n\r\n");
}

TEST(ResponseWriter, BodilessResponsesHaveNoBody) {
  Response response;
  response.body = "hello";
  response.status = 204;
  std::string out;
  append_response(out, response, {}, "");
  EXPECT_EQ(out, "HTTP/1.1 204 No Content\r\n\r\n");

  out.clear();
  response.status = 200;
  append_response(out, response, {.head_only = true, .close = true}, "");
  EXPECT_EQ(out,
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5\r\n"
            "Connection: close\r\n\r\n");
}

TEST(ResponseWriter, AStatusThatIsNotFinalBecomesA500) {
  for (const int status : {0, 100, 199, 600, -1}) {
    Response response;
    response.status = status;
    std::string out;
    append_response(out, response, {}, "");
    EXPECT_TRUE(out.starts_with("HTTP/1.1 500 ")) << status;
  }
}

TEST(ResponseWriter, TheDateIsThatOfTheSecond) {
  CommonHeaders common(Hsts::none);
  EXPECT_NE(common.lines(0).find("Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n"),
            std::string_view::npos);
  EXPECT_NE(common.lines(784'111'777).find("Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"),
            std::string_view::npos);
}

TEST(ResponseWriter, ATextSaysItsCharset) {
  const std::pair<std::string, std::string> rows[] = {
      {"application/json", "application/json"},
      {"text/xml", "text/xml; charset=utf-8"},
      {"text/plain; version=0.0.4", "text/plain; version=0.0.4; charset=utf-8"},
      {"text/plain; charset=us-ascii", "text/plain; charset=us-ascii"},
  };
  for (const auto& [given, written] : rows) {
    Response response;
    response.content_type = given;
    std::string out;
    append_response(out, response, {}, "");
    EXPECT_NE(out.find("\r\nContent-Type: " + written + "\r\n"), std::string::npos) << out;
  }
}

TEST(ResponseWriter, WhatBrowsersAndCachesMustKnowIsTheServersOwn) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"Cache-Control", "no-store"},
      {"Content-Security-Policy",
       "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; sandbox"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Referrer-Policy", "no-referrer"},
      {"Strict-Transport-Security", "max-age=31536000"},
      {"X-Content-Type-Options", "nosniff"},
  };
  CommonHeaders plain(Hsts::none);
  CommonHeaders over_tls(Hsts::own_name);
  Response response;
  for (const auto& [name, value] : rows) {
    response.fields.push_back({std::string(name), "something else"});
  }
  std::string answer;
  append_response(answer, response, {}, over_tls.lines(0));

  for (const auto& [name, value] : rows) {
    SCOPED_TRACE(name);
    const std::string line = "\r\n" + std::string(name) + ": " + std::string(value) + "\r\n";
    EXPECT_NE(answer.find(line), std::string::npos);
    EXPECT_EQ(("\r\n" + std::string(plain.lines(0))).find(line) == std::string::npos,
              name == "Strict-Transport-Security");
  }
  EXPECT_EQ(answer.find("something else"), std::string::npos);
}

TEST(ResponseWriter, APageHasAPolicyAndACacheRuleOfItsOwn) {
  CommonHeaders common(Hsts::own_name);
  Response response;
  response.page = std::make_shared<const PageHeaders>(
      PageHeaders{.security_policy = "default-src 'self'", .cache_control = "no-cache"});
  std::string answer;
  append_response(answer, response, {}, common.lines(0));

  std::string expected(common.lines(0));
  const std::string_view begin = "Cache-Control: no-store";
  const std::string_view end = "sandbox\r\n";
  const std::size_t at = expected.find(begin);
  expected.replace(at, expected.find(end) + end.size() - at,
                   "Cache-Control: no-cache\r\nContent-Security-Policy: default-src 'self'\r\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n" + expected)) << answer;
}

TEST(ResponseWriter, APolicyThatWouldBreakTheHeadersIsNotSent) {
  CommonHeaders common(Hsts::none);
  Response response;
  response.page = std::make_shared<const PageHeaders>(PageHeaders{
      .security_policy = "default-src 'self'\r\nX-Evil: 1", .cache_control = "no-cache"});
  std::string answer;
  append_response(answer, response, {}, common.lines(0));

  EXPECT_NE(answer.find("frame-ancestors 'none'; sandbox\r\n"), std::string::npos);
  EXPECT_EQ(answer.find("X-Evil"), std::string::npos);
}

TEST(ResponseWriter, HstsSpeaksForSubdomainsIfToldTo) {
  CommonHeaders common(Hsts::subdomains);
  EXPECT_NE(common.lines(0).find(
                "\r\nStrict-Transport-Security: max-age=31536000; includeSubDomains\r\n"),
            std::string_view::npos);
}

}  // namespace hk::http
