/// What a person does with the table, beside relays at work.
#include <algorithm>

#include "integration/outbox/relay_fixture.h"

namespace hk::outbox::test {
namespace HK_TEST_FILE {

class OperatorTest : public OutboxTest {
 protected:
  OperatorTest() { init(); }
  Operator person() { return {database, settings, value(check_schema(database, settings.table))}; }
};

TEST_F(OperatorTest, StatusCountsEveryStateAndNamesWhoHoldsRows) {
  for (const char* key : {"a", "b", "c", "d", "e", "f"}) {
    enqueue(key);
  }
  Relay one = relay("host:77");
  const auto rows = one.claim(5);
  one.finish(rows[0], succeeded());
  one.finish(rows[1], failed());
  one.finish(rows[2], aborted());
  run(database,
      "UPDATE hikyaku_outbox SET locked_at = now() - interval '1 day' "
      "WHERE idempotency_key = 'd'");

  const StatusReport report = value(person().status());

  EXPECT_EQ(report.succeeded, 1);
  EXPECT_EQ(report.counts.failed, 1);
  EXPECT_EQ(report.counts.aborted, 1);
  EXPECT_EQ(report.counts.pending, 1);
  EXPECT_EQ(report.counts.sending, 2);
  EXPECT_EQ(report.leases_expired, 1);
  ASSERT_EQ(report.holders.size(), 1U);
  EXPECT_EQ(report.holders[0].worker, "host:77");
  EXPECT_EQ(report.holders[0].rows, 2);
  EXPECT_GE(report.holders[0].oldest_heartbeat, std::chrono::hours{24});
}

TEST_F(OperatorTest, AListGoesOnPageByPage) {
  for (int i = 0; i < 5; ++i) {
    enqueue(std::to_string(i));
  }
  Relay one = relay();
  one.finish(one.claim(1).at(0), aborted());
  std::vector<std::string> seen;
  ListQuery query{.status = "pending", .after = 0, .limit = 3};
  while (true) {
    const auto page = value(person().list(query));
    if (page.empty()) {
      break;
    }
    for (const Summary& summary : page) {
      seen.push_back(summary.idempotency_key);
      query.after = summary.id;
    }
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"1", "2", "3", "4"}));
  const auto dead = value(person().list({.status = "aborted"}));
  ASSERT_EQ(dead.size(), 1U);
  EXPECT_EQ(dead[0].last_error_code, "PAYLOAD_INVALID");
  EXPECT_EQ(value(person().list({})).size(), 5U);
  EXPECT_EQ(person().list({.status = "done"}).error().error.kind, ErrorKind::invalid_argument);
}

TEST_F(OperatorTest, RowsOfAnyIdAreListedAndRequeued) {
  run(database,
      "INSERT INTO hikyaku_outbox (id, idempotency_key, payload, status) VALUES "
      "(-7, 'minus', '1', 'aborted'), (0, 'zero', '1', 'aborted'), (3, 'three', '1', 'aborted')");

  const auto rows = value(person().list({.status = "aborted"}));

  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].id, -7);
  EXPECT_EQ(rows[1].id, 0);
  EXPECT_EQ(value(person().requeue({.all = true})).count, 3U);
}

TEST_F(OperatorTest, ShowHidesThePayloadUntilAskedAndSaysWhatTheLedgerHas) {
  enqueue("a", R"({"card": "4242"})");
  Relay one = relay();
  one.finish(one.claim().at(0), succeeded("thanks"));

  const auto masked = value(person().show(1, false));
  const auto open = value(person().show("a", true));

  ASSERT_TRUE(masked && open);
  EXPECT_FALSE(masked->payload.has_value());
  EXPECT_EQ(masked->payload_bytes, 16);
  EXPECT_EQ(open->payload, R"({"card": "4242"})");
  ASSERT_TRUE(masked->ledger.has_value());
  EXPECT_EQ(masked->ledger->status, "succeeded");
  EXPECT_EQ(masked->ledger->http_status, 200);
  EXPECT_EQ(masked->ledger->response, "\"thanks\"");
  EXPECT_FALSE(value(person().show(99, true)).has_value());
}

TEST_F(OperatorTest, ARequeueLeavesAloneWhatIsSentOrDoneAndSaysSo) {
  for (const char* key : {"sending", "done", "dead", "waiting"}) {
    enqueue(key);
  }
  Relay one = relay();
  const auto rows = one.claim(3);
  one.finish(rows[1], succeeded());
  one.finish(rows[2], aborted());

  const Changed changed = value(person().requeue({.ids = {1, 2, 3, 4, 99}}));

  EXPECT_EQ(changed.count, 1U);
  ASSERT_EQ(changed.refused.size(), 4U);
  EXPECT_EQ(changed.refused[0].id, 1);
  EXPECT_NE(changed.refused[0].why.find("lease"), std::string::npos);
  EXPECT_EQ(changed.refused[1].why, "it is succeeded");
  EXPECT_EQ(changed.refused[2].why, "it is pending");
  EXPECT_EQ(changed.refused[3].why, "row not found");
  EXPECT_EQ(row("dead"), "pending 0");
  EXPECT_EQ(row("sending"), "sending 0");
}

