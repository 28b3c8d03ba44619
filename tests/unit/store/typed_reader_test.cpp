#include "store/typed_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "store/codec.h"
#include "store/key.h"
#include "store/memory/sim_store.h"
#include "store/table_name.h"
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
  return core::Put<core::Message>{std::make_shared<const core::Message>(m)};
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
  core::for_each_record([&]<class R>() {
    SCOPED_TRACE(table_name(table_of<R>));
    EXPECT_FALSE(r.get<R>({}));
    EXPECT_TRUE(r.scan<R>().empty());
    EXPECT_TRUE(r.scan<R>({}, 10, core::Order::descending).empty());
  });
  EXPECT_TRUE(r.lane_entries({}, {}, 10).empty());
  EXPECT_EQ(r.next_lane({}), std::nullopt);
  EXPECT_EQ(r.last_seq(), Seq{});
}

TEST_F(TypedReaderTest, RecordsAreFoundUnderTheirKeys) {
  const core::Dedup dedup{{Seq{77}, 12}, moment_from_ms(99)};
  apply({message(77), core::Put<core::MessageState>{{Seq{77}, samples::state()}},
         samples::put_attempt(Seq{77}, samples::attempt(2)),
         samples::put_attempt(Seq{77}, samples::attempt(1)),
         samples::put_attempt(Seq{78}, samples::attempt(9)),
         core::Put<core::Dedup>{{{TenantId{5}, "d-1"}, dedup}},
         core::Put<core::Meta>{samples::meta()}, core::Put<core::Tenant>{samples::tenant()},
         core::Put<core::Queue>{samples::queue()}, core::Put<core::FlowKey>{samples::flow_key()},
         core::Put<core::Topic>{samples::url_group()},
         core::Put<core::Counters>{{TenantId{5}, samples::counters()}},
         core::Put<core::DeadLetterKey>{{TenantId{5}, moment_from_ms(3), Seq{77}}}});
  TypedReader r = reader();
  ASSERT_NE(r.get<core::Message>(Seq{77}), nullptr);
  EXPECT_EQ(*r.get<core::Message>(Seq{77}), samples::message());
  EXPECT_EQ(r.get<core::MessageState>(Seq{77}), samples::state());
  EXPECT_EQ(r.get_many<core::MessageState>({Seq{76}, Seq{77}}),
            (std::vector<std::optional<core::MessageState>>{std::nullopt, samples::state()}));
  EXPECT_EQ(*r.get_many<core::Message>({Seq{77}}).at(0), samples::message());
  const auto attempts = r.scan(core::Range<core::Attempt>::of(Seq{77}));
  ASSERT_EQ(attempts.size(), 2U);
  EXPECT_EQ(attempts[0], (core::Keyed<core::Attempt>{{Seq{77}, 1}, samples::attempt(1)}));
  EXPECT_EQ(attempts[1], (core::Keyed<core::Attempt>{{Seq{77}, 2}, samples::attempt(2)}));
  EXPECT_EQ(r.get<core::Dedup>({TenantId{5}, "d-1"}), dedup);
  EXPECT_EQ(r.get<core::Dedup>({TenantId{6}, "d-1"}), std::nullopt);
  EXPECT_EQ(r.get<core::Meta>({}), samples::meta());
  EXPECT_EQ(r.scan<core::Tenant>(), (std::vector<core::Tenant>{samples::tenant()}));
  EXPECT_EQ(r.scan<core::Queue>(), (std::vector<core::Queue>{samples::queue()}));
  EXPECT_EQ(r.scan<core::FlowKey>(), (std::vector<core::FlowKey>{samples::flow_key()}));
  EXPECT_EQ(r.scan<core::Topic>(), (std::vector<core::Topic>{samples::url_group()}));
  EXPECT_EQ(r.scan(core::Range<core::Topic>::of(TenantId{5})), r.scan<core::Topic>());
  EXPECT_TRUE(r.scan(core::Range<core::Topic>::of(TenantId{6})).empty());
  EXPECT_EQ(r.get<core::Topic>({TenantId{5}, "group"}), samples::url_group());
  EXPECT_EQ(r.get<core::Topic>({TenantId{6}, "group"}), std::nullopt);
  EXPECT_EQ(r.scan<core::Counters>(),
            (std::vector<core::Keyed<core::Counters>>{{TenantId{5}, samples::counters()}}));
  EXPECT_TRUE(r.get<core::DeadLetterKey>({TenantId{5}, moment_from_ms(3), Seq{77}}).has_value());
  EXPECT_FALSE(r.get<core::DeadLetterKey>({TenantId{5}, moment_from_ms(4), Seq{77}}).has_value());
}

