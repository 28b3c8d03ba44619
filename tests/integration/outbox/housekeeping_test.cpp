/// Counting and deleting, where they cannot be done.
#include "outbox/housekeeping.h"

#include <chrono>

#include "integration/outbox/relay_fixture.h"
#include "observe/metrics.h"

namespace hk::outbox::test {
namespace HK_TEST_FILE {

using namespace std::chrono_literals;

class HousekeepingTest : public OutboxTest {
 protected:
  HousekeepingTest() {
    init();
    settings.retention_finished = 1h;
  }

  void old_rows(int count) {
    run(database,
        "INSERT INTO hikyaku_outbox (idempotency_key, payload, status, updated_at) "
        "SELECT 'old' || i, '1', 'succeeded', now() - interval '1 day' "
        "FROM generate_series(1, $1::integer) i",
        {std::int64_t{count}});
  }
  std::string rows_left() { return text(database, "SELECT count(*) FROM hikyaku_outbox"); }

  observe::Metrics all_metrics;
  RelayMetrics metrics{all_metrics};
  RelayLog log{settings, "http", nullptr};
  const Housekeeping::Clock::time_point start = Housekeeping::Clock::now();
};

TEST_F(HousekeepingTest, ARowThatIsReferencedIsTriedAgainInItsTimeOverTheSameConnection) {
  old_rows(1);
  run(database, "CREATE TABLE notes (row_id bigint REFERENCES hikyaku_outbox (id))");
  run(database, "INSERT INTO notes SELECT id FROM hikyaku_outbox");
  Relay one = relay();
  Housekeeping housekeeping(settings, metrics, log);

  EXPECT_TRUE(housekeeping.run(one.store, start, false));

  EXPECT_EQ(rows_left(), "1");
  EXPECT_GE(housekeeping.next(false), start + 5s) << "not at once";
  EXPECT_TRUE(one.store.connected());
  run(database, "DROP TABLE notes");
  EXPECT_TRUE(housekeeping.run(one.store, start + 31s, false));
  EXPECT_EQ(rows_left(), "0");
}

TEST_F(HousekeepingTest, ARoleThatMayNotDeleteKeepsItsConnection) {
  old_rows(1);
  Relay one = relay();
  run(one.database, "CREATE ROLE nobody_deletes_" + text(one.database, "SELECT pg_backend_pid()"));
  run(database, "GRANT SELECT, UPDATE ON ALL TABLES IN SCHEMA public TO PUBLIC");
  run(one.database, "SET ROLE nobody_deletes_" + text(one.database, "SELECT pg_backend_pid()"));
  Housekeeping housekeeping(settings, metrics, log);

  EXPECT_EQ(one.store.clean_up(1).error().sqlstate, "42501");
  EXPECT_TRUE(housekeeping.run(one.store, start, false));

  EXPECT_TRUE(one.store.connected());
  EXPECT_EQ(rows_left(), "1");
}

TEST_F(HousekeepingTest, FewerRowsAreDeletedAtOnceAfterItTookTooLong) {
  old_rows(100);
  run(database,
      "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.07); "
      "RETURN OLD; END $$");
  run(database,
      "CREATE TRIGGER slow BEFORE DELETE ON hikyaku_outbox FOR EACH ROW EXECUTE FUNCTION slow()");
  Relay one = relay();
  Housekeeping housekeeping(settings, metrics, log);
  const std::size_t rows = housekeeping.rows();

  EXPECT_TRUE(housekeeping.run(one.store, start, false));

  EXPECT_EQ(housekeeping.rows(), rows / 2);
  EXPECT_EQ(rows_left(), "100");
  EXPECT_TRUE(one.store.connected());
  EXPECT_GE(housekeeping.next(false), start + 5s);
}

TEST_F(HousekeepingTest, ALostConnectionIsAnError) {
  Relay one = relay();
  run(database, "SELECT pg_terminate_backend($1::integer)",
      {text(one.database, "SELECT pg_backend_pid()")});
  Housekeeping housekeeping(settings, metrics, log);

  EXPECT_FALSE(housekeeping.run(one.store, start, false));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::outbox::test
