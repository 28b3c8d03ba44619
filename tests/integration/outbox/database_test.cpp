/// Links that are slow, or open and silent: everything ends, and what makes progress is let go on.
#include "outbox/database.h"

#include <chrono>

#include "integration/outbox/link.h"
#include "integration/outbox/relay_fixture.h"

namespace hk::outbox::test {
namespace {

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

  Postgres& postgres = Postgres::instance();
};

TEST_F(DatabaseTest, ALargeAnswerOverASlowLinkMayTakeLongerThanTheTimeout) {
  const Link slow(postgres.socket(), 1, 2'000);  // 2 MB/s
  Database database = value(connect_to(slow.folder()));
  database.set_timeout(500ms);
  const auto begin = std::chrono::steady_clock::now();

  const auto rows =
      database.run_together({{"SELECT repeat('x', 200000) FROM generate_series(1, 10)", {}}});

  ASSERT_TRUE(rows) << rows.error().error.message;
  EXPECT_EQ((*rows)[0].size(), 10U);
  EXPECT_GT(std::chrono::steady_clock::now() - begin, 500ms);
}

}  // namespace
}  // namespace hk::outbox::test
