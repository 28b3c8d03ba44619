/// A NULL is never read as a value: rows of tables that were set up before, or by others, in which
/// any column may be NULL. Each means what the reference says, or ends its row with a reason.
#include <string>

#include "integration/outbox/relay_fixture.h"

namespace hk::outbox::test {
namespace HK_TEST_FILE {

using namespace std::chrono_literals;

class NullTest : public OutboxTest {
 protected:
  /// As an init of an earlier version left a table that it had adopted.
  NullTest() {
    init();
    run(database,
        "ALTER TABLE hikyaku_outbox DROP CONSTRAINT hikyaku_outbox_idempotency_key_check, "
        "DROP CONSTRAINT hikyaku_outbox_status_check, "
        "ALTER idempotency_key DROP NOT NULL, ALTER payload DROP NOT NULL, "
        "ALTER status DROP NOT NULL, ALTER attempts DROP NOT NULL, "
        "ALTER created_at DROP NOT NULL, ALTER updated_at DROP NOT NULL");
    run(database,
        "ALTER TABLE hikyaku_ledger DROP CONSTRAINT hikyaku_ledger_idempotency_key_check, "
        "ALTER status DROP NOT NULL, ALTER updated_at DROP NOT NULL");
  }
  Operator person() { return {database, settings, value(check_schema(database, settings.table))}; }
  std::string row_of(int id) {
    return text(database,
                "SELECT concat_ws(' ', status, attempts, last_error_code) FROM "
                "hikyaku_outbox WHERE id = " +
                    std::to_string(id));
  }
};

TEST_F(NullTest, ARowWithoutAKeyIsAbortedAtOnceAndNothingOfItIsInTheLedger) {
  run(database,
      "INSERT INTO hikyaku_ledger (idempotency_key, status, http_status) "
      "VALUES ('', 'succeeded', 200)");  // by a relay of an earlier version
  run(database,
      "INSERT INTO hikyaku_outbox (idempotency_key, payload) VALUES (NULL, '1'), (NULL, '2'), "
      "('', '3'), ('a', '4')");
  Relay one = relay();

  const auto rows = one.claim();

  ASSERT_EQ(rows.size(), 4U);
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(rows[i].settled.has_value());
    EXPECT_EQ(rows[i].settled->reason_code, "INVALID_KEY");
    EXPECT_EQ(one.finish(rows[i], *rows[i].settled), Written::aborted);
  }
  EXPECT_FALSE(rows[3].settled.has_value());
  EXPECT_EQ(one.finish(rows[3], failed()), Written::failed);
  for (const int id : {1, 2, 3}) {
    EXPECT_EQ(row_of(id), "aborted 1 INVALID_KEY");
  }
  EXPECT_EQ(text(database, "SELECT count(*) FROM hikyaku_ledger"), "1") << "as it was";
}

TEST_F(NullTest, ARowWithoutAKeyWhoseRelayDiedOrThatAPersonAbortsFollowsNoEntry) {
  run(database,
      "INSERT INTO hikyaku_ledger (idempotency_key, status, http_status) "
      "VALUES ('', 'succeeded', 200)");
  run(database,
      "INSERT INTO hikyaku_outbox (idempotency_key, payload, status, locked_by, locked_at) VALUES "
      "(NULL, '1', 'sending', 'old', now() - interval '1 day'), "
      "('', '2', 'sending', 'old', now() - interval '1 day'), (NULL, '3', 'pending', NULL, NULL)");
  Relay one = relay();

  EXPECT_EQ(value(one.store.expire_leases(10)), 2U);
  EXPECT_EQ(row_of(1), "failed 1 LEASE_EXPIRED");
  EXPECT_EQ(row_of(2), "failed 1 LEASE_EXPIRED");
  EXPECT_EQ(value(person().abort({.ids = {1, 2, 3}}, "no key")).count, 3U);

  for (const int id : {1, 2, 3}) {
    EXPECT_TRUE(row_of(id).starts_with("aborted")) << row_of(id);
  }
  EXPECT_EQ(text(database, "SELECT count(*) FROM hikyaku_ledger"), "1");
}

TEST_F(NullTest, AnEntryThatSucceededCountsOnlyWithTheSameDigest) {
  run(database,
      "INSERT INTO hikyaku_outbox (idempotency_key, payload, request_digest) VALUES "
      "('neither', '1', NULL), ('row only', '1', 'd'), ('ledger only', '1', NULL), "
      "('both', '1', 'd')");
  run(database,
      "INSERT INTO hikyaku_ledger (idempotency_key, request_digest, status) VALUES "
      "('neither', NULL, 'succeeded'), ('row only', NULL, 'succeeded'), "
      "('ledger only', 'd', 'succeeded'), ('both', 'd', 'succeeded')");
  Relay one = relay();

  for (const Claimed& claimed : one.claim()) {
    SCOPED_TRACE(claimed.row.idempotency_key);
    ASSERT_TRUE(claimed.settled.has_value());
    const bool agrees =
        claimed.row.idempotency_key == "neither" || claimed.row.idempotency_key == "both";
    EXPECT_EQ(claimed.settled->reason_code, agrees ? "" : "IDEMPOTENCY_CONFLICT");
    EXPECT_EQ(one.finish(claimed, *claimed.settled),
              agrees ? Written::succeeded : Written::aborted);
  }
}

TEST_F(NullTest, AnEntryThatFailedWithoutADigestDoesNotStandInTheWay) {
  run(database,
      "INSERT INTO hikyaku_outbox (idempotency_key, payload, request_digest) VALUES "
      "('row only', '1', 'd'), ('ledger only', '1', NULL), ('nothing said', '1', 'd')");
  run(database,
      "INSERT INTO hikyaku_ledger (idempotency_key, request_digest, status) VALUES "
      "('row only', NULL, 'failed'), ('ledger only', 'd', 'failed'), ('nothing said', NULL, NULL)");
  Relay one = relay();

  for (const Claimed& claimed : one.claim()) {
    SCOPED_TRACE(claimed.row.idempotency_key);
    EXPECT_FALSE(claimed.settled.has_value());
    EXPECT_EQ(one.finish(claimed, succeeded()), Written::succeeded);
  }
  EXPECT_EQ(text(database,
                 "SELECT count(*) FROM hikyaku_ledger l JOIN hikyaku_outbox o USING "
                 "(idempotency_key) WHERE l.status = 'succeeded' AND o.status = 'succeeded' "
                 "AND COALESCE(l.request_digest, '') = COALESCE(o.request_digest, '')"),
            "3");
}

TEST_F(NullTest, ANullPayloadIsNotSentAsAnEmptyOne) {
  run(database,
      R"(INSERT INTO hikyaku_outbox (idempotency_key, payload, headers) VALUES
         ('a', NULL, '{"Content-Type": "text/plain"}'), ('b', NULL, NULL), ('c', 'null', NULL))");
  Relay one = relay();

  const auto rows = one.claim();

  ASSERT_EQ(rows.size(), 3U);
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_TRUE(rows[i].settled.has_value());
    EXPECT_EQ(rows[i].settled->reason_code, "PAYLOAD_INVALID");
    EXPECT_EQ(rows[i].settled->message, "the payload is NULL");
  }
  EXPECT_FALSE(rows[2].settled.has_value()) << "null of JSON is a value";
  EXPECT_EQ(rows[2].row.payload, "null");
  const auto detail = value(person().show(1, true));
  ASSERT_TRUE(detail.has_value());
  EXPECT_FALSE(detail->payload_bytes.has_value());
  EXPECT_FALSE(detail->payload.has_value());
}