TEST_F(TypedReaderTest, SmallTablesAreReadWholeHoweverManyRowsTheyHave) {
  std::vector<core::Mutation> mutations;
  for (int i = 0; i < 1000; ++i) {
    core::Queue queue = samples::queue();
    queue.name = std::to_string(i);
    mutations.push_back(core::Put<core::Queue>{queue});
    mutations.push_back(samples::put_attempt(Seq{1}, samples::attempt(static_cast<unsigned>(i))));
  }
  apply(mutations);
  EXPECT_EQ(reader().scan<core::Queue>().size(), 1000U);
  EXPECT_EQ(reader().scan(core::Range<core::Attempt>::of(Seq{1})).size(), 1000U);
}

TEST_F(TypedReaderTest, LanesAreReadOneByOneAndInPieces) {
  const LaneKey first{TenantId{1}, "", "", "", "http://a"};
  const LaneKey longer{TenantId{1}, "", "", "", "http://a:1"};
  const LaneKey ordered{TenantId{1}, "q", "", "", ""};
  const LaneKey other{TenantId{2}, "", "", "", "http://a"};
  const auto entry = [](std::int64_t due, std::uint64_t seq) {
    return core::LaneEntry{.place = {moment_from_ms(due), Seq{seq}}};
  };
  apply({core::Put<core::LaneRow>{{first, entry(20, 1)}},
         core::Put<core::LaneRow>{{first, entry(10, 9)}},
         core::Put<core::LaneRow>{{first, entry(20, 5)}},
         core::Put<core::LaneRow>{{longer, entry(1, 2)}},
         core::Put<core::LaneRow>{{ordered, entry(0, 4)}},
         core::Put<core::LaneRow>{{ordered, entry(0, 3)}},
         core::Put<core::LaneRow>{{other, entry(5, 6)}}});
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
  const auto after_two = r.scan(core::Range<core::Message>().after(Seq{2}), 10);
  ASSERT_EQ(after_two.size(), 2U);
  EXPECT_EQ(after_two[0]->id.seq, Seq{3});
  EXPECT_EQ(after_two[1]->id.seq, Seq{256});
  EXPECT_EQ(r.scan(core::Range<core::Message>().after(Seq{}), 1).size(), 1U);
  EXPECT_TRUE(r.scan(core::Range<core::Message>().after(Seq{256}), 1).empty());
  EXPECT_EQ(r.last_seq(), Seq{256});
}

TEST_F(TypedReaderTest, ANumberIsNotGivenOutAgainWhenTheLastMessageIsPurged) {
  core::Meta meta = samples::meta();
  meta.indexed_up_to = Seq{500};
  apply({message(3), core::Put<core::Meta>{meta}});
  EXPECT_EQ(reader().last_seq(), Seq{500});
  apply({core::Erase<core::Message>(Seq{3}), message(501)});
  EXPECT_EQ(reader().last_seq(), Seq{501});
}

TEST_F(TypedReaderTest, ExpiriesAreThoseThatAreDue) {
  apply({core::Put<core::Expiry>{{moment_from_ms(30), 1, {Seq{3}}, {}}},
         core::Put<core::Expiry>{{moment_from_ms(10), 9, {Seq{1}}, {}}},
         core::Put<core::Expiry>{{moment_from_ms(20), 2, {Seq{2}}, {}}}});
  TypedReader r = reader();
  const auto until = [&r](std::int64_t ms, std::size_t limit) {
    return r.scan(core::Range<core::Expiry>().up_to(moment_from_ms(ms)), limit);
  };
  EXPECT_TRUE(until(9, 10).empty());
  const auto due = until(20, 10);
  ASSERT_EQ(due.size(), 2U);
  EXPECT_EQ(due[0].at, moment_from_ms(10));
  EXPECT_EQ(due[0].batch, 9U);
  EXPECT_EQ(due[1].messages, (std::vector<Seq>{Seq{2}}));
  EXPECT_EQ(until(20, 1).size(), 1U);

  const auto rest = r.scan(
      core::Range<core::Expiry>().from(moment_from_ms(10), 10U).before(moment_from_ms(30), 1U));
  ASSERT_EQ(rest.size(), 1U);
  EXPECT_EQ(rest[0].at, moment_from_ms(20));
}

