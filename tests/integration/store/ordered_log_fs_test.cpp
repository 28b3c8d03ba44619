/// The log's files become durable in order: before a new one is made, the previous one is synced.
#include "store/rocksdb/ordered_log_fs.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "integration/store/temp_dir.h"
#include "store/rocksdb/file_io.h"

namespace hk::store {
namespace HK_TEST_FILE {

/// Writes down what happens to which file.
class RecordingFs final : public rocksdb::FileSystemWrapper {
 public:
  RecordingFs() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "Recording"; }
  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* result,
                                    rocksdb::IODebugContext* dbg) override {
    const std::string name = path.substr(path.rfind('/') + 1);
    std::unique_ptr<rocksdb::FSWritableFile> file;
    auto status = target()->NewWritableFile(path, options, &file, dbg);
    done.push_back("make " + name);
    *result = std::make_unique<File>(std::move(file), name, *this);
    return status;
  }

  std::vector<std::string> done;
  bool fail_syncs = false;

 private:
  class File final : public rocksdb::FSWritableFileOwnerWrapper {
   public:
    File(std::unique_ptr<rocksdb::FSWritableFile> file, std::string name, RecordingFs& fs)
        : FSWritableFileOwnerWrapper(std::move(file)), name_(std::move(name)), fs_(fs) {}
    rocksdb::IOStatus Sync(const rocksdb::IOOptions& options,
                           rocksdb::IODebugContext* dbg) override {
      fs_.done.push_back("sync " + name_);
      return fs_.fail_syncs ? rocksdb::IOStatus::IOError("planted") : target()->Sync(options, dbg);
    }

   private:
    std::string name_;
    RecordingFs& fs_;
  };
};

class OrderedLogFs : public testing::Test {
 protected:
  rocksdb::IOStatus make(const std::string& name, std::unique_ptr<rocksdb::FSWritableFile>& file) {
    return fs_->NewWritableFile(dir_.file(name), {}, &file, nullptr);
  }

  TempDir dir_;
  std::shared_ptr<RecordingFs> recorder_ = std::make_shared<RecordingFs>();
  std::shared_ptr<std::atomic<bool>> failed_ = std::make_shared<std::atomic<bool>>(false);
  std::shared_ptr<rocksdb::FileSystem> fs_ = make_ordered_log_fs(recorder_, dir_.path(), failed_);
};

TEST_F(OrderedLogFs, SyncsTheOpenLogBeforeTheNextIsMade) {
  std::unique_ptr<rocksdb::FSWritableFile> first;
  std::unique_ptr<rocksdb::FSWritableFile> table;
  std::unique_ptr<rocksdb::FSWritableFile> second;
  ASSERT_TRUE(make("1.log", first).ok());
  ASSERT_TRUE(make("2.sst", table).ok());
  ASSERT_TRUE(make("3.log", second).ok());
  EXPECT_EQ(recorder_->done,
            (std::vector<std::string>{"make 1.log", "make 2.sst", "sync 1.log", "make 3.log"}));
}

TEST_F(OrderedLogFs, SyncsALogThatIsClosedBeforeTheNextIsMade) {
  std::unique_ptr<rocksdb::FSWritableFile> first;
  std::unique_ptr<rocksdb::FSWritableFile> second;
  ASSERT_TRUE(make("1.log", first).ok());
  ASSERT_TRUE(first->Close({}, nullptr).ok());
  first.reset();
  ASSERT_TRUE(make("2.log", second).ok());
  EXPECT_EQ(recorder_->done, (std::vector<std::string>{"make 1.log", "sync 1.log", "make 2.log"}));
}

TEST_F(OrderedLogFs, MakesNoNewLogWhenTheOldOneCannotBeSynced) {
  std::unique_ptr<rocksdb::FSWritableFile> first;
  std::unique_ptr<rocksdb::FSWritableFile> second;
  ASSERT_TRUE(make("1.log", first).ok());
  recorder_->fail_syncs = true;
  EXPECT_FALSE(make("2.log", second).ok());
  EXPECT_EQ(recorder_->done, (std::vector<std::string>{"make 1.log", "sync 1.log"}));
  EXPECT_TRUE(failed_->load());
}

TEST_F(OrderedLogFs, RemembersAnErrorOfTheLogAndOfNothingElse) {
  std::unique_ptr<rocksdb::FSWritableFile> log;
  std::unique_ptr<rocksdb::FSWritableFile> table;
  ASSERT_TRUE(make("1.log", log).ok());
  ASSERT_TRUE(make("2.sst", table).ok());
  ASSERT_TRUE(log->Append("x", {}, nullptr).ok());
  ASSERT_TRUE(log->Sync({}, nullptr).ok());
  recorder_->fail_syncs = true;
  EXPECT_FALSE(table->Sync({}, nullptr).ok());
  EXPECT_FALSE(failed_->load());
  EXPECT_FALSE(log->Sync({}, nullptr).ok());
  EXPECT_TRUE(failed_->load());
}

TEST(IsDirectlyIn, HoldsForEverySpelling) {
  for (const char* const directory :
       {"data", "data/", "./data", "data//", "data/./", "x/../data"}) {
    EXPECT_TRUE(is_directly_in("data/1.log", directory)) << directory;
    EXPECT_TRUE(is_directly_in(std::string(directory) + "/1.log", directory)) << directory;
    EXPECT_FALSE(is_directly_in("data/backup/1.log", directory)) << directory;
    EXPECT_FALSE(is_directly_in("data.partial/1.log", directory)) << directory;
  }
  EXPECT_TRUE(is_directly_in("./1.log", "."));
  EXPECT_TRUE(is_directly_in("/1.log", "/"));
  EXPECT_FALSE(is_directly_in("/data/1.log", "data"));
}

TEST_F(OrderedLogFs, TheLogOfABackupIsNotTakenForItsOwn) {
  std::unique_ptr<rocksdb::FSWritableFile> log;
  std::unique_ptr<rocksdb::FSWritableFile> copy;
  std::unique_ptr<rocksdb::FSWritableFile> next;
  std::filesystem::create_directory(dir_.file("backup"));
  ASSERT_TRUE(make("1.log", log).ok());
  ASSERT_TRUE(make("backup/1.log", copy).ok());
  recorder_->fail_syncs = true;
  EXPECT_FALSE(copy->Sync({}, nullptr).ok());
  EXPECT_FALSE(failed_->load()) << "a backup that finds no room stops nobody";
  recorder_->fail_syncs = false;
  copy.reset();
  recorder_->done.clear();
  ASSERT_TRUE(make("./2.log", next).ok());
  EXPECT_EQ(recorder_->done, (std::vector<std::string>{"sync 1.log", "make 2.log"}));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::store
