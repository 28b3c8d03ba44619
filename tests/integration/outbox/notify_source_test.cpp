#include "outbox/source/notify_source.h"

#include <signal.h>

#include "integration/outbox/source_fixture.h"
#include "outbox/source/look_delay.h"
#include "outbox/source/make_source.h"

using namespace hk;
using namespace hk::outbox;
using namespace hk::outbox::test;

namespace {

class NotifySourceTest : public SourceTest {
 protected:
  bool listens(NotifySource& source) {
    return serve(source, [&source] { return source.listening(); });
  }
};

}  // namespace

TEST_F(NotifySourceTest, WakesAfterACommitAndNotAfterARollback) {
  create_table();
  NotifySource source(settings_);
  ASSERT_TRUE(listens(source));
  EXPECT_TRUE(source.take_due());  // whoever connects has missed something, perhaps
  EXPECT_EQ(source.look_again_after(100), safety_net);

  sql("BEGIN");
  insert();
  EXPECT_TRUE(stays_quiet(source));
  sql("ROLLBACK");
  EXPECT_TRUE(stays_quiet(source));
  insert();

  EXPECT_TRUE(becomes_due(source));
  EXPECT_TRUE(stays_quiet(source));
  EXPECT_EQ(logged("outbox.listen_unavailable"), 0U);
}

TEST_F(NotifySourceTest, ATransactionThatCommitsLateWakesThen) {
  create_table();
  NotifySource source(settings_);
  ASSERT_TRUE(listens(source));
  EXPECT_TRUE(source.take_due());
  Database late = postgres().connect();
  ASSERT_TRUE(late.run("BEGIN").has_value());
  ASSERT_TRUE(late.run("INSERT INTO " + table() + " DEFAULT VALUES").has_value());
  insert();
  ASSERT_TRUE(becomes_due(source));
  EXPECT_TRUE(stays_quiet(source));

  ASSERT_TRUE(late.run("COMMIT").has_value());

  EXPECT_TRUE(becomes_due(source));
}

TEST_F(NotifySourceTest, ListensAgainAfterPostgreSQLWasRestarted) {
  create_table();
  NotifySource source(settings_);
  ASSERT_TRUE(listens(source));
  EXPECT_TRUE(source.take_due());

  ASSERT_TRUE(postgres().control("restart -m immediate"));
  connect_again();

  ASSERT_TRUE(serve(source, [this] { return last_error_.has_value(); }));
  EXPECT_EQ(last_error_->kind, ErrorKind::unavailable);
  ASSERT_TRUE(listens(source));
  EXPECT_TRUE(source.take_due());
  insert();
  EXPECT_TRUE(becomes_due(source));
}

TEST_F(NotifySourceTest, AsksASilentConnectionWhetherItIsAlive) {
  create_table();
  NotifyTimes times;
  times.silence = Millis{50};
  times.connect = Millis{4000};  // also how long an answer may take
  NotifySource source(settings_, times);
  ASSERT_TRUE(listens(source));

  EXPECT_TRUE(serve(source, [this] {
    return value(
               "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'hikyaku outbox "
               "listen' AND query = 'SELECT 1'") == "1";
  }));
  insert();
  EXPECT_TRUE(becomes_due(source));

  const auto process = static_cast<pid_t>(
      sql("SELECT pid FROM pg_stat_activity WHERE application_name = 'hikyaku outbox listen' "
          "AND query = 'SELECT 1'")  // not the connection of the proof, which is going
          .number(0, 0));
  ASSERT_EQ(::kill(process, SIGSTOP), 0);
  const bool given_up = serve(source, [this] { return last_error_.has_value(); });
  ASSERT_EQ(::kill(process, SIGCONT), 0);
  ASSERT_TRUE(given_up);
  EXPECT_EQ(last_error_->kind, ErrorKind::unavailable);
  EXPECT_TRUE(listens(source));
}

TEST_F(NotifySourceTest, TheProofsOfOtherRelaysAreNoRows) {
  create_table();
  NotifySource source(settings_);
  ASSERT_TRUE(listens(source));
  EXPECT_TRUE(source.take_due());

  NotifySource other(settings_);
  ASSERT_TRUE(listens(other));

  EXPECT_TRUE(stays_quiet(source));
}

TEST_F(NotifySourceTest, PollsBehindATransactionPoolerAndSaysSoOnce) {
  create_table();
  settings_.database = postgres().start_pooler("transaction");
  NotifyTimes times;
  times.proof = Millis{300};
  times.try_again = Millis{100};
  NotifySource source(settings_, times);

  ASSERT_TRUE(serve(source, [this] { return logged("outbox.listen_unavailable") > 0; }));
  EXPECT_FALSE(source.listening());
  EXPECT_TRUE(source.take_due());
  EXPECT_EQ(source.look_again_after(100), settings_.poll_interval * 10);

  // Each further try is due once, because it may have succeeded.
  for (int tries = 0; tries < 3; ++tries) {
    ASSERT_TRUE(becomes_due(source));
    EXPECT_FALSE(source.listening());
  }
  EXPECT_EQ(logged("outbox.listen_unavailable"), 1U);
}

TEST_F(NotifySourceTest, ListensPastATransactionPoolerByAConnectionOfItsOwn) {
  create_table();
  settings_.database = postgres().start_pooler("transaction");
  settings_.listen_database = postgres().database();
  NotifySource source(settings_);

  ASSERT_TRUE(listens(source));
  EXPECT_TRUE(source.take_due());
  insert();

  EXPECT_TRUE(becomes_due(source));
}

TEST_F(NotifySourceTest, ListensThroughASessionPooler) {
  create_table();
  settings_.database = postgres().start_pooler("session");
  NotifySource source(settings_);

  ASSERT_TRUE(listens(source));
  EXPECT_TRUE(source.take_due());
  insert();

  EXPECT_TRUE(becomes_due(source));
  EXPECT_EQ(logged("outbox.listen_unavailable"), 0U);
}

TEST_F(NotifySourceTest, AServerThatIsAwayIsUnavailableAndTheTableIsPolled) {
  settings_.database = Secret("host=" + postgres().folder() + " port=1 user=postgres");
  NotifySource source(settings_);

  const auto started = source.start();

  ASSERT_FALSE(started.has_value());
  EXPECT_EQ(started.error().kind, ErrorKind::unavailable);
  EXPECT_EQ(source.fd(), -1);
  EXPECT_EQ(source.look_again_after(100), settings_.poll_interval * 10);
}

TEST_F(NotifySourceTest, TheSettingsNameTheSource) {
  create_table();
  for (const SourceKind kind : {SourceKind::poll, SourceKind::notify}) {
    settings_.source = kind;
    auto source = make_source(settings_);
    ASSERT_TRUE(source.has_value());
    ASSERT_TRUE((*source)->start().has_value());
    EXPECT_TRUE((*source)->take_due());
    EXPECT_EQ((*source)->fd() < 0, kind == SourceKind::poll);
  }
  settings_.source = SourceKind::replication;
  settings_.slot = "Not-a-slot";
  const auto refused = make_source(settings_);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, ErrorKind::invalid_argument);
}
