/// Claims, outcomes, leases and the ledger on a real PostgreSQL, with the scenarios W-101 … W-105
/// of the protocol at the level of SQL.
#include "integration/outbox/relay_fixture.h"

namespace hk::outbox::test {
namespace HK_TEST_FILE {

using namespace std::chrono_literals;

class StoreTest : public OutboxTest {
 protected:
  StoreTest() { init(); }
};

TEST_F(StoreTest, W101APendingRowIsClaimedSentAndSucceeds) {
  enqueue("a", R"({"n": 1})");
  Relay one = relay();

  const auto rows = one.claim();

  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].row.idempotency_key, "a");
  EXPECT_EQ(rows[0].row.payload, R"({"n": 1})");
  EXPECT_TRUE(rows[0].row.is_json);
  EXPECT_FALSE(rows[0].settled.has_value());
  EXPECT_EQ(row("a"), "sending 0");
  EXPECT_TRUE(one.claim().empty());

  EXPECT_EQ(one.finish(rows[0], succeeded(R"({"ok": true})")), Written::succeeded);

  EXPECT_EQ(row("a"), "succeeded 1");
  EXPECT_EQ(ledger("a"), "succeeded 200");
  EXPECT_EQ(text(database, "SELECT response_payload_json->>'ok' FROM hikyaku_ledger"), "true");
  EXPECT_EQ(text(database,
                 "SELECT o.request_digest = l.request_digest FROM hikyaku_outbox o, "
                 "hikyaku_ledger l"),
            "t");
  EXPECT_EQ(text(database, "SELECT locked_by IS NULL AND locked_at IS NULL FROM hikyaku_outbox"),
            "t");
}

TEST_F(StoreTest, W102ATimeoutIsRetriedAfterItsDelayAndThenSucceeds) {
  settings.backoff = {60s, 120s};
  enqueue("a");
  Relay one = relay();

  EXPECT_EQ(one.finish(one.claim().at(0), failed()), Written::failed);

  EXPECT_EQ(row("a"), "failed 1 BROKER_TIMEOUT");
  EXPECT_EQ(ledger("a"), "none");
  EXPECT_EQ(text(database, "SELECT next_run_at - updated_at FROM hikyaku_outbox"), "00:01:00");
  EXPECT_TRUE(one.claim().empty());
  const auto due = value(one.store.next_due());
  ASSERT_TRUE(due.has_value());
  EXPECT_GT(*due, 1s);
  EXPECT_LE(*due, 60s);

  due_now();
  const auto again = one.claim();
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].row.claim.attempts, 1);
  EXPECT_EQ(one.finish(again[0], succeeded()), Written::succeeded);
  EXPECT_EQ(row("a"), "succeeded 2");
}

TEST_F(StoreTest, W103AnotherRelayTakesOverWhenTheLeaseHasExpiredAndTheLateOneIsRefused) {
  enqueue("a");
  Relay dead = relay("dead:1");
  Relay other = relay("other:2");
  const auto lost = dead.claim().at(0);
  EXPECT_EQ(value(other.store.expire_leases(10)), 0U);

  age_leases();
  EXPECT_EQ(value(other.store.expire_leases(10)), 1U);
  EXPECT_EQ(row("a"), "failed 1 LEASE_EXPIRED");
  EXPECT_EQ(value(dead.store.heartbeat({lost.row.claim})), std::vector{Beat::lost});
  const auto taken = other.claim();
  ASSERT_EQ(taken.size(), 1U);

  EXPECT_EQ(dead.finish(lost, failed()), Written::refused);
  EXPECT_EQ(row("a"), "sending 1 LEASE_EXPIRED");
  EXPECT_EQ(ledger("a"), "none");
  EXPECT_EQ(other.finish(taken[0], succeeded()), Written::succeeded);
  EXPECT_EQ(row("a"), "succeeded 2");
}

