/// The contract of store.h as one suite: every store passes the same tests. A store joins by a
/// Harness that can make one, and end its process in an orderly or a disorderly way.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "store/store.h"
#include "store/table_name.h"

namespace hk::store::contract {

class Harness {
 public:
  Harness() = default;
  Harness(const Harness&) = delete;
  Harness& operator=(const Harness&) = delete;
  virtual ~Harness() = default;
  virtual Store& store() = 0;
  /// The process ends and starts again; what was synced must be there. No reader is alive.
  virtual void restart() = 0;
  /// From here on write() or sync() will fail.
  virtual void break_store() = 0;
  /// Readers may be used beside the writer.
  [[nodiscard]] virtual bool thread_safe() const = 0;
};

struct Maker {
  std::string name{};
  std::function<std::unique_ptr<Harness>()> make{};
};

inline Write put(Table table, std::string key, std::string value) {
  return {Write::Kind::put, table, std::move(key), std::move(value)};
}
inline Write erase(Table table, std::string key) {
  return {Write::Kind::erase, table, std::move(key), {}};
}
inline Write erase_range(Table table, std::string from, std::string to) {
  return {Write::Kind::erase_range, table, std::move(from), std::move(to)};
}

class StoreContract : public testing::TestWithParam<Maker> {
 protected:
  void SetUp() override { harness_ = GetParam().make(); }

  Store& store() { return harness_->store(); }
  Harness& harness() { return *harness_; }
  BatchSeq write(std::vector<Write> batch) {
    const auto seq = store().write(batch);
    EXPECT_TRUE(seq.has_value()) << (seq ? "" : seq.error().message);
    return seq.value_or(0);
  }
  BatchSeq sync() {
    const auto seq = store().sync();
    EXPECT_TRUE(seq.has_value()) << (seq ? "" : seq.error().message);
    return seq.value_or(0);
  }
  static std::optional<std::string> get(Reader& reader, Table table, std::string_view key) {
    auto value = reader.get(table, key);
    EXPECT_TRUE(value.has_value()) << (value ? "" : value.error().message);
    return value.value_or(std::nullopt);
  }
  std::optional<std::string> get(Table table, std::string_view key) {
    return get(*store().snapshot(), table, key);
  }
  static std::string keys(Reader& reader, Table table, std::string_view from, std::string_view to,
                          std::size_t limit, bool reverse = false) {
    const auto entries = reader.scan(table, from, to, limit, reverse);
    EXPECT_TRUE(entries.has_value());
    std::string out;
    for (const Entry& entry : *entries) {
      out += entry.key + " ";
    }
    return out;
  }

