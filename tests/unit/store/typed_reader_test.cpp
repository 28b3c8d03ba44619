#include "store/typed_reader.h"

#include <gtest/gtest.h>

#include <functional>

#include "store/codec.h"
#include "store/key.h"
#include "store/memory/sim_store.h"
#include "unit/store/samples.h"

namespace hk::store {
namespace HK_TEST_FILE {

using core::LaneKey;
using core::LanePlace;
using core::Seq;
using core::TenantId;

class TypedReaderTest : public testing::Test {
 protected:
  void apply(const std::vector<core::Mutation>& mutations) {
    std::vector<Write> batch;
    for (const core::Mutation& mutation : mutations) {
      encode(mutation, batch);
    }
    ASSERT_TRUE(store_.write(batch).has_value());
  }
  void put_raw(Table table, std::string key, std::string value) {
    const Write batch[] = {{Write::Kind::put, table, std::move(key), std::move(value)}};
    ASSERT_TRUE(store_.write(batch).has_value());
  }
  TypedReader reader() { return TypedReader(store_.snapshot()); }

  SimStore store_;
};

core::Mutation message(std::uint64_t seq) {
  core::Message m = samples::message();
  m.id.seq = Seq{seq};
  return core::PutMessage{std::make_shared<const core::Message>(m)};
}

std::vector<std::uint64_t> seqs(const std::vector<core::LaneEntry>& entries) {
  std::vector<std::uint64_t> out;
  for (const core::LaneEntry& entry : entries) {
    out.push_back(entry.place.seq.value());
  }
  return out;
}

using Numbers = std::vector<std::uint64_t>;

TEST_F(TypedReaderTest, AnEmptyStoreHasNothing) {
  TypedReader r = reader();
  EXPECT_EQ(r.message(Seq{1}), nullptr);
  EXPECT_EQ(r.state(Seq{1}), std::nullopt);
  EXPECT_TRUE(r.attempts(Seq{1}).empty());
  EXPECT_EQ(r.dedup(TenantId{1}, "x"), std::nullopt);
  EXPECT_FALSE(r.has_dead_letter({}));
  EXPECT_TRUE(r.lane_entries({}, {}, 10).empty());
  EXPECT_EQ(r.next_lane({}), std::nullopt);
  EXPECT_TRUE(r.messages_after(Seq{}, 10).empty());
  EXPECT_EQ(r.last_seq(), Seq{});
  EXPECT_TRUE(r.expiries_until(never, 10).empty());
  EXPECT_EQ(r.meta(), std::nullopt);
  EXPECT_TRUE(r.tenants().empty());
  EXPECT_TRUE(r.queues().empty());
  EXPECT_TRUE(r.flow_keys().empty());
  EXPECT_TRUE(r.counters().empty());
  EXPECT_TRUE(r.dead_letters(TenantId{1}, {}, false, 10).empty());
  EXPECT_TRUE(r.events(TenantId{1}, {}, never, {}, false, 10).empty());
}

TEST_F(TypedReaderTest, RecordsAreFoundUnderTheirKeys) {
  const core::Dedup dedup{{Seq{77}, 12}, moment_from_ms(99)};
  apply({message(77), core::PutState{Seq{77}, samples::state()},
         core::PutAttempt{Seq{77}, samples::attempt(2)},
         core::PutAttempt{Seq{77}, samples::attempt(1)},
         core::PutAttempt{Seq{78}, samples::attempt(9)}, core::PutDedup{TenantId{5}, "d-1", dedup},
         core::PutMeta{samples::meta()}, core::PutTenant{samples::tenant()},
         core::PutQueue{samples::queue()}, core::PutFlowKey{samples::flow_key()},
         core::PutUrlGroup{samples::url_group()},
         core::PutCounters{TenantId{5}, samples::counters()},
         core::PutDeadLetter{{TenantId{5}, moment_from_ms(3), Seq{77}}}});
  TypedReader r = reader();
  ASSERT_NE(r.message(Seq{77}), nullptr);
  EXPECT_EQ(*r.message(Seq{77}), samples::message());
  EXPECT_EQ(r.state(Seq{77}), samples::state());
  EXPECT_EQ(r.attempts(Seq{77}),
            (std::vector<core::Attempt>{samples::attempt(1), samples::attempt(2)}));
  EXPECT_EQ(r.dedup(TenantId{5}, "d-1"), dedup);
  EXPECT_EQ(r.dedup(TenantId{6}, "d-1"), std::nullopt);
  EXPECT_EQ(r.meta(), samples::meta());
  EXPECT_EQ(r.tenants(), (std::vector<core::Tenant>{samples::tenant()}));
  EXPECT_EQ(r.queues(), (std::vector<core::Queue>{samples::queue()}));
  EXPECT_EQ(r.flow_keys(), (std::vector<core::FlowKey>{samples::flow_key()}));
  EXPECT_EQ(r.url_groups(), (std::vector<core::UrlGroup>{samples::url_group()}));
  EXPECT_EQ(r.url_groups(TenantId{5}), r.url_groups());
  EXPECT_TRUE(r.url_groups(TenantId{6}).empty());
  EXPECT_EQ(r.url_group(TenantId{5}, "group"), samples::url_group());
  EXPECT_EQ(r.url_group(TenantId{6}, "group"), std::nullopt);
  ASSERT_EQ(r.counters().size(), 1U);
  EXPECT_EQ(r.counters()[0], (std::pair{TenantId{5}, samples::counters()}));
  EXPECT_TRUE(r.has_dead_letter({TenantId{5}, moment_from_ms(3), Seq{77}}));
  EXPECT_FALSE(r.has_dead_letter({TenantId{5}, moment_from_ms(4), Seq{77}}));
}

TEST_F(TypedReaderTest, SmallTablesAreReadWholeHoweverManyRowsTheyHave) {
  std::vector<core::Mutation> mutations;
  for (int i = 0; i < 1000; ++i) {
    core::Queue queue = samples::queue();
    queue.name = std::to_string(i);
    mutations.push_back(core::PutQueue{queue});
    mutations.push_back(core::PutAttempt{Seq{1}, samples::attempt(static_cast<unsigned>(i))});
  }
  apply(mutations);
  EXPECT_EQ(reader().queues().size(), 1000U);
  EXPECT_EQ(reader().attempts(Seq{1}).size(), 1000U);
}

TEST_F(TypedReaderTest, LanesAreReadOneByOneAndInPieces) {
  const LaneKey first{TenantId{1}, "", "", "", "http://a"};
  const LaneKey longer{TenantId{1}, "", "", "", "http://a:1"};
  const LaneKey ordered{TenantId{1}, "q", "", "", ""};
  const LaneKey other{TenantId{2}, "", "", "", "http://a"};
  const auto entry = [](std::int64_t due, std::uint64_t seq) {
    return core::LaneEntry{.place = {moment_from_ms(due), Seq{seq}}};
  };
  apply({core::PutLaneEntry{first, entry(20, 1)}, core::PutLaneEntry{first, entry(10, 9)},
         core::PutLaneEntry{first, entry(20, 5)}, core::PutLaneEntry{longer, entry(1, 2)},
         core::PutLaneEntry{ordered, entry(0, 4)}, core::PutLaneEntry{ordered, entry(0, 3)},
         core::PutLaneEntry{other, entry(5, 6)}});
  TypedReader r = reader();
  EXPECT_EQ(seqs(r.lane_entries(first, {}, 10)), (Numbers{9, 1, 5}));
  EXPECT_EQ(seqs(r.lane_entries(first, {}, 2)), (Numbers{9, 1}));
  EXPECT_EQ(seqs(r.lane_entries(first, LanePlace{moment_from_ms(20), Seq{1}}, 10)), (Numbers{5}));
  EXPECT_EQ(seqs(r.lane_entries(first, LanePlace{moment_from_ms(20), Seq{2}}, 10)), (Numbers{5}));
  EXPECT_EQ(seqs(r.lane_entries(first, LanePlace{moment_from_ms(20), Seq{5}}, 10)), (Numbers{}));
  EXPECT_EQ(seqs(r.lane_entries(ordered, {}, 10)), (Numbers{3, 4}));

  std::vector<LaneKey> lanes;
  std::optional<LaneKey> last;
  while ((last = r.next_lane(last))) {
    lanes.push_back(*last);
  }
  EXPECT_EQ(lanes, (std::vector<LaneKey>{first, longer, ordered, other}));
  EXPECT_EQ(r.next_lane(LaneKey{TenantId{1}, "p", "", "", ""}), ordered);

  std::vector<core::LaneEntry> rows;
  for (const core::LaneRow& row : r.lane_rows(first, 3)) {
    EXPECT_EQ(row.lane, rows.empty() ? longer : ordered);
    rows.push_back(row.entry);
  }
  EXPECT_EQ(seqs(rows), (Numbers{2, 3, 4}));
}

TEST_F(TypedReaderTest, MessagesComeInTheOrderOfAcceptance) {
  apply({message(3), message(256), message(2)});
  TypedReader r = reader();
  const auto after_two = r.messages_after(Seq{2}, 10);
  ASSERT_EQ(after_two.size(), 2U);
  EXPECT_EQ(after_two[0]->id.seq, Seq{3});
  EXPECT_EQ(after_two[1]->id.seq, Seq{256});
  EXPECT_EQ(r.messages_after(Seq{}, 1).size(), 1U);
  EXPECT_TRUE(r.messages_after(Seq{256}, 1).empty());
  EXPECT_EQ(r.last_seq(), Seq{256});
}

TEST_F(TypedReaderTest, ANumberIsNotGivenOutAgainWhenTheLastMessageIsPurged) {
  core::Meta meta = samples::meta();
  meta.indexed_up_to = Seq{500};
  apply({message(3), core::PutMeta{meta}});
  EXPECT_EQ(reader().last_seq(), Seq{500});
  apply({core::PurgeMessage{Seq{3}, false}, message(501)});
  EXPECT_EQ(reader().last_seq(), Seq{501});
}

TEST_F(TypedReaderTest, ExpiriesAreThoseThatAreDue) {
  apply({core::PutExpiry{moment_from_ms(30), 1, {Seq{3}}, {}},
         core::PutExpiry{moment_from_ms(10), 9, {Seq{1}}, {}},
         core::PutExpiry{moment_from_ms(20), 2, {Seq{2}}, {}}});
  TypedReader r = reader();
  EXPECT_TRUE(r.expiries_until(moment_from_ms(9), 10).empty());
  const auto due = r.expiries_until(moment_from_ms(20), 10);
  ASSERT_EQ(due.size(), 2U);
  EXPECT_EQ(due[0].at, moment_from_ms(10));
  EXPECT_EQ(due[0].batch, 9U);
  EXPECT_EQ(due[1].messages, (std::vector<Seq>{Seq{2}}));
  EXPECT_EQ(r.expiries_until(moment_from_ms(20), 1).size(), 1U);

  const auto rest = r.expiries({moment_from_ms(10), 10}, {moment_from_ms(30), 1}, 10);
  ASSERT_EQ(rest.size(), 1U);
  EXPECT_EQ(rest[0].at, moment_from_ms(20));
}

TEST_F(TypedReaderTest, DeadLettersArePagedInBothDirections) {
  const auto key = [](std::uint32_t tenant, std::int64_t ms, std::uint64_t seq) {
    return core::DeadLetterKey{TenantId{tenant}, moment_from_ms(ms), Seq{seq}};
  };
  apply({core::PutDeadLetter{key(1, 10, 1)}, core::PutDeadLetter{key(1, 10, 2)},
         core::PutDeadLetter{key(1, 20, 3)}, core::PutDeadLetter{key(2, 15, 4)},
         core::PutDeadLetter{key(0, 15, 5)}});
  TypedReader r = reader();
  using Keys = std::vector<core::DeadLetterKey>;
  const TenantId one{1};
  EXPECT_EQ(r.dead_letters(one, {}, false, 10),
            (Keys{key(1, 10, 1), key(1, 10, 2), key(1, 20, 3)}));
  EXPECT_EQ(r.dead_letters(one, {}, true, 2), (Keys{key(1, 20, 3), key(1, 10, 2)}));
  EXPECT_EQ(r.dead_letters(one, key(1, 10, 1), false, 1), (Keys{key(1, 10, 2)}));
  EXPECT_EQ(r.dead_letters(one, key(1, 10, 2), true, 10), (Keys{key(1, 10, 1)}));
  EXPECT_EQ(r.dead_letters(one, key(1, 10, 1), true, 10), (Keys{}));
  EXPECT_EQ(r.dead_letters(TenantId{0xffffffff}, {}, true, 10), (Keys{}));
}

TEST_F(TypedReaderTest, EventsAreCutByTimeAndPagedInBothDirections) {
  const auto batch = [](std::uint32_t tenant, std::int64_t ms, std::uint64_t number) {
    return core::AppendEvents{
        TenantId{tenant}, moment_from_ms(ms), number, {{Seq{number}, core::EventKind::created, 0}}};
  };
  apply({batch(1, 10, 1), batch(1, 20, 2), batch(1, 20, 3), batch(1, 30, 4), batch(2, 20, 5)});
  TypedReader r = reader();
  const auto numbers = [&r](std::int64_t from, std::int64_t to,
                            std::optional<std::pair<Moment, std::uint64_t>> after, bool latest,
                            std::size_t limit) {
    Numbers out;
    for (const auto& events :
         r.events(TenantId{1}, moment_from_ms(from), moment_from_ms(to), after, latest, limit)) {
      out.push_back(events.batch);
    }
    return out;
  };
  const auto at = [](std::int64_t ms, std::uint64_t number) {
    return std::optional(std::pair(moment_from_ms(ms), number));
  };
  EXPECT_EQ(numbers(0, 100, {}, false, 10), (Numbers{1, 2, 3, 4}));
  EXPECT_EQ(numbers(0, 100, {}, true, 10), (Numbers{4, 3, 2, 1}));
  EXPECT_EQ(numbers(20, 20, {}, false, 10), (Numbers{2, 3}));
  EXPECT_EQ(numbers(11, 29, {}, true, 1), (Numbers{3}));
  EXPECT_EQ(numbers(0, 100, at(20, 2), false, 10), (Numbers{3, 4}));
  EXPECT_EQ(numbers(0, 100, at(20, 3), true, 10), (Numbers{2, 1}));
  EXPECT_EQ(numbers(25, 100, at(10, 1), false, 10), (Numbers{4}));
  EXPECT_EQ(numbers(0, 15, at(30, 4), true, 10), (Numbers{1}));
  EXPECT_EQ(numbers(-50, 100, {}, false, 1), (Numbers{1}));
  EXPECT_EQ(numbers(-50, -1, {}, false, 10), (Numbers{}));
  EXPECT_EQ(numbers(50, 20, {}, false, 10), (Numbers{}));
  EXPECT_EQ(r.events(TenantId{1}, {}, never, {}, false, 10).size(), 4U);
}

TEST_F(TypedReaderTest, WhatCannotBeReadIsThrownWithItsPlace) {
  put_raw(Table::message, seq_key(Seq{1}), "\xff");
  put_raw(Table::state, seq_key(Seq{1}), "\xff");
  put_raw(Table::lane, "short", "");
  put_raw(Table::tenant, "long key", "");
  TypedReader r = reader();
  EXPECT_THROW(r.message(Seq{1}), core::CorruptRecord);
  EXPECT_THROW(r.state(Seq{1}), core::CorruptRecord);
  EXPECT_THROW(r.next_lane({}), core::CorruptRecord);
  EXPECT_THROW(r.tenants(), core::CorruptRecord);
  EXPECT_THROW(r.messages_after(Seq{}, 1), core::CorruptRecord);
  try {
    r.message(Seq{1});
  } catch (const core::CorruptRecord& corrupt) {
    EXPECT_NE(std::string(corrupt.what()).find("message/0000000000000001"), std::string::npos);
  }
}

/// A snapshot whose reads all end in the same error.
class FailingReader final : public Reader {
 public:
  explicit FailingReader(ErrorKind kind) : kind_(kind) {}
  Result<std::optional<std::string>> get(Table /*table*/, std::string_view /*key*/) override {
    return fail(kind_, "what the disk said");
  }
  Result<std::vector<Entry>> scan(Table /*table*/, std::string_view /*from*/,
                                  std::string_view /*to*/, std::size_t /*limit*/,
                                  bool /*reverse*/) override {
    return fail(kind_, "what the disk said");
  }

