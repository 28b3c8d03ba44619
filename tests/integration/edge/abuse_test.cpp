#include <gtest/gtest.h>
#include <sys/resource.h>

#include "integration/edge/harness.h"
#include "unit/edge/request_vectors.h"

namespace hk::http::test {

namespace HK_TEST_FILE {

ServerOptions small_limits() {
  ServerOptions options;
  options.limits.header_bytes_max = 1'000;
  options.limits.line_bytes_max = 200;
  options.limits.fields_max = 8;
  options.limits.body_bytes_max = 100;
  return options;
}

/// How many responses the bytes hold, and the status of the first.
std::pair<std::size_t, int> responses(std::string_view bytes) {
  constexpr std::string_view line = "\r\nServer: hikyaku\r\n";
  std::size_t count = 0;
  for (std::size_t at = bytes.find(line); at != std::string_view::npos;
       at = bytes.find(line, at + 1)) {
    ++count;
  }
  return {count, count == 0 ? 0 : std::stoi(std::string(bytes.substr(9, 3)))};
}

TEST(Abuse, ARefusedRequestIsTheLastOfItsConnection) {
  TestServer server(small_limits());
  for (const Vector& vector : refused_vectors()) {
    SCOPED_TRACE(vector.name);
    RawClient client(server.port());
    client.send(vector.bytes + get("/smuggled") + get("/smuggled"));

    const std::string all = client.read_all();

    EXPECT_EQ(responses(all), (std::pair<std::size_t, int>{1, vector.status})) << all;
    EXPECT_NE(all.find("\r\nConnection: close\r\n"), std::string::npos);
    EXPECT_NE(all.find("{\"error\":\""), std::string::npos);
  }
  EXPECT_TRUE(server.targets().empty());
  EXPECT_EQ(server.server().stats().requests_malformed, refused_vectors().size());
}

TEST(Abuse, AnAcceptedRequestIsSeenOnceAndTheNextOneIsWhole) {
  TestServer server(small_limits());
  std::size_t served = 0;
  for (const Vector& vector : accepted_vectors()) {
    SCOPED_TRACE(vector.name);
    RawClient client(server.port());
    client.send(vector.bytes + get("/next"));
    client.half_close();
    client.read_all();

    const std::vector<std::string> targets = server.targets();
    ASSERT_GT(targets.size(), served);
    EXPECT_EQ(targets[served], vector.target);
    // Some vectors end the connection; then nothing follows.
    ASSERT_LE(targets.size(), served + 2);
    if (targets.size() == served + 2) {
      EXPECT_EQ(targets.back(), "/next");
    }
    served = targets.size();
  }
}

TEST(Abuse, EarlierRequestsAreAnsweredBeforeTheRefusal) {
  TestServer server;
  RawClient client(server.port());
  client.send(get("/hold") + "BAD\r\n\r\n");
  auto entry = server.held().take();

  answer_with(std::move(entry), "good");

  EXPECT_EQ(client.read_answer()->body, "good");
  EXPECT_EQ(client.read_answer()->status, 400);
  EXPECT_EQ(client.read_all(), "");
}

TEST(Abuse, TheDefaultLimitsAreThoseDocumented) {
  struct Row {
    std::string name;
    std::string bytes;
    int status;
  };
  std::string many;
  for (int i = 0; i < 100; ++i) many += "X: 1\r\n";
  std::string lines;
  for (int i = 0; i < 5; ++i) lines += "X: " + std::string(8'000, 'v') + "\r\n";
  const Row rows[] = {
      {"target of 8 KiB", get("/" + std::string(8'191, 'x')), 200},
      {"target over 8 KiB", get("/" + std::string(8'192, 'x')), 414},
      {"line of 8 KiB", get("/", "X: " + std::string(8'189, 'v') + "\r\n"), 200},
      {"line over 8 KiB", get("/", "X: " + std::string(8'190, 'v') + "\r\n"), 431},
      {"100 fields", get("/", many.substr(6)), 200},
      {"101 fields", get("/", many), 431},
      {"block over 32 KiB", get("/", lines), 431},
      {"body over 10 MiB", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10485761\r\n\r\n", 413},
      {"chunk over 10 MiB",
       "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nA00001\r\nx", 413},
  };
  TestServer server;
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    RawClient client(server.port());
    client.send(row.bytes);
    const auto answer = client.read_answer();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, row.status);
  }
}

TEST(Abuse, ARefusalReachesAClientThatIsStillSending) {
  TestServer server;
  RawClient client(server.port());
  std::jthread sender([&] {
    client.send(post("/x", std::string(20U << 20U, 'x')));  // twice the limit
  });

  const auto answer = client.read_answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 413);
  client.half_close();
  sender.join();
}

TEST(Abuse, SlowHeadersAreCutOff) {
  ServerOptions options;
  options.limits.header_deadline = 200ms;
  TestServer server(std::move(options));
  RawClient client(server.port());
  const auto start = Time::now();

  const std::string bytes = get("/x", "X: " + std::string(5'000, 'v') + "\r\n");
  std::size_t sent = 0;
  while (client.stays_silent(10ms) && sent < bytes.size()) client.send(bytes.substr(sent++, 1));

  EXPECT_EQ(client.read_answer()->status, 408);
  EXPECT_GE(Time::now() - start, 200ms);
  EXPECT_TRUE(server.targets().empty());
  EXPECT_EQ(server.server().stats().timeouts_total, 1U);
}

TEST(Abuse, SlowBodiesAreCutOff) {
  ServerOptions options;
  options.limits.body_grace = 100ms;
  options.limits.body_rate_min = 1'000'000;
  TestServer server(std::move(options));
  for (const std::string framing : {"Content-Length: 5000", "Transfer-Encoding: chunked"}) {
    SCOPED_TRACE(framing);
    RawClient client(server.port());
    client.send("POST /x HTTP/1.1\r\nHost: a\r\n" + framing + "\r\n\r\n");

    while (client.stays_silent(10ms)) client.send("1");

    EXPECT_NE(client.read_all().find(" 40"), std::string::npos);  // 408; 400 for the endless size
  }
  EXPECT_TRUE(server.targets().empty());
}

TEST(Abuse, ABodyAtTheMinimumRateIsRead) {
  ServerOptions options;
  options.limits.body_grace = 200ms;
  options.limits.body_rate_min = 1;
  TestServer server(std::move(options));
  RawClient client(server.port());

  // The first sixty earn it a minute, so that a slow machine has time for the rest.
  client.send("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n" + std::string(60, 'b'));
  for (int i = 0; i < 40; ++i) {
    EXPECT_TRUE(client.stays_silent(10ms));
    client.send("b");
  }

  EXPECT_EQ(client.read_answer()->status, 200);
}

TEST(Abuse, SlowReadersAreCutOff) {
  ServerOptions options;
  options.limits.write_deadline = 200ms;
  TestServer server(std::move(options));
  RawClient client(server.port(), 4'096);
  client.send(get("/big"));

  EXPECT_TRUE(
      server.eventually([](const ServerStats& stats) { return stats.timeouts_total == 1; }));
  EXPECT_TRUE(
      server.eventually([](const ServerStats& stats) { return stats.connections_open == 0; }));
}

TEST(Abuse, AClientThatPipelinesAndNeverReadsIsBounded) {
  ServerOptions options;
  options.limits.write_deadline = 300ms;
  TestServer server(std::move(options));
  RawClient client(server.port(), 4'096);
  const std::string request = post("/echo", std::string(60'000, 'x'));

  while (client.send(request)) {
  }

  EXPECT_TRUE(
      server.eventually([](const ServerStats& stats) { return stats.timeouts_total == 1; }));
}

TEST(Abuse, IdleConnectionsEndAfterTheirDeadline) {
  ServerOptions options;
  options.limits.idle_deadline = 1s;
  TestServer server(std::move(options));
  RawClient used(server.port());
  used.send(get("/x"));
  RawClient silent(server.port());
  EXPECT_EQ(used.read_answer()->status, 200);

  EXPECT_EQ(silent.read_all(), "");
  EXPECT_EQ(used.read_all(), "");
}

TEST(Abuse, ARequestUnderWayIsNotIdle) {
  ServerOptions options;
  options.limits.idle_deadline = 1s;
  TestServer server(std::move(options));
  RawClient client(server.port());
  client.send(get("/hold"));
  auto entry = server.held().take();

  EXPECT_TRUE(client.stays_silent(1'500ms));
  answer_with(std::move(entry), "late");

  EXPECT_EQ(client.read_answer()->body, "late");
}

TEST(Abuse, AtTheCapAConnectionIsTurnedAway) {
  ServerOptions options;
  options.limits.connections_max = 2;
  TestServer server(std::move(options));
  RawClient first(server.port());
  {
    RawClient second(server.port());
    first.send(get("/1"));
    second.send(get("/2"));
    EXPECT_EQ(first.read_answer()->status, 200);
    EXPECT_EQ(second.read_answer()->status, 200);

    RawClient third(server.port());
    const auto refused = third.read_answer();
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->status, 503);
    EXPECT_TRUE(refused->has("Retry-After: 1"));
    EXPECT_EQ(third.read_all(), "");
    EXPECT_EQ(server.server().stats().connections_refused, 1U);
  }
  ASSERT_TRUE(
      server.eventually([](const ServerStats& stats) { return stats.connections_open == 1; }));

  RawClient fourth(server.port());
  fourth.send(get("/4"));
  EXPECT_EQ(fourth.read_answer()->status, 200);
}

TEST(Abuse, OnePeerCannotTakeAllConnections) {
  ServerOptions options;
  options.limits.connections_per_peer_max = 1;
  TestServer server(std::move(options));
  RawClient first(server.port());
  first.send(get("/1"));
  EXPECT_EQ(first.read_answer()->status, 200);

  RawClient second(server.port());

  EXPECT_EQ(second.read_answer()->status, 503);
}

TEST(Abuse, RunningOutOfDescriptorsDoesNotEndTheServer) {
  TestServer server;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  RawClient served(server.port());
  served.send(get("/first"));
  EXPECT_EQ(served.read_answer()->status, 200);

  // A client that is connected, but for which the server has no descriptor left.
  const int probe = ::dup(0);
  ::close(probe);
  const rlimit tight{static_cast<rlim_t>(probe) + 1, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
  RawClient starved(server.port());  // takes the last descriptor
  starved.send(get("/starved"));
  EXPECT_TRUE(starved.stays_silent(300ms));
  served.send(get("/still-served"));
  EXPECT_EQ(served.read_answer()->status, 200);

  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(starved.read_answer()->status, 200);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::http::test
