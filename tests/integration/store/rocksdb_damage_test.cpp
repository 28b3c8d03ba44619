/// Damaged files: whatever bit flips in whatever file, no wrong data is served: the start is
/// refused, or the read is an error, or the answer is right.
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <map>
#include <thread>

#include "base/random.h"
#include "integration/store/rocksdb_fixture.h"
#include "store/rocksdb/database.h"

namespace hk::store {
namespace HK_TEST_FILE {

constexpr std::uint64_t batches = 60;

std::size_t body_bytes(std::uint64_t n) { return n % 3 == 0 ? 5000 : 200; }

/// No real syncs: the bits of this test come from elsewhere.
RocksDbOptions fast_options(const std::string& path) {
  RocksDbOptions options = small_options(path);
  options.hold_unsynced = true;
  return options;
}

/// Half of the batches in tables and blobs, half in the log.
void make_directory(const std::string& path) {
  for (int half = 0; half < 2; ++half) {
    const auto store = open_or_fail(fast_options(path));
    ASSERT_NE(store, nullptr);
    for (std::uint64_t i = 0; i < batches / 2; ++i) {
      const std::uint64_t n = store->last_written() + 1;
      write_numbered(*store, 1, body_bytes(n));
    }
    ASSERT_TRUE(store->close().has_value());
  }
}

enum class Outcome { refused, read_error, right };

/// Fails the test if anything wrong is served.
Outcome read_everything(const std::string& path) {
  auto opened = open_rocksdb(fast_options(path));
  if (!opened) {
    return Outcome::refused;
  }
  DurableStore& store = **opened;
  EXPECT_EQ(store.last_written(), batches);
  bool read_error = false;
  const auto reader = store.snapshot();
  for (const Table table : {Table::message, Table::state}) {
    for (const bool reverse : {false, true}) {
      const auto rows = reader->scan(table, "", "", batches * 2, reverse);
      read_error |= !rows.has_value();
      if (rows) {
        EXPECT_EQ(rows->size(), batches);
      }
    }
    for (std::uint64_t n = 1; n <= batches; ++n) {
      const auto value = reader->get(table, numbered_key(n));
      read_error |= !value.has_value();
      if (value) {
        EXPECT_EQ(value->value_or("missing"),
                  numbered_value(n, table == Table::message ? body_bytes(n) : 10));
      }
    }
  }
  return read_error ? Outcome::read_error : Outcome::right;
}

TEST(RocksDbDamage, AFlippedBitInAnyFileServesNoWrongData) {
  TempDir dir;
  const std::string sound = dir.file("sound");
  make_directory(sound);
  ASSERT_EQ(read_everything(sound), Outcome::right);
  std::filesystem::remove_all(sound);
  make_directory(sound);

  SeededRng rng(5);
  struct Row {
    const char* ending;
    int samples;
    bool must_be_noticed;  ///< some of the samples, at least
  };
  const Row rows[] = {{".log", 8, true},     {".sst", 24, true},    {".blob", 8, true},
                      {"CURRENT", 3, true},  {"WITNESS", 6, false}, {"FORMAT", 3, true},
                      {"IDENTITY", 2, false}};
  std::vector<std::pair<std::string, int>> kinds;
  std::map<std::string, bool> must;
  for (const Row& row : rows) {
    kinds.emplace_back(row.ending, row.samples);
    must[row.ending] = row.must_be_noticed;
  }
  for (const auto& entry : std::filesystem::directory_iterator(sound)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("MANIFEST-") || name.starts_with("OPTIONS-")) {
      kinds.emplace_back(name, 6);
      must[name] = name.starts_with("MANIFEST-");
    }
  }
  for (const auto& [ending, samples] : kinds) {
    const auto files = files_ending(sound, ending);
    ASSERT_FALSE(files.empty()) << ending;
    int noticed = 0;
    for (int i = 0; i < samples; ++i) {
      const std::string file = files[rng.below(files.size())];
      const std::uint64_t size = std::filesystem::file_size(file);
      if (size == 0) {
        continue;
      }
      const std::uint64_t at = rng.below(size);
      SCOPED_TRACE(file + " at " + std::to_string(at));
      const std::string copy = dir.file("copy");
      std::filesystem::copy(sound, copy, std::filesystem::copy_options::recursive);
      {
        std::fstream stream(copy + "/" + std::filesystem::path(file).filename().string(),
                            std::ios::in | std::ios::out | std::ios::binary);
        stream.seekg(static_cast<std::streamoff>(at));
        const char byte = static_cast<char>(stream.get() ^ static_cast<char>(1U << rng.below(8)));
        stream.seekp(static_cast<std::streamoff>(at));
        stream.put(byte);
      }
      noticed += read_everything(copy) == Outcome::right ? 0 : 1;
      std::filesystem::remove_all(copy);
    }
    EXPECT_TRUE(noticed > 0 || !must[ending]) << ending;
    std::printf("%-16s %d of %d flips noticed\n", ending.c_str(), noticed, samples);
  }
}

TEST(RocksDbDamage, AValueThatBelongsElsewhereIsNotServed) {
  TempDir dir;
  const RocksDbOptions options = fast_options(dir.file("data"));
  {
    const auto store = open_or_fail(options);
    write_numbered(*store, 3);
    ASSERT_TRUE(store->close().has_value());
  }
  {
    auto database = Database::open(options);
    ASSERT_TRUE(database.has_value());
    rocksdb::DB& db = (*database)->db();
    std::string stored;
    ASSERT_TRUE(db.Get({}, (*database)->table(Table::message), numbered_key(1), &stored).ok());
    rocksdb::WriteOptions synced;
    synced.sync = true;
    ASSERT_TRUE(db.Put(synced, (*database)->table(Table::message), numbered_key(2), stored).ok());
    ASSERT_TRUE(db.Put(synced, (*database)->table(Table::state), numbered_key(1), stored).ok());
    ASSERT_TRUE(db.Put(synced, (*database)->table(Table::state), numbered_key(2), "abc").ok());
  }
  const auto store = open_or_fail(options);
  const auto reader = store->snapshot();
  EXPECT_TRUE(reader->get(Table::message, numbered_key(1)).has_value());
  EXPECT_TRUE(reader->get(Table::message, numbered_key(3)).has_value());
  for (const auto& [table, n] :
       {std::pair(Table::message, 2U), std::pair(Table::state, 1U), std::pair(Table::state, 2U)}) {
    const auto value = reader->get(table, numbered_key(n));
    ASSERT_FALSE(value.has_value());
    EXPECT_EQ(value.error().kind, ErrorKind::corruption);
    const std::vector<std::string> keys{numbered_key(3), numbered_key(n)};
    EXPECT_EQ(reader->get_many(table, keys).error().kind, ErrorKind::corruption);
  }
  EXPECT_EQ(reader->scan(Table::message, "", "", 10).error().kind, ErrorKind::corruption);
  EXPECT_TRUE(reader->scan(Table::message, numbered_key(3), "", 10).has_value());
}

TEST(RocksDbCheckpoint, IsAStoreOfItsOwnWhileTheOriginalGoesOn) {
  TempDir dir;
  const auto store = open_or_fail(small_options(dir.file("data")));
  write_numbered(*store, 50, 5000);
  ASSERT_TRUE(store->sync().has_value());
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    while (!stop) {
      write_numbered(*store, 1, 300);
    }
  });
  const auto made = store->checkpoint(dir.file("backup"));
  stop = true;
  writer.join();
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_FALSE(std::filesystem::exists(dir.file("backup.partial")));
  const BatchSeq original = store->last_written();

  const auto again = store->checkpoint(dir.file("backup"));
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().kind, ErrorKind::conflict);

  const auto backup = open_or_fail(small_options(dir.file("backup")));
  ASSERT_NE(backup, nullptr);
  const BatchSeq last = backup->last_written();
  EXPECT_GE(last, 50U);
  EXPECT_LE(last, original);
  EXPECT_EQ(backup->stats().witnessed, last);
  const auto reader = backup->snapshot();
  const auto rows = reader->scan(Table::message, "", "", last + 10);
  ASSERT_TRUE(rows.has_value());
  ASSERT_EQ(rows->size(), last);
  for (BatchSeq n = 1; n <= last; ++n) {
    ASSERT_EQ((*rows)[n - 1].value, numbered_value(n, n <= 50 ? 5000 : 300));
  }
  EXPECT_EQ(store->write(one_put("z", "1")), original + 1);
}