 private:
  std::unique_ptr<Harness> harness_;
};

TEST_P(StoreContract, AnEmptyStoreHasNothingAndStartsAtBatchOne) {
  EXPECT_EQ(store().last_written(), 0U);
  EXPECT_EQ(get(Table::message, "a"), std::nullopt);
  EXPECT_EQ(keys(*store().snapshot(), Table::message, "", "", 10), "");
  EXPECT_EQ(write({put(Table::message, "a", "1")}), 1U);
  EXPECT_EQ(write({put(Table::message, "b", "1")}), 2U);
  EXPECT_EQ(store().last_written(), 2U);
}

TEST_P(StoreContract, ABatchIsSeenAtOnceAndBeforeItIsSynced) {
  write({put(Table::message, "a", "1"), put(Table::state, "a", "2")});
  EXPECT_EQ(get(Table::message, "a"), "1");
  EXPECT_EQ(get(Table::state, "a"), "2");
  EXPECT_EQ(get(Table::lane, "a"), std::nullopt);
}

TEST_P(StoreContract, WritesOfABatchApplyInTheirOrder) {
  write({put(Table::queue, "a", "1"), put(Table::queue, "a", "2"), put(Table::queue, "b", "1"),
         erase(Table::queue, "b"), erase(Table::queue, "c"), put(Table::queue, "c", "3")});
  EXPECT_EQ(get(Table::queue, "a"), "2");
  EXPECT_EQ(get(Table::queue, "b"), std::nullopt);
  EXPECT_EQ(get(Table::queue, "c"), "3");

  write({put(Table::queue, "d", "1"), erase_range(Table::queue, "a", "z"),
         put(Table::queue, "e", "5")});
  EXPECT_EQ(keys(*store().snapshot(), Table::queue, "", "", 10), "e ");
}

TEST_P(StoreContract, KeysAndValuesAreAnyBytes) {
  const std::string key("\x00\xff\x00\x01", 4);
  const std::string value("\xff\x00", 2);
  write({put(Table::dedup, key, value), put(Table::dedup, "empty", "")});
  EXPECT_EQ(get(Table::dedup, key), value);
  EXPECT_EQ(get(Table::dedup, "empty"), "");
  const std::string large(3'000'000, 'x');
  write({put(Table::message, key, large)});
  EXPECT_EQ(get(Table::message, key), large);
}

TEST_P(StoreContract, ManyKeysAreReadAsOneByOne) {
  std::vector<Write> batch;
  for (int i = 0; i < 300; ++i) {
    batch.push_back(
        put(Table::message, "key " + std::to_string(i), std::string(i * 97 % 9000, 'v')));
  }
  write(batch);
  sync();
  harness().restart();
  write({put(Table::message, "key 7", "new"), erase(Table::message, "key 8"),
         put(Table::state, "key 9", "of another table")});
  const auto reader = store().snapshot();
  write({put(Table::message, "key 9", "later")});

  std::vector<std::string> wanted{"", "none", "key 299", "key 7", "key 7"};
  for (int i = 310; i > 0; --i) {
    wanted.push_back("key " + std::to_string(i));
  }
  for (const bool sorted : {false, true}) {
    const auto values = reader->get_many(Table::message, wanted);
    ASSERT_TRUE(values.has_value());
    ASSERT_EQ(values->size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_EQ((*values)[i], get(*reader, Table::message, wanted[i])) << sorted << wanted[i];
    }
    std::ranges::sort(wanted);
  }
  EXPECT_EQ(reader->get_many(Table::message, {})->size(), 0U);
}

TEST_P(StoreContract, EveryTableIsItsOwn) {
  std::vector<Write> batch;
  for (const Table table : all_tables) {
    batch.push_back(put(table, "key", std::string(table_name(table))));
  }
  write(batch);
  for (const Table table : all_tables) {
    EXPECT_EQ(get(table, "key"), table_name(table));
    EXPECT_EQ(keys(*store().snapshot(), table, "", "", 10), "key ");
  }
}

TEST_P(StoreContract, ScansRespectBoundsLimitsAndDirection) {
  write({put(Table::lane, "a", "1"), put(Table::lane, "b", "2"), put(Table::lane, "bb", "3"),
         put(Table::lane, "c", "4"), put(Table::lane, "\xff", "5"), put(Table::event, "bx", "no")});
  const auto reader = store().snapshot();
  struct Row {
    const char* from;
    const char* to;
    std::size_t limit;
    const char* ascending;
    const char* descending;
  };
  const Row rows[] = {
      {"", "", 10, "a b bb c \xff ", "\xff c bb b a "},
      {"", "", 2, "a b ", "\xff c "},
      {"", "", 0, "", ""},
      {"b", "c", 10, "b bb ", "bb b "},
      {"b", "c", 1, "b ", "bb "},
      {"ba", "", 10, "bb c \xff ", "\xff c bb "},
      {"b", "b", 10, "", ""},
      {"c", "b", 10, "", ""},
      {"", "a", 10, "", ""},
      {"\xff\xff", "", 10, "", ""},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.from) + ".." + row.to);
    EXPECT_EQ(keys(*reader, Table::lane, row.from, row.to, row.limit), row.ascending);
    EXPECT_EQ(keys(*reader, Table::lane, row.from, row.to, row.limit, true), row.descending);
  }
  const auto entries = reader->scan(Table::lane, "b", "c", 1);
  ASSERT_TRUE(entries.has_value());
  EXPECT_EQ(*entries, (std::vector<Entry>{{"b", "2"}}));
}

