/// A PostgreSQL server of the tests' own: initdb in a temporary folder, a socket in it and no TCP,
/// gone with the test binary. One for the whole binary, with a fresh database for each test. The
/// main thread starts and restarts it.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/secret.h"
#include "outbox/database.h"

namespace hk::outbox::test {

/// The folder of the server programs: HK_POSTGRES_BIN, or the newest that is installed. Throws when
/// there is none.
std::string postgres_programs();

class Postgres {
 public:
  /// Started at the first call.
  static Postgres& instance();

  Postgres(const Postgres&) = delete;
  Postgres& operator=(const Postgres&) = delete;

  /// The connection string of a new empty database. `options` are of CREATE DATABASE.
  Secret fresh_database(const std::string& options = "");

  /// Its socket.
  [[nodiscard]] std::string socket() const { return folder_ + "/.s.PGSQL.5432"; }

  /// Kills the server as a crash would (SIGQUIT, like pg_ctl -m immediate) and starts it again.
  void restart();
  void stop();
  void start();

 private:
  Postgres();
  ~Postgres();
  [[nodiscard]] std::string connection_string(const std::string& database) const;

  std::string bin_{};
  std::string folder_{};
  pid_t server_ = -1;
  int databases_ = 0;
};

/// Throws when it cannot: a test has nothing to go on with.
Database connect(const Secret& connection_string);
Rows run(Database& database, const std::string& sql, std::vector<Parameter> parameters = {});
std::string text(Database& database, const std::string& sql);

}  // namespace hk::outbox::test
