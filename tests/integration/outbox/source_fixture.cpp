#include "integration/outbox/source_fixture.h"

#include <poll.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>

#include "observe/log.h"

namespace hk::outbox::test {

std::unique_ptr<SourcePostgres> SourceTest::postgres_;

void SourceTest::SetUpTestSuite() {
  postgres_ = std::make_unique<SourcePostgres>();
  ASSERT_TRUE(postgres_->running()) << "are PostgreSQL's server programs installed?";
  ASSERT_TRUE(observe::set_log_file(postgres_->folder() + "/events.log"));
}

void SourceTest::TearDownTestSuite() { postgres_.reset(); }

void SourceTest::SetUp() {
  ASSERT_TRUE(postgres_ && postgres_->running());
  std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  settings_.database = postgres().database();
  settings_.table.outbox = name.substr(0, 30);
  settings_.slot = "slot_" + name.substr(0, 50);
  connect_again();
  log_begin_ = std::filesystem::file_size(postgres_->folder() + "/events.log");
}

void SourceTest::TearDown() {
  // A server process that has lost its relay needs a moment to notice.
  sql("SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE active");
  for (int i = 0;
       i < 3000 && value("SELECT count(*) FROM pg_replication_slots WHERE active") != "0"; ++i) {
    ::poll(nullptr, 0, 10);
  }
  sql("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots");
}

void SourceTest::create_table() {
  const std::string name = quoted_identifier(settings_.table.channel());
  sql("CREATE TABLE " + table() + " (id bigserial PRIMARY KEY, payload text)");
  sql("CREATE FUNCTION " + name +
      "() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
      " PERFORM pg_notify('" +
      settings_.table.channel() + "', ''); RETURN NULL; END $$");
  sql("CREATE TRIGGER wake AFTER INSERT ON " + table() + " FOR EACH STATEMENT EXECUTE FUNCTION " +
      name + "()");
}

void SourceTest::create_publication() {
  sql("CREATE PUBLICATION " + quoted_identifier(settings_.table.channel()) + " FOR TABLE " +
      table() + " WITH (publish = 'insert')");
}

Rows SourceTest::sql(const std::string& text) {
  auto rows = connection_->run(text);
  EXPECT_TRUE(rows.has_value()) << text << ": " << rows.error().error.message;
  return rows ? std::move(*rows) : Rows{};
}

bool SourceTest::serve(Source& source, const std::function<bool()>& done, Millis most) {
  const auto deadline = std::chrono::steady_clock::now() + most;
  while (!done()) {
    if (std::chrono::steady_clock::now() > deadline) {
      return false;
    }
    pollfd waiting{source.fd(), POLLIN, 0};
    ::poll(&waiting, 1, 20);
    const auto result = source.fd() < 0 ? source.start() : source.on_readable();
    if (!result) {
      last_error_ = result.error();
    }
  }
  return true;
}

bool SourceTest::becomes_due(Source& source) {
  return serve(source, [&source] { return source.take_due(); });
}

bool SourceTest::stays_quiet(Source& source) {
  return !serve(
      source, [&source] { return source.take_due(); }, Millis{300});
}

std::size_t SourceTest::logged(const std::string& event) const {
  std::ifstream file(postgres_->folder() + "/events.log");
  file.seekg(static_cast<std::streamoff>(log_begin_));
  std::size_t count = 0;
  for (std::string line; std::getline(file, line);) {
    count += line.find("\"event\":\"" + event + "\"") != std::string::npos ? 1 : 0;
  }
  return count;
}

}  // namespace hk::outbox::test
