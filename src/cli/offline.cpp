#include "cli/offline.h"

#include <fmt/core.h>

#include <boost/json.hpp>
#include <filesystem>

#include "cli/admin_file.h"
#include "cli/exit_code.h"
#include "cli/master_key.h"
#include "cli/process.h"
#include "net/client.h"
#include "store/rocksdb/rocksdb_store.h"
#include "store/verify.h"

namespace hk::cli {

namespace fs = std::filesystem;
namespace json = boost::json;

namespace {

Result<std::unique_ptr<store::DurableStore>> open_existing(const std::string& data) {
  store::RocksDbOptions options;
  options.path = data;
  options.create = false;
  return store::open_rocksdb(options);
}

int finish(bool as_json, const json::object& object, const std::string& text) {
  fmt::print("{}\n", as_json ? json::serialize(object) : text);
  return exit_ok;
}

}  // namespace

int verify(const std::string& data, bool as_json) {
  harden_process();
  const auto place = key_place(data);
  if (!place) {
    return report_disk_error(place.error());
  }
  auto store = open_existing(data);
  if (!store) {
    return report_disk_error(store.error());
  }
  auto checked = [&]() -> Result<store::VerifyReport> {
    if (auto whole = (*store)->scrub(); !whole) {
      return std::unexpected(whole.error());
    }
    auto found = store::verify(*(*store)->snapshot());
    if (found) {
      for (std::string& problem : check_master_key(*place, **store)) {
        ++found->problem_count;
        found->problems.push_back(std::move(problem));
      }
    }
    return found;
  }();
  if (auto closed = (*store)->close(); !closed) {
    return report_disk_error(closed.error());
  }
  if (!checked) {
    return report_disk_error(checked.error());
  }
  const std::uint64_t messages = checked->rows[static_cast<std::size_t>(store::Table::message)];
  if (as_json) {
    json::array problems;
    for (const std::string& problem : checked->problems) {
      problems.emplace_back(problem);
    }
    fmt::print("{}\n", json::serialize(json::object{{"ok", checked->ok()},
                                                    {"messages", messages},
                                                    {"unfinished", checked->unfinished},
                                                    {"problem_count", checked->problem_count},
                                                    {"problems", std::move(problems)}}));
  } else {
    for (const std::string& problem : checked->problems) {
      fmt::print("{}\n", problem);
    }
    fmt::print("{}: {} messages checked, {} of them unfinished, {} problems\n", data, messages,
               checked->unfinished, checked->problem_count);
  }
  return checked->ok() ? exit_ok : exit_corruption;
}

int backup(const std::string& data, const std::string& to, const std::string& url,
           const std::string& ca_file, bool as_json) {
  harden_process();
  std::error_code error;
  const std::string target = fs::absolute(to, error).lexically_normal().string();
  if (fs::exists(target)) {
    return report_disk_error({ErrorKind::invalid_argument,
                              target + " exists already: give a directory that does not exist"});
  }
  const json::object done{{"backup", target}};
  const std::string text =
      "backup written to " + target +
      ". If the data directory holds master.key, so does the backup: protect it in the same way";
  std::string unreachable;
  if (const auto admin = read_admin_file(data)) {
    const auto answer =
        net::fetch({.method = "POST",
                    .url = (url.empty() ? admin->url : url) + "/api/v1/admin/backup",
                    .fields = {{"Authorization", "Bearer " + std::string(admin->token.reveal())},
                               {"Content-Type", "application/json"}},
                    .body = json::serialize(json::object{{"directory", target}}),
                    .timeout = std::chrono::minutes(10)},
                   ca_file);
    if (answer && answer->status / 100 == 2) {
      return finish(as_json, done, text);
    }
    if (answer) {
      tell(fmt::format("hikyaku: the server refused the backup: {}", answer->body));
      return exit_failed;
    }
    if (answer.error().kind != ErrorKind::unavailable) {
      return refuse(answer.error());
    }
    // Left behind by a server that was killed: the directory is free.
    unreachable = answer.error().message;
  }
  auto store = open_existing(data);
  if (!store) {
    if (!unreachable.empty()) {
      tell(
          fmt::format("hikyaku: {}\nUse the name in the certificate of a server with TLS: --url "
                      "https://NAME:PORT, and --ca-file if the system does not trust it.",
                      unreachable));
    }
    return report_disk_error(store.error());
  }
  const auto place = key_place(data);
  // Also brings an interrupted rotation to its end.
  const auto key = place ? open_master_key(*place, **store, IfMissing::refuse)
                         : Result<security::MasterKey>(std::unexpected(place.error()));
  auto written = (*store)->checkpoint(target, [&](const std::string& unfinished) -> Result<void> {
    return key && place->setting.empty() ? key->write_file(KeyPlace{unfinished}.file())
                                         : Result<void>{};
  });
  if (auto closed = (*store)->close(); !closed) {
    return report_disk_error(closed.error());
  }
  if (!written) {
    return report_disk_error(written.error());
  }
  if (!key) {
    tell("hikyaku: the backup is written without a master key: " + key.error().message);
  }
  return finish(as_json, done, text);
}

int restore(const std::string& from, const std::string& data, bool as_json) {
  harden_process();
  std::error_code error;
  if (!fs::is_directory(from)) {
    return report_disk_error(
        {ErrorKind::invalid_argument,
         from + " is not a directory: give the one that `hikyaku backup` wrote"});
  }
  if (fs::exists(data) && !fs::is_empty(data, error)) {
    return report_disk_error(
        {ErrorKind::invalid_argument,
         data +
             " is not empty: restore into a new directory and start the server with --data on it"});
  }
  fs::create_directories(data, error);
  fs::permissions(data, fs::perms::owner_all, error);
  fs::copy(from, data, fs::copy_options::recursive | fs::copy_options::overwrite_existing, error);
  if (error) {
    return report_disk_error(
        {ErrorKind::unavailable, "cannot copy " + from + " to " + data + ": " + error.message()});
  }
  const int code = verify(data, as_json);
  if (code == exit_ok && !as_json) {
    fmt::print("restored; messages delivered after the backup will be delivered again\n");
  }
  return code;
}

}  // namespace hk::cli
