#include <gtest/gtest.h>

#include <atomic>
#include <set>

#include "integration/edge/harness.h"

namespace hk::http::test {

namespace HK_TEST_FILE {

Handler ignore() {
  return [](Request&&, Responder, IoThread&) {};
}

TEST(Lifecycle, APortInUseIsAnErrorThatSaysWhatToDo) {
  for (const std::size_t threads : {1U, 2U}) {
    SCOPED_TRACE(threads);
    ServerOptions taken;
    taken.threads = threads;
    TestServer server(std::move(taken));
    ServerOptions options;
    options.port = server.port();
    options.threads = threads;

    const Result<void> started = make_server(std::move(options))->start(ignore());

    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().kind, ErrorKind::unavailable);
    EXPECT_NE(started.error().message.find("port " + std::to_string(server.port())),
              std::string::npos);
    EXPECT_NE(started.error().message.find("choose another port"), std::string::npos);
  }
}

TEST(Lifecycle, ABadAddressIsAnError) {
  for (const std::string address : {"", "localhost", "300.0.0.1", "192.0.2.1"}) {
    ServerOptions options;
    options.address = address;
    options.port = 0;
    const Result<void> started = make_server(std::move(options))->start(ignore());
    ASSERT_FALSE(started) << address;
    EXPECT_EQ(started.error().kind, ErrorKind::invalid_argument) << started.error().message;
  }
}

TEST(Lifecycle, MissingTlsFilesAreAnError) {
  ServerOptions options;
  options.port = 0;
  options.tls = std::make_unique<TlsFiles>(TlsFiles{"missing.crt", "missing.key"});

  const Result<void> started = make_server(std::move(options))->start(ignore());

  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().kind, ErrorKind::invalid_argument);
  EXPECT_NE(started.error().message.find("missing.crt"), std::string::npos);
}

TEST(Lifecycle, AServerThatNeverStartedCanBeStopped) {
  const auto server = make_server({});
  server->stop(1s);
  EXPECT_EQ(server->stats().connections_total, 0U);
  EXPECT_FALSE(server->reload_tls());
}

TEST(Lifecycle, WhoConnectsBeforeItAcceptsWaits) {
  ServerOptions options;
  options.port = 0;
  options.accept_later = true;
  std::atomic<bool> accepting{false};
  const auto server = make_server(std::move(options));
  ASSERT_TRUE(server->start([&](Request&&, Responder responder, IoThread&) {
    responder({.status = accepting ? 200 : 503});
  }));
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 100; ++i) {
    clients.push_back(std::make_unique<RawClient>(server->port()));
    clients.back()->send(get("/x"));
  }
  accepting = true;
  server->accept();
  for (const auto& client : clients) {
    EXPECT_EQ(client->read_answer()->status, 200);
  }
  server->stop(1s);
}

TEST(Lifecycle, StoppingEndsIdleConnectionsAtOnce) {
  TestServer server;
  RawClient idle(server.port());
  RawClient used(server.port());
  used.send(get("/x"));
  EXPECT_EQ(used.read_answer()->status, 200);
  ASSERT_TRUE(
      server.eventually([](const ServerStats& stats) { return stats.connections_open == 2; }));

  server.server().stop(1h);  // a stop that waits for them meets the end of the test's time

  EXPECT_EQ(idle.read_all(), "");
  EXPECT_EQ(used.read_all(), "");
  EXPECT_FALSE(RawClient(server.port()).connected());
}

TEST(Lifecycle, StoppingLetsRequestsUnderWayFinish) {
  TestServer server;
  RawClient waiting(server.port());
  RawClient sending(server.port());
  waiting.send(get("/hold"));
  auto entry = server.held().take();
  sending.send(
      "POST /late HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(sending.read_answer()->status, 100);  // its head is in before the drain begins
  sending.send("hel");

  std::jthread stopper([&] { server.server().stop(patience); });
  while (RawClient(server.port()).connected()) std::this_thread::sleep_for(1ms);
  answer_with(std::move(entry), "done");
  sending.send("lo");

  const auto answer = waiting.read_answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, "done");
  EXPECT_TRUE(answer->has("Connection: close"));
  EXPECT_EQ(waiting.read_all(), "");
  waiting.half_close();
  const auto late = sending.read_answer();
  ASSERT_TRUE(late);
  EXPECT_EQ(late->body, "POST /late hello");
  EXPECT_TRUE(late->has("Connection: close"));
  sending.half_close();
  stopper.join();
}

TEST(Lifecycle, StoppingDoesNotWaitForEver) {
  TestServer server;
  RawClient client(server.port());
  client.send(get("/hold"));
  auto entry = server.held().take();

  server.server().stop(100ms);

  EXPECT_EQ(client.read_all(), "");
  entry.responder({.body = "too late"});  // after the end it has no effect
}

TEST(Lifecycle, AResponderMayOutliveTheServer) {
  Held::Entry entry;
  {
    TestServer server;
    RawClient client(server.port());
    client.send(get("/hold"));
    entry = server.held().take();
  }
  entry.responder({.body = "too late"});
}

TEST(Lifecycle, AllThreadsServe) {
  ServerOptions options;
  options.threads = 3;
  options.port = 0;
  std::mutex mutex;
  std::set<std::size_t> seen;
  const auto server = make_server(std::move(options));
  ASSERT_EQ(server->threads().size(), 3U);
  ASSERT_TRUE(server->start([&](Request&& request, Responder responder, IoThread& thread) {
    {
      const std::scoped_lock lock(mutex);
      seen.insert(thread.index());
    }
    responder({.body = request.target});
  }));

  for (int i = 0; i < 2'000; ++i) {  // the kernel spreads connections by a hash of their ports
    RawClient client(server->port());
    client.send(get("/x"));
    ASSERT_EQ(client.read_answer()->body, "/x");
    const std::scoped_lock lock(mutex);
    if (seen.size() == 3) break;
  }

  EXPECT_EQ(seen.size(), 3U);
  server->stop(1s);
}

TEST(Lifecycle, ManyClientsOnManyThreadsGetTheirOwnAnswers) {
  ServerOptions options;
  options.threads = 2;
  TestServer server(std::move(options));
  std::atomic<int> wrong{0};
  std::vector<std::thread> clients;
  for (int c = 0; c < 8; ++c) {
    clients.emplace_back([&, c] {
      RawClient client(server.port());
      for (int i = 0; i < 100; ++i) {
        const std::string target = "/" + std::to_string(c) + "-" + std::to_string(i);
        client.send(get(target) + get(target));
        for (int twice = 0; twice < 2; ++twice) {
          const auto answer = client.read_answer();
          if (!answer || answer->body != "GET " + target + " ") ++wrong;
        }
      }
    });
  }
  for (std::thread& client : clients) client.join();

  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(server.server().stats().requests_total, 1'600U);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::http::test
