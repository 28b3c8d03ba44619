/// What the tests of the sources share: one server for all of them, an outbox table for each, the
/// events that were logged, and a relay's loop around a source.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "integration/outbox/source_postgres.h"
#include "outbox/settings.h"
#include "outbox/source.h"

namespace hk::outbox::test {

class SourceTest : public testing::Test {
 protected:
  static void SetUpTestSuite();
  static void TearDownTestSuite();
  void SetUp() override;
  void TearDown() override;

  static SourcePostgres& postgres() { return *postgres_; }

  /// The table with its trigger and its publication.
  void create_table();
  void create_publication();

  /// On the test's own connection; must succeed.
  Rows sql(const std::string& text);
  std::string value(const std::string& text) { return std::string(sql(text).text(0, 0)); }
  void insert() { sql("INSERT INTO " + table() + " DEFAULT VALUES"); }
  [[nodiscard]] std::string table() const { return settings_.table.outbox_name(); }
  [[nodiscard]] std::string slot() const { return settings_.slot; }
  void connect_again() { connection_.emplace(postgres().connect()); }

  /// Serves the source, starting it again when it is lost, until `done`. False after 30 seconds.
  bool serve(Source& source, const std::function<bool()>& done, Millis most = Millis{30'000});
  bool becomes_due(Source& source);
  /// Whatever is on its way has come when this returns, on any machine that is not stuck.
  bool stays_quiet(Source& source);

  /// How often it was logged since the test began.
  std::size_t logged(const std::string& event) const;

  Settings settings_{};
  std::optional<Error> last_error_{};  ///< of start() or on_readable()

 private:
  static std::unique_ptr<SourcePostgres> postgres_;
  std::optional<Database> connection_{};
  std::uintmax_t log_begin_ = 0;
};

}  // namespace hk::outbox::test
