/// Crash images: the operations on files of one run are written down; for many moments of it the
/// disk is built as a power cut at that moment may leave it, and opened by the real code. What was
/// acknowledged before that moment must be there, and what is there must have no hole; and a second
/// cut, while the first is recovered from, changes nothing of that.
///
/// An image in which unsynced sectors of one file were written in another order may be refused (a
/// hole looks like damage, and damage is never skipped), but never served wrong.
///
/// HK_CRASH_IMAGES=20000 opens that many.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <functional>

#include "integration/store/disk_image.h"
#include "integration/store/numbered_batches.h"
#include "store/rocksdb/file_io.h"

namespace hk::store {
namespace HK_TEST_FILE {

constexpr BatchSeq batches = 60;

class Recorder final : public FileWatcher {
 public:
  explicit Recorder(std::string witness_path) : witness_path_(std::move(witness_path)) {}

  /// The witness is not RocksDB's: what it is before an operation is read from its file. It lags
  /// behind what is durable, so that an older one is always a possible one.
  Verdict before(const FileOperation& /*operation*/) override {
    std::string now = read_whole_file(witness_path_, 1U << 14U).value_or("");
    if (!witness_ || *witness_ != now) {
      witness_ = std::make_shared<const std::string>(std::move(now));
    }
    acknowledged_before_ = acknowledged;
    return {};
  }
  void after(const FileOperation& operation) override {
    run.push_back({operation.kind, operation.path, operation.to, std::string(operation.bytes),
                   witness_, acknowledged_before_});
  }

  std::atomic<BatchSeq> acknowledged{0};
  std::vector<RecordedOperation> run;