TEST_F(StoreTest, W104TheMostAttemptsAbortAndARequeueByHandSucceeds) {
  settings.max_attempts = 2;
  settings.backoff = {0s};
  enqueue("a");
  Relay one = relay();
  EXPECT_EQ(one.finish(one.claim().at(0), failed()), Written::failed);
  EXPECT_EQ(one.finish(one.claim().at(0), failed("BROKER_ERROR", 503)), Written::aborted);
  EXPECT_EQ(row("a"), "aborted 2 BROKER_ERROR");
  EXPECT_EQ(ledger("a"), "failed 503 BROKER_ERROR");
  EXPECT_TRUE(one.claim().empty());

  const Changed changed = value(Operator(database, settings, one.shape).requeue({.ids = {1}}));

  EXPECT_EQ(changed.count, 1U);
  EXPECT_EQ(row("a"), "pending 0");
  const auto again = one.claim();
  ASSERT_EQ(again.size(), 1U);
  EXPECT_FALSE(again[0].settled.has_value()) << "a ledger that failed does not stop a requeued row";
  EXPECT_EQ(one.finish(again[0], succeeded()), Written::succeeded);
  EXPECT_EQ(ledger("a"), "succeeded 200");
}

TEST_F(StoreTest, W105ARowWhoseKeyHasSucceededInTheLedgerIsSynchronisedAndNotSent) {
  enqueue("a");
  run(database,
      "INSERT INTO hikyaku_ledger (idempotency_key, request_digest, status, http_status) "
      "SELECT idempotency_key, request_digest, 'succeeded', 202 FROM hikyaku_outbox");
  Relay one = relay();

  const auto rows = one.claim();

  ASSERT_EQ(rows.size(), 1U);
  ASSERT_TRUE(rows[0].settled.has_value());
  EXPECT_EQ(rows[0].settled->ending, Ending::succeeded);
  EXPECT_EQ(one.finish(rows[0], *rows[0].settled), Written::succeeded);
  EXPECT_EQ(row("a"), "succeeded 1");
  EXPECT_EQ(ledger("a"), "succeeded 202") << "what has succeeded is never written again";
}

TEST_F(StoreTest, OtherContentInTheLedgerAbortsTheRowAndLeavesTheLedger) {
  enqueue("a");
  run(database,
      "INSERT INTO hikyaku_ledger (idempotency_key, request_digest, status, http_status) "
      "VALUES ('a', 'sha256:other', 'succeeded', 200)");
  Relay one = relay();

  const auto rows = one.claim();

  ASSERT_TRUE(rows.at(0).settled.has_value());
  EXPECT_EQ(rows[0].settled->reason_code, "IDEMPOTENCY_CONFLICT");
  EXPECT_EQ(one.finish(rows[0], *rows[0].settled), Written::aborted);
  EXPECT_EQ(row("a"), "aborted 1 IDEMPOTENCY_CONFLICT");
  EXPECT_EQ(text(database, "SELECT concat_ws(' ', request_digest, status) FROM hikyaku_ledger"),
            "sha256:other succeeded");
}

TEST_F(StoreTest, OtherContentThatCameWhileItWasSentAbortsTheRowToo) {
  enqueue("a");
  Relay one = relay();
  const auto claimed = one.claim().at(0);
  run(database,
      "INSERT INTO hikyaku_ledger (idempotency_key, request_digest, status, http_status) "
      "VALUES ('a', 'sha256:other', 'failed', 500)");

  EXPECT_EQ(one.finish(claimed, succeeded()), Written::aborted);

  EXPECT_EQ(row("a"), "aborted 1 IDEMPOTENCY_CONFLICT");
  EXPECT_EQ(ledger("a"), "failed 500");
}