TEST_F(NullTest, ARowThatSaysNoTimeIsDueAtOnce) {
  run(database,
      "INSERT INTO hikyaku_outbox (idempotency_key, payload, status, attempts, created_at, "
      "updated_at) VALUES ('a', '1', 'pending', NULL, NULL, NULL), "
      "('b', '1', 'failed', 2, NULL, NULL)");
  Relay one = relay();
  EXPECT_EQ(value(person().list({})).at(0).created_at, std::nullopt) << "not 1970";

  const auto rows = one.claim();

  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(one.finish(rows[0], succeeded()), Written::succeeded);
  EXPECT_EQ(one.finish(rows[1], failed()), Written::failed);
  EXPECT_EQ(text(database, "SELECT count(*) FROM hikyaku_outbox WHERE created_at IS NULL"), "2")
      << "that column is yours";
}

TEST_F(NullTest, ARowThatIsSendingSinceNobodyKnowsWhenHasOneLease) {
  run(database,
      "INSERT INTO hikyaku_outbox (idempotency_key, payload, status, created_at, updated_at) "
      "VALUES ('a', '1', 'sending', NULL, NULL), ('b', '1', 'sending', NULL, NULL)");
  const StatusReport before = value(person().status());
  ASSERT_EQ(before.holders.size(), 1U);
  EXPECT_EQ(before.holders[0].worker, "");
  EXPECT_EQ(before.holders[0].oldest_heartbeat, std::nullopt);
  EXPECT_EQ(value(person().release({.ids = {1}})).count, 1U) << "no relay has it";
  Relay one = relay();

  EXPECT_EQ(value(one.store.expire_leases(10)), 0U) << "somebody may be at work on it";
  age_leases();
  EXPECT_EQ(value(one.store.expire_leases(10)), 1U);

  EXPECT_EQ(row("b"), "failed 1 LEASE_EXPIRED");
}

TEST_F(NullTest, AnAbortedRowThatDoesNotSayWhenIsRequeuedWithAllOthers) {
  run(database,
      "INSERT INTO hikyaku_outbox (idempotency_key, payload, status, updated_at) "
      "VALUES ('a', '1', 'aborted', NULL)");

  EXPECT_EQ(value(person().requeue({.all = true})).count, 1U);
  EXPECT_EQ(row("a"), "pending 0");
}

TEST_F(NullTest, RowsOfAnUnknownStatusAreCountedAndListed) {
  run(database,
      "INSERT INTO hikyaku_outbox (idempotency_key, payload, status) VALUES ('a', '1', 'Pending'), "
      "('b', '1', 'done'), ('c', '1', NULL), ('d', '1', 'pending')");
  EXPECT_EQ(relay().claim().size(), 1U);

  const StatusReport report = value(person().status());
  const auto others = value(person().list({.status = "other"}));

  EXPECT_EQ(report.other, 3);
  EXPECT_EQ(report.counts.sending, 1);
  ASSERT_EQ(others.size(), 3U);
  EXPECT_EQ(others[0].status, "Pending");
  EXPECT_EQ(others[2].status, "NULL");
  EXPECT_EQ(value(person().requeue({.ids = {3}})).refused.at(0).why, "it is NULL");
}

}  // namespace HK_TEST_FILE
}  // namespace hk::outbox::test