TEST_F(OperatorTest, AForcedRequeueMakesWhatTheHolderSaysLaterHarmless) {
  enqueue("a");
  Relay one = relay();
  const auto first = one.claim().at(0);

  EXPECT_EQ(value(person().requeue({.ids = {1}, .force = true})).count, 1U);

  const auto second = one.claim().at(0);
  EXPECT_EQ(one.finish(first, failed()), Written::refused);
  EXPECT_EQ(row("a"), "sending 0");
  EXPECT_EQ(one.finish(second, succeeded()), Written::succeeded);
}

TEST_F(OperatorTest, AllAbortedRowsOfAReasonAreRequeuedOnce) {
  run(database,
      "INSERT INTO hikyaku_outbox (idempotency_key, payload, status, last_error_code, updated_at) "
      "SELECT 'k' || i, '1', 'aborted', CASE WHEN i % 2 = 0 THEN 'BROKER_ERROR' ELSE 'EXPIRED' "
      "END, "
      "now() FROM generate_series(1, 2500) i");

  EXPECT_EQ(value(person().requeue({.all = true, .reason_code = "BROKER_ERROR"})).count, 1250U);
  EXPECT_EQ(value(person().requeue({.all = true, .reason_code = "BROKER_ERROR"})).count, 0U);
  EXPECT_EQ(value(person().requeue({.all = true})).count, 1250U);
  EXPECT_EQ(text(database, "SELECT count(*) FROM hikyaku_outbox WHERE status = 'pending'"), "2500");
}

TEST_F(OperatorTest, ARequeueWakesRelaysOfBothSources) {
  enqueue("a");
  Relay one = relay();
  one.finish(one.claim().at(0), aborted());
  Database listener = connect(where);
  run(listener, "LISTEN hikyaku_outbox");
  run(database, "SELECT pg_create_logical_replication_slot('s', 'test_decoding', true)");

  value(person().requeue({.ids = {1}}));

  run(listener, "SELECT 1");
  EXPECT_EQ(value(listener.take_notifications()).size(), 1U);
  EXPECT_EQ(text(database,
                 "SELECT count(*) FROM pg_logical_slot_get_changes('s', NULL, NULL) "
                 "WHERE data LIKE 'message: transactional: 1 prefix: hikyaku_outbox%'"),
            "1");
}

TEST_F(OperatorTest, AnAbortWakesRelaysForWhatWaitedBehindTheRow) {
  enqueue("a");
  Database listener = connect(where);
  run(listener, "LISTEN hikyaku_outbox");

  value(person().abort({.ids = {1}}, "not wanted any more"));

  run(listener, "SELECT 1");
  EXPECT_EQ(value(listener.take_notifications()).size(), 1U);
}

TEST_F(OperatorTest, ReleaseGivesExpiredLeasesBackAndLiveOnesByForce) {
  enqueue("a");
  enqueue("b");
  Relay one = relay();
  one.claim();
  EXPECT_EQ(value(person().release({.ids = {1}})).count, 0U);
  EXPECT_EQ(value(person().release({.all = true})).count, 0U);
  EXPECT_EQ(value(person().release({.ids = {1}, .force = true})).count, 1U);
  EXPECT_EQ(row("a"), "pending 0");
  EXPECT_EQ(row("b"), "sending 0");
  age_leases();
  EXPECT_EQ(value(person().release({.all = true})).count, 1U);
  EXPECT_EQ(row("b"), "pending 0");
}

TEST_F(OperatorTest, AnAbortIsInTheLedgerAndTheHoldersResultIsRefused) {
  enqueue("a");
  enqueue("b");
  Relay one = relay();
  const auto claimed = one.claim(1).at(0);

  const Changed changed = value(person().abort({.ids = {1, 2}}, "not wanted"));
  EXPECT_EQ(changed.count, 1U);
  ASSERT_EQ(changed.refused.size(), 1U);
  EXPECT_EQ(changed.refused[0].id, 1);
  EXPECT_EQ(row("b"), "aborted 1 ABORTED_BY_OPERATOR");
  EXPECT_EQ(ledger("b"), "failed 499 ABORTED_BY_OPERATOR");

  EXPECT_EQ(value(person().abort({.ids = {1}, .force = true}, "not wanted")).count, 1U);
  EXPECT_EQ(one.finish(claimed, failed()), Written::refused);
  EXPECT_EQ(row("a"), "aborted 1 ABORTED_BY_OPERATOR");
  EXPECT_EQ(one.finish(claimed, succeeded()), Written::refused);
  EXPECT_EQ(ledger("a"), "succeeded 200") << "it was sent: that stays true";
}

TEST_F(OperatorTest, AnAbortOfWhatHasSucceededInTheLedgerSynchronises) {
  enqueue("a");
  run(database,
      "INSERT INTO hikyaku_ledger (idempotency_key, request_digest, status, http_status) "
      "SELECT idempotency_key, request_digest, 'succeeded', 200 FROM hikyaku_outbox");

  EXPECT_EQ(value(person().abort({.ids = {1}}, "too late")).count, 1U);

  EXPECT_EQ(row("a"), "succeeded 1");
  EXPECT_EQ(ledger("a"), "succeeded 200");
  EXPECT_FALSE(person().abort({.all = true}, "").has_value());
}

}  // namespace HK_TEST_FILE
}  // namespace hk::outbox::test
