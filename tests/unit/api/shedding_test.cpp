#include "api/shedding.h"

#include <gtest/gtest.h>

namespace hk::api {
namespace HK_TEST_FILE {

using std::chrono::milliseconds;

constexpr core::TenantId one{1};
constexpr core::TenantId other{2};
constexpr milliseconds delay_max{10};

/// An I/O thread whose clients send their next publish when the last is answered, so that
/// `connections` of them are under way all the time.
class Clients {
 public:
  explicit Clients(milliseconds delay = delay_max) : shedding(delay) {
    shedding.on_lag(now_, milliseconds{0}, milliseconds{0});  // the first window begins
  }

  /// One window: every publish waits for `lag` to be read and for `served` to be answered.
  void window(std::size_t connections, milliseconds lag, milliseconds served = milliseconds{0},
              milliseconds sync = milliseconds{0}) {
    const auto rounds = Shedding::window / (lag + served);
    for (milliseconds::rep i = 0; i < rounds; ++i) {
      refused = connections - taken(connections);
      shedding.begun(now_, connections);
      now_ += served;
      shedding.answered(now_, connections);
      now_ += lag;
      all_refused += refused;
      shedding.on_lag(now_, lag, sync);
    }
  }
  void overload(std::size_t connections = 600) {
    for (auto t = milliseconds{0}; t <= Shedding::burst; t += Shedding::window) {
      window(connections, milliseconds{20});
    }
  }
  std::size_t taken(std::size_t offered, core::TenantId tenant = one) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < offered; ++i) {
      count += shedding.takes(tenant) ? 1 : 0;
    }
    return count;
  }
  void pass(milliseconds time) { now_ += time; }
  void told(milliseconds lag, milliseconds after = Shedding::window) {
    now_ += after;
    shedding.on_lag(now_, lag, milliseconds{0});
  }

  Shedding shedding;
  std::size_t refused = 0;  ///< of the last round
  std::size_t all_refused = 0;

 private:
  Shedding::Time now_{Shedding::Time{} + std::chrono::hours{1}};
};

TEST(Shedding, TakesEverythingAsLongAsItIsAnsweredInTime) {
  Clients clients;
  for (int i = 0; i < 100; ++i) {
    clients.window(10'000, milliseconds{5}, milliseconds{5});
  }
  EXPECT_EQ(clients.all_refused, 0U);
}

TEST(Shedding, TakesABurst) {
  Clients clients;
  for (int i = 0; i < 10; ++i) {
    clients.window(600, milliseconds{50});
    clients.window(600, milliseconds{50});
    clients.window(600, milliseconds{1});
  }
  EXPECT_EQ(clients.all_refused, 0U);
}

TEST(Shedding, AStallIsNoOverload) {
  Clients clients;
  for (int i = 0; i < 10; ++i) {  // as when the process is stopped again and again
    EXPECT_EQ(clients.taken(600), 600U);
    clients.pass(milliseconds{2500});
    clients.told(milliseconds{2500});
    clients.window(600, milliseconds{1});
  }
  EXPECT_EQ(clients.all_refused, 0U);
}

TEST(Shedding, ClientsOfAServerThatIsStoppedAgainAndAgainAreNotTooMany) {
  Clients clients;
  for (int i = 0; i < 100; ++i) {
    clients.window(Shedding::kept_min, milliseconds{50}, milliseconds{50});
    clients.pass(milliseconds{1000});
  }
  EXPECT_EQ(clients.all_refused, 0U);
}

TEST(Shedding, RefusesWhatIsTooMuchAtOnceAndThatOnce) {
  Clients clients;
  clients.overload(600);  // 600 at once take 20 ms: 300 would take 10

  EXPECT_EQ(clients.taken(600), 300U);
  EXPECT_EQ(clients.taken(600), 600U);
}

TEST(Shedding, CountsTheTimeInTheServerToo) {
  Clients clients;
  for (int i = 0; i < 4; ++i) {
    clients.window(600, milliseconds{5}, milliseconds{15});
  }
  EXPECT_EQ(clients.taken(600), 300U);
}

TEST(Shedding, ASlowDiskIsNoOverload) {
  Clients clients;
  for (int i = 0; i < 100; ++i) {
    clients.window(600, milliseconds{5}, milliseconds{45}, milliseconds{20});
  }
  EXPECT_EQ(clients.all_refused, 0U);
}

TEST(Shedding, FewPublishesAreTakenHoweverLongTheyTake) {
  Clients clients;
  for (int i = 0; i < 100; ++i) {
    clients.window(Shedding::kept_min, milliseconds{100});
  }
  EXPECT_EQ(clients.all_refused, 0U);
  clients.window(Shedding::kept_min + 10, milliseconds{100});
  EXPECT_EQ(clients.taken(600), 590U);
}

TEST(Shedding, WhoAsksForLittleIsNotRefusedForWhoAsksForMuch) {
  Clients clients;
  for (int i = 0; i < 4; ++i) {
    for (int round = 0; round < 5; ++round) {
      EXPECT_EQ(clients.taken(590), 590U);
      EXPECT_EQ(clients.taken(10, other), 10U);
      clients.told(milliseconds{20}, milliseconds{20});
    }
  }
  EXPECT_EQ(clients.taken(10, other), 10U);
  EXPECT_EQ(clients.taken(590), 290U);
}

TEST(Shedding, IsOverAfterACalmWhile) {
  Clients clients;
  clients.overload();
  clients.window(600, milliseconds{1});
  // Not yet: what was refused comes back soon.
  clients.window(600, milliseconds{20});
  EXPECT_EQ(clients.taken(600), 300U);
  clients.pass(Shedding::calm);
  clients.window(600, milliseconds{1});
  const std::size_t before = clients.all_refused;
  clients.window(600, milliseconds{20});
  clients.window(600, milliseconds{20});
  EXPECT_EQ(clients.all_refused, before);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api
