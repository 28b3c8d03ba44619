#include "api/shedding.h"

#include <gtest/gtest.h>

#include <vector>

namespace hk::api {
namespace HK_TEST_FILE {

using std::chrono::milliseconds;

constexpr core::TenantId one{1};
constexpr core::TenantId other{2};
constexpr milliseconds delay_max{1000};
constexpr milliseconds tick{10};

/// A server that answers some commands in every tick; and what is offered to it.
class Server {
 public:
  explicit Server(milliseconds delay = delay_max) : shedding(delay) {}

  /// How many of so many are taken.
  std::size_t offer(std::size_t count, core::TenantId tenant = one) {
    std::size_t taken = 0;
    for (std::size_t i = 0; i < count; ++i) {
      taken += shedding.takes(tenant) ? 1 : 0;
    }
    const std::vector<core::TenantId> begun(taken, tenant);
    shedding.begun(now, begun);
    under_way += taken;
    refused += count - taken;
    return taken;
  }
  /// Time passes, and up to `answers` are answered; what is read next has waited for `lag`.
  void pass(std::size_t answers, milliseconds lag = milliseconds{0}, milliseconds time = tick) {
    now += time;
    const std::size_t count = std::min(answers, under_way);
    if (count > 0) {
      shedding.answered(now, count);
    }
    under_way -= count;
    shedding.on_lag(now, lag);
  }
  /// A round over so many sockets that it takes so long, with so many read and answered in a tick.
  std::size_t round(milliseconds time, std::size_t each) {
    std::size_t taken = 0;
    for (milliseconds t{0}; t < time; t += tick) {
      const std::size_t now_taken = offer(each);
      now += tick;
      shedding.answered(now, now_taken);
      under_way -= now_taken;
      taken += now_taken;
    }
    shedding.on_lag(now, time);
    return taken;
  }
  /// For so long, with so many offered and answered in each tick.
  void run(milliseconds time, std::size_t offered, std::size_t answers) {
    for (milliseconds t{0}; t < time; t += tick) {
      offer(offered);
      pass(answers);
    }
  }

  Shedding shedding;
  Shedding::Time now{Shedding::Time{} + std::chrono::hours{1}};
  std::size_t under_way = 0;
  std::size_t refused = 0;
};

TEST(Shedding, TakesEverythingThatCanBeServedInTime) {
  Server server;
  server.offer(9'500);  // and each is offered again when it is answered: 10,000/s
  server.run(milliseconds{10'000}, 100, 100);
  EXPECT_EQ(server.refused, 0U);
}

TEST(Shedding, TakesABurstHoweverLargeIfItIsSoonOver) {
  Server server;
  server.run(milliseconds{1000}, 100, 100);
  for (int i = 0; i < 5; ++i) {
    server.offer(12'000);  // a wait of 1.2 s, and of less than 1 s after 200 ms
    server.run(milliseconds{2000}, 0, 100);
  }
  EXPECT_EQ(server.refused, 0U);
}

TEST(Shedding, AfterLightTrafficABurstIsJudgedByWhatIsThenServed) {
  Server server;
  server.run(milliseconds{5000}, 1, 1);  // 100/s, although it could serve 10,000/s
  server.offer(9'000);
  server.run(milliseconds{1000}, 90, 100);
  EXPECT_EQ(server.refused, 0U);
}

TEST(Shedding, AStallIsNoOverload) {
  Server server;
  server.run(milliseconds{1000}, 100, 100);
  for (int i = 0; i < 10; ++i) {  // as when the process is stopped again and again
    server.offer(600);
    server.pass(0, milliseconds{2500}, milliseconds{2500});
    server.run(milliseconds{200}, 100, 1000);
  }
  for (int i = 0; i < 10; ++i) {  // or the disk
    server.offer(600);
    server.run(milliseconds{900}, 0, 0);
    server.run(milliseconds{200}, 100, 1000);
  }
  EXPECT_EQ(server.refused, 0U);
}

TEST(Shedding, KeepsWhatCanBeServedInTime) {
  Server server;
  server.run(milliseconds{3000}, 300, 100);  // three times what it can do
  EXPECT_GT(server.refused, 0U);
  // Of 10,000/s, a second; what came while it was not yet sure was 200 more in each tick.
  EXPECT_LE(server.under_way, 10'000U);
  server.run(milliseconds{3000}, 300, 100);
  EXPECT_GE(server.under_way, 9'000U);
  EXPECT_LE(server.under_way, 10'500U);
}

TEST(Shedding, TheQueueStandsForAWhileFirst) {
  Server server;
  server.run(milliseconds{1000}, 100, 100);
  server.offer(12'000);
  server.run(Shedding::interval - tick, 110, 100);
  EXPECT_EQ(server.refused, 0U);
  server.run(milliseconds{100}, 110, 100);
  EXPECT_GT(server.refused, 0U);
}

TEST(Shedding, WhatWaitsToBeReadCounts) {
  Server server;
  // 20,000 sockets are ready, and 10,000 can be served in a second.
  EXPECT_EQ(server.round(milliseconds{2000}, 100), 20'000U);
  EXPECT_EQ(server.round(milliseconds{2000}, 100), 20'000U);
  EXPECT_EQ(server.round(milliseconds{2000}, 100), 10'000U);
}

TEST(Shedding, FewAreTakenHoweverLongTheyTake) {
  Server server(milliseconds{1});
  server.offer(Shedding::kept_min - 1);
  server.run(milliseconds{10'000}, 1, 1);
  EXPECT_EQ(server.refused, 0U);
}

TEST(Shedding, WhoHasLittleThereIsNotRefusedForWhoHasMuch) {
  Server server;
  for (milliseconds t{0}; t < milliseconds{3000}; t += tick) {
    server.offer(300);
    EXPECT_EQ(server.offer(40, other), 40U) << "less than half of what is served";
    server.pass(100);
  }
  EXPECT_GT(server.refused, 0U);
}

TEST(Shedding, WhatSomeLeaveIsSharedByTheRest) {
  Server server;
  const core::TenantId third{3};
  std::size_t most = 0;
  std::size_t middle = 0;
  for (milliseconds t{0}; t < milliseconds{6000}; t += tick) {
    server.offer(5, other);
    most += server.offer(300);
    // More than a third of what is kept when the queue is longest, less than half of the rest.
    middle += server.offer(25, third);
    server.pass(100);
  }
  EXPECT_EQ(middle, 25U * 600U);
  EXPECT_GT(server.refused, 0U);
  EXPECT_GT(most, 0U);
}

TEST(Shedding, IsOverWhenNothingHadToBeRefusedForAWhile) {
  Server server;
  server.run(milliseconds{3000}, 300, 100);
  server.run(milliseconds{3000}, 0, 100);
  const std::size_t before = server.refused;
  EXPECT_EQ(server.offer(12'000), 12'000U) << "a burst again";
  EXPECT_EQ(server.refused, before);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api
