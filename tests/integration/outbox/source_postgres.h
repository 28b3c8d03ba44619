/// A PostgreSQL server of the test's own: its folder, its sockets, no port. Removed at the end.
#pragma once

#include <string>

#include "base/secret.h"
#include "outbox/database.h"

namespace hk::outbox::test {

class SourcePostgres {
 public:
  SourcePostgres();
  ~SourcePostgres();
  SourcePostgres(const SourcePostgres&) = delete;
  SourcePostgres& operator=(const SourcePostgres&) = delete;

  [[nodiscard]] bool running() const { return running_; }
  /// As superuser, or as `user`.
  [[nodiscard]] Secret database(const std::string& user = "postgres") const;
  /// A connection that must succeed.
  [[nodiscard]] Database connect() const;

  /// pg_ctl: "restart -m immediate", "start" …
  bool control(const std::string& command);

  /// A pgbouncer in front of it, in this pool mode; killed at the end.
  Secret start_pooler(const std::string& pool_mode);

  [[nodiscard]] const std::string& folder() const { return folder_; }

 private:
  bool run(const std::string& command) const;

  std::string folder_{};
  std::string binaries_{};
  bool running_ = false;
  int poolers_ = 0;
};

}  // namespace hk::outbox::test
