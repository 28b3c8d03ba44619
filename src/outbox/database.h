/// A connection to PostgreSQL: libpq with owners, errors as values and many statements in one round
/// trip. Blocking, with a deadline on everything; one thread at a time. libpq stays behind this
/// header.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/secret.h"
#include "base/time.h"

struct pg_conn;
struct pg_result;

namespace hk::outbox {

struct Host;

/// What a failed statement means for the caller. unavailable: the server is away, starting,
/// stopping, read-only, full or too slow: the same may succeed later on a new connection.
/// permission_denied, not_found (no such table or column), conflict (a constraint),
/// invalid_argument as they say.
struct DatabaseError {
  Error error{};
  std::string sqlstate{};  ///< "" when it did not come from the server
};
template <class T>
using DatabaseResult = std::expected<T, DatabaseError>;

/// The rows of one statement. Text format.
class Rows {
 public:
  Rows() = default;
  explicit Rows(pg_result* result);
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::size_t affected() const;  ///< rows that an INSERT, UPDATE or DELETE touched
  [[nodiscard]] bool is_null(std::size_t row, int column) const;
  [[nodiscard]] std::string_view text(std::size_t row, int column) const;  ///< "" when null
  [[nodiscard]] std::int64_t number(std::size_t row, int column) const;    ///< 0 when null
  [[nodiscard]] bool flag(std::size_t row, int column) const { return text(row, column) == "t"; }
  [[nodiscard]] const pg_result* raw() const { return result_.get(); }

 private:
  struct Free {
    void operator()(pg_result* result) const;
  };
  std::unique_ptr<pg_result, Free> result_{};
};

struct Parameter {
  std::optional<std::string> value{};                      ///< nullopt: NULL
  Parameter(std::string text) : value(std::move(text)) {}  // NOLINT: a parameter is its text
  Parameter(const char* text) : value(text) {}             // NOLINT
  Parameter(std::string_view text) : value(text) {}        // NOLINT
  Parameter(std::int64_t number);                          // NOLINT
  Parameter(std::nullopt_t) {}                             // NOLINT
  bool binary = false;  ///< the value is in PostgreSQL's binary format: see binary_array()
};

struct Statement {
  std::string_view sql{};  ///< one statement, parameters as $1 …; their types by casts in the SQL
  std::vector<Parameter> parameters{};
};

struct Notification {
  std::string channel{};
  std::string payload{};
};

class Database {
 public:
  /// `application_name` shows in pg_stat_activity. The password may come from the connection
  /// string, PGPASSWORD, a service file or ~/.pgpass, as with every libpq program. Of several hosts
  /// each gets its share of the time. Errors name the host and the database, never the password.
  static DatabaseResult<Database> connect(const Secret& connection_string,
                                          const std::string& application_name, Millis timeout,
                                          bool replication = false);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  /// One statement in a transaction of its own.
  DatabaseResult<Rows> run(std::string_view sql, std::vector<Parameter> parameters = {});

  /// All of them in one transaction and one round trip: either every one has taken effect when this
  /// returns, or none. After `unavailable` it is not known whether the transaction was committed.
  DatabaseResult<std::vector<Rows>> run_together(std::vector<Statement> statements);

  /// Its two halves: the server is at work while the caller does something else, over another
  /// connection. Nothing else may be asked of this one in between.
  DatabaseResult<void> send_together(const std::vector<Statement>& statements);
  DatabaseResult<std::vector<Rows>> take_together();

  /// Several statements without parameters, for migrations: one transaction, unless the script says
  /// otherwise with BEGIN and COMMIT.
  DatabaseResult<void> run_script(const std::string& sql);

  /// Every call above fails as unavailable when the server is silent for this long, or after three
  /// times as long whatever it says: a large answer over a slow link takes its time. The server is
  /// asked to cancel, for a second more.
  void set_timeout(Millis timeout);

  [[nodiscard]] int fd() const;
  /// Reads what has come, without blocking. unavailable: the connection is lost. What came while a
  /// statement ran is here, too, and fd() does not become readable for it: ask after each
  /// statement.
  DatabaseResult<std::vector<Notification>> take_notifications();

  [[nodiscard]] bool broken() const;
  [[nodiscard]] int server_version() const;  ///< 150018 for 15.18
  [[nodiscard]] pg_conn* raw() const;        ///< for COPY BOTH of replication

 private:
  struct Close {
    void operator()(pg_conn* connection) const;
  };
  explicit Database(std::unique_ptr<pg_conn, Close> connection);
  static DatabaseResult<Database> connect_to(const std::string& text, const Host& host,
                                             const std::string& application_name, Millis timeout,
                                             bool replication);
  struct Wait {
    std::chrono::steady_clock::time_point until{};  ///< later with every byte
    std::chrono::steady_clock::time_point end{};
  };
  [[nodiscard]] Wait begin_wait() const;
  DatabaseResult<Rows> next_result(Wait& wait);
  DatabaseError lost(std::string_view what) const;

  std::unique_ptr<pg_conn, Close> connection_;
  Millis timeout_{30'000};
  std::size_t sent_together_ = 0;
};

/// The error of a result or connection, by its SQLSTATE.
DatabaseError database_error(std::string_view sqlstate, std::string_view message);

/// The literal of a text[] parameter: quoted where needed. U+0000 cannot be in PostgreSQL text: it
/// is replaced by U+FFFD.
std::string text_array(const std::vector<std::string>& values);
std::string number_array(const std::vector<std::int64_t>& values);

/// The same as binary parameters, which the server need not read digit by digit: of a text[] (with
/// U+0000 replaced in the same way), a bigint[] and an integer[]. The types in the SQL must be
/// these.
Parameter binary_array(const std::vector<std::string_view>& values);
Parameter binary_array(const std::vector<std::int64_t>& values);
Parameter binary_array(const std::vector<std::int32_t>& values);

}  // namespace hk::outbox
