#include "integration/outbox/source_postgres.h"

#include <gtest/gtest.h>
#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "integration/outbox/postgres.h"

namespace hk::outbox::test {
namespace {

/// PostgreSQL and pgbouncer refuse to run as root.
std::string as_postgres() {
  return ::geteuid() == 0 ? "setpriv --reuid=postgres --regid=postgres --clear-groups " : "";
}

}  // namespace

SourcePostgres::SourcePostgres() : binaries_(postgres_programs()) {
  std::string pattern = std::filesystem::temp_directory_path() / "hk_source_XXXXXX";
  folder_ = ::mkdtemp(pattern.data());
  if (::geteuid() == 0) {
    const passwd* user = ::getpwnam("postgres");
    if (user == nullptr || ::chown(folder_.c_str(), user->pw_uid, user->pw_gid) != 0) {
      return;
    }
  }
  if (!run(binaries_ + "/initdb -D " + folder_ +
           "/data -U postgres -A trust --no-sync --wal-segsize=1 --locale=C.UTF-8")) {
    return;
  }
  std::ofstream settings(folder_ + "/data/postgresql.conf", std::ios::app);
  settings << "listen_addresses = ''\nunix_socket_directories = '" << folder_ << "'\n"
           << "wal_level = logical\nfsync = off\nmax_wal_size = 8MB\nmin_wal_size = 2MB\n"
           << "max_replication_slots = 4\nautovacuum = off\n";
  settings.close();
  running_ = control("start");
}

SourcePostgres::~SourcePostgres() {
  for (int i = 1; i <= poolers_; ++i) {
    (void)run("sh -c 'kill $(cat " + folder_ + "/pooler" + std::to_string(i) + ".pid)'");
  }
  if (running_) {
    control("stop -m immediate");
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

bool SourcePostgres::run(const std::string& command) const {
  const std::string whole = as_postgres() + command + " >>" + folder_ + "/commands.log 2>&1";
  return std::system(whole.c_str()) == 0;
}

bool SourcePostgres::control(const std::string& command) {
  return run(binaries_ + "/pg_ctl -D " + folder_ + "/data -l " + folder_ +
             "/postgres.log -w -t 60 " + command);
}

Secret SourcePostgres::database(const std::string& user) const {
  return Secret("host=" + folder_ + " user=" + user + " dbname=postgres");
}

Database SourcePostgres::connect() const {
  auto connected = Database::connect(database(), "test", Millis{30'000});
  EXPECT_TRUE(connected.has_value()) << connected.error().error.message;
  return std::move(*connected);
}

Secret SourcePostgres::start_pooler(const std::string& pool_mode) {
  const std::string name = folder_ + "/pooler" + std::to_string(++poolers_);
  const std::string port = std::to_string(6000 + poolers_);  // names its socket; none is opened
  std::ofstream settings(name + ".ini");
  settings << "[databases]\npostgres = host=" << folder_ << " user=postgres\n[pgbouncer]\n"
           << "listen_port = " << port << "\nunix_socket_dir = " << folder_ << "\n"
           << "auth_type = any\npool_mode = " << pool_mode << "\nlogfile = " << name
           << ".log\npidfile = " << name << ".pid\n";
  settings.close();
  std::filesystem::permissions(name + ".ini", std::filesystem::perms::others_read,
                               std::filesystem::perm_options::add);
  EXPECT_TRUE(run("/usr/sbin/pgbouncer -d " + name + ".ini")) << "is pgbouncer installed?";
  return Secret("host=" + folder_ + " port=" + port + " user=postgres dbname=postgres");
}

}  // namespace hk::outbox::test