TEST_F(StoreTest, ALateSuccessIsTrueInTheLedgerAndTheNextClaimSynchronises) {
  enqueue("a");
  Relay slow = relay("slow:1");
  Relay other = relay("other:2");
  const auto late = slow.claim().at(0);
  age_leases();
  value(other.store.expire_leases(10));
  const auto taken = other.claim().at(0);

  EXPECT_EQ(slow.finish(late, succeeded()), Written::refused);
  EXPECT_EQ(ledger("a"), "succeeded 200");
  EXPECT_EQ(row("a"), "sending 1 LEASE_EXPIRED");

  EXPECT_EQ(other.finish(taken, failed()), Written::succeeded)
      << "the second sending failed, but the work is done";
  EXPECT_EQ(row("a"), "succeeded 2");
}

TEST_F(StoreTest, AnExpiredLeaseWhoseKeyHasSucceededIsNotAborted) {
  settings.max_attempts = 1;
  enqueue("a");
  Relay one = relay();
  one.claim();
  run(database,
      "INSERT INTO hikyaku_ledger (idempotency_key, request_digest, status, http_status) "
      "SELECT idempotency_key, request_digest, 'succeeded', 200 FROM hikyaku_outbox");
  age_leases();

  EXPECT_EQ(value(one.store.expire_leases(10)), 1U);

  EXPECT_EQ(row("a"), "succeeded 1");
}

TEST_F(StoreTest, ALeaseThatExpiresAtTheLastAttemptAbortsWithTheLedger) {
  settings.max_attempts = 1;
  enqueue("a");
  Relay one = relay();
  one.claim();
  age_leases();

  EXPECT_EQ(value(one.store.expire_leases(10)), 1U);

  EXPECT_EQ(row("a"), "aborted 1 LEASE_EXPIRED");
  EXPECT_EQ(ledger("a"), "failed 504 LEASE_EXPIRED");
}

TEST_F(StoreTest, ARowThatSomebodyMadeSendingWithoutATimeExpiresToo) {
  enqueue("a");
  run(database,
      "UPDATE hikyaku_outbox SET status = 'sending', updated_at = now() - interval '1 day'");
  Relay one = relay();

  EXPECT_EQ(value(one.store.expire_leases(10)), 1U);
  EXPECT_EQ(one.claim().size(), 1U);
}

TEST_F(StoreTest, AHeartbeatKeepsTheLease) {
  enqueue("a");
  Relay one = relay();
  const auto claimed = one.claim().at(0);
  age_leases();

  EXPECT_EQ(value(one.store.heartbeat({claimed.row.claim})), std::vector{Beat::renewed});

  EXPECT_EQ(value(one.store.expire_leases(10)), 0U);
  EXPECT_EQ(one.finish(claimed, succeeded()), Written::succeeded);
}

TEST_F(StoreTest, AReleasedRowIsPendingAndItsOldClaimRefused) {
  enqueue("a");
  Relay one = relay();
  const auto first = one.claim().at(0);

  EXPECT_EQ(value(one.store.release({first.row.claim})), 1U);
  EXPECT_EQ(row("a"), "pending 0");

  const auto second = one.claim().at(0);
  EXPECT_NE(first.row.claim, second.row.claim) << "though no attempt was counted";
  EXPECT_EQ(one.finish(first, failed()), Written::refused);
  EXPECT_EQ(value(one.store.release({first.row.claim})), 0U);
  EXPECT_EQ(one.finish(second, succeeded()), Written::succeeded);
}

TEST_F(StoreTest, AClaimWhoseAnswerWasLostIsGivenBackWithoutTheOthers) {
  enqueue("known");
  Relay one = relay("host:1:abcd");
  const Claimed known = one.claim().at(0);
  enqueue("unknown");
  (void)one.claim();  // as if nobody had heard of it
  enqueue("of another");
  Relay other = relay("host:1:abcde");
  (void)other.claim();

  EXPECT_EQ(value(one.store.release_unknown({known.row.claim})), 1U);

  EXPECT_EQ(row("unknown"), "pending 0");
  EXPECT_EQ(row("known"), "sending 0");
  EXPECT_EQ(row("of another"), "sending 0");
  EXPECT_EQ(value(one.store.release_unknown({})), 1U);
  EXPECT_EQ(row("known"), "pending 0");
}

