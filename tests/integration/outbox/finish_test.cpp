/// Outcomes written in two halves, while another connection claims.
#include <map>

#include "integration/outbox/relay_fixture.h"

namespace hk::outbox::test {
namespace HK_TEST_FILE {

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

TEST_F(FinishTest, AnEntryThatCameAfterTheClaimIsRight) {
  for (const char* key : {"a", "b", "c", "d"}) {
    enqueue(key);
  }
  Relay one = relay();
  const auto rows = one.claim();
  run(database,
      "INSERT INTO hikyaku_ledger (idempotency_key, request_digest, status, http_status) VALUES "
      "('a', 'sha256:other', 'succeeded', 201), ('d', NULL, 'failed', 500)");
  run(database,
      "INSERT INTO hikyaku_ledger (idempotency_key, request_digest, status, http_status) "
      "SELECT idempotency_key, request_digest, 'succeeded', 202 FROM hikyaku_outbox "
      "WHERE idempotency_key = 'b'");

  EXPECT_EQ(
      one.finish({finished(rows.at(0), succeeded()), finished(rows.at(1), succeeded()),
                  finished(rows.at(2), succeeded()), finished(rows.at(3), succeeded())}),
      (std::vector{Written::aborted, Written::succeeded, Written::succeeded, Written::succeeded}));

  EXPECT_EQ(row("a"), "aborted 1 IDEMPOTENCY_CONFLICT");
  EXPECT_EQ(ledger("a"), "succeeded 201") << "what has succeeded stays";
  EXPECT_EQ(row("b"), "succeeded 1");
  EXPECT_EQ(ledger("b"), "succeeded 202");
  EXPECT_EQ(ledger("c"), "succeeded 200");
  EXPECT_EQ(row("d"), "succeeded 1");
  EXPECT_EQ(ledger("d"), "succeeded 200");
}

TEST_F(FinishTest, AClaimSaysWhetherTheLedgerHasAnEntry) {
  enqueue("a");
  enqueue("b");
  run(database, "INSERT INTO hikyaku_ledger (idempotency_key, status) VALUES ('b', 'pending')");

  const auto rows = relay().claim();

  EXPECT_FALSE(rows.at(0).row.in_ledger);
  EXPECT_TRUE(rows.at(1).row.in_ledger);
}

TEST_F(FinishTest, OutcomesOfEveryKindAreToldInTheOrderGiven) {
  for (const char* key : {"a", "b", "c", "d", "e"}) {
    enqueue(key);
  }
  run(database, "INSERT INTO hikyaku_ledger (idempotency_key, status) VALUES ('d', 'pending')");
  Relay one = relay();
  const auto rows = one.claim();
  std::vector<Finished> outcomes = {
      finished(rows.at(0), failed()), finished(rows.at(1), succeeded("\"said \\u0000\"")),
      finished(rows.at(2), aborted()), finished(rows.at(3), succeeded()),
      finished(rows.at(4), succeeded("no json"))};
  outcomes[3].in_ledger = true;

  EXPECT_EQ(one.finish(outcomes),
            (std::vector{Written::failed, Written::succeeded, Written::aborted, Written::succeeded,
                         Written::succeeded}));

  EXPECT_EQ(row("a"), "failed 1 BROKER_TIMEOUT");
  EXPECT_EQ(row("b"), "succeeded 1");
  EXPECT_EQ(row("c"), "aborted 1 PAYLOAD_INVALID");
  EXPECT_EQ(row("d"), "succeeded 1");
  EXPECT_EQ(row("e"), "succeeded 1");
  EXPECT_EQ(
      text(
          database,
          "SELECT string_agg(idempotency_key || ' ' || status, ', ' ORDER BY idempotency_key) FROM "
          "hikyaku_ledger"),
      "b succeeded, c failed, d succeeded, e succeeded");
  EXPECT_EQ(text(database,
                 "SELECT response_payload_json FROM hikyaku_ledger "
                 "WHERE idempotency_key = 'e'"),
            "\"no json\"");
}

TEST_F(FinishTest, ASuccessThatComesLateReachesTheLedgerAmongOthers) {
  enqueue("a");
  enqueue("b");
  Relay one = relay();
  const auto rows = one.claim();
  run(database, "UPDATE hikyaku_outbox SET locked_by = 'other' WHERE idempotency_key = 'a'");

  EXPECT_EQ(one.finish({finished(rows.at(0), succeeded()), finished(rows.at(1), succeeded())}),
            (std::vector{Written::refused, Written::succeeded}));

  EXPECT_EQ(row("a"), "sending 0");
  EXPECT_EQ(ledger("a"), "succeeded 200");
  EXPECT_EQ(row("b"), "succeeded 1");
}

TEST_F(FinishTest, ARowThatIsAmongThemTwiceIsWrittenOnce) {
  enqueue("a");
  Relay one = relay();
  const auto rows = one.claim();
  Finished old = finished(rows.at(0), succeeded());
  old.claim.locked_by = "host:1#00000000";

  EXPECT_EQ(one.finish({old, finished(rows.at(0), succeeded())}),
            (std::vector{Written::refused, Written::succeeded}));

  EXPECT_EQ(row("a"), "succeeded 1");
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

TEST_F(FinishTest, WhatIsSaidAgainIsToldAsItWasWrittenAndNotAsRefused) {
  for (const char* key : {"a", "b", "c", "d", "e"}) {
    enqueue(key);
  }
  Relay one = relay();
  const auto rows = one.claim();
  std::vector<Finished> outcomes = {finished(rows.at(0), succeeded()),
                                    finished(rows.at(1), failed()), finished(rows.at(2), aborted()),
                                    finished(rows.at(3), failed()),
                                    finished(rows.at(4), succeeded())};
  one.finish({outcomes[0], outcomes[1], outcomes[2]});  // and the answer is lost
  due_now();
  EXPECT_EQ(one.claim().size(), 1U) << "b is on its way again";
  age_leases();
  run(database, "UPDATE hikyaku_outbox SET locked_at = now() WHERE idempotency_key IN ('b', 'e')");
  ASSERT_EQ(value(relay("other").store.expire_leases(10)), 1U) << "d is somebody else's";
  for (Finished& outcome : outcomes) {
    outcome.again = true;
  }

  EXPECT_EQ(one.finish(outcomes),
            (std::vector{Written::succeeded, Written::failed, Written::aborted, Written::refused,
                         Written::succeeded}));

  EXPECT_EQ(row("a"), "succeeded 1");
  EXPECT_EQ(row("b"), "sending 1 BROKER_TIMEOUT");
  EXPECT_EQ(row("c"), "aborted 1 PAYLOAD_INVALID");
  EXPECT_EQ(row("d"), "failed 1 LEASE_EXPIRED");
  EXPECT_EQ(row("e"), "succeeded 1") << "the first time did not reach it";
}

class LockedRowTest : public FinishTest {
 protected:
  LockedRowTest() {
    for (const char* key : {"a", "b", "c"}) {
      enqueue(key);
    }
    rows = one.claim();
    run(somebody, "BEGIN");
  }
  void lock(const std::string& table, const std::string& key) {
    run(somebody, "SELECT 1 FROM " + table + " WHERE idempotency_key = '" + key + "' FOR UPDATE");
  }

  void age_leases_of(const std::string& key) {
    run(database,
        "UPDATE hikyaku_outbox SET locked_at = now() - interval '1 hour' "
        "WHERE idempotency_key = $1::text",
        {key});
  }

  Relay one = relay();
  Database somebody = connect(where);
  std::vector<Claimed> rows;
};

TEST_F(LockedRowTest, TheOutcomesOfTheOthersAreWrittenAndItsOwnWhenTheLockIsGone) {
  lock("hikyaku_outbox", "b");
  one.database.set_timeout(Millis{5'000});
  const std::vector<Finished> outcomes = {finished(rows.at(0), succeeded()),
                                          finished(rows.at(1), succeeded()),
                                          finished(rows.at(2), aborted())};

  value(one.store.begin_finish(outcomes));
  const auto written = value(one.store.end_finish(outcomes));

  EXPECT_EQ(written, (std::vector{Written::succeeded, Written::later, Written::aborted}));
  EXPECT_EQ(row("a"), "succeeded 1");
  EXPECT_EQ(row("b"), "sending 0");
  EXPECT_EQ(ledger("b"), "succeeded 200") << "true, whoever has the row when the lock is gone";
  EXPECT_EQ(row("c"), "aborted 1 PAYLOAD_INVALID");
  EXPECT_EQ(value(one.store.finish_unlocked({outcomes[1]})), std::vector{Written::later});

  run(somebody, "COMMIT");
  EXPECT_EQ(value(one.store.finish_unlocked({outcomes[1]})), std::vector{Written::succeeded});
  EXPECT_EQ(row("b"), "succeeded 1");
}

TEST_F(LockedRowTest, AnAbortIsInTheLedgerNoSoonerThanInTheRow) {
  lock("hikyaku_outbox", "a");

  EXPECT_EQ(one.finish(rows.at(0), aborted()), Written::later);
  EXPECT_EQ(ledger("a"), "none");

  run(somebody, "UPDATE hikyaku_outbox SET locked_by = 'other' WHERE idempotency_key = 'a'");
  run(somebody, "COMMIT");
  EXPECT_EQ(one.finish(rows.at(0), aborted()), Written::refused) << "the fence holds";
  EXPECT_EQ(ledger("a"), "none");
}

TEST_F(LockedRowTest, ALockedLedgerEntryHoldsUpItsRowAlone) {
  run(database, "INSERT INTO hikyaku_ledger (idempotency_key, status) VALUES ('b', 'failed')");
  lock("hikyaku_ledger", "b");

  EXPECT_EQ(one.finish({finished(rows.at(0), succeeded()), finished(rows.at(1), succeeded()),
                        finished(rows.at(2), failed())}),
            (std::vector{Written::succeeded, Written::later, Written::failed}));
}

TEST_F(LockedRowTest, AHeartbeatPassesItOverAndTellsItFromALostOne) {
  lock("hikyaku_outbox", "b");
  run(database, "UPDATE hikyaku_outbox SET locked_by = 'other' WHERE idempotency_key = 'c'");
  age_leases_of("a");
  one.database.set_timeout(Millis{5'000});

  const auto beats = value(
      one.store.heartbeat({rows.at(0).row.claim, rows.at(1).row.claim, rows.at(2).row.claim}));

  EXPECT_EQ(beats, (std::vector{Beat::renewed, Beat::locked, Beat::lost}));
  EXPECT_EQ(text(database,
                 "SELECT locked_at > now() - interval '1 minute' FROM hikyaku_outbox "
                 "WHERE idempotency_key = 'a'"),
            "t");
}

TEST_F(LockedRowTest, OthersAreGivenBackWithoutWaitingForIt) {
  lock("hikyaku_outbox", "b");
  one.database.set_timeout(Millis{5'000});

  EXPECT_EQ(value(one.store.release({rows.at(0).row.claim, rows.at(1).row.claim})), 1U);
  EXPECT_EQ(value(one.store.release_unknown({})), 1U);

  EXPECT_EQ(row("a"), "pending 0");
  EXPECT_EQ(row("b"), "sending 0");
  EXPECT_EQ(row("c"), "pending 0");
}

TEST_F(FinishTest, ARowThatIsPostponedIsPendingAgainWithoutAnAttempt) {
  settings.backoff = {std::chrono::seconds{0}};
  for (const char* key : {"tried", "kept", "delayed"}) {
    enqueue(key);
  }
  Relay one = relay();
  for (const Claimed& claimed : one.claim()) {
    one.finish(claimed, failed("BROKER_ERROR", 500));
  }
  run(database, "UPDATE hikyaku_outbox SET next_run_at = '2020-01-01' WHERE id = 2");
  const auto rows = one.claim();
  ASSERT_EQ(rows.size(), 3U);
  std::map<std::string, Claim> claims;
  for (const Claimed& claimed : rows) {
    claims[claimed.row.idempotency_key] = claimed.row.claim;
  }
  const std::string message(2'000, '\xff');

  const auto given =
      value(one.store.postpone({{claims["tried"], Millis{0}, "BROKER_UNREACHABLE", message},
                                {claims["kept"], std::nullopt, "", ""},
                                {claims["delayed"], Millis{3'600'000}, "", ""},
                                {{99, "nobody", 0}, Millis{0}, "", ""}}));

  EXPECT_EQ(given, (std::vector{true, true, true, false}));
  EXPECT_EQ(row("tried"), "pending 1 BROKER_UNREACHABLE");
  EXPECT_EQ(row("kept"), "pending 1 BROKER_ERROR");
  EXPECT_EQ(ledger("tried"), "none");
  EXPECT_EQ(text(database, "SELECT count(*) FROM hikyaku_outbox WHERE locked_by IS NULL"), "3");
  EXPECT_EQ(text(database, "SELECT length(last_error_msg) FROM hikyaku_outbox WHERE id = 1"),
            "512");
  const auto again = one.claim();
  ASSERT_EQ(again.size(), 2U);
  EXPECT_EQ(again[0].row.claim.attempts, 1);
  EXPECT_EQ(text(database, "SELECT next_run_at < '2021-01-01' FROM hikyaku_outbox WHERE id = 2"),
            "t");
  EXPECT_EQ(one.finish({{claims["tried"], "tried", "", failed()}})[0], Written::refused)
      << "what was said of it before";
}

TEST_F(FinishTest, APostponedRowThatSomebodyHasLockedIsSaidSo) {
  enqueue("a");
  enqueue("b");
  Relay one = relay();
  const auto rows = one.claim();
  Database somebody = connect(where);
  run(somebody, "BEGIN");
  run(somebody, "SELECT 1 FROM hikyaku_outbox WHERE idempotency_key = 'a' FOR UPDATE");

  const auto given = value(one.store.postpone(
      {{rows.at(0).row.claim, Millis{0}, "R", "m"}, {rows.at(1).row.claim, Millis{0}, "R", "m"}}));

  EXPECT_EQ(given, (std::vector{false, true}));
  EXPECT_EQ(row("a"), "sending 0");
  run(somebody, "ROLLBACK");
  EXPECT_EQ(value(one.store.postpone({{rows[0].row.claim, Millis{0}, "R", "m"}})),
            std::vector{true});
  EXPECT_EQ(row("a"), "pending 0 R");
}

TEST_F(FinishTest, APostponedRowThatTheDatabaseRefusesIsLeftToItsLease) {
  enqueue("a");
  Relay one = relay();
  const auto rows = one.claim();
  run(database, "ALTER TABLE hikyaku_outbox ADD CHECK (status <> 'pending')");

  EXPECT_EQ(value(one.store.postpone({{rows.at(0).row.claim, Millis{0}, "R", "m"}})),
            std::vector{true});
  EXPECT_EQ(row("a"), "sending 0");
}

}  // namespace HK_TEST_FILE
}  // namespace hk::outbox::test
