/// Rows that leave the table when they have succeeded: OUTBOX_DELETE_SUCCEEDED.
#include "integration/outbox/relay_fixture.h"

namespace hk::outbox::test {
namespace HK_TEST_FILE {

using namespace std::chrono_literals;

class LeaveTest : public OutboxTest {
 protected:
  LeaveTest() {
    settings.table.delete_succeeded = true;
    settings.retention_finished = 1h;
    init();
  }

  static Finished finished(const Claimed& row, Outcome outcome) {
    return {row.row.claim, row.row.idempotency_key, row.row.request_digest, std::move(outcome),
            false,         row.row.in_ledger};
  }
  std::string keys_of(const std::string& table) {
    return text(
        database,
        "SELECT COALESCE(string_agg(idempotency_key, ' ' ORDER BY idempotency_key), '') FROM " +
            table);
  }
};

TEST_F(LeaveTest, WhatHasSucceededIsInTheLedgerAloneAndTheRestStays) {
  for (const char* key : {"a", "b", "c", "d"}) {
    enqueue(key);
  }
  run(database, "INSERT INTO hikyaku_ledger (idempotency_key, status) VALUES ('d', 'pending')");
  Relay one = relay();
  const auto rows = one.claim();

  EXPECT_EQ(
      one.finish({finished(rows.at(0), succeeded("1")), finished(rows.at(1), failed()),
                  finished(rows.at(2), aborted()), finished(rows.at(3), succeeded())}),
      (std::vector{Written::succeeded, Written::failed, Written::aborted, Written::succeeded}));

  EXPECT_EQ(keys_of("hikyaku_outbox"), "b c");
  EXPECT_EQ(ledger("a"), "succeeded 200");
  EXPECT_EQ(ledger("c"), "failed 400 PAYLOAD_INVALID");
  EXPECT_EQ(ledger("d"), "succeeded 200");
}

TEST_F(LeaveTest, ARowThatIsNoLongerOursStays) {
  enqueue("a");
  Relay one = relay();
  const auto rows = one.claim();
  run(database, "UPDATE hikyaku_outbox SET locked_by = 'other'");

  EXPECT_EQ(one.finish(rows.at(0), succeeded()), Written::refused);

  EXPECT_EQ(row("a"), "sending 0");
  EXPECT_EQ(ledger("a"), "succeeded 200");
}

TEST_F(LeaveTest, WhatIsSaidAgainAndHasLeftHasSucceeded) {
  enqueue("a");
  Relay one = relay();
  Finished outcome = finished(one.claim().at(0), succeeded());
  ASSERT_EQ(one.finish({outcome})[0], Written::succeeded);  // and the answer is lost
  outcome.again = true;

  EXPECT_EQ(one.finish({outcome})[0], Written::succeeded);
}

TEST_F(LeaveTest, AKeyThatHasSucceededIsNotSentAgainAlthoughItsRowIsGone) {
  enqueue("a");
  Relay one = relay();
  ASSERT_EQ(one.finish(one.claim().at(0), succeeded()), Written::succeeded);
  enqueue("a");
  enqueue("b");
  run(database, "UPDATE hikyaku_ledger SET idempotency_key = 'b', request_digest = 'sha256:other'");
  run(database,
      "INSERT INTO hikyaku_ledger (idempotency_key, request_digest, status) "
      "SELECT idempotency_key, request_digest, 'succeeded' FROM hikyaku_outbox "
      "WHERE idempotency_key = 'a'");

  const auto rows = one.claim();

  ASSERT_TRUE(rows.at(0).settled.has_value());
  EXPECT_EQ(rows[0].settled->ending, Ending::succeeded);
  ASSERT_TRUE(rows.at(1).settled.has_value());
  EXPECT_EQ(rows[1].settled->reason_code, "IDEMPOTENCY_CONFLICT");
  one.finish({finished(rows[0], *rows[0].settled), finished(rows[1], *rows[1].settled)});
  EXPECT_EQ(keys_of("hikyaku_outbox"), "b") << "for a person to see";
}

TEST_F(LeaveTest, ARowThatTheDatabaseKeepsIsMarkedInstead) {
  enqueue("a");
  enqueue("b");
  run(database, "CREATE TABLE notes (row_id bigint REFERENCES hikyaku_outbox (id))");
  run(database, "INSERT INTO notes SELECT id FROM hikyaku_outbox WHERE idempotency_key = 'a'");
  Relay one = relay();
  const auto rows = one.claim();

  EXPECT_EQ(one.finish({finished(rows.at(0), succeeded()), finished(rows.at(1), succeeded())}),
            (std::vector{Written::succeeded, Written::succeeded}));

  EXPECT_EQ(row("a"), "succeeded 1");
  EXPECT_EQ(keys_of("hikyaku_outbox"), "a");
}

TEST_F(LeaveTest, EntriesAreDeletedAfterTheRetentionUnlessARowIsLeftOfThem) {
  for (const char* key : {"gone", "kept", "young"}) {
    enqueue(key);
  }
  Relay one = relay();
  const auto rows = one.claim();
  one.finish({finished(rows.at(0), succeeded()), finished(rows.at(1), aborted()),
              finished(rows.at(2), succeeded())});
  run(database,
      "UPDATE hikyaku_ledger SET updated_at = now() - interval '2 hours', status = 'succeeded' "
      "WHERE idempotency_key <> 'young'");

  EXPECT_EQ(value(one.store.clean_up(10)), 1U);

  EXPECT_EQ(keys_of("hikyaku_ledger"), "kept young");
  EXPECT_EQ(value(one.store.clean_up(10)), 0U);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::outbox::test
