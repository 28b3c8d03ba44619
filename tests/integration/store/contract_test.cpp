#include "integration/store/rocksdb_fixture.h"
#include "integration/store/store_contract.h"
#include "integration/store/temp_dir.h"
#include "store/memory/sim_store.h"
#include "store/rocksdb/rocksdb_store.h"

namespace hk::store::contract {
namespace HK_TEST_FILE {

class SimHarness final : public Harness {
 public:
  Store& store() override { return store_; }
  void restart() override {
    store_.crash_at(store_.last_synced());
    store_.reopen();
  }
  void break_store() override { store_.fail_next_write(); }
  [[nodiscard]] bool thread_safe() const override { return false; }

 private:
  SimStore store_;
};

class RocksHarness final : public Harness {
 public:
  explicit RocksHarness(bool hold_unsynced) {
    options_.path = dir_.file("data");
    options_.write_buffer_bytes = std::size_t{1} << 20U;  // many flushes
    options_.hold_unsynced = hold_unsynced;
    open();
  }
  Store& store() override { return *store_; }
  void restart() override {
    store_.reset();
    open();
  }
  void break_store() override { redirect_logs(options_.path, "/dev/full"); }
  [[nodiscard]] bool thread_safe() const override { return true; }

 private:
  void open() {
    auto opened = open_rocksdb(options_);
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    store_ = std::move(*opened);
  }
  TempDir dir_;
  RocksDbOptions options_;
  std::unique_ptr<DurableStore> store_;
};

INSTANTIATE_TEST_SUITE_P(
    Stores, StoreContract,
    testing::Values(Maker{"Sim", [] { return std::make_unique<SimHarness>(); }},
                    Maker{"RocksDb", [] { return std::make_unique<RocksHarness>(false); }},
                    Maker{"RocksDbHoldingUnsynced",
                          [] { return std::make_unique<RocksHarness>(true); }}),
    [](const auto& test) { return test.param.name; });

}  // namespace HK_TEST_FILE
}  // namespace hk::store::contract