TEST_F(TypedReaderTest, DeadLettersArePagedInBothDirections) {
  const auto key = [](std::uint32_t tenant, std::int64_t ms, std::uint64_t seq) {
    return core::DeadLetterKey{TenantId{tenant}, moment_from_ms(ms), Seq{seq}};
  };
  apply(
      {core::Put<core::DeadLetterKey>{key(1, 10, 1)}, core::Put<core::DeadLetterKey>{key(1, 10, 2)},
       core::Put<core::DeadLetterKey>{key(1, 20, 3)}, core::Put<core::DeadLetterKey>{key(2, 15, 4)},
       core::Put<core::DeadLetterKey>{key(0, 15, 5)}});
  TypedReader r = reader();
  using Keys = std::vector<core::DeadLetterKey>;
  using Letters = core::Range<core::DeadLetterKey>;
  const auto up = core::Order::ascending;
  const auto down = core::Order::descending;
  const TenantId one{1};
  const Moment ten = moment_from_ms(10);
  EXPECT_EQ(r.scan(Letters::of(one), 10, up), (Keys{key(1, 10, 1), key(1, 10, 2), key(1, 20, 3)}));
  EXPECT_EQ(r.scan(Letters::of(one), 2, down), (Keys{key(1, 20, 3), key(1, 10, 2)}));
  EXPECT_EQ(r.scan(Letters::of(one).after(one, ten, Seq{1}), 1, up), (Keys{key(1, 10, 2)}));
  EXPECT_EQ(r.scan(Letters::of(one).before(one, ten, Seq{2}), 10, down), (Keys{key(1, 10, 1)}));
  EXPECT_EQ(r.scan(Letters::of(one).before(one, ten, Seq{1}), 10, down), (Keys{}));
  EXPECT_EQ(r.scan(Letters::of(TenantId{0xffffffff}), 10, down), (Keys{}));
}

TEST_F(TypedReaderTest, AllRowsAreReadInPiecesInBothDirections) {
  std::vector<core::Mutation> mutations;
  std::vector<core::DeadLetterKey> all;
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    all.push_back({TenantId{1}, moment_from_ms(5), Seq{i}});
    mutations.push_back(core::Put<core::DeadLetterKey>{all.back()});
  }
  apply(mutations);
  EXPECT_EQ(reader().scan<core::DeadLetterKey>(), all);
  std::ranges::reverse(all);
  EXPECT_EQ(reader().scan<core::DeadLetterKey>({}, core::all_rows, core::Order::descending), all);
}

TEST_F(TypedReaderTest, EventsAreCutByTimeAndPagedInBothDirections) {
  const auto batch = [](std::uint32_t tenant, std::int64_t ms, std::uint64_t number) {
    return core::Put<core::Events>{{TenantId{tenant},
                                    moment_from_ms(ms),
                                    number,
                                    {{Seq{number}, core::EventKind::created, 0}}}};
  };
  apply({batch(1, 10, 1), batch(1, 20, 2), batch(1, 20, 3), batch(1, 30, 4), batch(2, 20, 5)});
  TypedReader r = reader();
  const TenantId one{1};
  const auto numbers = [&](std::int64_t from, std::int64_t to,
                           std::optional<std::pair<Moment, std::uint64_t>> after, bool latest,
                           std::size_t limit) {
    auto range =
        core::Range<core::Events>().from(one, moment_from_ms(from)).up_to(one, moment_from_ms(to));
    if (after) {
      latest ? range.before(one, after->first, after->second)
             : range.after(one, after->first, after->second);
    }
    Numbers out;
    for (const auto& events :
         r.scan(range, limit, latest ? core::Order::descending : core::Order::ascending)) {
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
  EXPECT_EQ(r.scan(core::Range<core::Events>::of(one)).size(), 4U);
}

TEST_F(TypedReaderTest, WhatCannotBeReadIsThrownWithItsPlace) {
  put_raw(Table::message, encode_key<core::Message>(Seq{1}), "\xff");
  put_raw(Table::state, encode_key<core::Message>(Seq{1}), "\xff");
  put_raw(Table::lane, "short", "");
  put_raw(Table::tenant, "long key", "");
  TypedReader r = reader();
  EXPECT_THROW(r.get<core::Message>(Seq{1}), core::CorruptRecord);
  EXPECT_THROW(r.get<core::MessageState>(Seq{1}), core::CorruptRecord);
  EXPECT_THROW(r.next_lane({}), core::CorruptRecord);
  EXPECT_THROW(r.scan<core::Tenant>(), core::CorruptRecord);
  EXPECT_THROW(r.scan(core::Range<core::Message>().after(Seq{}), 1), core::CorruptRecord);
  try {
    r.get<core::Message>(Seq{1});
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
      [](TypedReader& r) { r.get<core::Message>(Seq{1}); },
      [](TypedReader& r) { r.last_seq(); },
      [](TypedReader& r) { r.scan<core::Queue>(); },
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
  EXPECT_THROW(r.get<core::Message>(Seq{1}), UnreadableRecord);
  EXPECT_THROW(r.last_seq(), UnreadableRecord);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::store
