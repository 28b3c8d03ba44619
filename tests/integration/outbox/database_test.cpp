/// Links that are slow, or open and silent: everything ends, and what makes progress is let go on.
#include "outbox/database.h"

#include <chrono>
#include <filesystem>
#include <future>
#include <string>
#include <thread>

#include "integration/outbox/link.h"
#include "integration/outbox/relay_fixture.h"

namespace hk::outbox::test {
namespace HK_TEST_FILE {

using namespace std::chrono_literals;

class DatabaseTest : public ::testing::Test {
 protected:
  /// The server's database, through the link.
  static Secret through(const std::string& folder) {
    return Secret("host=" + folder + " port=5432 user=postgres dbname=postgres");
  }
  static DatabaseResult<Database> connect_to(const std::string& folder, Millis timeout = 5s) {
    return Database::connect(through(folder), "test", timeout);
  }

  static std::string folder_of(const Postgres& server) {
    return std::filesystem::path(server.socket()).parent_path();
  }

  Postgres& postgres = Postgres::instance();
};

TEST_F(DatabaseTest, ALargeAnswerOverASlowLinkMayTakeLongerThanTheTimeout) {
  const Link slow(postgres.socket(), 1, 800);  // 0.8 MB/s
  Database database = value(connect_to(slow.folder()));
  database.set_timeout(2s);  // more than a busy machine holds up the link
  const auto begin = std::chrono::steady_clock::now();

  const auto rows =
      database.run_together({{"SELECT repeat('x', 200000) FROM generate_series(1, 10)", {}}});

  ASSERT_TRUE(rows) << rows.error().error.message;
  EXPECT_EQ((*rows)[0].size(), 10U);
  EXPECT_GT(std::chrono::steady_clock::now() - begin, 2s);
}

TEST_F(DatabaseTest, AServerThatDoesNotTakeTheCancelIsGivenUpAllTheSame) {
  Link silent(postgres.socket(), 1);  // what asks for the cancel gets no answer
  Database database = value(connect_to(silent.folder()));
  database.set_timeout(200ms);
  std::future<bool> failed =
      std::async(std::launch::async, [&] { return !database.run("SELECT pg_sleep(600)"); });

  const bool ended = failed.wait_for(120s) == std::future_status::ready;
  silent.close();

  EXPECT_TRUE(ended);
  EXPECT_TRUE(failed.get());
  EXPECT_TRUE(database.broken());
}

TEST_F(DatabaseTest, BinaryArraysArriveAsTheyAre) {
  Database database = value(connect_to(folder_of(postgres)));
  using namespace std::string_view_literals;

  const auto rows = database.run(
      "SELECT $1::text[], $2::bigint[], $3::integer[], $4::text[]",
      {binary_array(std::vector{"a"sv, ""sv, "NULL"sv, "\"{,}\\"sv, "\xc3\xa9"sv, "x\0y"sv}),
       binary_array(std::vector<std::int64_t>{0, -1, INT64_MAX, INT64_MIN}),
       binary_array(std::vector<std::int32_t>{1, -2, INT32_MIN}),
       binary_array(std::vector<std::string_view>{})});

  ASSERT_TRUE(rows) << rows.error().error.message;
  EXPECT_EQ(rows->text(0, 0), "{a,\"\",\"NULL\",\"\\\"{,}\\\\\",\xc3\xa9,x\xef\xbf\xbdy}");
  EXPECT_EQ(rows->text(0, 1), "{0,-1,9223372036854775807,-9223372036854775808}");
  EXPECT_EQ(rows->text(0, 2), "{1,-2,-2147483648}");
  EXPECT_EQ(rows->text(0, 3), "{}");
}

TEST_F(DatabaseTest, AnAnswerThatNeverEndsIsGivenUpAllTheSame) {
  const Link slow(postgres.socket(), 1, 200);
  Database database = value(connect_to(slow.folder()));
  database.set_timeout(400ms);

  const auto rows =
      database.run_together({{"SELECT repeat('x', 200000) FROM generate_series(1, 100)", {}}});

  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().error.kind, ErrorKind::unavailable);
  EXPECT_TRUE(database.broken());
}

TEST_F(DatabaseTest, TheServerEndsAStatementThatIsGivenUp) {
  Database database = value(connect_to(folder_of(postgres)));
  const std::string pid = text(database, "SELECT pg_backend_pid()");
  database.set_timeout(200ms);

  EXPECT_FALSE(database.run("SELECT pg_sleep(600)"));

  Database other = value(connect_to(folder_of(postgres)));
  std::string left = "1";
  for (int i = 0; i < 2'000 && left != "0"; ++i) {
    std::this_thread::sleep_for(50ms);
    left = text(other,
                "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND pid = " + pid);
  }
  EXPECT_EQ(left, "0");
}

TEST_F(DatabaseTest, AHostThatIsSilentLeavesTimeForTheNextOne) {
  const Link silent(postgres.socket(), 0);

  auto database = connect_to(silent.folder() + "," + folder_of(postgres), 8s);

  ASSERT_TRUE(database) << database.error().error.message;
  EXPECT_EQ(text(*database, "SELECT 1"), "1");
}

TEST_F(DatabaseTest, OfHostsThatAllFailEachIsNamed) {
  const Link silent(postgres.socket(), 0);

  const auto database = connect_to(silent.folder() + ",/nonexistent", 1s);

  ASSERT_FALSE(database);
  EXPECT_EQ(database.error().error.kind, ErrorKind::unavailable);
  EXPECT_NE(database.error().error.message.find(silent.folder()), std::string::npos)
      << database.error().error.message;
  EXPECT_NE(database.error().error.message.find("/nonexistent"), std::string::npos)
      << database.error().error.message;
}

}  // namespace HK_TEST_FILE
}  // namespace hk::outbox::test
