#include "integration/outbox/postgres.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <thread>
#include <vector>

namespace hk::outbox::test {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// As the user postgres when we are root, which PostgreSQL refuses to run as. The child dies with
/// us.
pid_t spawn(const std::vector<std::string>& arguments, const std::string& folder) {
  const passwd* user = ::geteuid() == 0 ? ::getpwnam("postgres") : nullptr;
  const std::string log = folder + "/log";
  std::vector<char*> argv;
  for (const std::string& argument : arguments) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    if (user != nullptr && (::setgroups(0, nullptr) != 0 || ::setgid(user->pw_gid) != 0 ||
                            ::setuid(user->pw_uid) != 0)) {
      ::_exit(126);
    }
    ::prctl(PR_SET_PDEATHSIG, SIGQUIT);
    const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (out < 0 || ::dup2(out, 1) < 0 || ::dup2(out, 2) < 0 || ::chdir(folder.c_str()) != 0) {
      ::_exit(125);
    }
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  return child;
}

}  // namespace

std::string postgres_programs() {
  if (const char* given = std::getenv("HK_POSTGRES_BIN")) {
    return given;
  }
  std::string found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/usr/lib/postgresql", ignored)) {
    const std::string bin = entry.path().string() + "/bin";
    if (fs::exists(bin + "/initdb") && bin > found) {
      found = bin;
    }
  }
  if (found.empty()) {
    throw std::runtime_error("no PostgreSQL server found: install it or set HK_POSTGRES_BIN");
  }
  return found;
}

Postgres& Postgres::instance() {
  static Postgres one;
  return one;
}

Postgres::Postgres() : bin_(postgres_programs()) {
  std::string pattern = (fs::temp_directory_path() / "hk_pg_XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw std::runtime_error("no temporary folder");
  }
  folder_ = pattern;
  if (const passwd* user = ::geteuid() == 0 ? ::getpwnam("postgres") : nullptr; user != nullptr) {
    if (::chown(folder_.c_str(), user->pw_uid, user->pw_gid) != 0) {
      throw std::runtime_error("the folder cannot be given to the user postgres");
    }
  }
  const pid_t initdb = spawn({bin_ + "/initdb", "-D", folder_ + "/data", "-A", "trust", "-U",
                              "postgres", "-E", "UTF8", "--locale=C", "-N"},
                             folder_);
  int status = 0;
  if (::waitpid(initdb, &status, 0) != initdb || status != 0) {
    throw std::runtime_error("initdb failed: see " + folder_ + "/log");
  }
  start();
}

Postgres::~Postgres() {
  stop();
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void Postgres::start() {
  server_ = spawn({bin_ + "/postgres",
                   "-D",
                   folder_ + "/data",
                   "-k",
                   folder_,
                   "-c",
                   "listen_addresses=",
                   "-c",
                   "fsync=off",
                   "-c",
                   "wal_level=logical",
                   "-c",
                   "max_connections=160",
                   "-c",
                   "shared_buffers=64MB",
                   "-c",
                   "deadlock_timeout=200ms",
                   "-c",
                   "max_wal_senders=10",
                   "-c",
                   "max_replication_slots=10"},
                  folder_);
  const auto deadline = Clock::now() + std::chrono::seconds(60);
  while (true) {
    auto database = Database::connect(Secret(connection_string("postgres")), "wait", Millis{2'000});
    if (database) {
      return;
    }
    if (Clock::now() > deadline || ::waitpid(server_, nullptr, WNOHANG) == server_) {
      throw std::runtime_error("PostgreSQL did not start: see " + folder_ + "/log");
    }
    std::this_thread::sleep_for(Millis{20});
  }
}

void Postgres::stop() {
  if (server_ > 0) {
    ::kill(server_, SIGQUIT);
    ::waitpid(server_, nullptr, 0);
    server_ = -1;
  }
}

void Postgres::restart() {
  stop();
  start();
}

std::string Postgres::connection_string(const std::string& database) const {
  return "host=" + folder_ + " port=5432 user=postgres dbname=" + database;
}

Secret Postgres::fresh_database(const std::string& options) {
  Database database = connect(Secret(connection_string("postgres")));
  const std::string name = "test_" + std::to_string(++databases_);
  run(database, "CREATE DATABASE " + name + " " + options);
  return Secret(connection_string(name));
}

Database connect(const Secret& connection_string) {
  auto database = Database::connect(connection_string, "test", Millis{60'000});
  if (!database) {
    throw std::runtime_error("connect: " + database.error().error.message);
  }
  return std::move(*database);
}

Rows run(Database& database, const std::string& sql, std::vector<Parameter> parameters) {
  auto rows = database.run(sql, std::move(parameters));
  if (!rows) {
    throw std::runtime_error(sql + ": " + rows.error().sqlstate + " " + rows.error().error.message);
  }
  return std::move(*rows);
}

std::string text(Database& database, const std::string& sql) {
  const Rows rows = run(database, sql);
  return rows.size() == 0 ? "" : std::string(rows.text(0, 0));
}

}  // namespace hk::outbox::test