TEST_F(StoreTest, AnAbortIsWrittenToTheLedgerFirstAndOnlyByTheHolder) {
  enqueue("a");
  Relay slow = relay("slow:1");
  Relay other = relay("other:2");
  const auto late = slow.claim().at(0);
  age_leases();
  value(other.store.expire_leases(10));
  const auto taken = other.claim().at(0);

  EXPECT_EQ(slow.finish(late, aborted()), Written::refused);
  EXPECT_EQ(ledger("a"), "none");

  EXPECT_EQ(other.finish(taken, aborted()), Written::aborted);
  EXPECT_EQ(row("a"), "aborted 2 PAYLOAD_INVALID");
  EXPECT_EQ(ledger("a"), "failed 400 PAYLOAD_INVALID");
}

TEST_F(StoreTest, TheDelaysComeFromTheTableAndNeverSoonerThanAskedFor) {
  struct Case {
    const char* name;
    int attempts;
    std::optional<Millis> retry_after;
    const char* expected;
  };
  const Case cases[] = {{"first", 0, {}, "00:00:05"},
                        {"second", 1, {}, "00:00:10"},
                        {"beyond the table", 4, {}, "00:00:10"},
                        {"longer asked for", 0, 60s, "00:01:00"},
                        {"shorter asked for", 1, 1s, "00:00:10"},
                        {"for ever", 0, std::chrono::hours{1'000'000'000}, "365 days"}};
  settings.backoff = {5s, 10s};
  Relay one = relay();
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    run(database, "TRUNCATE hikyaku_outbox");
    enqueue("a");
    run(database, "UPDATE hikyaku_outbox SET attempts = $1::integer", {std::int64_t{c.attempts}});
    Outcome outcome = failed();
    outcome.retry_after = c.retry_after;

    one.finish(one.claim().at(0), outcome);

    EXPECT_EQ(text(database, "SELECT justify_hours(next_run_at - updated_at) FROM hikyaku_outbox"),
              c.expected);
  }
}

TEST_F(StoreTest, RowsComeInTheOrderOfTheirCreation) {
  for (const char* key : {"c", "a", "b"}) {
    enqueue(key);
  }
  run(database,
      "UPDATE hikyaku_outbox SET created_at = created_at - interval '1 hour' "
      "WHERE idempotency_key = 'b'");

  const auto rows = relay().claim();

  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].row.idempotency_key, "b");
  EXPECT_EQ(rows[1].row.idempotency_key, "c");
  EXPECT_EQ(rows[2].row.idempotency_key, "a");
}

TEST_F(StoreTest, ARowPastItsExpiryIsSettledAndNotSent) {
  enqueue("a");
  run(database, "UPDATE hikyaku_outbox SET expires_at = now() - interval '1 second'");
  Relay one = relay();

  const auto rows = one.claim();

  ASSERT_TRUE(rows.at(0).settled.has_value());
  EXPECT_EQ(one.finish(rows[0], *rows[0].settled), Written::aborted);
  EXPECT_EQ(row("a"), "aborted 1 EXPIRED");
  EXPECT_EQ(ledger("a"), "failed 410 EXPIRED");
}

TEST_F(StoreTest, TimesWithoutEndHarmNobody) {
  for (const char* key : {"always", "never", "now"}) {
    enqueue(key);
  }
  run(database,
      "UPDATE hikyaku_outbox SET next_run_at = 'infinity' WHERE idempotency_key = 'never'");
  run(database,
      "UPDATE hikyaku_outbox SET created_at = '-infinity' WHERE idempotency_key = 'always'");
  Relay one = relay();
  EXPECT_EQ(value(one.store.next_due()), Millis{0});
  EXPECT_TRUE(value(one.store.counts()).oldest_due.has_value());
  EXPECT_EQ(value(Operator(database, settings, one.shape).list({})).size(), 3U);

  const auto rows = one.claim(2);

  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].row.idempotency_key, "always");
  EXPECT_EQ(one.finish(rows[0], succeeded()), Written::succeeded);
  EXPECT_TRUE(one.claim().empty());
  EXPECT_FALSE(value(one.store.next_due()).has_value());
}