 private:
  const std::string witness_path_;
  std::shared_ptr<const std::string> witness_;
  BatchSeq acknowledged_before_ = 0;
};

/// Writes batches 1 to `last` into a new store below `recorder`. `acknowledge` is called after each
/// and says up to which one they are acknowledged from then on.
void record_run(const std::string& path, const std::shared_ptr<Recorder>& recorder, BatchSeq last,
                const std::function<BatchSeq(Store&, BatchSeq)>& acknowledge) {
  RocksDbOptions options = restless_options(path);
  options.files = make_watched_fs(recorder);
  const auto store = open_or_fail(options);
  ASSERT_NE(store, nullptr);
  for (BatchSeq seq = 1; seq <= last; ++seq) {
    ASSERT_TRUE(store->write(batch_of(seq)).has_value());
    recorder->acknowledged = acknowledge(*store, seq);
  }
  ASSERT_TRUE(store->close().has_value());
}

struct Count {
  std::uint64_t images = 0;
  std::uint64_t again = 0;  ///< of these: cut a second time, while they were recovered
  std::uint64_t refused = 0;
  std::uint64_t beyond = 0;  ///< batches that were there and not acknowledged
};

void put(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

/// The disk before `operation`, which the cut keeps from happening.
void make_image(const DiskModel& disk, const RecordedOperation& operation, Survival survival,
                const std::string& directory, Rng& rng) {
  std::filesystem::create_directory(directory);
  disk.write_image(directory, survival, rng);
  put(directory + "/FORMAT", "hikyaku-data 6\n");
  put(directory + "/WITNESS", *operation.witness);
}

void check_image(const std::string& path, BatchSeq acknowledged, bool may_be_refused,
                 const std::shared_ptr<FileWatcher>& watcher, Count& count) {
  RocksDbOptions options = restless_options(path);
  if (watcher) {
    options.files = make_watched_fs(watcher);
  }
  const auto opened = open_rocksdb(options);
  if (!opened && may_be_refused) {
    EXPECT_EQ(opened.error().kind, ErrorKind::corruption) << opened.error().message;
    ++count.refused;
    return;
  }
  ASSERT_TRUE(opened.has_value()) << opened.error().message;
  ASSERT_GE((*opened)->last_written(), acknowledged) << "an acknowledged batch is lost";
  count.beyond += (*opened)->last_written() - acknowledged;
  ASSERT_NO_FATAL_FAILURE(expect_prefix(**opened));
}

std::uint64_t images_wanted() {
  const char* const wanted = std::getenv("HK_CRASH_IMAGES");
  return wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 200;
}

constexpr std::array kinds = {Survival::nothing,     Survival::everything, Survival::some_first,
                              Survival::torn,        Survival::torn,       Survival::some_first,
                              Survival::one_missing, Survival::any};

/// The power goes again while the image is recovered.
void cut_again(const std::string& image, const std::string& place, BatchSeq acknowledged,
               bool holes, Rng& rng, Count& count) {
  DiskModel disk = DiskModel::of_directory(image);
  const auto recorder = std::make_shared<Recorder>(image + "/WITNESS");
  Count first;
  ASSERT_NO_FATAL_FAILURE(check_image(image, acknowledged, holes, recorder, first));
  if (recorder->run.empty() || first.refused > 0) {
    return;
  }
  const std::size_t cut = rng.below(recorder->run.size());
  for (std::size_t i = 0; i < cut; ++i) {
    disk.apply(recorder->run[i]);
  }
  make_image(disk, recorder->run[cut], Survival::torn, place, rng);
  ASSERT_NO_FATAL_FAILURE(check_image(place, acknowledged, false, nullptr, count));
  ++count.again;
}

TEST(CrashImage, OpensWithEverythingAcknowledgedAndWithoutAHole) {
  const TempDir dir(TempDir::fast_place());
  const auto recorder = std::make_shared<Recorder>(dir.file("data") + "/WITNESS");
  const auto acknowledge = [&recorder](Store& store, BatchSeq seq) {
    const auto synced = seq % 4 == 0 ? store.sync() : Result<BatchSeq>(recorder->acknowledged);
    EXPECT_TRUE(synced.has_value());
    return synced.value_or(recorder->acknowledged);
  };
  ASSERT_NO_FATAL_FAILURE(record_run(dir.file("data"), recorder, batches, acknowledge));
  const std::vector<RecordedOperation>& run = recorder->run;
  ASSERT_GT(run.size(), 200U);

  SeededRng rng(2026);
  Count count;
  const std::uint64_t wanted = images_wanted();
  DiskModel disk;
  std::uint64_t owed = 0;
  for (std::size_t at = 0; at < run.size(); ++at) {
    // Evenly over the run, every kind in turn.
    for (owed += wanted; owed >= run.size() && !HasFatalFailure(); owed -= run.size()) {
      const Survival survival = kinds[count.images % kinds.size()];
      SCOPED_TRACE(testing::Message()
                   << "before operation " << at << " of " << run.size() << ", survival "
                   << static_cast<int>(survival) << ", image " << count.images);
      const TempDir image(TempDir::fast_place());
      make_image(disk, run[at], survival, image.file("a"), rng);
      if (count.images % 10 == 9) {
        cut_again(image.file("a"), image.file("b"), run[at].acknowledged, leaves_holes(survival),
                  rng, count);
      } else {
        check_image(image.file("a"), run[at].acknowledged, leaves_holes(survival), nullptr, count);
      }
      ++count.images;
    }
    ASSERT_FALSE(HasFatalFailure());
    disk.apply(run[at]);
  }
  std::printf(
      "crash images: %llu of a run of %zu file operations, %llu cut again in recovery, %llu with "
      "holes refused, %llu batches kept beyond the acknowledged\n",
      static_cast<unsigned long long>(count.images), run.size(),
      static_cast<unsigned long long>(count.again), static_cast<unsigned long long>(count.refused),
      static_cast<unsigned long long>(count.beyond));
  EXPECT_GE(count.images, wanted - 1);
  EXPECT_GT(count.beyond, 0U);
}

/// Does it see what it must see? The same run, with a store that acknowledges before the sync.
TEST(CrashImage, AnAcknowledgementBeforeTheSyncIsFoundOut) {
  const TempDir dir(TempDir::fast_place());
  const auto recorder = std::make_shared<Recorder>(dir.file("data") + "/WITNESS");
  const auto acknowledge = [](Store& /*store*/, BatchSeq seq) { return seq; };
  ASSERT_NO_FATAL_FAILURE(record_run(dir.file("data"), recorder, 12, acknowledge));
  SeededRng rng(1);
  DiskModel disk;
  BatchSeq lost = 0;
  for (std::size_t at = 0; at < recorder->run.size() && lost == 0; ++at) {
    if (at % 9 == 0) {
      const TempDir image(TempDir::fast_place());
      make_image(disk, recorder->run[at], Survival::nothing, image.file("a"), rng);
      const auto store = open_or_fail(restless_options(image.file("a")));
      ASSERT_NE(store, nullptr);
      lost = recorder->run[at].acknowledged -
             std::min(recorder->run[at].acknowledged, store->last_written());
    }
    disk.apply(recorder->run[at]);
  }
  EXPECT_GT(lost, 0U) << "the planted bug was not seen: the test would not see a real one either";
}

}  // namespace HK_TEST_FILE
}  // namespace hk::store
