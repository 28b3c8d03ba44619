/// What a relay knows of its leases, by heartbeats to a real table and a clock of the test's own.
#include "outbox/relay_leases.h"

#include <chrono>
#include <map>
#include <memory>
#include <string>

#include "integration/outbox/relay_fixture.h"
#include "observe/metrics.h"

namespace hk::outbox::test {
namespace HK_TEST_FILE {

using namespace std::chrono_literals;
using State = Lease::State;

class TablesAreThere : public OutboxTest {
 protected:
  TablesAreThere() {
    init();
    settings.lock_lease = 100s;
  }
};

class RelayLeasesTest : public TablesAreThere {
 protected:
  RelayLeasesTest() {
    for (const char* key : {"a", "b", "c"}) {
      enqueue(key);
    }
    for (const Claimed& claimed : one.claim()) {
      Sending& sending = rows[name_of(claimed.row.claim)];
      sending.claim = claimed.row.claim;
      sending.lease = leases.claimed(start);
      by_key[claimed.row.idempotency_key] = sending.lease;
    }
  }

  State state(const std::string& key, RelayLeases::Clock::time_point now) {
    return by_key.at(key)->at(now);
  }

  observe::Metrics all_metrics;
  RelayMetrics metrics{all_metrics};
  RelayLog log{settings, "http", nullptr};
  RelayLeases leases{settings, metrics, log};
  const RelayLeases::Clock::time_point start = RelayLeases::Clock::now();
  Relay one = relay();
  SendingRows rows;
  std::map<std::string, std::shared_ptr<Lease>> by_key;
};

TEST_F(RelayLeasesTest, AHeartbeatMakesNewWhatIsOursAndSaysWhatIsNot) {
  run(database, "UPDATE hikyaku_outbox SET locked_by = 'other' WHERE idempotency_key = 'b'");
  ASSERT_EQ(state("b", start + 50s), State::ours) << "nobody has asked yet";

  EXPECT_TRUE(value(leases.keep(one.store, rows, start + 50s)));

  EXPECT_EQ(state("a", start + 139s), State::ours);
  EXPECT_EQ(state("b", start + 50s), State::lost);
  EXPECT_EQ(leases.next_heartbeat(), start + 100s);
  EXPECT_FALSE(value(leases.keep(one.store, rows, start + 99s))) << "not yet";
}

TEST_F(RelayLeasesTest, WithoutAnAnswerNothingIsMadeNew) {
  run(database, "SELECT pg_terminate_backend($1::integer)",
      {text(one.database, "SELECT pg_backend_pid()")});

  EXPECT_FALSE(leases.keep(one.store, rows, start + 50s));

  EXPECT_EQ(state("a", start + 89s), State::ours);
  EXPECT_EQ(state("a", start + 90s), State::in_doubt);
  Relay again = relay();
  EXPECT_TRUE(value(leases.keep(again.store, rows, start + 1h)));
  EXPECT_EQ(state("a", start + 1h), State::ours) << "nobody has taken it meanwhile";
}

TEST_F(RelayLeasesTest, TheFirstAnswerOfADatabaseThatWasAwayIsNotWaitedFor) {
  EXPECT_TRUE(value(leases.keep(one.store, rows, start)));
  run(database,
      "UPDATE hikyaku_outbox SET status = 'pending', locked_by = NULL");  // a crash forgot

  leases.ask_at_once();
  EXPECT_TRUE(value(leases.keep(one.store, rows, start + 1s)));

  EXPECT_EQ(state("a", start + 1s), State::lost);
}

TEST_F(RelayLeasesTest, ALockedRowIsNotMadeNewAndInTheEndLeftToItsLease) {
  Database somebody = connect(where);
  run(somebody, "BEGIN");
  run(somebody, "SELECT 1 FROM hikyaku_outbox WHERE idempotency_key = 'b' FOR UPDATE");

  EXPECT_TRUE(value(leases.keep(one.store, rows, start + 50s)));
  EXPECT_EQ(state("a", start + 100s), State::ours);
  EXPECT_EQ(state("b", start + 89s), State::ours);
  EXPECT_EQ(state("b", start + 100s), State::in_doubt);

  EXPECT_TRUE(value(leases.keep(one.store, rows, start + 100s)));
  EXPECT_EQ(state("b", start + 100s), State::lost) << "others need its place";
}

}  // namespace HK_TEST_FILE
}  // namespace hk::outbox::test
