/// The list of table files: RocksDB takes one that was cut for one that was never longer.
#include <gtest/gtest.h>
#include <rocksdb/env.h>

#include <fstream>
#include <iterator>

#include "integration/store/rocksdb_fixture.h"
#include "store/rocksdb/info_log.h"
#include "store/rocksdb/manifest_mark.h"

namespace hk::store {
namespace HK_TEST_FILE {

/// A closed directory with batches in tables and in the log.
class ManifestMarkTest : public testing::Test {
 protected:
  void SetUp() override {
    options_ = small_options(dir_.file("data"));
    for (int half = 0; half < 2; ++half) {
      const auto store = open_or_fail(options_);
      ASSERT_NE(store, nullptr);
      write_numbered(*store, 20);
      ASSERT_TRUE(store->close().has_value());
    }
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream file(options_.path + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& name, const std::string& content) const {
    std::ofstream(options_.path + "/" + name, std::ios::binary | std::ios::trunc) << content;
  }
  [[nodiscard]] std::string manifest() const {
    const std::string current = read("CURRENT");
    return current.substr(0, current.size() - 1);
  }

  TempDir dir_;
  RocksDbOptions options_;
};

TEST_F(ManifestMarkTest, AShortenedOrChangedManifestIsRefused) {
  const std::string name = manifest();
  const std::string whole = read(name);
  ASSERT_GT(whole.size(), 100U);
  for (std::size_t i = 0; i < 24; ++i) {
    const std::size_t at = i * (whole.size() - 1) / 23;
    for (const bool cut : {true, false}) {
      SCOPED_TRACE((cut ? "cut at " : "flipped at ") + std::to_string(at));
      std::string damaged = whole;
      if (cut) {
        damaged.resize(at);
      } else {
        damaged[at] = static_cast<char>(damaged[at] ^ 4);
      }
      write(name, damaged);
      const auto opened = open_rocksdb(options_);
      ASSERT_FALSE(opened.has_value());
      EXPECT_EQ(opened.error().kind, ErrorKind::corruption) << opened.error().message;
    }
  }
  write(name, whole);
  const auto store = open_or_fail(options_);
  ASSERT_NE(store, nullptr);
  EXPECT_EQ(store->last_written(), 40U);
}

TEST_F(ManifestMarkTest, AnOlderManifestIsRefused) {
  const std::string name = manifest();
  write("MANIFEST-000001", read(name));
  write("CURRENT", "MANIFEST-000001\n");
  const auto opened = open_rocksdb(options_);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().kind, ErrorKind::corruption);
  EXPECT_NE(opened.error().message.find("was in use already"), std::string::npos)
      << opened.error().message;
}

TEST_F(ManifestMarkTest, AMarkThatTellsNothingHoldsNothingUp) {
  const std::string whole = read("MARK");
  ASSERT_EQ(whole.size(), 128U);
  for (const std::string& mark : {std::string(), whole.substr(0, 60), "x" + whole.substr(1),
                                  std::string("MANIFEST-000001 12 34 56\n")}) {
    write("MARK", mark);
    ASSERT_NE(open_or_fail(options_), nullptr);
  }
  std::filesystem::remove(options_.path + "/MARK");
  ASSERT_NE(open_or_fail(options_), nullptr);
  EXPECT_EQ(read("MARK").size(), 128U);
}

TEST_F(ManifestMarkTest, IsMadeForBackups) {
  {
    const auto store = open_or_fail(options_);
    ASSERT_TRUE(store->checkpoint(dir_.file("backup")).has_value());
  }
  options_.path = dir_.file("backup");
  EXPECT_TRUE(ManifestMark::check(options_.path).has_value());
  const std::string name = manifest();
  write(name, read(name).substr(0, 80));
  EXPECT_FALSE(open_rocksdb(options_).has_value());
}

TEST(InfoLog, DropsWhatCannotBeWritten) {
  InfoLog nowhere("/proc/no/such/directory");
  rocksdb::Warn(&nowhere, "a line of %d", 1);
  TempDir dir;
  for (int life = 1; life <= 2; ++life) {
    InfoLog log(dir.path());
    rocksdb::Info(&log, "too small to be noted");
    rocksdb::Warn(&log, "life %d", life);
    rocksdb::Warn(&log, "%s", std::string(10'000, 'x').c_str());
  }
  std::ifstream file(dir.file("LOG"));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text.find("life 2\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("too small"), std::string::npos);
  EXPECT_LT(text.size(), 4000U);
  EXPECT_TRUE(text.ends_with("x\n"));
  EXPECT_TRUE(std::filesystem::exists(dir.file("LOG.old")));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::store
