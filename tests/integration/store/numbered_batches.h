/// Batches that tell by themselves whether they are all there: number n adds one row to two tables,
/// writes n into a third, and in a fourth the oldest row makes room for a new one. For the tests of
/// what a crash or a failing disk leaves behind.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "integration/store/rocksdb_fixture.h"

namespace hk::store {

/// Bodies on both sides of the blob limit.
inline std::size_t body_bytes(BatchSeq seq) { return seq % 7 == 0 ? 6000 : 300; }

/// Flushes and compactions all the time.
inline RocksDbOptions restless_options(const std::string& path) {
  RocksDbOptions options = small_options(path);
  options.write_buffer_bytes = std::size_t{256} << 10U;
  return options;
}

/// How many rows of the lane table are left in it.
constexpr BatchSeq lane_rows = 30;

inline std::vector<Write> batch_of(BatchSeq seq) {
  std::vector<Write> batch = {
      {Write::Kind::put, Table::message, numbered_key(seq), numbered_value(seq, body_bytes(seq))},
      {Write::Kind::put, Table::state, numbered_key(seq), "state"},
      {Write::Kind::put, Table::counters, "count", std::to_string(seq)},
      {Write::Kind::put, Table::lane, numbered_key(seq), "entry"}};
  if (seq > lane_rows) {
    batch.push_back({Write::Kind::erase, Table::lane, numbered_key(seq - lane_rows), {}});
  }
  return batch;
}

/// What is there is batches 1..last_written(), whole, in order, and nothing else.
inline void expect_prefix(DurableStore& store) {
  const BatchSeq last = store.last_written();
  const auto reader = store.snapshot();
  const auto count = reader->get(Table::counters, "count");
  ASSERT_TRUE(count.has_value());
  ASSERT_EQ(count->value_or("0"), std::to_string(last));
  const auto messages = reader->scan(Table::message, "", "", last + 10);
  const auto states = reader->scan(Table::state, "", "", last + 10);
  ASSERT_TRUE(messages.has_value() && states.has_value());
  ASSERT_EQ(messages->size(), last);
  ASSERT_EQ(states->size(), last);
  for (BatchSeq seq = 1; seq <= last; ++seq) {
    ASSERT_EQ((*messages)[seq - 1].key, numbered_key(seq));
    ASSERT_EQ((*messages)[seq - 1].value, numbered_value(seq, body_bytes(seq)));
    ASSERT_EQ((*states)[seq - 1].key, numbered_key(seq));
  }
  const auto entries = reader->scan(Table::lane, "", "", last + 10);
  ASSERT_TRUE(entries.has_value());
  ASSERT_EQ(entries->size(), std::min(last, lane_rows));
  for (BatchSeq i = 0; i < entries->size(); ++i) {
    ASSERT_EQ((*entries)[i].key, numbered_key(last - entries->size() + 1 + i));
  }
}

}  // namespace hk::store