TEST_P(StoreContract, ErasingARangeLeavesItsEndAndItsNeighbours) {
  write({put(Table::event, "a", "1"), put(Table::event, "b", "2"), put(Table::event, "c", "3"),
         put(Table::event, "d", "4"), put(Table::attempt, "b", "5")});
  write({erase_range(Table::event, "b", "d")});
  EXPECT_EQ(keys(*store().snapshot(), Table::event, "", "", 10), "a d ");
  EXPECT_EQ(keys(*store().snapshot(), Table::event, "", "", 10, true), "d a ");
  EXPECT_EQ(get(Table::attempt, "b"), "5");
  write({erase_range(Table::event, "d", "a"), erase_range(Table::event, "a", "a")});
  EXPECT_EQ(keys(*store().snapshot(), Table::event, "", "", 10), "a d ");
}

TEST_P(StoreContract, ASnapshotIsNotTouchedByWhatComesLater) {
  write({put(Table::queue, "a", "1"), put(Table::queue, "b", "1"), put(Table::queue, "c", "1")});
  const auto before = store().snapshot();
  write({put(Table::queue, "a", "2"), erase(Table::queue, "b"), put(Table::queue, "d", "2")});
  sync();
  const auto between = store().snapshot();
  write({erase_range(Table::queue, "a", "z")});
  sync();
  EXPECT_EQ(get(*before, Table::queue, "a"), "1");
  EXPECT_EQ(keys(*before, Table::queue, "", "", 10), "a b c ");
  EXPECT_EQ(get(*between, Table::queue, "a"), "2");
  EXPECT_EQ(keys(*between, Table::queue, "", "", 10, true), "d c a ");
  EXPECT_EQ(keys(*store().snapshot(), Table::queue, "", "", 10), "");
}

TEST_P(StoreContract, ASnapshotIsOneMomentOfEveryTable) {
  std::vector<Write> first;
  std::vector<Write> second;
  for (const Table table : all_tables) {
    first.push_back(put(table, "k", "before"));
    second.push_back(put(table, "k", "after"));
    second.push_back(put(table, "new", "after"));
  }
  write(first);
  const auto before = store().snapshot();
  write(second);
  for (const Table table : all_tables) {
    SCOPED_TRACE(table_name(table));
    EXPECT_EQ(get(*before, table, "k"), "before");
    EXPECT_EQ(get(*before, table, "new"), std::nullopt);
    EXPECT_EQ(keys(*before, table, "", "", 10), "k ");
    EXPECT_EQ(get(table, "k"), "after");
  }
}

TEST_P(StoreContract, SyncSaysWhichBatchItCovers) {
  EXPECT_EQ(sync(), 0U);
  write({put(Table::queue, "a", "1")});
  write({put(Table::queue, "a", "2")});
  EXPECT_EQ(sync(), 2U);
  EXPECT_EQ(sync(), 2U);
}

