#include <atomic>
#include <future>

#include "harness.h"

namespace hk::http::test {

namespace HK_TEST_FILE {

/// Watches the request on its thread; the future is ready once its peer is gone.
std::future<void> watch(Held::Entry& entry) {
  auto gone = std::make_shared<std::promise<void>>();
  std::promise<void> watching;
  entry.thread->post([&] {
    entry.responder.when_gone([gone] { gone->set_value(); });
    watching.set_value();
  });
  watching.get_future().wait();
  return gone->get_future();
}

TEST(Gone, AClientThatHangsUpIsTold) {
  for (const char* connection : {"", "Connection: close\r\n"}) {
    TestServer server;
    Held::Entry entry;
    std::future<void> gone;
    {
      RawClient client(server.port());
      client.send("GET /hold HTTP/1.1\r\nHost: a\r\n" + std::string(connection) + "\r\n");
      entry = server.held().take();
      gone = watch(entry);
      EXPECT_EQ(gone.wait_for(50ms), std::future_status::timeout);
    }
    EXPECT_EQ(gone.wait_for(patience), std::future_status::ready) << connection;
    answer_with(std::move(entry), "nobody reads it");
  }
}

TEST(Gone, AClientThatOnlySendsNoMoreIsToldAndMayBeAnsweredStill) {
  TestServer server;
  RawClient client(server.port());
  client.send(get("/hold"));
  auto entry = server.held().take();
  auto gone = watch(entry);

  client.half_close();

  EXPECT_EQ(gone.wait_for(patience), std::future_status::ready);
  answer_with(std::move(entry), "still here");
  EXPECT_EQ(client.read_answer()->body, "still here");
}

TEST(Gone, AClientThatHasGoneBeforeAnybodyWatchesIsToldToo) {
  TestServer server;
  RawClient client(server.port());
  client.send(get("/hold"));
  auto entry = server.held().take();
  client.half_close();
  // The second request is seen by nobody; by then the end of the first one's input has been read.
  RawClient other(server.port());
  other.send(get("/now"));
  other.read_answer();

  EXPECT_EQ(watch(entry).wait_for(patience), std::future_status::ready);
  answer_with(std::move(entry), "still here");
  EXPECT_EQ(client.read_answer()->body, "still here");
}

TEST(Gone, NobodyIsToldAfterTheAnswer) {
  TestServer server;
  std::future<void> gone;
  {
    RawClient client(server.port());
    client.send(get("/hold"));
    auto entry = server.held().take();
    gone = watch(entry);
    answer_with(std::move(entry), "in time");
    EXPECT_EQ(client.read_answer()->body, "in time");
  }
  EXPECT_TRUE(
      server.eventually([](const ServerStats& stats) { return stats.connections_open == 0; }));
  // The one who would have been told is gone with its slot.
  EXPECT_THROW(gone.get(), std::future_error);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::http::test
