/// Fail the n-th operation on files, for n = 1, 2, … until a run is left alone: once, and with all
/// that follow it. Afterwards, with a sound disk, the store opens; nothing acknowledged is missing,
/// and there is no hole.
///
/// HK_NTH_CALL_EVERY=1 tries every n with every fault; the usual run tries some of them.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>

#include "integration/store/numbered_batches.h"
#include "integration/store/watched_fs.h"

namespace hk::store {
namespace HK_TEST_FILE {

enum class Fault : std::uint8_t { io_error, no_space, short_write };

struct FaultPlan {
  Fault fault = Fault::io_error;
  bool stays = false;  ///< all later operations fail, too
  std::uint64_t nth = 0;
};

class FailingDisk final : public FileWatcher {
 public:
  explicit FailingDisk(const FaultPlan& plan) : plan_(plan) {}
  Verdict before(const FileOperation& operation) override {
    const std::uint64_t number = ++calls_;
    if (number != plan_.nth && !(plan_.stays && number > plan_.nth)) {
      return {};
    }
    switch (plan_.fault) {
      case Fault::io_error: return {rocksdb::IOStatus::IOError("tested: input/output error"), 0};
      case Fault::no_space: return {rocksdb::IOStatus::NoSpace("tested: no space left"), 0};
      case Fault::short_write:
        return {rocksdb::IOStatus::IOError("tested: a part was written"),
                operation.bytes.size() / 2};
    }
    return {};
  }
  [[nodiscard]] std::uint64_t calls() const { return calls_; }

 private:
  const FaultPlan plan_;
  std::atomic<std::uint64_t> calls_{0};
};

/// Opens, writes, syncs, closes, until something fails. Returns the last batch that was durable.
BatchSeq use(const std::string& path, const std::shared_ptr<FileWatcher>& disk, BatchSeq batches) {
  RocksDbOptions options = restless_options(path);
  options.files = make_watched_fs(disk);
  auto opened = open_rocksdb(options);
  if (!opened) {
    return 0;
  }
  DurableStore& store = **opened;
  BatchSeq durable = store.last_written();
  for (BatchSeq i = 0; i < batches; ++i) {
    if (!store.write(batch_of(store.last_written() + 1))) {
      break;
    }
    if (i % 3 == 0) {
      const auto synced = store.sync();
      if (!synced) {
        break;
      }
      durable = *synced;
    }
  }
  if (store.close()) {
    durable = store.last_written();
  }
  return durable;
}

std::uint64_t stride_or(std::uint64_t usual) {
  const char* const every = std::getenv("HK_NTH_CALL_EVERY");
  return every != nullptr ? std::strtoull(every, nullptr, 10) : usual;
}

/// `prepared`: what the directory is before each run.
void try_each(const std::string& prepared, BatchSeq there, BatchSeq batches, std::uint64_t stride) {
  constexpr std::array faults = {Fault::io_error, Fault::no_space, Fault::short_write};
  std::uint64_t runs = 0;
  std::uint64_t variant = 0;
  for (const Fault fault : faults) {
    for (const bool stays : {false, true}) {
      // Each variant begins elsewhere, so that together they try many more of the numbers.
      for (std::uint64_t n = 1 + variant % stride;; n += stride) {
        SCOPED_TRACE(testing::Message() << "fault " << static_cast<int>(fault) << " at operation "
                                        << n << (stays ? " and later" : ""));
        const TempDir dir(TempDir::fast_place());
        const std::string path = dir.file("data");
        if (!prepared.empty()) {
          std::filesystem::copy(prepared, path, std::filesystem::copy_options::recursive);
        }
        const auto disk = std::make_shared<FailingDisk>(FaultPlan{fault, stays, n});
        const BatchSeq durable = std::max(there, use(path, disk, batches));
        ++runs;
        const auto store = open_or_fail(restless_options(path));
        ASSERT_NE(store, nullptr);
        ASSERT_GE(store->last_written(), durable) << "what was durable is lost";
        ASSERT_NO_FATAL_FAILURE(expect_prefix(*store));
        if (disk->calls() < n) {
          break;
        }
      }
      variant += 5;
    }
  }
  std::printf("n-th call: %llu runs\n", static_cast<unsigned long long>(runs));
}

TEST(NthCall, OfAFirstStartFailsAndNothingDurableIsLost) { try_each("", 0, 12, stride_or(181)); }

TEST(NthCall, OfARecoveryFailsAndNothingDurableIsLost) {
  // A log to be read: the copy is taken while the store is open, as a kill leaves it.
  const TempDir dir(TempDir::fast_place());
  const std::string path = dir.file("data");
  {
    const auto store = open_or_fail(small_options(path));  // roomy enough to leave its files alone
    ASSERT_NE(store, nullptr);
    for (BatchSeq seq = 1; seq <= 40; ++seq) {
      ASSERT_TRUE(store->write(batch_of(seq)).has_value());
    }
    ASSERT_TRUE(store->sync().has_value());
    wait_until_witnessed(*store);
    std::filesystem::copy(path, dir.file("killed"), std::filesystem::copy_options::recursive);
  }
  try_each(dir.file("killed"), 40, 12, stride_or(97));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::store