TEST_P(StoreContract, ARestartKeepsWhatWasSyncedAndGoesOnCounting) {
  const std::string large(20'000, 'L');
  for (int i = 0; i < 300; ++i) {
    write({put(Table::message, std::to_string(i), large + std::to_string(i)),
           put(Table::state, std::to_string(i), "s"), erase(Table::state, std::to_string(i - 1))});
  }
  EXPECT_EQ(sync(), 300U);
  for (int round = 0; round < 3; ++round) {
    harness().restart();
    EXPECT_GE(store().last_written(), 300U);
    EXPECT_EQ(get(Table::message, "0"), large + "0");
    EXPECT_EQ(get(Table::message, "299"), large + "299");
    EXPECT_EQ(keys(*store().snapshot(), Table::state, "", "", 10), "299 ");
  }
  const BatchSeq last = store().last_written();
  EXPECT_EQ(write({put(Table::queue, "x", "1")}), last + 1);
  EXPECT_EQ(sync(), last + 1);
}

TEST_P(StoreContract, AfterAnErrorEverythingIsRefused) {
  write({put(Table::queue, "a", "1")});
  sync();
  harness().break_store();
  const std::vector<Write> batch = {put(Table::queue, "b", "2")};
  const auto written = store().write(batch);
  const auto synced = store().sync();
  EXPECT_FALSE(written.has_value() && synced.has_value());
  for (int i = 0; i < 3; ++i) {
    const auto again = store().write(batch);
    ASSERT_FALSE(again.has_value());
    EXPECT_EQ(again.error().kind, ErrorKind::unknown_outcome);
    const auto sync_again = store().sync();
    ASSERT_FALSE(sync_again.has_value());
    EXPECT_EQ(sync_again.error().kind, ErrorKind::unknown_outcome);
  }
  harness().restart();
  EXPECT_EQ(get(Table::queue, "a"), "1");
  write({put(Table::queue, "c", "3")});
  sync();
}

TEST_P(StoreContract, ReadersOnOtherThreadsSeeWholeBatchesOnly) {
  if (!harness().thread_safe()) {
    GTEST_SKIP() << "this store is for one thread";
  }
  write({put(Table::queue, "a", "0"), put(Table::state, "b", "0")});
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> reads{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!stop) {
        const auto reader = store().snapshot();
        EXPECT_EQ(get(*reader, Table::queue, "a"), get(*reader, Table::state, "b"));
        ++reads;
      }
    });
  }
  threads.emplace_back([&] {
    while (!stop) {
      sync();
    }
  });
  for (int i = 1; i < 1000 || reads < 100; ++i) {
    write({put(Table::queue, "a", std::to_string(i)), put(Table::state, "b", std::to_string(i))});
  }
  stop = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
}

/// Against a plain map, with restarts.
TEST_P(StoreContract, RandomOperationsAgreeWithAMap) {
  SeededRng rng(11);
  std::map<std::pair<Table, std::string>, std::string> model;
  const Table tables[] = {Table::lane, Table::message};
  const auto random_key = [&rng] { return std::to_string(rng.below(60)); };
  for (int round = 0; round < 400; ++round) {
    std::vector<Write> batch;
    for (std::uint64_t left = 1 + rng.below(8); left != 0; --left) {
      const Table table = tables[rng.below(2)];
      const std::string key = random_key();
      switch (rng.below(8)) {
        case 0: {
          const std::string to = random_key();
          batch.push_back(erase_range(table, key, to));
          if (key < to) {
            model.erase(model.lower_bound({table, key}), model.lower_bound({table, to}));
          }
          break;
        }
        case 1:
        case 2:
          batch.push_back(erase(table, key));
          model.erase({table, key});
          break;
        default: {
          const std::string value(rng.below(9000), static_cast<char>('a' + rng.below(26)));
          batch.push_back(put(table, key, value));
          model[{table, key}] = value;
        }
      }
    }
    write(batch);
    if (rng.below(4) == 0) {
      sync();
    }
    if (rng.below(80) == 0) {
      sync();
      harness().restart();
    }
    const auto reader = store().snapshot();
    for (const Table table : tables) {
      std::vector<Entry> expected;
      for (auto row = model.lower_bound({table, ""});
           row != model.end() && row->first.first == table; ++row) {
        expected.push_back({row->first.second, row->second});
      }
      const auto ascending = reader->scan(table, "", "", 1000);
      ASSERT_TRUE(ascending.has_value());
      ASSERT_EQ(*ascending, expected);
      const std::string key = random_key();
      const auto found = model.find({table, key});
      ASSERT_EQ(get(*reader, table, key),
                found == model.end() ? std::nullopt : std::optional(found->second));
    }
  }
}

}  // namespace hk::store::contract
