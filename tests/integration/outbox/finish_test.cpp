/// Outcomes written in two halves, while another connection claims.
#include "integration/outbox/relay_fixture.h"

namespace hk::outbox::test {
namespace {

class FinishTest : public OutboxTest {
 protected:
  FinishTest() { init(); }

  static Finished finished(const Claimed& row, Outcome outcome) {
    return {row.row.claim, row.row.idempotency_key, row.row.request_digest, std::move(outcome)};
  }
};

TEST_F(FinishTest, RowsAreClaimedOverAnotherConnectionWhileOutcomesAreWritten) {
  for (const char* key : {"a", "b", "c"}) {
    enqueue(key);
  }
  Relay claiming = relay();
  Relay writing = relay();
  const auto rows = claiming.claim(2);
  const std::vector<Finished> outcomes = {finished(rows.at(0), succeeded("1")),
                                          finished(rows.at(1), failed())};

  value(writing.store.begin_finish(outcomes));
  const auto more = claiming.claim();
  const auto written = value(writing.store.end_finish(outcomes));

  EXPECT_EQ(written, (std::vector{Written::succeeded, Written::failed}));
  ASSERT_EQ(more.size(), 1U);
  EXPECT_EQ(more[0].row.idempotency_key, "c");
  EXPECT_EQ(row("a"), "succeeded 1");
  EXPECT_EQ(ledger("a"), "succeeded 200");
  EXPECT_EQ(row("b"), "failed 1 BROKER_TIMEOUT");
}

TEST_F(FinishTest, ARowThatTheDatabaseRefusesIsFoundOutAfterwards) {
  run(database, "ALTER TABLE hikyaku_ledger ADD CONSTRAINT no_b CHECK (idempotency_key <> 'b')");
  for (const char* key : {"a", "b"}) {
    enqueue(key);
  }
  Relay one = relay();
  const auto rows = one.claim();
  const std::vector<Finished> outcomes = {finished(rows.at(0), succeeded()),
                                          finished(rows.at(1), succeeded())};

  value(one.store.begin_finish(outcomes));
  const auto written = value(one.store.end_finish(outcomes));

  EXPECT_EQ(written, (std::vector{Written::succeeded, Written::unwritten}));
  EXPECT_EQ(row("a"), "succeeded 1");
  EXPECT_EQ(row("b"), "sending 0");
}

}  // namespace
}  // namespace hk::outbox::test
