/// What was deleted gives its room back, without a restart and although nothing more is written.
#include <gtest/gtest.h>

#include "integration/store/rocksdb_fixture.h"

namespace hk::store {
namespace HK_TEST_FILE {

constexpr std::uint64_t rows = 4000;
constexpr std::uint64_t rows_per_batch = 100;
constexpr std::size_t value_bytes = 2000;  // below what is kept apart: the rows are in the tables
constexpr std::uint64_t payload = rows * value_bytes;

class Reclaim : public testing::Test {
 protected:
  Reclaim() : options_(small_options(dir_.file("data"))) {
    // On a slow machine it looks while rows are being deleted, and leaves fewer than these of the
    // last ones.
    options_.reclaim_rows_min = rows / 40;
    options_.reclaim_pace = std::chrono::milliseconds(20);
  }
  static std::vector<Write> batch_of(std::uint64_t first, Write::Kind kind) {
    std::vector<Write> batch;
    for (std::uint64_t n = first; n < first + rows_per_batch; ++n) {
      batch.push_back({kind, Table::message, numbered_key(n),
                       kind == Write::Kind::put ? random_text(n) : std::string{}});
    }
    return batch;
  }
  /// Nothing that compresses.
  static std::string random_text(std::uint64_t seed) {
    std::string text;
    std::uint64_t state = seed * 0x9e3779b97f4a7c15U + 1;
    while (text.size() < value_bytes) {
      state ^= state << 13U;
      state ^= state >> 7U;
      state ^= state << 17U;
      text.append(reinterpret_cast<const char*>(&state), sizeof state);
    }
    return text;
  }
  static void write(DurableStore& store, std::uint64_t from, std::uint64_t to, Write::Kind kind) {
    for (std::uint64_t n = from; n < to; n += rows_per_batch) {
      ASSERT_TRUE(store.write(batch_of(n, kind)).has_value());
    }
    ASSERT_TRUE(store.sync().has_value());
  }
  static bool becomes_smaller_than(DurableStore& store, std::uint64_t bytes) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (store.stats().disk_bytes >= bytes) {
      if (std::chrono::steady_clock::now() > deadline) {
        return false;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
  }

  TempDir dir_;
  RocksDbOptions options_;
};

TEST_F(Reclaim, ADrainedStoreShrinksByItself) {
  const auto store = open_or_fail(options_);
  ASSERT_NE(store, nullptr);
  write(*store, 0, rows, Write::Kind::put);
  ASSERT_GT(store->stats().disk_bytes, payload);

  write(*store, 0, rows, Write::Kind::erase);

  EXPECT_TRUE(becomes_smaller_than(*store, payload / 8)) << store->stats().disk_bytes;
  EXPECT_TRUE(store->close().has_value());
}

TEST_F(Reclaim, WhatIsNotDeletedStays) {
  const auto store = open_or_fail(options_);
  ASSERT_NE(store, nullptr);
  write(*store, 0, rows, Write::Kind::put);
  write(*store, 0, rows / 2, Write::Kind::erase);
  EXPECT_TRUE(becomes_smaller_than(*store, payload * 3 / 4)) << store->stats().disk_bytes;
  {
    const auto reader = store->snapshot();
    const auto left = reader->scan(Table::message, "", "", rows + 1);
    ASSERT_TRUE(left.has_value());
    ASSERT_EQ(left->size(), rows / 2);
    for (std::uint64_t i = 0; i < rows / 2; ++i) {
      ASSERT_EQ((*left)[i].key, numbered_key(rows / 2 + i));
      ASSERT_EQ((*left)[i].value, random_text(rows / 2 + i));
    }
  }
  EXPECT_TRUE(store->close().has_value());
}

TEST_F(Reclaim, AReaderKeepsWhatItSees) {
  const auto store = open_or_fail(options_);
  ASSERT_NE(store, nullptr);
  write(*store, 0, rows, Write::Kind::put);
  auto reader = store->snapshot();
  write(*store, 0, rows, Write::Kind::erase);
  const auto seen = reader->scan(Table::message, "", "", rows + 1);
  ASSERT_TRUE(seen.has_value());
  EXPECT_EQ(seen->size(), rows);
  reader.reset();
  EXPECT_TRUE(store->close().has_value());
}

TEST_F(Reclaim, CanBeInterruptedAtAnyPoint) {
  for (int round = 0; round < 5; ++round) {  // at whatever point it happens to be
    const auto store = open_or_fail(options_);
    ASSERT_NE(store, nullptr);
    write(*store, 0, rows, Write::Kind::put);
    write(*store, 0, rows, Write::Kind::erase);
    std::this_thread::sleep_for(std::chrono::milliseconds(7 * round));
    ASSERT_TRUE(store->close().has_value());
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::store
