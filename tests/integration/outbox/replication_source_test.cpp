#include "outbox/source/replication_source.h"

#include <signal.h>

#include "integration/outbox/source_fixture.h"
#include "outbox/source/look_delay.h"
#include "outbox/source/poll_source.h"

using namespace hk;
using namespace hk::outbox;
using namespace hk::outbox::test;

namespace {

class ReplicationSourceTest : public SourceTest {
 protected:
  void SetUp() override {
    SourceTest::SetUp();
    pace_.tick = Millis{100};
    pace_.take_over = Millis{100};
  }

  std::unique_ptr<ReplicationSource> make() {
    return std::make_unique<ReplicationSource>(settings_, pace_);
  }
  bool streams(ReplicationSource& source) {
    return serve(source, [&source] { return source.streaming(); });
  }
  /// Streaming, with nothing due.
  std::unique_ptr<ReplicationSource> made_and_quiet() {
    auto source = make();
    EXPECT_TRUE(streams(*source));
    EXPECT_TRUE(source->take_due());
    EXPECT_TRUE(source->looked_through().has_value());
    return source;
  }
  /// Bytes from the slot's position to here: not positive when it is past.
  std::int64_t behind(const std::string& lsn) {
    return sql("SELECT '" + lsn +
               "'::pg_lsn - confirmed_flush_lsn FROM pg_replication_slots"
               " WHERE slot_name = '" +
               slot() + "'")
        .number(0, 0);
  }
  std::string position() { return value("SELECT pg_current_wal_lsn()"); }
  /// `segments` of a MiB each.
  void write_log(int segments) {
    sql("CREATE TABLE IF NOT EXISTS other (n int)");
    for (int i = 0; i < segments; ++i) {
      sql("INSERT INTO other VALUES (1)");
      sql("SELECT pg_switch_wal()");
    }
    sql("CHECKPOINT");
  }

  ReplicationPace pace_{};
};

}  // namespace

TEST_F(ReplicationSourceTest, WakesAfterACommitAndNotAfterARollback) {
  create_table();
  create_publication();
  const auto source = made_and_quiet();
  EXPECT_EQ(logged("outbox.slot_created"), 1U);
  EXPECT_EQ(source->look_again_after(100), safety_net);

  sql("BEGIN");
  insert();
  EXPECT_TRUE(stays_quiet(*source));
  sql("ROLLBACK");
  EXPECT_TRUE(stays_quiet(*source));
  insert();

  EXPECT_TRUE(becomes_due(*source));
  EXPECT_TRUE(stays_quiet(*source));
  sql("UPDATE " + table() + " SET payload = 'x'");  // what a relay itself does all the time
  EXPECT_TRUE(stays_quiet(*source));
}

TEST_F(ReplicationSourceTest, ATransactionThatCommitsLateWakesThen) {
  create_table();
  create_publication();
  const auto source = made_and_quiet();
  Database late = postgres().connect();
  ASSERT_TRUE(late.run("BEGIN").has_value());
  ASSERT_TRUE(late.run("INSERT INTO " + table() + " DEFAULT VALUES").has_value());
  insert();
  ASSERT_TRUE(becomes_due(*source));
  ASSERT_TRUE(source->looked_through().has_value());
  const std::string before = position();
  // The position goes on while the transaction is open, and the slot does not forget it.
  ASSERT_TRUE(serve(*source, [&] { return behind(before) <= 0; }));

  ASSERT_TRUE(late.run("COMMIT").has_value());

  EXPECT_TRUE(becomes_due(*source));
}

TEST_F(ReplicationSourceTest, AMessageOfTheOperatorAsksForALook) {
  create_table();
  create_publication();
  const auto source = made_and_quiet();

  sql("SELECT pg_logical_emit_message(true, 'somebody', '')");
  EXPECT_TRUE(stays_quiet(*source));
  sql("SELECT pg_logical_emit_message(true, '" + settings_.table.channel() + "', '')");

  EXPECT_TRUE(becomes_due(*source));
}

