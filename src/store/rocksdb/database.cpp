#include "store/rocksdb/database.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "store/rocksdb/file_io.h"
#include "store/rocksdb/holding_fs.h"
#include "store/rocksdb/info_log.h"
#include "store/rocksdb/manifest_mark.h"
#include "store/rocksdb/ordered_log_fs.h"
#include "store/rocksdb/value_guard.h"
#include "store/table_name.h"

namespace hk::store {
namespace {

constexpr std::string_view id_key = "id";

std::unexpected<Error> own_record_broken(std::string_view key) {
  return fail(ErrorKind::corruption,
              "the store's own record " + std::string(key) +
                  " is not what was written. Restore the directory from a backup.");
}

/// The system's reason, of those that have a remedy. RocksDB tells most of them in its text only.
int errno_of(const std::string& text) {
  for (const int number : {ENOSPC, EDQUOT, EIO, EACCES, EPERM, EROFS, EMFILE, ENFILE}) {
    if (text.ends_with(": " + std::generic_category().message(number))) {
      return number;
    }
  }
  return 0;
}

}  // namespace

Error to_error(const rocksdb::Status& status, std::string_view doing) {
  const std::string text = status.ToString();
  const int number = errno_of(text);
  ErrorKind kind = ErrorKind::internal;
  if (status.IsCorruption() || status.IsPathNotFound()) {  // RocksDB asks for what it has written
    kind = ErrorKind::corruption;
  } else if (status.IsNoSpace() || status.IsBusy() || status.IsTryAgain()) {
    kind = ErrorKind::unavailable;
  } else if (number != 0) {
    kind = kind_of_errno(number);
  }
  const std::string remedy = remedy_for_errno(number);
  return {kind, std::string(doing) + ": " + text + (remedy.empty() ? "" : "." + remedy)};
}

Result<std::unique_ptr<Database>> Database::open(const RocksDbOptions& options) {
  return open(options, false);
}

Result<std::unique_ptr<Database>> Database::open_read_only(const std::string& path) {
  RocksDbOptions options;
  options.path = path;
  return open(options, true);
}

Result<std::unique_ptr<Database>> Database::open(const RocksDbOptions& options, bool read_only) {
  std::unique_ptr<Database> database(new Database);
  std::shared_ptr<rocksdb::FileSystem> files =
      options.files ? options.files : rocksdb::FileSystem::Default();
  if (options.hold_unsynced) {
    files = make_holding_fs(files);
  }
  const auto mark = std::make_shared<ManifestMark>(options.path);
  database->env_ = rocksdb::NewCompositeEnv(
      make_marking_fs(make_ordered_log_fs(files, options.path, database->log_failed_), mark));
  database->settings_ = make_settings(options, database->env_.get());
  Settings& settings = database->settings_;
  settings.db.info_log =
      read_only ? std::make_shared<InfoLog>() : std::make_shared<InfoLog>(options.path);

  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  families.emplace_back(rocksdb::kDefaultColumnFamilyName, settings.own);
  for (const Table table : all_tables) {
    families.emplace_back(std::string(table_name(table)),
                          settings.tables[static_cast<std::size_t>(table)]);
  }
  if (auto whole = ManifestMark::check(options.path); !whole) {
    return std::unexpected(whole.error());
  }
  rocksdb::DB* opened = nullptr;
  const rocksdb::Status status =
      read_only
          ? rocksdb::DB::OpenForReadOnly(settings.db, options.path, families, &database->handles_,
                                         &opened)
          : rocksdb::DB::Open(settings.db, options.path, families, &database->handles_, &opened);
  if (!status.ok()) {
    Error error = to_error(status, "cannot open the database in " + options.path);
    if (error.kind == ErrorKind::corruption) {
      error.message +=
          ". The data is not what was written: keep a copy of the directory, check the disk, and "
          "restore the last backup.";
    }
    return std::unexpected(std::move(error));
  }
  database->db_.reset(opened);
  for (std::size_t i = 0; i < all_tables.size(); ++i) {
    database->tables_[static_cast<std::size_t>(all_tables[i])] = database->handles_[1 + i];
  }
  if (const auto unsafe = unsafe_setting(opened->GetDBOptions())) {
    return fail(ErrorKind::internal, "RocksDB did not take the setting " + *unsafe);
  }
  if (!read_only) {
    if (auto begun = mark->begin(); !begun) {
      return std::unexpected(begun.error());
    }
  }
  return database;
}

Database::~Database() {
  if (auto closed = close(); !closed) {
    // Nothing to tell: whoever wanted to know has called close() before.
  }
}

Result<void> Database::close() {
  if (!db_) {
    return {};
  }
  for (rocksdb::ColumnFamilyHandle* handle : handles_) {
    db_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  }
  handles_.clear();
  const rocksdb::Status status = db_->Close();
  db_.reset();
  if (!status.ok()) {
    return std::unexpected(to_error(status, "cannot close the database"));
  }
  return {};
}

Result<std::optional<StoreId>> Database::read_id() {
  std::string stored;
  const auto status = db_->Get(read_options(), own(), id_key, &stored);
  if (status.IsNotFound()) {
    return std::nullopt;
  }
  if (!status.ok()) {
    return std::unexpected(to_error(status, "cannot read the store's id"));
  }
  std::string_view value;
  StoreId id{};
  if (!check_guard(own_table, id_key, stored, value) || value.size() != id.size()) {
    return own_record_broken(id_key);
  }
  std::ranges::transform(value, id.begin(), [](char c) { return static_cast<std::uint8_t>(c); });
  return id;
}

Result<void> Database::write_id(const StoreId& id) {
  std::string value(id.begin(), id.end());
  const auto guard = guard_as_bytes(guard_of(own_table, id_key, value));
  value.append(guard.data(), guard.size());
  rocksdb::WriteOptions synced;
  synced.sync = true;
  const auto status = db_->Put(synced, own(), id_key, value);
  if (!status.ok()) {
    return std::unexpected(to_error(status, "cannot write the store's id"));
  }
  return {};
}

Result<RecoveredChain> Database::read_chain() {
  RecoveredChain chain;
  const std::unique_ptr<rocksdb::Iterator> row(db_->NewIterator(read_options(), own()));
  for (row->Seek(chain_prefix); row->Valid() && row->key().starts_with(chain_prefix); row->Next()) {
    std::string_view value;
    if (!check_guard(own_table, view(row->key()), view(row->value()), value)) {
      return own_record_broken("of the chain");
    }
    const auto link = parse_chain_value(view(row->key()), value);
    if (!link) {
      return own_record_broken("of the chain");
    }
    chain.add(*link);
  }
  if (!row->status().ok()) {
    return std::unexpected(to_error(row->status(), "cannot read the chain"));
  }
  if (auto whole = chain.check_no_holes(); !whole) {
    return std::unexpected(whole.error());
  }
  return chain;
}

}  // namespace hk::store
