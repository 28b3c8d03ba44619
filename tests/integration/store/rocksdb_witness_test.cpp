/// Acknowledged batches that are no longer there, or no longer the same, are noticed at the next
/// start.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "integration/store/rocksdb_fixture.h"
#include "store/rocksdb/chain.h"
#include "store/rocksdb/witness_file.h"

namespace hk::store {
namespace HK_TEST_FILE {

/// A closed directory with 100 acknowledged batches, all of them in the log.
class Witness : public testing::Test {
 protected:
  void SetUp() override {
    options_ = small_options(dir_.file("data"));
    const auto store = open_or_fail(options_);
    ASSERT_NE(store, nullptr);
    write_numbered(*store, 100);
    ASSERT_TRUE(store->close().has_value());
  }
  std::string log() {
    std::string largest;
    for (const std::string& file : files_ending(options_.path, ".log")) {
      if (largest.empty() ||
          std::filesystem::file_size(file) > std::filesystem::file_size(largest)) {
        largest = file;
      }
    }
    return largest;
  }
  void expect_refused(const char* says) {
    const auto opened = open_rocksdb(options_);
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().kind, ErrorKind::corruption);
    EXPECT_NE(opened.error().message.find(says), std::string::npos) << opened.error().message;
  }
  static void flip(const std::string& file, std::uint64_t at) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(at));
    const char byte = static_cast<char>(stream.get() ^ 0x10);
    stream.seekp(static_cast<std::streamoff>(at));
    stream.put(byte);
    ASSERT_TRUE(stream.good());
  }

  TempDir dir_;
  RocksDbOptions options_;
};

TEST_F(Witness, AnUntouchedDirectoryOpensAgain) {
  const auto store = open_or_fail(options_);
  ASSERT_NE(store, nullptr);
  EXPECT_EQ(store->last_written(), 100U);
  EXPECT_EQ(store->stats().witnessed, 100U);
}

TEST_F(Witness, ADeletedLogIsRefusedEveryTime) {
  for (const std::string& file : files_ending(options_.path, ".log")) {
    std::filesystem::remove(file);
  }
  expect_refused("acknowledged batches 1 to 100 are missing");
  expect_refused("acknowledged batches 1 to 100 are missing");
}

TEST_F(Witness, ATruncatedLogIsRefusedAndSaysWhatIsMissing) {
  std::filesystem::resize_file(log(), std::filesystem::file_size(log()) / 2);
  expect_refused("to 100 are missing");
  expect_refused("WITNESS says that batch 100");
}

TEST_F(Witness, ALogThatLacksItsLastByteIsRefused) {
  std::filesystem::resize_file(log(), std::filesystem::file_size(log()) - 1);
  expect_refused("acknowledged batches 100 to 100 are missing");
}

TEST_F(Witness, AFlippedBitAnywhereInTheLogIsRefused) {
  const std::string file = log();
  const std::uint64_t size = std::filesystem::file_size(file);
  TempDir saved;
  std::filesystem::copy(options_.path, saved.file("data"),
                        std::filesystem::copy_options::recursive);
  for (int i = 0; i < 20; ++i) {
    SCOPED_TRACE(i);
    const std::uint64_t at = i == 0 ? 3 : i == 19 ? size - 1 : size * static_cast<unsigned>(i) / 20;
    flip(file, at);
    const auto opened = open_rocksdb(options_);
    ASSERT_FALSE(opened.has_value()) << "bit flipped at " << at;
    EXPECT_EQ(opened.error().kind, ErrorKind::corruption);
    std::filesystem::remove_all(options_.path);
    std::filesystem::copy(saved.file("data"), options_.path,
                          std::filesystem::copy_options::recursive);
  }
}

TEST_F(Witness, ATornTailThatWasNeverAcknowledgedIsAccepted) {
  std::ofstream(log(), std::ios::app | std::ios::binary)
      << std::string("\x12\x34\x56\x78\x00\x40\x01\x99\x99", 9);  // the head of a longer record
  const auto store = open_or_fail(options_);
  ASSERT_NE(store, nullptr);
  EXPECT_EQ(store->last_written(), 100U);
}

TEST_F(Witness, ALossCanBeAcceptedExplicitlyAndOnce) {
  std::filesystem::resize_file(log(), std::filesystem::file_size(log()) / 2);
  options_.accept_loss_after = 3;  // not what was recovered
  expect_refused("are missing");
  BatchSeq recovered = 0;
  for (BatchSeq guess = 1; guess < 100 && recovered == 0; ++guess) {
    options_.accept_loss_after = guess;
    if (auto opened = open_rocksdb(options_)) {
      recovered = (*opened)->last_written();
      EXPECT_EQ(recovered, guess);
    }
  }
  EXPECT_GT(recovered, 20U);
  options_.accept_loss_after.reset();
  EXPECT_NE(open_or_fail(options_), nullptr);
}

TEST_F(Witness, ALostDatabaseIsRefused) {
  for (const auto& entry : std::filesystem::directory_iterator(options_.path)) {
    const std::string name = entry.path().filename();
    if (name != "WITNESS" && name != "FORMAT") {
      std::filesystem::remove_all(entry.path());
    }
  }
  expect_refused("holds no database");
}