TEST_F(StoreTest, EverythingOfARowReachesTheSender) {
  run(database,
      R"(SELECT hikyaku_enqueue('a', '{"x": "\u00e9"}', 'https://example.com/in',
           '{"X-Kind": "order", "X-Many": ["1", "2"]}', 'customer-1', NULL, '00-11-22-01'))");

  const Row row = relay().claim().at(0).row;

  EXPECT_EQ(row.payload, "{\"x\": \"\xc3\xa9\"}");
  EXPECT_EQ(row.destination, "https://example.com/in");
  EXPECT_EQ(row.headers,
            (std::vector<Header>{{"X-Kind", "order"}, {"X-Many", "1"}, {"X-Many", "2"}}));
  EXPECT_EQ(row.order_key, "customer-1");
  EXPECT_EQ(row.traceparent, "00-11-22-01");
  EXPECT_TRUE(row.request_digest.starts_with("sha256:"));
}

TEST_F(StoreTest, APayloadThatIsTooLargeIsNotReadAndTheOthersAre) {
  settings.payload_bytes_max = 100;
  enqueue("large", "\"" + std::string(200, 'x') + "\"");
  enqueue("small", "1");
  enqueue("exact", "\"" + std::string(98, 'x') + "\"");

  const auto rows = relay().claim();

  ASSERT_EQ(rows.size(), 3U);
  EXPECT_FALSE(rows[0].row.payload.has_value());
  EXPECT_EQ(rows[1].row.payload, "1");
  EXPECT_EQ(rows[2].row.payload->size(), 100U);
}

TEST_F(StoreTest, BrokenHeadersAbortTheirRowAlone) {
  run(database, R"(SELECT hikyaku_enqueue('list', '1', NULL, '[1]'))");
  run(database, R"(SELECT hikyaku_enqueue('number', '1', NULL, '{"a": 1}'))");
  run(database,
      "SELECT hikyaku_enqueue('large', '1', NULL, jsonb_build_object('a', repeat('x', "
      "70000)))");
  enqueue("good");
  Relay one = relay();

  const auto rows = one.claim();

  ASSERT_EQ(rows.size(), 4U);
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(rows[i].settled.has_value());
    EXPECT_EQ(rows[i].settled->reason_code, "HEADERS_INVALID");
  }
  EXPECT_FALSE(rows[3].settled.has_value());
}

