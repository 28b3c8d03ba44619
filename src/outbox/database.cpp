#include "outbox/database.h"

#include <libpq-fe.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <future>
#include <system_error>
#include <thread>
#include <utility>

#include "base/assert.h"
#include "outbox/hosts.h"

namespace hk::outbox {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Millis cancel_timeout{1'000};

/// libpq ends its messages with a line end, and some have several lines.
std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (c != '\n') {
      line.push_back(c == '\t' ? ' ' : c);
    } else if (!line.empty() && line.back() != ' ') {
      line.push_back(' ');
    }
  }
  while (!line.empty() && line.back() == ' ') {
    line.pop_back();
  }
  return line;
}

/// False at the deadline.
bool wait_for(int fd, short events, Clock::time_point deadline) {
  while (true) {
    const auto left = std::chrono::ceil<Millis>(deadline - Clock::now()).count();
    if (left <= 0) {
      return false;
    }
    pollfd waiting{fd, events, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(std::min<std::int64_t>(left, 60'000)));
    if (ready > 0 || (ready < 0 && errno != EINTR)) {
      return true;
    }
  }
}

ErrorKind kind_of(std::string_view sqlstate) {
  struct Row {
    std::string_view prefix;
    ErrorKind kind;
  };
  // The longer prefix comes first.
  static constexpr std::array rows = {
      Row{"25006", ErrorKind::unavailable},  // read-only: a standby, or a failover under way
      Row{"42501", ErrorKind::permission_denied},
      Row{"42P01", ErrorKind::not_found},
      Row{"42703", ErrorKind::not_found},
      Row{"42883", ErrorKind::not_found},
      Row{"42704", ErrorKind::not_found},
      Row{"3D000", ErrorKind::not_found},
      Row{"3F000", ErrorKind::not_found},
      Row{"55006", ErrorKind::conflict},  // in use: a replication slot of another
      Row{"08", ErrorKind::unavailable},
      Row{"40", ErrorKind::unavailable},
      Row{"53", ErrorKind::unavailable},
      Row{"55", ErrorKind::unavailable},
      Row{"57", ErrorKind::unavailable},
      Row{"58", ErrorKind::unavailable},
      Row{"22", ErrorKind::invalid_argument},
      Row{"23", ErrorKind::conflict},
      Row{"28", ErrorKind::permission_denied},
  };
  for (const Row& row : rows) {
    if (sqlstate.starts_with(row.prefix)) {
      return row.kind;
    }
  }
  return ErrorKind::internal;
}

DatabaseError error_of(const PGresult* result) {
  const char* sqlstate = ::PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const char* primary = ::PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  const char* hint = ::PQresultErrorField(result, PG_DIAG_MESSAGE_HINT);
  std::string message = primary != nullptr ? primary : ::PQresultErrorMessage(result);
  if (hint != nullptr) {
    message.append(" (").append(hint).append(")");
  }
  return database_error(sqlstate != nullptr ? sqlstate : "", message);
}

bool send(PGconn* connection, const Statement& statement) {
  std::vector<const char*> values;
  std::vector<int> lengths;
  std::vector<int> formats;
  values.reserve(statement.parameters.size());
  lengths.reserve(statement.parameters.size());
  formats.reserve(statement.parameters.size());
  for (const Parameter& parameter : statement.parameters) {
    values.push_back(parameter.value ? parameter.value->c_str() : nullptr);
    lengths.push_back(parameter.value ? static_cast<int>(parameter.value->size()) : 0);
    formats.push_back(parameter.binary ? 1 : 0);
  }
  const std::string sql(statement.sql);
  return ::PQsendQueryParams(connection, sql.c_str(), static_cast<int>(values.size()), nullptr,
                             values.data(), lengths.data(), formats.data(), 0) == 1;
}

/// libpq waits for the answer without bound, and a pooler or server that accepts and stays silent
/// would hold the caller for ever. So it is asked in a thread, which is left alone after a while;
/// and nobody is asked while one is still waiting.
void ask_to_cancel(PGconn* connection) {
  static std::atomic<bool> asking{false};
  const std::shared_ptr<PGcancel> cancel(::PQgetCancel(connection), ::PQfreeCancel);
  if (cancel == nullptr || asking.exchange(true)) {
    return;
  }
  std::promise<void> answered;
  const std::future<void> answer = answered.get_future();
  try {
    std::thread([cancel, answered = std::move(answered)]() mutable {
      std::array<char, 256> why{};
      ::PQcancel(cancel.get(), why.data(), why.size());
      asking.store(false);
      answered.set_value();
    }).detach();
  } catch (const std::system_error&) {  // no thread is left: the server finds out by itself
    asking.store(false);
    return;
  }
  answer.wait_for(cancel_timeout);
}

/// Those of the connection string, or of the environment.
std::vector<Host> hosts_of(const PQconninfoOption* given) {
  const auto value = [](const PQconninfoOption* options, std::string_view keyword) -> std::string {
    for (; options != nullptr && options->keyword != nullptr; ++options) {
      if (options->keyword == keyword && options->val != nullptr) {
        return options->val;
      }
    }
    return "";
  };
  PQconninfoOption* defaults = ::PQconndefaults();
  const auto either = [&](std::string_view keyword) {
    const std::string own = value(given, keyword);
    return own.empty() ? value(defaults, keyword) : own;
  };
  const bool own = !value(given, "host").empty() || !value(given, "hostaddr").empty();
  const auto of_host = [&](std::string_view keyword) {
    return own ? value(given, keyword) : value(defaults, keyword);
  };
  auto hosts = split_hosts(of_host("host"), of_host("hostaddr"), either("port"));
  ::PQconninfoFree(defaults);
  return hosts.size() == 1 ? std::vector{Host{}} : hosts;  // one: as the string says
}

/// Where it is, for messages: everything of the connection string but the password.
std::string place(PGconn* connection) {
  const auto part = [](const char* text) { return std::string(text != nullptr ? text : ""); };
  const std::string host = part(::PQhost(connection));
  return "PostgreSQL at " + (host.empty() ? std::string("the local socket") : host) +
         (host.starts_with('/') ? ", port " : ":") + part(::PQport(connection)) + ", database \"" +
         part(::PQdb(connection)) + "\"";
}

}  // namespace

DatabaseError database_error(std::string_view sqlstate, std::string_view message) {
  return {Error{sqlstate.empty() ? ErrorKind::unavailable : kind_of(sqlstate), one_line(message)},
          std::string(sqlstate)};
}

// ---- Rows ----

Rows::Rows(pg_result* result) : result_(result) {}

void Rows::Free::operator()(pg_result* result) const { ::PQclear(result); }

std::size_t Rows::size() const {
  return result_ == nullptr ? 0 : static_cast<std::size_t>(::PQntuples(result_.get()));
}

std::size_t Rows::affected() const {
  const std::string_view text = result_ == nullptr ? "" : ::PQcmdTuples(result_.get());
  std::size_t count = 0;
  std::from_chars(text.data(), text.data() + text.size(), count);
  return count;
}

bool Rows::is_null(std::size_t row, int column) const {
  return ::PQgetisnull(result_.get(), static_cast<int>(row), column) == 1;
}

std::string_view Rows::text(std::size_t row, int column) const {
  const int at = static_cast<int>(row);
  return {::PQgetvalue(result_.get(), at, column),
          static_cast<std::size_t>(::PQgetlength(result_.get(), at, column))};
}

std::int64_t Rows::number(std::size_t row, int column) const {
  const std::string_view digits = text(row, column);
  std::int64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

Parameter::Parameter(std::int64_t number) : value(std::to_string(number)) {}

// ---- Database ----

void Database::Close::operator()(pg_conn* connection) const { ::PQfinish(connection); }

Database::Database(std::unique_ptr<pg_conn, Close> connection)
    : connection_(std::move(connection)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

DatabaseResult<Database> Database::connect(const Secret& connection_string,
                                           const std::string& application_name, Millis timeout,
                                           bool replication) {
  const std::string text(connection_string.reveal());
  // libpq's own complaint about a malformed string quotes it, password and all.
  PQconninfoOption* parsed = ::PQconninfoParse(text.c_str(), nullptr);
  if (parsed == nullptr) {
    return std::unexpected(DatabaseError{
        Error{
            ErrorKind::invalid_argument,
            "the database is not given as a connection string: expected "
            "postgres://user@host:5432/database or \"host=… dbname=… user=…\" (special characters "
            "of a password are percent-encoded in the first form)"},
        ""});
  }
  const std::vector<Host> hosts = hosts_of(parsed);
  ::PQconninfoFree(parsed);

  const auto deadline = Clock::now() + timeout;
  std::optional<DatabaseError> failed;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const Millis left = std::chrono::floor<Millis>(deadline - Clock::now()) /
                        static_cast<std::int64_t>(hosts.size() - i);
    auto database =
        connect_to(text, hosts[i], application_name, std::max(left, Millis{1}), replication);
    if (database) {
      database->timeout_ = timeout;
      return database;
    }
    if (failed) {
      failed->error.message += "; " + database.error().error.message;
    } else {
      failed = std::move(database).error();
    }
  }
  return std::unexpected(std::move(*failed));
}

DatabaseResult<Database> Database::connect_to(const std::string& text, const Host& host,
                                              const std::string& application_name, Millis timeout,
                                              bool replication) {
  // What comes after `dbname` wins over the connection string; what comes before it gives way.
  const std::array<const char*, 12> keywords = {"fallback_application_name",
                                                "keepalives_idle",
                                                "keepalives_interval",
                                                "keepalives_count",
                                                "tcp_user_timeout",
                                                "dbname",
                                                "client_encoding",
                                                "host",
                                                "hostaddr",
                                                "port",
                                                replication ? "replication" : nullptr,
                                                nullptr};
  const std::array<const char*, 12> values = {application_name.c_str(),
                                              "30",
                                              "10",
                                              "3",
                                              "30000",
                                              text.c_str(),
                                              "UTF8",
                                              host.host.c_str(),  // empty: as the string says
                                              host.address.c_str(),
                                              host.port.c_str(),
                                              replication ? "database" : nullptr,
                                              nullptr};
  const auto deadline = Clock::now() + timeout;
  Database database(std::unique_ptr<pg_conn, Close>(
      ::PQconnectStartParams(keywords.data(), values.data(), /*expand_dbname=*/1)));
  PGconn* connection = database.connection_.get();
  if (connection == nullptr) {
    return std::unexpected(database_error("53200", "out of memory"));
  }
  PostgresPollingStatusType wants = PGRES_POLLING_WRITING;
  while (::PQstatus(connection) != CONNECTION_BAD && wants != PGRES_POLLING_OK) {
    if (wants == PGRES_POLLING_FAILED) {
      break;
    }
    if (!wait_for(::PQsocket(connection), wants == PGRES_POLLING_READING ? POLLIN : POLLOUT,
                  deadline)) {
      return std::unexpected(database_error(
          "", place(connection) + " did not answer in " + std::to_string(timeout.count()) + " ms"));
    }
    wants = ::PQconnectPoll(connection);
  }
  if (::PQstatus(connection) != CONNECTION_OK) {
    return std::unexpected(database_error("", ::PQerrorMessage(connection)));
  }
  ::PQsetnonblocking(connection, 1);
  ::PQsetNoticeProcessor(
      connection, [](void*, const char*) {}, nullptr);
  return database;
}

DatabaseError Database::lost(std::string_view what) const {
  const std::string said = one_line(::PQerrorMessage(connection_.get()));
  return database_error(
      "", place(connection_.get()) + ": " + (said.empty() ? std::string(what) : said));
}

bool Database::broken() const { return ::PQstatus(connection_.get()) != CONNECTION_OK; }
int Database::server_version() const { return ::PQserverVersion(connection_.get()); }
int Database::fd() const { return ::PQsocket(connection_.get()); }
pg_conn* Database::raw() const { return connection_.get(); }
void Database::set_timeout(Millis timeout) { timeout_ = timeout; }

Database::Wait Database::begin_wait() const {
  const auto now = Clock::now();
  return {now + timeout_, now + 3 * timeout_};
}

/// The next result of what was sent, a null one at the end of a statement's. Errors here are of the
/// connection; those of a statement are results.
DatabaseResult<Rows> Database::next_result(Wait& wait) {
  PGconn* connection = connection_.get();
  while (true) {
    const int unsent = ::PQflush(connection);
    if (unsent < 0) {
      return std::unexpected(lost("the connection was lost"));
    }
    if (unsent == 0 && ::PQisBusy(connection) == 0) {
      return Rows(::PQgetResult(connection));
    }
    const short events = static_cast<short>(unsent == 0 ? POLLIN : POLLIN | POLLOUT);
    if (!wait_for(::PQsocket(connection), events, wait.until)) {
      ask_to_cancel(connection);
      // What it still answers belongs to a question that nobody asks any more.
      ::shutdown(::PQsocket(connection), SHUT_RDWR);
      while (::PQconsumeInput(connection) == 1 && ::PQisBusy(connection) == 1) {
      }
      return std::unexpected(database_error("", place(connection) +
                                                    ": no answer to a statement in " +
                                                    std::to_string(timeout_.count()) + " ms"));
    }
    wait.until = std::min(Clock::now() + timeout_, wait.end);
    if (::PQconsumeInput(connection) == 0) {
      return std::unexpected(lost("the connection was lost"));
    }
  }
}

DatabaseResult<Rows> Database::run(std::string_view sql, std::vector<Parameter> parameters) {
  // Without parameters by the simple protocol: replication connections speak no other, and what may
  // not be in a transaction block (CREATE INDEX CONCURRENTLY) is in none.
  const std::string text(sql);
  const bool sent = parameters.empty()
                        ? ::PQsendQuery(connection_.get(), text.c_str()) == 1
                        : send(connection_.get(), Statement{sql, std::move(parameters)});
  if (!sent) {
    return std::unexpected(lost("the statement could not be sent"));
  }
  Wait wait = begin_wait();
  Rows last;
  std::optional<DatabaseError> first_error;
  while (true) {
    auto rows = next_result(wait);
    if (!rows) {
      return std::unexpected(std::move(rows).error());
    }
    const PGresult* result = rows->raw();
    if (result == nullptr) {
      break;
    }
    const ExecStatusType status = ::PQresultStatus(result);
    if (status == PGRES_FATAL_ERROR || status == PGRES_BAD_RESPONSE) {
      if (!first_error) {
        first_error = error_of(result);
      }
    }
    last = std::move(*rows);
    if (status == PGRES_COPY_BOTH) {
      break;  // the caller goes on with raw()
    }
  }
  if (broken()) {
    return std::unexpected(first_error ? std::move(*first_error) : lost("the connection was lost"));
  }
  if (first_error) {
    return std::unexpected(std::move(*first_error));
  }
  return last;
}

DatabaseResult<std::vector<Rows>> Database::run_together(std::vector<Statement> statements) {
  if (auto sent = send_together(statements); !sent) {
    return std::unexpected(std::move(sent).error());
  }
  return take_together();
}

DatabaseResult<void> Database::send_together(const std::vector<Statement>& statements) {
  PGconn* connection = connection_.get();
  if (::PQenterPipelineMode(connection) != 1) {
    return std::unexpected(lost("the connection is in use"));
  }
  for (const Statement& statement : statements) {
    if (!send(connection, statement)) {
      return std::unexpected(lost("the statement could not be sent"));
    }
  }
  if (::PQpipelineSync(connection) != 1) {
    return std::unexpected(lost("the statements could not be sent"));
  }
  sent_together_ = statements.size();
  return {};
}

DatabaseResult<std::vector<Rows>> Database::take_together() {
  PGconn* connection = connection_.get();
  Wait wait = begin_wait();
  std::vector<Rows> all;
  std::optional<DatabaseError> first_error;
  while (true) {
    auto rows = next_result(wait);
    if (!rows) {
      return std::unexpected(std::move(rows).error());
    }
    if (broken()) {
      return std::unexpected(lost("the connection was lost"));
    }
    const PGresult* result = rows->raw();
    if (result == nullptr) {
      continue;  // the end of one statement's results
    }
    const ExecStatusType status = ::PQresultStatus(result);
    if (status == PGRES_PIPELINE_SYNC) {
      break;
    }
    if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) {
      all.push_back(std::move(*rows));
    } else if (status != PGRES_PIPELINE_ABORTED && !first_error) {
      first_error = error_of(result);
    }
  }
  if (::PQexitPipelineMode(connection) != 1) {
    return std::unexpected(lost("the pipeline did not end"));
  }
  if (first_error) {
    return std::unexpected(std::move(*first_error));
  }
  HK_ASSERT(all.size() == sent_together_);
  return all;
}

DatabaseResult<void> Database::run_script(const std::string& sql) {
  auto rows = run(sql);
  if (!rows) {
    return std::unexpected(std::move(rows).error());
  }
  return {};
}

DatabaseResult<std::vector<Notification>> Database::take_notifications() {
  PGconn* connection = connection_.get();
  if (::PQconsumeInput(connection) == 0) {
    return std::unexpected(lost("the connection was lost"));
  }
  struct Free {
    void operator()(PGnotify* notify) const { ::PQfreemem(notify); }
  };
  std::vector<Notification> all;
  while (const auto one = std::unique_ptr<PGnotify, Free>(::PQnotifies(connection))) {
    all.push_back({one->relname, one->extra});
  }
  return all;
}

}  // namespace hk::outbox