TEST_F(Witness, ALostOrBrokenWitnessIsRefused) {
  std::filesystem::copy_file(options_.path + "/WITNESS", dir_.file("saved"));
  std::filesystem::remove(options_.path + "/WITNESS");
  expect_refused("WITNESS is missing");

  std::filesystem::copy_file(dir_.file("saved"), options_.path + "/WITNESS");
  flip(options_.path + "/WITNESS", 20);
  flip(options_.path + "/WITNESS", 4096 + 20);
  expect_refused("neither of its two slots is whole");
}

TEST_F(Witness, OneBrokenSlotIsCoveredByTheOther) {
  for (const std::uint64_t at : {20U, 4096U + 20U}) {
    flip(options_.path + "/WITNESS", at);
    const auto store = open_or_fail(options_);
    ASSERT_NE(store, nullptr);
    write_numbered(*store, 4);
    ASSERT_TRUE(store->sync().has_value());
    wait_until_witnessed(*store);
    write_numbered(*store, 1);
    ASSERT_TRUE(store->close().has_value());  // both slots were written again
  }
}

TEST_F(Witness, AWitnessOfAnotherDirectoryIsRefused) {
  RocksDbOptions other = small_options(dir_.file("other"));
  open_or_fail(other)->close().value();
  std::filesystem::copy_file(other.path + "/WITNESS", options_.path + "/WITNESS",
                             std::filesystem::copy_options::overwrite_existing);
  expect_refused("belongs to another data directory");
}

TEST_F(Witness, AnotherHistoryOfTheSameLengthOrMoreIsRefused) {
  TempDir saved;
  const auto keep = [&](const std::string& name) {
    std::filesystem::copy(options_.path, saved.file(name),
                          std::filesystem::copy_options::recursive);
    return small_options(saved.file(name));
  };
  const RocksDbOptions forks[] = {keep("same"), keep("longer")};
  {
    const auto store = open_or_fail(options_);
    ASSERT_TRUE(store->write(one_put("a", "one way")).has_value());
    ASSERT_TRUE(store->close().has_value());
  }
  for (const RocksDbOptions& fork : forks) {
    SCOPED_TRACE(fork.path);
    {
      const auto store = open_or_fail(fork);
      ASSERT_TRUE(store->write(one_put("a", "another")).has_value());
      if (&fork != &forks[0]) {
        ASSERT_TRUE(store->write(one_put("b", "and one more")).has_value());
      }
      ASSERT_TRUE(store->close().has_value());
    }
    // The database of one way with the witness of the other; the id is the same.
    std::filesystem::copy_file(options_.path + "/WITNESS", fork.path + "/WITNESS",
                               std::filesystem::copy_options::overwrite_existing);
    const auto opened = open_rocksdb(fork);
    ASSERT_FALSE(opened.has_value());
    EXPECT_NE(opened.error().message.find("is not the one that was acknowledged"),
              std::string::npos)
        << opened.error().message;
  }
}

TEST_F(Witness, IsBroughtLevelAfterABurstWithoutAnybodyAsking) {
  const auto store = open_or_fail(options_);
  write_numbered(*store, 1);
  ASSERT_EQ(store->sync(), 101U);

  wait_until_witnessed(*store);

  EXPECT_EQ(store->stats().witnessed, 101U);
}

TEST_F(Witness, NamesOnlyWhatIsDurableAndSoonAllOfIt) {
  const auto store = open_or_fail(options_);
  for (BatchSeq seq = 101; seq < 130; ++seq) {
    write_numbered(*store, 1);
    EXPECT_LT(store->stats().witnessed, seq);
    ASSERT_EQ(store->sync(), seq);
    if (seq % 10 == 0) {
      wait_until_witnessed(*store);
      EXPECT_EQ(store->stats().witnessed, seq);
    }
  }
}

TEST_F(Witness, ManyBatchesWithoutASyncDoNotOutrunTheRing) {
  {
    const auto store = open_or_fail(options_);
    write_numbered(*store, 2 * ring_size + 10, 1);
    EXPECT_GT(store->stats().witnessed, 100U);
    ASSERT_TRUE(store->close().has_value());
  }
  const auto store = open_or_fail(options_);
  ASSERT_NE(store, nullptr);
  EXPECT_EQ(store->last_written(), 100 + 2 * ring_size + 10);
}

TEST(Chain, AMissingLinkIsAHole) {
  RecoveredChain chain;
  Link link;
  for (int i = 0; i < 10; ++i) {
    link = next_link(link, "content");
    if (link.seq != 7) {
      chain.add(link);
    }
  }
  const auto whole = chain.check_no_holes();
  ASSERT_FALSE(whole.has_value());
  EXPECT_NE(whole.error().message.find("batch 7 is missing"), std::string::npos);
}

TEST(Chain, EveryContentAndEveryPredecessorMakesAnotherHash) {
  const Link a = next_link({}, "a");
  EXPECT_NE(a, next_link({}, "b"));
  EXPECT_NE(next_link(a, "c").hash, next_link(next_link({}, "b"), "c").hash);
  EXPECT_EQ(parse_chain_value(chain_key(1), chain_value(a)), a);
  EXPECT_EQ(parse_chain_value(chain_key(2), chain_value(a)), std::nullopt);
  EXPECT_EQ(parse_chain_value(chain_key(1), "short"), std::nullopt);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::store