TEST_F(StoreTest, NoAnswerOfAReceiverPoisonsTheStatement) {
  struct Case {
    std::string name;
    std::string response;
    std::string stored;
  };
  const std::string huge = "1e" + std::string(7, '9');
  const std::vector<Case> cases = {
      {"json", R"([1, "a"])", R"([1, "a"])"},
      {"text", "thanks", R"("thanks")"},
      {"empty", "", ""},
      {"nul", std::string("a\0b", 3),
       "\"a\xef\xbf\xbd"
       "b\""},
      {"escaped nul", R"({"a": "\u0000"})", R"("{\"a\": \"\\u0000\"}")"},
      {"not utf-8", "a\xff", "\"a\xef\xbf\xbd\""},
      {"half a surrogate", R"("\ud800")", R"("\"\\ud800\"")"},
      {"deep", std::string(5'000, '['), "\"" + std::string(5'000, '[') + "\""},
      {"a number beyond numeric", huge, ""},
  };
  for (const Case& c : cases) {
    enqueue(c.name);
  }
  Relay one = relay();
  std::vector<Finished> all;
  for (const Claimed& claimed : one.claim()) {
    const Case& c = cases.at(all.size());
    ASSERT_EQ(c.name, claimed.row.idempotency_key);
    Outcome outcome = succeeded(c.response);
    all.push_back(
        {claimed.row.claim, claimed.row.idempotency_key, claimed.row.request_digest, outcome});
  }

  const auto written = one.finish(all);

  EXPECT_EQ(written, std::vector(cases.size(), Written::succeeded));
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(row(c.name), "succeeded 1");
    EXPECT_EQ(
        std::string(run(database,
                        "SELECT COALESCE(response_payload_json::text, '') FROM hikyaku_ledger "
                        "WHERE idempotency_key = $1::text",
                        {c.name})
                        .text(0, 0)),
        c.stored);
  }
}

TEST_F(StoreTest, AMessageOfAnyBytesIsCutAndKept) {
  enqueue("a");
  Relay one = relay();
  Outcome outcome = failed();
  outcome.message = std::string("\0\xff'\\\"{},", 9) + std::string(10'000, 'x');

  EXPECT_EQ(one.finish(one.claim().at(0), outcome), Written::failed);

  EXPECT_EQ(text(database, "SELECT length(last_error_msg) FROM hikyaku_outbox"), "512");
  EXPECT_EQ(text(database, "SELECT left(last_error_msg, 8) FROM hikyaku_outbox"),
            "\xef\xbf\xbd\xef\xbf\xbd'\\\"{},");
}

TEST_F(StoreTest, ARowThatTheDatabaseRefusesDoesNotHarmTheOthers) {
  run(database, "ALTER TABLE hikyaku_ledger ADD CHECK (idempotency_key <> 'bad')");
  for (const char* key : {"good", "bad", "fine"}) {
    enqueue(key);
  }
  Relay one = relay();
  std::vector<Finished> all;
  for (const Claimed& c : one.claim()) {
    all.push_back({c.row.claim, c.row.idempotency_key, c.row.request_digest, succeeded()});
  }

  EXPECT_EQ(one.finish(all),
            (std::vector{Written::succeeded, Written::unwritten, Written::succeeded}));

  EXPECT_EQ(row("good"), "succeeded 1");
  EXPECT_EQ(row("bad"), "sending 0");
  EXPECT_EQ(row("fine"), "succeeded 1");
}

TEST_F(StoreTest, ARowThatCannotBeReadAtAllIsAbortedAndTheOthersAreClaimed) {
  // A character of this encoding that UTF-8 does not have: no statement can give it to a client.
  where = Postgres::instance().fresh_database(
      "ENCODING 'EUC_JP' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
  database = connect(where);
  init({.payload_type = "text"});
  run(database,
      R"(INSERT INTO hikyaku_outbox (idempotency_key, payload) VALUES
           ('good', 'a'), ('bad', convert_from('\xfcfe', 'EUC_JP')), ('fine', 'b'))");
  Relay one = relay();

  const auto rows = one.claim();

  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].row.payload, "a");
  EXPECT_EQ(rows[2].row.payload, "b");
  ASSERT_TRUE(rows[1].settled.has_value());
  EXPECT_EQ(rows[1].settled->reason_code, "PAYLOAD_INVALID");
  EXPECT_EQ(one.finish(rows[1], *rows[1].settled), Written::aborted);
  EXPECT_EQ(ledger("bad"), "failed 400 PAYLOAD_INVALID");

  // And the other way: an answer with a character that this database does not have.
  Outcome outcome = succeeded("\xf0\x9f\x98\x80");
  EXPECT_EQ(one.finish(rows[0], outcome), Written::succeeded);
  outcome = failed();
  outcome.message = "\xf0\x9f\x98\x80 ok";
  EXPECT_EQ(one.finish(rows[2], outcome), Written::failed);
  EXPECT_EQ(
      text(database, "SELECT last_error_msg FROM hikyaku_outbox WHERE idempotency_key = 'fine'"),
      "???? ok");
}

TEST_F(StoreTest, TwoResultsOfOneRowInOneBatchDoNotCollide) {
  enqueue("a");
  Relay one = relay();
  const auto first = one.claim().at(0);
  age_leases();
  value(one.store.expire_leases(10));
  const auto second = one.claim().at(0);
  const auto of = [](const Claimed& c, Outcome outcome) {
    return Finished{c.row.claim, c.row.idempotency_key, c.row.request_digest, std::move(outcome)};
  };

  EXPECT_EQ(one.finish({of(first, succeeded()), of(second, aborted())}),
            (std::vector{Written::refused, Written::succeeded}));

  EXPECT_EQ(ledger("a"), "succeeded 200");
}

TEST_F(StoreTest, SayingAResultTwiceIsHarmless) {
  enqueue("a");
  Relay one = relay();
  const auto claimed = one.claim().at(0);
  EXPECT_EQ(one.finish(claimed, succeeded()), Written::succeeded);
  EXPECT_EQ(one.finish(claimed, succeeded()), Written::refused);
  EXPECT_EQ(row("a"), "succeeded 1");
}

TEST_F(StoreTest, CleaningUpTakesOldFinishedRowsWithTheirLedger) {
  settings.retention_finished = std::chrono::hours{1};
  settings.max_attempts = 1;
  Relay one = relay();
  for (const char* key : {"old", "dead", "new", "waiting"}) {
    enqueue(key);
  }
  auto rows = one.claim(3);
  one.finish(rows.at(0), succeeded());
  one.finish(rows.at(1), failed());
  one.finish(rows.at(2), succeeded());
  run(database,
      "UPDATE hikyaku_outbox SET updated_at = now() - interval '2 hours' "
      "WHERE idempotency_key <> 'new'");

  EXPECT_EQ(value(one.store.clean_up(1)), 1U);
  EXPECT_EQ(value(one.store.clean_up(10)), 1U);
  EXPECT_EQ(value(one.store.clean_up(10)), 0U);

  EXPECT_EQ(
      text(database, "SELECT string_agg(idempotency_key, ' ' ORDER BY id) FROM hikyaku_outbox"),
      "new waiting");
  EXPECT_EQ(text(database, "SELECT string_agg(idempotency_key, ' ') FROM hikyaku_ledger"), "new");
  settings.retention_finished = Millis{0};
  EXPECT_EQ(value(relay().store.clean_up(10)), 0U);
}

TEST_F(StoreTest, CountsSayWhatWaits) {
  Relay one = relay();
  EXPECT_FALSE(value(one.store.counts()).oldest_due.has_value());
  EXPECT_FALSE(value(one.store.next_due()).has_value());
  for (const char* key : {"a", "b", "c", "d"}) {
    enqueue(key);
  }
  const auto rows = one.claim(3);
  one.finish(rows[0], failed());
  one.finish(rows[1], aborted());
  run(database,
      "UPDATE hikyaku_outbox SET created_at = now() - interval '10 seconds' "
      "WHERE idempotency_key = 'd'");

  const Counts counts = value(one.store.counts());

  EXPECT_EQ(counts.pending, 1);
  EXPECT_EQ(counts.failed, 1);
  EXPECT_EQ(counts.sending, 1);
  EXPECT_EQ(counts.aborted, 1);
  ASSERT_TRUE(counts.oldest_due.has_value());
  EXPECT_GE(*counts.oldest_due, 10s);
  EXPECT_EQ(value(one.store.next_due()), Millis{0});
}

TEST_F(StoreTest, ARestartOfTheServerLosesNoResult) {
  enqueue("a");
  enqueue("b");
  {
    Relay one = relay();
    const auto rows = one.claim();
    one.finish(rows.at(0), succeeded());
    Postgres::instance().restart();
    const auto gone = one.store.finish({{rows[1].row.claim, "b", "", succeeded()}});
    ASSERT_FALSE(gone.has_value());
    EXPECT_EQ(gone.error().error.kind, ErrorKind::unavailable);
  }
  database = connect(where);
  EXPECT_EQ(row("a"), "succeeded 1");
  EXPECT_EQ(ledger("a"), "succeeded 200");
  EXPECT_EQ(ledger("b"), "none");
}

}  // namespace HK_TEST_FILE
}  // namespace hk::outbox::test
