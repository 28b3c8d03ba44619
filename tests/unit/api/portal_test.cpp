#include "api/pages/serve.h"

#include "fixture.h"

namespace hk::api::testing {
namespace HK_TEST_FILE {

using Portal = ApiTest;

std::string version() {
  const auto page = pages::portal();
  return page.empty() ? "" : std::string(page.front().version);
}

TEST_F(Portal, IsServedToEverybodyWithAPolicyOfItsOwn) {
  options.portal_frame_ancestors = "https://app.example.com";
  const http::Response page = call_as("", "GET", "/portal/");

  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.content_type, "text/html");
  ASSERT_TRUE(page.page);
  EXPECT_TRUE(page.page->security_policy.starts_with("default-src 'self'; "));
  EXPECT_TRUE(page.page->security_policy.ends_with("; frame-ancestors https://app.example.com"));
  EXPECT_EQ(page.page->cache_control, "no-cache");
}

TEST_F(Portal, NamesItsFilesByTheirVersion) {
  const http::Response page = call_as("", "GET", "/portal/");

  for (const std::string name : {"portal.js", "portal.css", "icon.svg"}) {
    SCOPED_TRACE(name);
    const std::string link = name + "?v=" + version();
    EXPECT_NE(page.body.find('"' + link + '"'), std::string::npos);
    const http::Response versioned = call_as("", "GET", "/portal/" + link);
    EXPECT_EQ(versioned.status, 200);
    EXPECT_EQ(versioned.page->cache_control, "public, max-age=31536000, immutable");
    EXPECT_EQ(call_as("", "GET", "/portal/" + name + "?v=1").page->cache_control, "no-cache");
  }
}

TEST_F(Portal, IsCompressedForThoseWhoTakeIt) {
  struct Row {
    std::string accept;
    bool compressed;
  };
  const Row rows[] = {
      {"", false},
      {"identity", false},
      {"gzip", true},
      {"*", true},
      {"br;q=1.0, GZIP;q=0.8", true},
      {"gzip;q=0", false},
      {"gzip;q=0.0, br", false},
      {"deflate, gzip ;q=0.001", true},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.accept);
    const http::Response script =
        call_as("", "GET", "/portal/portal.js", {{"Accept-Encoding", row.accept}});
    EXPECT_EQ(field(script, "Content-Encoding").value_or(""), row.compressed ? "gzip" : "");
    EXPECT_EQ(script.body.starts_with("\x1f\x8b"), row.compressed);
    EXPECT_EQ(field(script, "Vary"), "Accept-Encoding");
  }
}

TEST_F(Portal, IsNotSentAgainToWhoHasIt) {
  const std::string etag = field(call_as("", "GET", "/portal/"), "ETag").value();

  EXPECT_EQ(etag, '"' + version() + '"');
  for (const std::string& known : {etag, "\"other\", W/" + etag}) {
    const http::Response again = call_as("", "GET", "/portal/", {{"If-None-Match", known}});
    EXPECT_EQ(again.status, 304);
    EXPECT_EQ(again.body, "");
    EXPECT_EQ(field(again, "ETag"), etag);
  }
  EXPECT_EQ(call_as("", "GET", "/portal/", {{"If-None-Match", "\"other\""}}).status, 200);
}

TEST_F(Portal, IsAFolderForTheBrowser) {
  const http::Response moved = call_as("", "GET", "/portal?theme=dark");

  EXPECT_EQ(moved.status, 308);
  EXPECT_EQ(field(moved, "Location"), "portal/?theme=dark");
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::testing