 private:
  const ErrorKind kind_;
};

TEST_F(TypedReaderTest, WhatTheDiskDoesNotGiveOutIsNotTakenForDamage) {
  struct Row {
    ErrorKind kind;
    bool unreadable;
  };
  const Row rows[] = {
      {ErrorKind::internal, true}, {ErrorKind::unavailable, true}, {ErrorKind::corruption, false}};
  const std::function<void(TypedReader&)> reads[] = {
      [](TypedReader& r) { r.message(Seq{1}); },
      [](TypedReader& r) { r.last_seq(); },
      [](TypedReader& r) { r.queues(); },
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(static_cast<int>(row.kind));
    TypedReader r(std::make_shared<FailingReader>(row.kind));
    for (const auto& read : reads) {
      try {
        read(r);
        ADD_FAILURE() << "nothing was thrown";
      } catch (const core::CorruptRecord& broken) {
        EXPECT_EQ(dynamic_cast<const UnreadableRecord*>(&broken) != nullptr, row.unreadable);
        EXPECT_NE(std::string_view(broken.what()).find("what the disk said"),
                  std::string_view::npos);
      }
    }
  }
}

TEST_F(TypedReaderTest, AFailingSnapshotIsThrownToo) {
  apply({message(1)});
  TypedReader r = reader();
  store_.crash_at(0);
  EXPECT_THROW(r.message(Seq{1}), UnreadableRecord);
  EXPECT_THROW(r.last_seq(), UnreadableRecord);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::store
