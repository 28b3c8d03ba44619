/// Many at once on one table: claimers, enqueuers, late commits, strict order.
#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "integration/outbox/relay_fixture.h"

namespace hk::outbox::test {
namespace HK_TEST_FILE {

class RaceTest : public OutboxTest {
 protected:
  std::vector<std::string> keys(const std::vector<Claimed>& rows) {
    std::vector<std::string> out;
    for (const Claimed& claimed : rows) {
      out.push_back(claimed.row.idempotency_key);
    }
    return out;
  }
  void enqueue_in_order(Database& connection, const std::string& key, const std::string& order) {
    run(connection, "SELECT hikyaku_enqueue($1::text, '1'::jsonb, order_key => $2::text)",
        {key, order});
  }
};

TEST_F(RaceTest, AHundredClaimersNeverShareARow) {
  init();
  run(database,
      "SELECT count(hikyaku_enqueue('k' || i, to_jsonb(i))) FROM generate_series(1, 5000) i");
  std::mutex mutex;
  std::map<std::int64_t, int> claimed;
  std::atomic<int> refused = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 100; ++i) {
    threads.emplace_back([&, i] {
      Relay one = relay("relay:" + std::to_string(i));
      while (true) {
        const auto rows = one.claim(20);
        if (rows.empty()) {
          return;
        }
        std::vector<Finished> all;
        {
          const std::lock_guard lock(mutex);
          for (const Claimed& c : rows) {
            ++claimed[c.row.claim.id];
          }
        }
        for (const Claimed& c : rows) {
          all.push_back({c.row.claim, c.row.idempotency_key, c.row.request_digest, succeeded()});
        }
        for (const Written written : one.finish_at_last(all)) {
          refused += written == Written::succeeded ? 0 : 1;
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  // A claimer that found nothing may have met rows that others were just claiming; none is left.
  EXPECT_TRUE(relay().claim().empty());
  EXPECT_EQ(claimed.size(), 5000U);
  for (const auto& [id, times] : claimed) {
    EXPECT_EQ(times, 1) << "row " << id;
  }
  EXPECT_EQ(refused, 0);
  EXPECT_EQ(text(database, "SELECT count(*) FROM hikyaku_outbox WHERE status = 'succeeded'"),
            "5000");
  EXPECT_EQ(text(database, "SELECT count(*) FROM hikyaku_ledger WHERE status = 'succeeded'"),
            "5000");
}

TEST_F(RaceTest, ARowThatCommitsLateIsNotSkipped) {
  init();
  Database late = connect(where);
  run(late, "BEGIN");
  run(late, "SELECT hikyaku_enqueue('late', '1')");
  enqueue("early");
  Relay one = relay();
  const auto first = one.claim();
  EXPECT_EQ(keys(first), std::vector<std::string>{"early"});
  one.finish(first[0], succeeded());

  run(late, "COMMIT");

  EXPECT_EQ(keys(one.claim()), std::vector<std::string>{"late"});
}

TEST_F(RaceTest, ARowThatCommitsLateIsNotSkippedAmongABacklogEither) {
  init();
  Database late = connect(where);
  run(late, "BEGIN");
  run(late, "SELECT hikyaku_enqueue('late', '1')");
  for (int i = 0; i < 6; ++i) {
    enqueue(std::to_string(i));
  }
  Relay one = relay();
  EXPECT_EQ(keys(one.claim(2)), (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(keys(one.claim(2)), (std::vector<std::string>{"2", "3"}));

  run(late, "COMMIT");

  auto rest = keys(one.claim(10));
  std::sort(rest.begin(), rest.end());
  EXPECT_EQ(rest, (std::vector<std::string>{"4", "5", "late"}));
}

TEST_F(RaceTest, ABacklogIsClaimedFromWhereTheLastClaimEnded) {
  init();
  run(database, "SELECT count(hikyaku_enqueue('k' || i, '1')) FROM generate_series(1, 3000) i");
  Database old = connect(where);
  run(old, "BEGIN ISOLATION LEVEL REPEATABLE READ");
  run(old, "SELECT 1");  // its snapshot keeps what dies from now on
  Relay one = relay();
  for (int i = 0; i < 10; ++i) {
    one.claim(200);
  }
  const StoreSql sql = store_sql(settings.table, one.shape);
  const std::string explain = "EXPLAIN (ANALYZE, BUFFERS) " + sql.claim;
  const auto pages = [&](const std::string& after_due, std::int64_t after_id) {
    const auto plan = value(one.database.run_together(
        {{quick_plan_settings, {}},
         {explain, {std::int64_t{1}, "x#1", std::int64_t{1000}, after_due, after_id}}}));
    bool claims = false;
    for (std::size_t i = 0; i < plan[1].size(); ++i) {
      const std::string line(plan[1].text(i, 0));
      claims = claims || line.find("using hikyaku_outbox_claim") != std::string::npos;
      if (const std::size_t hit = line.find("shared hit="); claims && hit != std::string::npos) {
        return std::stoi(line.substr(hit + 11));
      }
    }
    return 0;
  };
  const std::string due = text(database, "SELECT max(created_at) FROM hikyaku_outbox");

  const int from_there = pages(due, 2000);
  const int from_the_beginning = pages("-infinity", 0);

  EXPECT_GT(from_there, 0);
  EXPECT_GT(from_the_beginning, 10 * from_there) << "the dead entries cost what they cost";
}

TEST_F(RaceTest, StrictOrderSendsOneOfAKeyAtATimeAndWaitsForItsRetries) {
  settings.table.strict_order = true;
  init();
  for (const char* key : {"a1", "a2", "a3"}) {
    enqueue_in_order(database, key, "a");
  }
  enqueue_in_order(database, "b1", "b");
  enqueue("free1");
  enqueue("free2");
  Relay one = relay("one:1");
  Relay two = relay("two:2");

  const auto first = one.claim();
  EXPECT_EQ(keys(first), (std::vector<std::string>{"a1", "b1", "free1", "free2"}));
  EXPECT_TRUE(two.claim().empty());
  EXPECT_FALSE(value(two.store.next_due()).has_value()) << "what is blocked is not due";

  one.finish(first[0], failed());
  EXPECT_TRUE(two.claim().empty()) << "a1 waits for its next attempt, and a2 for a1";
  EXPECT_GT(value(two.store.next_due()).value(), Millis{0});
  due_now();
  const auto again = two.claim();
  EXPECT_EQ(keys(again), std::vector<std::string>{"a1"});
  two.finish(again[0], succeeded());
  const auto next = two.claim();
  EXPECT_EQ(keys(next), std::vector<std::string>{"a2"});
  two.finish(next[0], aborted());
  EXPECT_EQ(keys(one.claim()), std::vector<std::string>{"a3"}) << "an aborted row blocks nobody";
}

TEST_F(RaceTest, ARequeuedRowWaitsForTheYoungerOneOfItsKeyThatIsOnItsWay) {
  settings.table.strict_order = true;
  init();
  enqueue_in_order(database, "a1", "a");
  enqueue_in_order(database, "a2", "a");
  Relay one = relay();
  one.finish(one.claim().at(0), aborted());
  const auto younger = one.claim();
  EXPECT_EQ(keys(younger), std::vector<std::string>{"a2"});

  value(Operator(database, settings, one.shape).requeue({.ids = {1}}));

  EXPECT_TRUE(one.claim().empty());
  one.finish(younger[0], succeeded());
  EXPECT_EQ(keys(one.claim()), std::vector<std::string>{"a1"});
}

TEST_F(RaceTest, AnOrderKeyKeepsTheOrderOfCommitsAlthoughOneCommitsLate) {
  settings.table.strict_order = true;
  init();
  Database late = connect(where);
  run(late, "BEGIN");
  enqueue_in_order(late, "first", "a");
  std::thread second([&] {
    Database own = connect(where);
    enqueue_in_order(own, "second", "a");  // waits for the transaction above
  });
  while (text(database,
              "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted") != "1") {
    std::this_thread::yield();
  }
  Relay one = relay();
  EXPECT_TRUE(one.claim().empty());

  run(late, "COMMIT");
  second.join();

  const auto claimed = one.claim();
  EXPECT_EQ(keys(claimed), std::vector<std::string>{"first"});
  one.finish(claimed[0], succeeded());
  EXPECT_EQ(keys(one.claim()), std::vector<std::string>{"second"});
}

TEST_F(RaceTest, StrictOrderHoldsWithManyRelaysAtOnce) {
  settings.table.strict_order = true;
  settings.backoff = {Millis{0}};
  settings.max_attempts = 100;
  init();
  constexpr int orders = 5;
  constexpr int each = 40;
  for (int i = 0; i < orders * each; ++i) {
    enqueue_in_order(database, std::to_string(i), std::to_string(i % orders));
  }
  std::mutex mutex;
  std::map<std::string, std::vector<std::int64_t>> sent;
  std::map<std::string, int> on_its_way;
  std::atomic<bool> together = false;
  std::atomic<int> left = orders * each;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      Relay one = relay("relay:" + std::to_string(t));
      int n = t;
      while (left > 0) {
        for (const Claimed& c : one.claim(3)) {
          {
            const std::lock_guard lock(mutex);
            together = together || ++on_its_way[c.row.order_key] > 1;
          }
          const bool ok = ++n % 3 != 0;
          {
            const std::lock_guard lock(mutex);
            --on_its_way[c.row.order_key];
            if (ok) {
              sent[c.row.order_key].push_back(c.row.claim.id);
            }
          }
          one.finish_at_last({{c.row.claim, c.row.idempotency_key, c.row.request_digest,
                               ok ? succeeded() : failed()}});
          left -= ok ? 1 : 0;
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_FALSE(together);
  for (const auto& [order, ids] : sent) {
    EXPECT_EQ(ids.size(), static_cast<std::size_t>(each));
    EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end())) << order;
  }
}

TEST_F(RaceTest, EnqueueingTheSameAgainGivesTheSameRowAndOtherContentIsRefused) {
  init();
  const auto call = [&](const std::string& arguments) {
    auto rows = database.run("SELECT hikyaku_enqueue(" + arguments + ")");
    return rows ? std::string(rows->text(0, 0)) : rows.error().sqlstate;
  };
  EXPECT_EQ(call(R"('a', '{"x": 1, "y": 2}', 'https://e.example/', '{"H": "1"}')"), "1");
  EXPECT_EQ(call(R"('a', '{"y":2,"x":1}', 'https://e.example/', '{"H":"1"}')"), "1");
  EXPECT_EQ(call(R"('a', '{"y":2,"x":1}', 'https://e.example/', '{"H":"1"}', 'o', '1 hour')"), "1");
  EXPECT_EQ(call(R"('a', '{"x": 1, "y": 3}', 'https://e.example/', '{"H": "1"}')"), "HK409");
  EXPECT_EQ(call(R"('a', '{"x": 1, "y": 2}', 'https://f.example/', '{"H": "1"}')"), "HK409");
  EXPECT_EQ(call(R"('a', '{"x": 1, "y": 2}', 'https://e.example/', '{"H": "2"}')"), "HK409");
  EXPECT_EQ(call(R"('a', '{"x": 1, "y": 2}')"), "HK409");
  EXPECT_EQ(call("'', '1'"), "HK400");
  EXPECT_EQ(call("'b', NULL"), "HK400");
  EXPECT_EQ(text(database, "SELECT count(*) FROM hikyaku_outbox"), "1");
}

TEST_F(RaceTest, ARowWithoutADigestIsComparedByItsContent) {
  for (const char* type : {"jsonb", "text", "bytea"}) {
    SCOPED_TRACE(type);
    const std::string function = std::string("enqueue_") + type;
    settings.table.outbox = std::string("outbox_") + type;
    init({.enqueue_function = function, .payload_type = type});
    const auto call = [&](const std::string& arguments) {
      auto rows = database.run("SELECT " + function + "(" + arguments + ")");
      return rows ? std::string(rows->text(0, 0)) : rows.error().sqlstate;
    };
    run(database, "INSERT INTO " + settings.table.outbox +
                      " (idempotency_key, payload, destination, headers) VALUES ('plain', '1', "
                      "NULL, NULL), ('all', '1', 'https://e.example/', '{\"H\": \"1\"}')");

    EXPECT_EQ(call("'plain', '1'"), "1");
    EXPECT_EQ(call("'plain', '2'"), "HK409");
    EXPECT_EQ(call("'plain', '1', 'https://e.example/'"), "HK409");
    EXPECT_EQ(call(R"('all', '1', 'https://e.example/', '{"H":"1"}')"), "2");
    EXPECT_EQ(call("'all', '1'"), "HK409");
  }
}

TEST_F(RaceTest, ThePlainDigestIsThatOfThePayload) {
  init();
  enqueue("a", R"({"x": 1})");
  EXPECT_EQ(text(database, R"(SELECT request_digest = 'sha256:' || encode(sha256('{"x": 1}'), 'hex')
                              FROM hikyaku_outbox)"),
            "t");
}

TEST_F(RaceTest, ADelayedRowIsDueLater) {
  init();
  run(database, "SELECT hikyaku_enqueue('a', '1', delay => '1 hour')");
  Relay one = relay();
  EXPECT_TRUE(one.claim().empty());
  EXPECT_GT(value(one.store.next_due()).value(), std::chrono::minutes{50});
}

TEST_F(RaceTest, TwoTransactionsWithOneKeyMakeOneRow) {
  init();
  for (const bool commit : {true, false}) {
    SCOPED_TRACE(commit);
    run(database, "TRUNCATE hikyaku_outbox");
    Database first = connect(where);
    run(first, "BEGIN");
    const std::string id = text(first, "SELECT hikyaku_enqueue('same', '1')");
    std::string other;
    std::thread same([&] {
      Database own = connect(where);
      other = text(own, "SELECT hikyaku_enqueue('same', '1')");
    });
    while (text(database,
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
                "AND datname = current_database()") != "1") {
      std::this_thread::yield();
    }
    run(first, commit ? "COMMIT" : "ROLLBACK");
    same.join();
    EXPECT_EQ(other == id, commit);
    EXPECT_EQ(text(database, "SELECT count(*) FROM hikyaku_outbox"), "1");
    EXPECT_EQ(database.run("SELECT hikyaku_enqueue('same', '2')").error().sqlstate, "HK409");
  }
}

TEST_F(RaceTest, AFinishAndATakeoverAtOnceLeaveOneEnd) {
  init();
  settings.max_attempts = 1;
  for (int round = 0; round < 20; ++round) {
    const std::string key = "k" + std::to_string(round);
    enqueue(key);
    Relay slow = relay("slow:1");
    Relay other = relay("other:2");
    const auto claimed = slow.claim().at(0);
    age_leases();
    std::thread takeover([&] { value(other.store.expire_leases(10)); });
    const Written written = slow.finish(claimed, succeeded());
    takeover.join();
    const std::string end = row(key);
    EXPECT_EQ(ledger(key), "succeeded 200");
    if (written == Written::succeeded) {
      EXPECT_EQ(end, "succeeded 1");
    } else {
      // The takeover was first: it aborted the row, or has seen the success in the ledger.
      EXPECT_TRUE(end == "succeeded 1" || end == "aborted 1 LEASE_EXPIRED") << end;
    }
  }
}

TEST_F(RaceTest, AClaimGoesByThePartialIndexWithManyFinishedRows) {
  init();
  run(database,
      "INSERT INTO hikyaku_outbox (idempotency_key, payload, status) "
      "SELECT 'done' || i, '1', 'succeeded' FROM generate_series(1, 200000) i");
  run(database, "ANALYZE hikyaku_outbox");
  enqueue("a");
  const Relay one = relay();
  for (const bool strict : {false, true}) {
    SCOPED_TRACE(strict);
    settings.table.strict_order = strict;
    init();
    const StoreSql statements = store_sql(settings.table, one.shape);
    const std::string explain = "EXPLAIN " + statements.claim;
    const auto plan = value(database.run_together(
        {{quick_plan_settings, {}},
         {explain, {std::int64_t{32}, "x", std::int64_t{1000}, "-infinity", std::int64_t{0}}}}));
    std::string lines;
    for (std::size_t i = 0; i < plan[1].size(); ++i) {
      lines += std::string(plan[1].text(i, 0)) + "\n";
    }
    EXPECT_NE(lines.find("using hikyaku_outbox_claim"), std::string::npos) << lines;
    EXPECT_EQ(lines.find("Seq Scan on hikyaku_outbox"), std::string::npos) << lines;
    EXPECT_EQ(strict, lines.find("hikyaku_outbox_order") != std::string::npos) << lines;
  }
}

TEST_F(RaceTest, ResultsAreWrittenByTheIdsOfTheirRows) {
  init();
  run(database,
      "INSERT INTO hikyaku_outbox (idempotency_key, payload, status) "
      "SELECT 'done' || i, '1', 'succeeded' FROM generate_series(1, 20000) i");
  run(database, "ANALYZE hikyaku_outbox");  // which knows of no row that is being sent
  const Relay one = relay();
  const StoreSql sql = store_sql(settings.table, one.shape);
  const std::string explain = "EXPLAIN " + sql.write_outbox;
  const std::string heartbeat = "EXPLAIN " + sql.heartbeat;
  const auto plans = value(database.run_together(
      {{plan_settings, {}},
       {explain,
        {"{1,2,3}", "{a,a,a}", "{0,0,0}", "{a,b,c}", "{a,b,c}", "{failed,failed,failed}", "{a,b,c}",
         "{a,b,c}", "{0,0,0}", "{f,t,f}"}},
       {heartbeat, {"{1,2,3}", "{a,a,a}", "{0,0,0}"}}}));
  for (const std::size_t plan : {1U, 2U}) {
    std::string lines;
    for (std::size_t i = 0; i < plans[plan].size(); ++i) {
      lines += std::string(plans[plan].text(i, 0)) + "\n";
    }
    EXPECT_NE(lines.find("hikyaku_outbox_pkey"), std::string::npos) << lines;
    EXPECT_EQ(lines.find("hikyaku_outbox_lease"), std::string::npos) << lines;
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::outbox::test
