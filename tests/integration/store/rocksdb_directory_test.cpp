/// What open_rocksdb() says to directories that it must not open, and the settings it opens with.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "integration/store/rocksdb_fixture.h"
#include "store/rocksdb/database.h"
#include "store/rocksdb/settings.h"

namespace hk::store {
namespace HK_TEST_FILE {

TEST(RocksDbDirectory, IsMadeWithItsParents) {
  TempDir dir;
  RocksDbOptions options = small_options(dir.file("a/b/c"));
  EXPECT_TRUE(open_rocksdb(options).has_value());
  EXPECT_TRUE(std::filesystem::exists(dir.file("a/b/c/FORMAT")));
  EXPECT_EQ(std::filesystem::file_size(dir.file("a/b/c/WITNESS")), 8192U);
}

std::string format_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path + "/FORMAT").rdbuf();
  return text.str();
}

TEST(RocksDbDirectory, SeveralShareOneMemoryAndNothingElse) {
  const TempDir dir;
  const auto memory = share_memory(std::size_t{4} << 20U, std::size_t{1} << 20U);
  std::vector<std::unique_ptr<DurableStore>> stores;
  for (const char* name : {"one", "two"}) {
    RocksDbOptions options = small_options(dir.file(name));
    options.memory = memory;
    stores.push_back(open_or_fail(options));
    ASSERT_NE(stores.back(), nullptr);
  }

  // More than the buffers of both hold: each write may flush, and nothing of it is the other's.
  for (std::uint64_t i = 0; i < 40; ++i) {
    write_numbered(*stores[i % 2], 4, std::size_t{16} << 10U);
  }

  for (const auto& store : stores) {
    ASSERT_TRUE(store->sync().has_value());
    EXPECT_EQ(store->last_written(), 80U);
    const auto last = store->snapshot()->get(Table::message, numbered_key(80));
    ASSERT_TRUE(last.has_value());
    EXPECT_EQ(*last, numbered_value(80, std::size_t{16} << 10U));
  }
  const auto cache_of = [](const RocksDbOptions& options) {
    return make_settings(options, rocksdb::Env::Default()).cache;
  };
  RocksDbOptions sharing;
  sharing.memory = memory;
  EXPECT_EQ(cache_of(sharing), cache_of(sharing));
  EXPECT_NE(cache_of({}), cache_of({}));
}

TEST(RocksDbDirectory, KeepsItsFormatAndPassesItOnToItsBackups) {
  TempDir dir;
  const std::string path = dir.file("data");
  const RocksDbOptions options = small_options(path);
  {
    auto store = open_rocksdb(options).value();
    ASSERT_TRUE(store->checkpoint(dir.file("backup")));
  }
  EXPECT_EQ(format_of(path), "hikyaku-data 6\n");
  EXPECT_EQ(format_of(dir.file("backup")), "hikyaku-data 6\n");
  for (const char* const older : {"hikyaku-data 1\n", "hikyaku-data 2\n", "hikyaku-data 3\n",
                                  "hikyaku-data 4\n", "hikyaku-data 5\n"}) {
    std::ofstream(path + "/FORMAT") << older;
    EXPECT_TRUE(open_rocksdb(options).has_value());
    EXPECT_EQ(format_of(path), "hikyaku-data 6\n") << "its tables are those of this format now";
  }
}

TEST(RocksDbDirectory, IsBackedUpOverAnUnfinishedBackupAndOverNothingElse) {
  TempDir dir;
  auto store = open_rocksdb(small_options(dir.file("data"))).value();
  const std::string partial = dir.file("backup.partial");
  std::filesystem::create_directory(partial);
  std::ofstream(partial + "/holiday.jpg") << "x";

  const auto refused = store->checkpoint(dir.file("backup"));

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::conflict);
  EXPECT_NE(refused.error().message.find("is not an unfinished backup"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(partial + "/holiday.jpg"));

  std::filesystem::remove(partial + "/holiday.jpg");
  for (const char* name : {"000007.sst", "MANIFEST-000001", "CURRENT", "WITNESS", "FORMAT.tmp"}) {
    std::ofstream(partial + "/" + name) << "x";
  }
  EXPECT_TRUE(store->checkpoint(dir.file("backup")));
  EXPECT_FALSE(std::filesystem::exists(partial));
}

