#include "integration/edge/harness.h"

namespace hk::http::test {

namespace HK_TEST_FILE {

constexpr std::size_t kib = 1024;

ServerOptions small_budget() {
  ServerOptions options;
  options.limits.body_bytes_max = 64 * kib;
  options.limits.request_bytes_max = 100 * kib;
  return options;
}

void expect_no_room(RawClient& client) {
  const auto answer = client.read_answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 503);
  EXPECT_TRUE(answer->has("Retry-After: 1"));
  EXPECT_TRUE(answer->has("Connection: close"));
  EXPECT_EQ(answer->body,
            R"({"error":"the server holds too many request bodies: try again shortly"})");
  EXPECT_EQ(client.read_all(), "");
}

TEST(RequestBytes, AFullBudgetRefusesBodiesUntilRequestsAreAnswered) {
  TestServer server(small_budget());
  const std::string body(60 * kib, 'x');
  RawClient holder(server.port());
  holder.send(post("/hold", body));
  auto entry = server.held().take();
  EXPECT_EQ(server.server().stats().request_bytes, body.size());

  RawClient refused(server.port());
  refused.send(post("/x", body));
  expect_no_room(refused);
  RawClient without(server.port());
  without.send(get("/y"));
  EXPECT_EQ(without.read_answer()->status, 200);
  RawClient small(server.port());
  small.send(post("/z", "tiny"));
  EXPECT_EQ(small.read_answer()->body, "POST /z tiny");

  answer_with(std::move(entry), "done");
  EXPECT_EQ(holder.read_answer()->body, "done");
  EXPECT_TRUE(server.eventually([](const ServerStats& stats) { return stats.request_bytes == 0; }));
  RawClient later(server.port());
  later.send(post("/later", body));
  EXPECT_EQ(later.read_answer()->status, 200);
  EXPECT_EQ(server.targets(), (std::vector<std::string>{"/hold", "/y", "/z", "/later"}));
  EXPECT_EQ(server.server().stats().bodies_refused, 1U);
  EXPECT_EQ(server.server().stats().requests_malformed, 0U);
  EXPECT_TRUE(server.eventually([](const ServerStats& stats) { return stats.request_bytes == 0; }));
}

TEST(RequestBytes, ABodyWithoutLengthIsRefusedWhenItOutgrowsTheBudget) {
  TestServer server(small_budget());
  RawClient holder(server.port());
  holder.send(post("/hold", std::string(60 * kib, 'x')));
  const auto entry = server.held().take();

  RawClient client(server.port());
  client.send("POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nC000\r\n" +
              std::string(48 * kib, 'y') + "\r\n0\r\n\r\n");

  expect_no_room(client);
  EXPECT_EQ(server.targets(), (std::vector<std::string>{"/hold"}));
  EXPECT_EQ(server.server().stats().request_bytes, 60 * kib);
}

TEST(RequestBytes, AClientThatIsToldToWaitIsRefusedInsteadOfAskedForItsBody) {
  TestServer server(small_budget());
  RawClient holder(server.port());
  holder.send(post("/hold", std::string(60 * kib, 'x')));
  const auto entry = server.held().take();

  RawClient client(server.port());
  client.send(
      "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\nExpect: 100-continue\r\n\r\n");

  expect_no_room(client);
}

TEST(RequestBytes, AConnectionThatBreaksGivesItsBytesBack) {
  TestServer server(small_budget());
  Held::Entry entry;
  {
    RawClient reading(server.port());
    reading.send("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n" +
                 std::string(30 * kib, 'x'));
    RawClient waiting(server.port());
    waiting.send(post("/hold", std::string(30 * kib, 'x')));
    entry = server.held().take();
    EXPECT_TRUE(server.eventually(
        [](const ServerStats& stats) { return stats.request_bytes == 60 * kib; }));
  }

  EXPECT_TRUE(
      server.eventually([](const ServerStats& stats) { return stats.request_bytes <= 30 * kib; }));
  answer_with(std::move(entry), "nobody reads it");
  EXPECT_TRUE(server.eventually([](const ServerStats& stats) { return stats.request_bytes == 0; }));
}

TEST(RequestBytes, TheLargestBodyAlwaysFitsAlone) {
  ServerOptions options = small_budget();
  options.limits.request_bytes_max = 1;
  TestServer server(std::move(options));
  RawClient client(server.port());

  client.send(post("/x", std::string(64 * kib, 'x')));

  EXPECT_EQ(client.read_answer()->status, 200);
}

TEST(RequestBytes, AResponderWithABodyMayOutliveTheServer) {
  Held::Entry entry;
  {
    TestServer server(small_budget());
    RawClient client(server.port());
    client.send(post("/hold", std::string(10 * kib, 'x')));
    entry = server.held().take();
    server.server().stop(std::chrono::milliseconds{0});
    EXPECT_EQ(server.server().stats().request_bytes, 0U);
  }

  entry.responder({.body = "too late"});
}

}  // namespace HK_TEST_FILE
}  // namespace hk::http::test
