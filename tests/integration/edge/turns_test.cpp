#include <algorithm>
#include <future>
#include <list>

#include "harness.h"

namespace hk::http::test {

namespace HK_TEST_FILE {

TEST(Turns, WhoHasManyConnectionsIsNotReadBeforeEverybodyElse) {
  constexpr int many = 200;
  TestServer server;
  std::list<RawClient> greedy;
  for (int i = 0; i < many; ++i) {
    greedy.emplace_back(server.port()).send(get("/of/1"));
    ASSERT_TRUE(greedy.back().read_answer());
  }
  RawClient polite(server.port());
  polite.send(get("/of/2"));
  ASSERT_TRUE(polite.read_answer());
  const std::size_t before = server.targets().size();

  // All of them are ready while nobody reads, the polite one last.
  std::promise<void> busy;
  std::promise<void> go;
  server.server().threads().front()->post([&] {
    busy.set_value();
    go.get_future().wait();
  });
  busy.get_future().wait();
  for (RawClient& client : greedy) client.send(get("/of/1?again"));
  polite.send(get("/of/2?again"));
  for (const RawClient& client : greedy) client.wait_sent();
  polite.wait_sent();
  go.set_value();

  for (RawClient& client : greedy) ASSERT_TRUE(client.read_answer());
  ASSERT_TRUE(polite.read_answer());
  const auto targets = server.targets();
  const auto at = std::ranges::find(targets, "/of/2?again") - targets.begin();
  EXPECT_LT(static_cast<std::size_t>(at) - before, 10U);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::http::test