TEST(RocksDbDirectory, HoldsNothingThatWasOverwrittenOnceATableIsRewritten) {
  TempDir dir;
  const std::string path = dir.file("data");
  const auto held = [&](const std::string& text) {  // no store is open: its files stay as they are
    for (const auto& file : std::filesystem::directory_iterator(path)) {
      std::ostringstream bytes;
      bytes << std::ifstream(file.path(), std::ios::binary).rdbuf();
      if (file.is_regular_file() && bytes.str().find(text) != std::string::npos) {
        return true;
      }
    }
    return false;
  };
  const auto write = [](DurableStore& store, const std::string& value) {
    const std::vector<Write> batch{{Write::Kind::put, Table::tenant, "key", value}};
    ASSERT_TRUE(store.write(batch));
    ASSERT_TRUE(store.sync());
  };
  write(*open_or_fail(small_options(path)), "an old secret");
  open_or_fail(small_options(path)).reset();  // what is in the log goes into files
  ASSERT_TRUE(held("an old secret"));

  auto store = open_or_fail(small_options(path));
  write(*store, "a new secret");
  ASSERT_TRUE(store->rewrite(Table::tenant));
  EXPECT_EQ(*store->snapshot()->get(Table::tenant, "key"), "a new secret");
  store.reset();
  EXPECT_FALSE(held("an old secret"));
}

TEST(RocksDbDirectory, IsRefusedWithAReasonAndARemedy) {
  struct Row {
    const char* name;
    std::function<void(const std::string& path)> prepare;
    bool create;
    ErrorKind kind;
    const char* says;
  };
  const auto make = [](const std::string& path) { std::filesystem::create_directory(path); };
  const Row rows[] = {
      {"missing", [](const std::string&) {}, false, ErrorKind::not_found, "no data directory"},
      {"somebody else's",
       [&](const std::string& path) {
         make(path);
         std::ofstream(path + "/holiday.jpg") << "x";
       },
       true, ErrorKind::invalid_argument, "is not a data directory"},
      {"a file", [](const std::string& path) { std::ofstream(path) << "x"; }, true,
       ErrorKind::invalid_argument, "cannot open the data directory"},
      {"newer",
       [&](const std::string& path) {
         make(path);
         std::ofstream(path + "/FORMAT") << "hikyaku-data 7\n";
       },
       true, ErrorKind::conflict, "Start the newer version again"},
      {"damaged marker",
       [&](const std::string& path) {
         make(path);
         std::ofstream(path + "/FORMAT") << "hikyaku-data x\n";
       },
       true, ErrorKind::corruption, "FORMAT is damaged"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    TempDir dir;
    row.prepare(dir.file("data"));
    RocksDbOptions options = small_options(dir.file("data"));
    options.create = row.create;
    const auto opened = open_rocksdb(options);
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().kind, row.kind) << opened.error().message;
    EXPECT_NE(opened.error().message.find(row.says), std::string::npos) << opened.error().message;
  }
}

TEST(RocksDbDirectory, ThatIsNotWritableIsRefused) {
  // /proc lets nobody create directories, whoever asks.
  const auto opened = open_rocksdb(small_options("/proc/hikyaku"));
  ASSERT_FALSE(opened.has_value());
  EXPECT_NE(opened.error().message.find("cannot create the data directory"), std::string::npos);

  if (::geteuid() == 0) {
    GTEST_SKIP() << "root may write anywhere";
  }
  TempDir dir;
  std::filesystem::create_directory(dir.file("data"));
  std::filesystem::permissions(
      dir.file("data"), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  const auto read_only = open_rocksdb(small_options(dir.file("data")));
  ASSERT_FALSE(read_only.has_value());
  EXPECT_EQ(read_only.error().kind, ErrorKind::permission_denied);
}

TEST(RocksDbDirectory, InUseIsRefusedUntilItIsReleased) {
  TempDir dir;
  const RocksDbOptions options = small_options(dir.file("data"));
  auto first = open_rocksdb(options);
  ASSERT_TRUE(first.has_value());
  const auto second = open_rocksdb(options);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().kind, ErrorKind::conflict);
  EXPECT_NE(second.error().message.find("in use by another process"), std::string::npos);
  first->reset();
  EXPECT_TRUE(open_rocksdb(options).has_value());
}