TEST_F(ReplicationSourceTest, ATransactionOfManyRowsIsTakenInPieces) {
  create_table();
  create_publication();
  pace_.tick = Millis{60'000};
  pace_.frames_per_read_max = 16;
  const auto source = made_and_quiet();

  sql("INSERT INTO " + table() + " (payload) SELECT repeat('x', 20) FROM generate_series(1, 1000)");

  EXPECT_TRUE(becomes_due(*source));
  EXPECT_TRUE(stays_quiet(*source));
}

TEST_F(ReplicationSourceTest, APublicationOfTheKeyAloneIsEnough) {
  create_table();
  sql("CREATE PUBLICATION " + quoted_identifier(settings_.table.channel()) + " FOR TABLE " +
      table() + " (id) WITH (publish = 'insert')");
  const auto source = made_and_quiet();

  insert();

  EXPECT_TRUE(becomes_due(*source));
}

TEST_F(ReplicationSourceTest, ThePositionWaitsForTheLookAcrossRestartsOfBothEnds) {
  create_table();
  create_publication();
  auto source = made_and_quiet();
  insert();
  const std::string after_insert = position();
  ASSERT_TRUE(becomes_due(*source));
  EXPECT_TRUE(stays_quiet(*source));
  EXPECT_GT(behind(after_insert), 0);

  source.reset();  // the relay died before it had looked
  ASSERT_TRUE(postgres().control("restart -m immediate"));
  connect_again();
  EXPECT_GT(behind(after_insert), 0);

  source = make();
  ASSERT_TRUE(streams(*source));
  EXPECT_TRUE(source->take_due());
  EXPECT_GT(behind(after_insert), 0);
  EXPECT_TRUE(source->looked_through().has_value());
  EXPECT_TRUE(serve(*source, [&] {
    if (source->take_due()) {  // the slot has repeated it
      EXPECT_TRUE(source->looked_through().has_value());
    }
    return behind(after_insert) <= 0;
  }));
}

TEST_F(ReplicationSourceTest, StreamsAgainAfterPostgreSQLWasRestarted) {
  create_table();
  create_publication();
  const auto source = made_and_quiet();

  ASSERT_TRUE(postgres().control("restart -m immediate"));
  connect_again();

  ASSERT_TRUE(serve(*source, [this] { return last_error_.has_value(); }));
  EXPECT_EQ(last_error_->kind, ErrorKind::unavailable);
  ASSERT_TRUE(streams(*source));
  EXPECT_TRUE(source->take_due());
  insert();
  EXPECT_TRUE(becomes_due(*source));
  EXPECT_EQ(logged("outbox.slot_created"), 1U);
}

TEST_F(ReplicationSourceTest, PostgreSQLCanStopWhileSomethingIsOwed) {
  create_table();
  create_publication();
  pace_.tick = Millis{60'000};  // it is the end of the other connection that tells
  const auto source = made_and_quiet();
  insert();
  ASSERT_TRUE(becomes_due(*source));

  // It waits for those who replicate after it has ended every other connection.
  ASSERT_TRUE(postgres().control("stop -m fast -W"));
  EXPECT_TRUE(serve(*source, [this] { return last_error_.has_value(); }));
  (void)postgres().control("stop -m fast");  // waits, unless it has stopped already
  ASSERT_TRUE(postgres().control("start"));
  connect_again();

  EXPECT_TRUE(streams(*source));
}

TEST_F(ReplicationSourceTest, ASilentServerIsAskedAndThenGivenUp) {
  create_table();
  create_publication();
  pace_.ask = Millis{100};
  pace_.silence = Millis{5000};  // more than a busy machine takes to answer
  const auto source = made_and_quiet();
  EXPECT_FALSE(serve(
      *source, [this] { return last_error_.has_value(); }, Millis{6000}));
  const auto process =
      static_cast<pid_t>(sql("SELECT active_pid FROM pg_replication_slots").number(0, 0));

  ASSERT_EQ(::kill(process, SIGSTOP), 0);

  const bool given_up = serve(*source, [this] { return last_error_.has_value(); });
  ASSERT_EQ(::kill(process, SIGCONT), 0);
  ASSERT_TRUE(given_up);
  EXPECT_EQ(last_error_->kind, ErrorKind::unavailable);
  EXPECT_TRUE(streams(*source));
}

TEST_F(ReplicationSourceTest, ARelayWithoutTheSlotStandsByAndTakesItWhenItIsFree) {
  create_table();
  create_publication();
  auto first = made_and_quiet();
  const auto second = make();

  ASSERT_TRUE(serve(*second, [&] { return second->standing_by(); }));
  EXPECT_FALSE(last_error_.has_value());
  EXPECT_TRUE(second->take_due());
  EXPECT_EQ(second->look_again_after(100), safety_net);
  EXPECT_TRUE(stays_quiet(*second));  // several tries
  EXPECT_EQ(logged("outbox.slot_taken"), 1U);
  first.reset();

  ASSERT_TRUE(streams(*second));
  EXPECT_TRUE(second->take_due());
  insert();
  EXPECT_TRUE(becomes_due(*second));
}

TEST_F(ReplicationSourceTest, TheTableIsPolledWhileTheSlotWaitsForAnOldTransaction) {
  create_table();
  create_publication();
  Database old = postgres().connect();
  ASSERT_TRUE(old.run("BEGIN").has_value());
  ASSERT_TRUE(old.run("INSERT INTO " + table() + " DEFAULT VALUES").has_value());
  const auto source = make();

  ASSERT_TRUE(source->start().has_value());
  EXPECT_TRUE(source->take_due());
  EXPECT_TRUE(stays_quiet(*source));
  EXPECT_FALSE(source->streaming());
  EXPECT_EQ(source->look_again_after(100), settings_.poll_interval * 10);
  ASSERT_TRUE(old.run("COMMIT").has_value());

  EXPECT_TRUE(streams(*source));
  EXPECT_TRUE(source->take_due());
}

TEST_F(ReplicationSourceTest, AnIdleOutboxInABusyDatabaseRetainsNoLog) {
  create_table();
  create_publication();
  const auto source = made_and_quiet();
  sql("CREATE TABLE IF NOT EXISTS busy (n int, filler text)");
  for (int i = 0; i < 20; ++i) {
    sql("INSERT INTO busy SELECT n, repeat('x', 500) FROM generate_series(1, 500) n");
  }
  const std::string after = position();

  EXPECT_TRUE(serve(*source, [&] { return behind(after) <= 0; }));
  EXPECT_TRUE(serve(*source, [&] {
    sql("CHECKPOINT");  // which lets the beginning of the kept log move, too
    return value("SELECT restart_lsn >= '" + after +
                 "' FROM pg_replication_slots WHERE slot_name = '" + slot() + "'") == "t";
  }));
  EXPECT_FALSE(source->take_due());
}

TEST_F(ReplicationSourceTest, WarnsOnceWhenTooMuchLogIsRetained) {
  create_table();
  create_publication();
  settings_.slot_wal_max = 2 * 1024 * 1024;
  const auto source = made_and_quiet();
  insert();
  ASSERT_TRUE(becomes_due(*source));
  EXPECT_LE(source->retained_wal(), settings_.slot_wal_max);

  write_log(6);  // with the commit still owed

  EXPECT_TRUE(serve(*source, [&] { return source->retained_wal() > settings_.slot_wal_max; }));
  EXPECT_TRUE(stays_quiet(*source));
  EXPECT_EQ(logged("outbox.slot_retains_wal"), 1U);
  ASSERT_TRUE(source->looked_through().has_value());
  EXPECT_TRUE(serve(*source, [&] {
    sql("CHECKPOINT");
    return source->retained_wal() <= settings_.slot_wal_max;
  }));
  EXPECT_EQ(logged("outbox.slot_retains_wal"), 1U);
}

TEST_F(ReplicationSourceTest, ASlotWhoseLogIsGoneIsMadeAnew) {
  create_table();
  create_publication();
  made_and_quiet();  // and gone again
  sql("ALTER SYSTEM SET max_slot_wal_keep_size = '1MB'");
  sql("SELECT pg_reload_conf()");
  const auto is_lost = [this] {
    write_log(4);
    return value("SELECT wal_status FROM pg_replication_slots WHERE slot_name = '" + slot() +
                 "'") == "lost";
  };
  for (int i = 0; i < 50 && !is_lost(); ++i) {
  }
  ASSERT_TRUE(is_lost());
  const auto source = make();

  ASSERT_TRUE(streams(*source));
  EXPECT_TRUE(source->take_due());
  EXPECT_EQ(logged("outbox.slot_rebuilt"), 1U);
  insert();
  EXPECT_TRUE(becomes_due(*source));

  // And while it is in use, with something owed.
  ASSERT_TRUE(serve(*source, [&] {
    write_log(4);
    return logged("outbox.slot_rebuilt") > 1;
  }));
  ASSERT_TRUE(streams(*source));
  EXPECT_TRUE(source->take_due());
  sql("ALTER SYSTEM RESET max_slot_wal_keep_size");
  sql("SELECT pg_reload_conf()");
}

TEST_F(ReplicationSourceTest, ASlotThatIsOlderThanThePublicationIsMadeAnew) {
  create_table();
  sql("SELECT pg_create_logical_replication_slot('" + slot() + "', 'pgoutput')");
  insert();
  create_publication();
  const auto source = make();

  ASSERT_TRUE(serve(*source, [&] { return logged("outbox.slot_rebuilt") == 1; }));
  ASSERT_TRUE(streams(*source));
  EXPECT_TRUE(source->take_due());
  insert();
  EXPECT_TRUE(becomes_due(*source));
}

TEST_F(ReplicationSourceTest, SaysWhatIsMissing) {
  create_table();
  const auto no_publication = make()->start();
  ASSERT_FALSE(no_publication.has_value());
  EXPECT_EQ(no_publication.error().kind, ErrorKind::not_found);
  EXPECT_NE(no_publication.error().message.find("outbox init"), std::string::npos);

  create_publication();
  sql("CREATE ROLE plain LOGIN");
  settings_.database = postgres().database("plain");
  const auto no_privilege = make()->start();
  ASSERT_FALSE(no_privilege.has_value());
  EXPECT_EQ(no_privilege.error().kind, ErrorKind::permission_denied);
  EXPECT_NE(no_privilege.error().message.find("REPLICATION"), std::string::npos);

  settings_.database = postgres().database();
  for (const char* name : {"a", "b", "c", "d"}) {
    sql("SELECT pg_create_physical_replication_slot('" + std::string(name) + "')");
  }
  const auto no_slot = make();
  ASSERT_TRUE(serve(*no_slot, [this] { return last_error_.has_value(); }));
  EXPECT_EQ(last_error_->kind, ErrorKind::quota_reached);
  EXPECT_NE(last_error_->message.find("max_replication_slots"), std::string::npos);

  settings_.slot = "a";
  const auto not_ours = make()->start();
  ASSERT_FALSE(not_ours.has_value());
  EXPECT_EQ(not_ours.error().kind, ErrorKind::conflict);
}

TEST_F(ReplicationSourceTest, TheOperatorCanDropASlotThatNobodyUses) {
  create_table();
  create_publication();
  Database database = postgres().connect();
  const auto none = drop_slot(database, settings_);
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().kind, ErrorKind::not_found);

  auto source = made_and_quiet();
  const auto used = drop_slot(database, settings_);
  ASSERT_FALSE(used.has_value());
  EXPECT_EQ(used.error().kind, ErrorKind::conflict);
  source.reset();
  PollSource nothing(Millis{1});  // the server needs a moment to notice that nobody is there
  ASSERT_TRUE(serve(nothing, [&] { return drop_slot(database, settings_).has_value(); }));

  EXPECT_EQ(value("SELECT count(*) FROM pg_replication_slots"), "0");
}
