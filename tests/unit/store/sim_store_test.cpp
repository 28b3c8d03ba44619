#include "store/memory/sim_store.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace hk::store {
namespace HK_TEST_FILE {

Write put(std::string key, std::string value) {
  return {Write::Kind::put, Table::queue, std::move(key), std::move(value)};
}
Write erase(std::string key) { return {Write::Kind::erase, Table::queue, std::move(key), {}}; }

std::map<std::string, std::string> all(Reader& reader) {
  std::map<std::string, std::string> out;
  const auto entries = reader.scan(Table::queue, "", "", 1'000'000);
  EXPECT_TRUE(entries.has_value());
  for (const auto& [key, value] : *entries) {
    out.emplace(key, value);
  }
  return out;
}

void write(SimStore& store, Write one) {
  const Write batch[] = {std::move(one)};
  ASSERT_TRUE(store.write(batch).has_value());
}

TEST(SimStore, ACrashKeepsAPrefixThatHoldsEverythingSynced) {
  std::set<BatchSeq> survivors;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SeededRng rng(seed);
    SimStore store;
    std::vector<std::map<std::string, std::string>> after(
        1);  // after[n]: the content after batch n
    for (int i = 0; i < 12; ++i) {
      auto content = after.back();
      const std::string key(1, static_cast<char>('a' + rng.below(4)));
      if (rng.below(3) == 0) {
        write(store, erase(key));
        content.erase(key);
      } else {
        write(store, put(key, std::to_string(i)));
        content[key] = std::to_string(i);
      }
      after.push_back(content);
      if (i == 5) {
        ASSERT_EQ(store.sync(), 6U);
      }
    }

    const BatchSeq survivor = store.crash(rng);
    EXPECT_TRUE(store.refusing());
    EXPECT_FALSE(store.sync().has_value());
    store.reopen();

    EXPECT_GE(survivor, 6U);
    EXPECT_EQ(store.last_written(), survivor);
    EXPECT_EQ(all(*store.snapshot()), after[survivor]);
    survivors.insert(survivor);
    write(store, put("z", "next"));
    EXPECT_EQ(store.last_written(), survivor + 1);
  }
  EXPECT_EQ(survivors.size(), 7U) << "every prefix from 6 to 12 should come up";
}

TEST(SimStore, ASnapshotKeepsWhatItSawAndTheRestIsForgotten) {
  SeededRng rng(4);
  SimStore store;
  std::map<std::string, std::string> content;
  std::map<std::uint64_t, std::pair<std::unique_ptr<Reader>, std::map<std::string, std::string>>>
      open;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    const std::string key = std::to_string(rng.below(20));
    if (rng.below(3) == 0) {
      write(store, erase(key));
      content.erase(key);
    } else {
      write(store, put(key, std::to_string(i)));
      content[key] = std::to_string(i);
    }
    open[i] = {store.snapshot(), content};
    if (rng.below(2) == 0) {
      ASSERT_TRUE(store.sync().has_value());
    }
    while (open.size() > 5) {
      const auto victim = std::next(open.begin(), static_cast<std::ptrdiff_t>(rng.below(5)));
      ASSERT_EQ(all(*victim->second.first), victim->second.second);
      open.erase(victim);
    }
  }
  open.clear();
  ASSERT_TRUE(store.sync().has_value());
  EXPECT_EQ(store.old_versions(), 0U);
  EXPECT_EQ(store.keys(), content.size());
}

TEST(SimStore, AFailedWriteMayOrMayNotBeThereAfterACrash) {
  bool there = false;
  bool gone = false;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SeededRng rng(seed);
    SimStore store;
    write(store, put("a", "1"));
    ASSERT_TRUE(store.sync().has_value());
    store.fail_next_write();
    const Write batch[] = {put("b", "2")};
    EXPECT_EQ(store.write(batch).error().kind, ErrorKind::unknown_outcome);
    EXPECT_EQ(store.write(batch).error().kind, ErrorKind::unknown_outcome);
    EXPECT_EQ(store.sync().error().kind, ErrorKind::unknown_outcome);

    store.crash(rng);
    store.reopen();

    const auto content = all(*store.snapshot());
    EXPECT_EQ(content.count("a"), 1U);
    (content.contains("b") ? there : gone) = true;
    EXPECT_EQ(store.last_written(), content.contains("b") ? 2U : 1U);
  }
  EXPECT_TRUE(there);
  EXPECT_TRUE(gone);
}

TEST(SimStore, AFailedSyncLeavesItsBatchesInDoubt) {
  std::set<BatchSeq> survivors;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SeededRng rng(seed);
    SimStore store;
    write(store, put("a", "1"));
    write(store, put("b", "2"));
    store.fail_next_sync();
    EXPECT_EQ(store.sync().error().kind, ErrorKind::unknown_outcome);
    EXPECT_EQ(store.sync().error().kind, ErrorKind::unknown_outcome);
    survivors.insert(store.crash(rng));
  }
  EXPECT_EQ(survivors, (std::set<BatchSeq>{0, 1, 2}));
}

TEST(SimStore, AFullDiskRefusesAndStopsTheStore) {
  SimStore store;
  write(store, put("a", "1"));
  store.set_disk_full(true);
  const Write batch[] = {put("b", "2")};
  EXPECT_EQ(store.write(batch).error().kind, ErrorKind::unavailable);
  store.set_disk_full(false);
  EXPECT_EQ(store.write(batch).error().kind, ErrorKind::unknown_outcome);

  store.reopen();

  EXPECT_EQ(all(*store.snapshot()), (std::map<std::string, std::string>{{"a", "1"}}));
  EXPECT_TRUE(store.write(batch).has_value());
}

TEST(SimStore, TheDeathOfTheProcessAloneLosesNothing) {
  SimStore store;
  write(store, put("a", "1"));
  store.reopen();
  EXPECT_EQ(store.last_written(), 1U);
  EXPECT_EQ(all(*store.snapshot()).size(), 1U);
}

TEST(SimStore, AReaderFromBeforeTheCrashIsRefused) {
  SimStore store;
  write(store, put("a", "1"));
  const auto reader = store.snapshot();
  store.crash_at(0);
  store.reopen();
  EXPECT_EQ(reader->get(Table::queue, "a").error().kind, ErrorKind::unavailable);
  EXPECT_EQ(reader->scan(Table::queue, "", "", 1).error().kind, ErrorKind::unavailable);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::store