TEST(RocksDbDirectory, WhoseCreationWasCutShortIsFinished) {
  for (const char* last_made : {"FORMAT", "WITNESS", "database"}) {
    SCOPED_TRACE(last_made);
    TempDir dir;
    const RocksDbOptions options = small_options(dir.file("data"));
    ASSERT_TRUE(open_rocksdb(options).has_value());
    for (const auto& entry : std::filesystem::directory_iterator(options.path)) {
      const std::string name = entry.path().filename();
      const bool keep =
          name == "FORMAT" || (name == "WITNESS" && last_made != std::string("FORMAT"));
      if (!keep && last_made != std::string("database")) {
        std::filesystem::remove_all(entry.path());
      }
    }
    auto store = open_rocksdb(options);
    ASSERT_TRUE(store.has_value()) << store.error().message;
    EXPECT_TRUE((*store)->write(one_put("a", "1")).has_value());
    EXPECT_TRUE((*store)->close().has_value());
  }
}

TEST(RocksDbSettings, AreTheOnesThatDurabilityNeeds) {
  TempDir dir;
  RocksDbOptions options;
  options.path = dir.file("data");
  auto opened = Database::open(options);
  ASSERT_TRUE(opened.has_value());
  const rocksdb::DBOptions db = (*opened)->db().GetDBOptions();
  EXPECT_EQ(db.wal_recovery_mode, rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords);
  EXPECT_TRUE(db.paranoid_checks);
  EXPECT_FALSE(db.avoid_flush_during_recovery);
  EXPECT_EQ(db.recycle_log_file_num, 0U);
  EXPECT_FALSE(db.unordered_write);
  EXPECT_FALSE(db.two_write_queues);
  EXPECT_FALSE(db.manual_wal_flush);
  EXPECT_EQ(db.wal_compression, rocksdb::kNoCompression);
  ASSERT_NE(db.file_checksum_gen_factory, nullptr);
  EXPECT_STREQ(db.file_checksum_gen_factory->Name(), "FileChecksumGenCrc32cFactory");
  EXPECT_TRUE(db.wal_dir.empty() || db.wal_dir.starts_with(options.path));
  EXPECT_EQ(batch_protection_bytes, 8U);
  EXPECT_TRUE(read_options().verify_checksums);
  EXPECT_EQ(unsafe_setting(db), std::nullopt);
  EXPECT_LE(db.max_background_jobs, 2);
  EXPECT_LE(db.max_total_wal_size, std::uint64_t{128} << 20U);
  for (const Table table : all_tables) {
    EXPECT_EQ(unsafe_setting((*opened)->settings().tables[static_cast<std::size_t>(table)]),
              std::nullopt);
  }
  EXPECT_TRUE(
      (*opened)->settings().tables[static_cast<std::size_t>(Table::message)].enable_blob_files);
}

TEST(RocksDbSettings, ThatAreUnsafeAreNamed) {
  const rocksdb::DBOptions safe = make_settings({}, rocksdb::Env::Default()).db;
  ASSERT_EQ(unsafe_setting(safe), std::nullopt);
  struct Row {
    const char* name;
    void (*spoil)(rocksdb::DBOptions&);
  };
  const Row rows[] = {
      {"wal_recovery_mode",
       [](auto& db) { db.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery; }},
      {"paranoid_checks", [](auto& db) { db.paranoid_checks = false; }},
      {"avoid_flush_during_recovery", [](auto& db) { db.avoid_flush_during_recovery = true; }},
      {"recycle_log_file_num", [](auto& db) { db.recycle_log_file_num = 1; }},
      {"unordered_write", [](auto& db) { db.unordered_write = true; }},
      {"two_write_queues", [](auto& db) { db.two_write_queues = true; }},
      {"manual_wal_flush", [](auto& db) { db.manual_wal_flush = true; }},
      {"wal_compression", [](auto& db) { db.wal_compression = rocksdb::kZSTD; }},
      {"file_checksum_gen_factory", [](auto& db) { db.file_checksum_gen_factory = nullptr; }},
      {"allow_mmap_writes", [](auto& db) { db.allow_mmap_writes = true; }},
  };
  for (const Row& row : rows) {
    rocksdb::DBOptions db = safe;
    row.spoil(db);
    EXPECT_EQ(unsafe_setting(db), row.name);
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::store