TEST(RocksDbCheckpoint, IsNotMadeOfADamagedDirectory) {
  TempDir dir;
  const std::string path = dir.file("data");
  make_directory(path);
  const auto store = open_or_fail(fast_options(path));
  ASSERT_TRUE(store->scrub().has_value());
  const auto blobs = files_ending(path, ".blob");
  ASSERT_FALSE(blobs.empty());
  {
    std::fstream stream(blobs.front(), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(500);
    stream.put('\x7f');
  }
  const auto scrubbed = store->scrub();
  ASSERT_FALSE(scrubbed.has_value());
  EXPECT_EQ(scrubbed.error().kind, ErrorKind::corruption);
  EXPECT_FALSE(store->checkpoint(dir.file("backup")).has_value());
  EXPECT_FALSE(std::filesystem::exists(dir.file("backup")));
}

TEST(RocksDbErrors, AFailedSyncAcknowledgesNothingAndStopsTheStore) {
  TempDir dir;
  const RocksDbOptions options = small_options(dir.file("data"));
  {
    const auto store = open_or_fail(options);
    write_numbered(*store, 5);
    ASSERT_EQ(store->sync(), 5U);
    redirect_logs(options.path, "/dev/null");  // takes every byte and cannot be synced
    write_numbered(*store, 1);
    for (int i = 0; i < 2; ++i) {
      const auto synced = store->sync();
      ASSERT_FALSE(synced.has_value());
      EXPECT_EQ(synced.error().kind, ErrorKind::unknown_outcome);
    }
    EXPECT_EQ(store->write(one_put("a", "1")).error().kind, ErrorKind::unknown_outcome);
    EXPECT_EQ(store->stats().last_synced, 5U);
    EXPECT_FALSE(store->close().has_value());
  }
  const auto store = open_or_fail(options);
  ASSERT_NE(store, nullptr);
  EXPECT_EQ(store->last_written(), 5U);
}

TEST(RocksDbStats, SayWhatTheStoreUses) {
  TempDir dir;
  const auto store = open_or_fail(small_options(dir.file("data")));
  write_numbered(*store, 20, 300);
  ASSERT_TRUE(store->sync().has_value());
  const auto reader = store->snapshot();
  const StoreStats stats = store->stats();
  EXPECT_GT(stats.disk_bytes, 20U * 300U);
  EXPECT_GT(stats.log_bytes, 20U * 300U);
  EXPECT_GT(stats.memtable_bytes, 20U * 300U);
  EXPECT_EQ(stats.snapshots, 1U);
  EXPECT_FALSE(stats.stalled);
  EXPECT_EQ(stats.last_written, 20U);
  EXPECT_EQ(stats.last_synced, 20U);
}

TEST(RocksDbStats, AClosedStoreRefusesWrites) {
  TempDir dir;
  const auto store = open_or_fail(small_options(dir.file("data")));
  ASSERT_TRUE(store->close().has_value());
  ASSERT_TRUE(store->close().has_value());
  EXPECT_FALSE(store->write(one_put("a", "1")).has_value());
  EXPECT_FALSE(store->sync().has_value());
}

}  // namespace HK_TEST_FILE
}  // namespace hk::store
