#include "edge/http/client.h"

#include <gtest/gtest.h>

namespace hk::http {

TEST(Client, UrlsAreTakenApart) {
  struct Row {
    std::string url;
    bool tls;
    std::string host;
    std::string port;
    std::string target;
  };
  const Row rows[] = {
      {"http://a", false, "a", "80", "/"},
      {"http://a/", false, "a", "80", "/"},
      {"https://a.b:8443/x?y#z", true, "a.b", "8443", "/x?y"},
      {"HTTPS://a", true, "a", "443", "/"},
      {"http://[::1]:80/x", false, "::1", "80", "/x"},
      {"http://[::1]", false, "::1", "80", "/"},
      {"http://a?x=1", false, "a", "80", "/?x=1"},
      {"http://a#z", false, "a", "80", "/"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.url);
    const Result<Url> url = parse_url(row.url);
    ASSERT_TRUE(url) << url.error().message;
    EXPECT_EQ(url->tls, row.tls);
    EXPECT_EQ(url->host, row.host);
    EXPECT_EQ(url->port, row.port);
    EXPECT_EQ(url->target, row.target);
  }
}

TEST(Client, BadUrlsAreRefused) {
  for (const std::string url :
       {"", "a", "ftp://a", "http://", "http:///x", "http://u@a/", "http://a:b/",
        "http://a/\r\nX: y", "http://a/b c", "http://a\r\n/"}) {
    const Result<Url> parsed = parse_url(url);
    ASSERT_FALSE(parsed) << url;
    EXPECT_EQ(parsed.error().kind, ErrorKind::invalid_argument);
  }
}

TEST(Client, WhatCouldBreakTheFramingIsNotSent) {
  const std::vector<Field> bad[] = {{{"X", "a\r\nY: b"}},
                                    {{"X\r\nY", "a"}},
                                    {{"", "a"}},
                                    {{"Content-Length", "3"}},
                                    {{"transfer-encoding", "chunked"}},
                                    {{"Host", "b"}}};
  for (const std::vector<Field>& fields : bad) {
    const Result<ClientResponse> response = fetch({.url = "http://127.0.0.1:1/", .fields = fields});
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().kind, ErrorKind::invalid_argument) << fields[0].name;
  }
  const Result<ClientResponse> response = fetch({.method = "GET /x", .url = "http://127.0.0.1:1/"});
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().kind, ErrorKind::invalid_argument);
}

}  // namespace hk::http
