/// The files that are not RocksDB's: which syncs they get. fsync() of this binary writes down what
/// it was called for and then does it.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <mutex>

#include "integration/store/rocksdb_fixture.h"
#include "store/rocksdb/file_io.h"

namespace {

std::mutex mutex;
std::vector<std::string> synced;

}  // namespace

extern "C" int fsync(int fd) {
  {
    const std::scoped_lock lock(mutex);
    std::error_code error;
    synced.push_back(
        std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), error).string());
  }
  static const auto below = reinterpret_cast<int (*)(int)>(::dlsym(RTLD_NEXT, "fsync"));
  return below(fd);
}

namespace hk::store {
namespace {

std::vector<std::string> syncs_during(const std::function<void()>& work) {
  {
    const std::scoped_lock lock(mutex);
    synced.clear();
  }
  work();
  const std::scoped_lock lock(mutex);
  return synced;
}

std::ptrdiff_t place_of(const std::vector<std::string>& all, const std::string& one) {
  const auto found = std::ranges::find(all, one);
  EXPECT_NE(found, all.end()) << one << " was not synced";
  return found - all.begin();
}

TEST(DurableFiles, AFileIsSyncedBeforeItHasItsNameAndItsDirectoryAfterwards) {
  const TempDir dir;
  const auto all = syncs_during(
      [&] { ASSERT_TRUE(write_whole_file(dir.path(), "NAME", "content").has_value()); });
  EXPECT_EQ(all, (std::vector<std::string>{dir.file("NAME.tmp"), dir.path()}));
}

TEST(DurableFiles, ANewDirectoryIsDurableWithAllThatMakesItOurs) {
  const TempDir dir;
  const std::string path = dir.file("data");
  const auto all = syncs_during([&] { ASSERT_NE(open_or_fail(small_options(path)), nullptr); });
  // The format, its name, the directory's own name, and only then the witness and its name.
  const auto format = place_of(all, path + "/FORMAT.tmp");
  const auto parent = place_of(all, dir.path());
  const auto witness = place_of(all, path + "/WITNESS.tmp");
  EXPECT_LT(format, parent);
  EXPECT_LT(parent, witness);
  EXPECT_GE(std::ranges::count(all, path), 2);
}

TEST(DurableFiles, ABackupHasADurableName) {
  const TempDir dir;
  const auto store = open_or_fail(small_options(dir.file("data")));
  ASSERT_NE(store, nullptr);
  const auto all =
      syncs_during([&] { ASSERT_TRUE(store->checkpoint(dir.file("backup")).has_value()); });
  const auto witness = place_of(all, dir.file("backup.partial/WITNESS.tmp"));
  const auto format = place_of(all, dir.file("backup.partial/FORMAT.tmp"));
  EXPECT_LT(witness, format);
  EXPECT_EQ(all.back(), dir.path());
}

}  // namespace
}  // namespace hk::store
