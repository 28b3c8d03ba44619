#include "store/codec.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "store/key.h"
#include "unit/store/samples.h"

namespace hk::store {
namespace HK_TEST_FILE {

std::vector<Write> encoded(const std::vector<core::Mutation>& mutations) {
  std::vector<Write> out;
  for (const core::Mutation& mutation : mutations) {
    encode(mutation, out);
  }
  return out;
}

/// Every mutation kind that puts one record.
Write put_of(core::Mutation mutation) {
  std::vector<Write> writes = encoded({std::move(mutation)});
  EXPECT_EQ(writes.size(), 1U);
  EXPECT_EQ(writes.front().kind, Write::Kind::put);
  return writes.front();
}

TEST(Codec, AMessageComesBackAsItWas) {
  const auto original = std::make_shared<const core::Message>(samples::message());
  const Write write = put_of(core::Put<core::Message>{original});
  EXPECT_EQ(write.table, Table::message);
  EXPECT_EQ(write.key, encode_key<core::Message>(original->id.seq));
  const auto decoded = Codec<core::Message>::decode(original->id.seq, write.value);
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(*decoded, *original);
}

TEST(Codec, EveryRetryDelayAndTheEmptyMessageComeBack) {
  const core::RetryDelay delays[] = {core::ExponentialDelay{}, core::TableDelay{},
                                     core::TableDelay{{Millis{0}, Millis{5}, Millis{-1}}},
                                     core::ExpressionDelay{"1000 * retried"}};
  for (const core::RetryDelay& delay : delays) {
    core::Message message;
    message.id.seq = core::Seq{1};
    message.retry.delay = delay;
    const Write write =
        put_of(core::Put<core::Message>{std::make_shared<const core::Message>(message)});
    const auto decoded = Codec<core::Message>::decode(core::Seq{1}, write.value);
    ASSERT_TRUE(decoded.has_value());
    EXPECT_EQ(*decoded, message);
  }
}

TEST(Codec, ALargeMessageLeavesNothingBehindInTheNextOne) {
  core::Message large = samples::message();
  large.body.assign(2'000'000, 'x');
  for (int i = 0; i < 130; ++i) {
    const core::Message message = i % 50 == 0 ? large : core::Message{};
    const Write write =
        put_of(core::Put<core::Message>{std::make_shared<const core::Message>(message)});
    ASSERT_EQ(Codec<core::Message>::decode(message.id.seq, write.value), message);
  }
}

TEST(Codec, StatesAndAttemptsComeBackAsTheyWere) {
  for (const core::MessageState& state : {samples::state(), core::MessageState{}}) {
    const Write write = put_of(core::Put<core::MessageState>{{core::Seq{77}, state}});
    EXPECT_EQ(write.table, Table::state);
    EXPECT_EQ(write.key, encode_key<core::Message>(core::Seq{77}));
    EXPECT_EQ(Codec<core::MessageState>::decode({}, write.value), state);
  }
  const Write write = put_of(samples::put_attempt(core::Seq{77}, samples::attempt(2)));
  EXPECT_EQ(write.table, Table::attempt);
  EXPECT_EQ(write.key, encode_key<core::Attempt>({core::Seq{77}, 2}));
  EXPECT_EQ(Codec<core::Attempt>::decode({}, write.value), samples::attempt(2));
  core::Attempt told = samples::attempt(2);
  told.told = true;
  EXPECT_EQ(Codec<core::Attempt>::decode({}, Codec<core::Attempt>::encode(told)), told);
}

TEST(Codec, LaneEntriesComeBackAsTheyWere) {
  const Write write = put_of(core::Put<core::LaneRow>{{samples::lane(), samples::lane_entry()}});
  EXPECT_EQ(write.table, Table::lane);
  const auto parsed = decode_key<core::LaneRow>(write.key);
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(std::get<core::LaneKey>(*parsed), samples::lane());
  EXPECT_EQ(Codec<core::LaneRow>::decode(*parsed, write.value),
            (core::LaneRow{samples::lane(), samples::lane_entry()}));
}

TEST(Codec, RecordsOfABatchComeBackAsTheyWere) {
  const core::Dedup dedup{{core::Seq{77}, 12}, moment_from_ms(99)};
  const Write put_dedup = put_of(core::Put<core::Dedup>{{{core::TenantId{5}, "d-1"}, dedup}});
  EXPECT_EQ(put_dedup.table, Table::dedup);
  EXPECT_EQ(put_dedup.key, encode_key<core::Queue>({core::TenantId{5}, "d-1"}));
  EXPECT_EQ(Codec<core::Dedup>::decode({}, put_dedup.value), dedup);

  const core::Events events = samples::events();
  const Write append = put_of(core::Put<core::Events>{events});
  EXPECT_EQ(append.table, Table::event);
  EXPECT_EQ(append.key, encode_key<core::Events>({events.tenant, events.time, events.batch}));
  const auto back =
      Codec<core::Events>::decode({events.tenant, events.time, events.batch}, append.value);
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->tenant, events.tenant);
  EXPECT_EQ(back->time, events.time);
  EXPECT_EQ(back->batch, events.batch);
  EXPECT_EQ(back->events, events.events);

  const core::Expiry expiry = samples::expiry();
  const Write put_expiry = put_of(core::Put<core::Expiry>{expiry});
  EXPECT_EQ(put_expiry.table, Table::expiry);
  EXPECT_EQ(put_expiry.key, encode_key<core::Expiry>({expiry.at, expiry.batch}));
  const auto due = Codec<core::Expiry>::decode({expiry.at, expiry.batch}, put_expiry.value);
  ASSERT_TRUE(due.has_value());
  EXPECT_EQ(due->at, expiry.at);
  EXPECT_EQ(due->batch, expiry.batch);
  EXPECT_EQ(due->messages, expiry.messages);
  EXPECT_EQ(due->dedups, expiry.dedups);

  const core::DeadLetterKey dead{core::TenantId{5}, moment_from_ms(3), core::Seq{77}};
  const Write put_dead = put_of(core::Put<core::DeadLetterKey>{dead});
  EXPECT_EQ(put_dead.table, Table::dead_letter);
  EXPECT_EQ(decode_key<core::DeadLetterKey>(put_dead.key), key_of(dead));

  const Write put_counters =
      put_of(core::Put<core::Counters>{{core::TenantId{5}, samples::counters()}});
  EXPECT_EQ(put_counters.table, Table::counters);
  EXPECT_EQ(put_counters.key, encode_key<core::Tenant>(core::TenantId{5}));
  EXPECT_EQ(Codec<core::Counters>::decode({}, put_counters.value), samples::counters());
}

TEST(Codec, SettingsComeBackAsTheyWere) {
  const Write queue = put_of(core::Put<core::Queue>{samples::queue()});
  EXPECT_EQ(queue.table, Table::queue);
  EXPECT_EQ(queue.key, encode_key<core::Queue>({core::TenantId{5}, "orders"}));
  EXPECT_EQ(Codec<core::Queue>::decode({core::TenantId{5}, "orders"}, queue.value),
            samples::queue());

  const Write flow_key = put_of(core::Put<core::FlowKey>{samples::flow_key()});
  EXPECT_EQ(flow_key.table, Table::flow_key);
  EXPECT_EQ(flow_key.key, encode_key<core::Queue>({core::TenantId{5}, "flow"}));
  EXPECT_EQ(Codec<core::FlowKey>::decode({core::TenantId{5}, "flow"}, flow_key.value),
            samples::flow_key());

  const Write group = put_of(core::Put<core::Topic>{samples::url_group()});
  EXPECT_EQ(group.table, Table::url_group);
  EXPECT_EQ(group.key, encode_key<core::Queue>({core::TenantId{5}, "group"}));
  EXPECT_EQ(Codec<core::Topic>::decode({core::TenantId{5}, "group"}, group.value),
            samples::url_group());

  const Write topic = put_of(core::Put<core::Topic>{samples::sns_topic()});
  EXPECT_EQ(topic.table, Table::url_group);
  EXPECT_EQ(topic.key, encode_key<core::Queue>({core::TenantId{5}, "!topic.fifo"}));
  EXPECT_EQ(Codec<core::Topic>::decode({core::TenantId{5}, "!topic.fifo"}, topic.value),
            samples::sns_topic());

  const Write tenant = put_of(core::Put<core::Tenant>{samples::tenant()});
  EXPECT_EQ(tenant.table, Table::tenant);
  EXPECT_EQ(tenant.key, encode_key<core::Tenant>(core::TenantId{5}));
  EXPECT_EQ(Codec<core::Tenant>::decode(core::TenantId{5}, tenant.value), samples::tenant());

  const Write meta = put_of(core::Put<core::Meta>{samples::meta()});
  EXPECT_EQ(meta.table, Table::meta);
  EXPECT_EQ(meta.key, "meta");
  EXPECT_EQ(Codec<core::Meta>::decode({}, meta.value), samples::meta());
}

TEST(Codec, DeletionsEraseTheKeyThatThePutWrote) {
  struct Row {
    const char* name;
    core::Mutation put;
    core::Mutation erase;
  };
  const core::DeadLetterKey dead{core::TenantId{5}, moment_from_ms(3), core::Seq{77}};
  const Row rows[] = {
      {"lane", core::Put<core::LaneRow>{{samples::lane(), samples::lane_entry()}},
       core::Erase<core::LaneRow>(samples::lane(), samples::lane_entry().place)},
      {"dedup", core::Put<core::Dedup>{{{core::TenantId{5}, "x"}, {}}},
       core::Erase<core::Dedup>(core::TenantId{5}, "x")},
      {"dead letter", core::Put<core::DeadLetterKey>{dead},
       core::Erase<core::DeadLetterKey>(key_of(dead))},
      {"expiry", core::Put<core::Expiry>{samples::expiry()},
       core::Erase<core::Expiry>(samples::expiry().at, samples::expiry().batch)},
      {"queue", core::Put<core::Queue>{samples::queue()},
       core::Erase<core::Queue>(core::TenantId{5}, samples::queue().name)},
      {"flow key", core::Put<core::FlowKey>{samples::flow_key()},
       core::Erase<core::FlowKey>(core::TenantId{5}, samples::flow_key().key)},
      {"URL group", core::Put<core::Topic>{samples::url_group()},
       core::Erase<core::Topic>(core::TenantId{5}, samples::url_group().name)},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const Write put = put_of(row.put);
    const std::vector<Write> erase = encoded({row.erase});
    ASSERT_EQ(erase.size(), 1U);
    EXPECT_EQ(erase[0].kind, Write::Kind::erase);
    EXPECT_EQ(erase[0].table, put.table);
    EXPECT_EQ(erase[0].key, put.key);
  }
}

std::vector<Write> purged(bool has_attempts) {
  return encoded(samples::decided(
      [&](core::Batch& batch) { batch.purge_message(core::Seq{77}, has_attempts); }));
}

TEST(Codec, PurgingAMessageErasesItsRowsAndNobodyElses) {
  const std::vector<Write> bare = purged(false);
  ASSERT_EQ(bare.size(), 2U);
  EXPECT_EQ(bare[0].table, Table::message);
  EXPECT_EQ(bare[1].table, Table::state);
  for (const Write& write : bare) {
    EXPECT_EQ(write.kind, Write::Kind::erase);
    EXPECT_EQ(write.key, encode_key<core::Message>(core::Seq{77}));
  }

  const std::vector<Write> with_attempts = purged(true);
  ASSERT_EQ(with_attempts.size(), 3U);
  const Write& range = with_attempts[2];
  EXPECT_EQ(range.kind, Write::Kind::erase_range);
  EXPECT_EQ(range.table, Table::attempt);
  const auto in_range = [&range](const std::string& key) {
    return range.key <= key && key < range.value;
  };
  EXPECT_TRUE(in_range(encode_key<core::Attempt>({core::Seq{77}, 1})));
  EXPECT_TRUE(in_range(encode_key<core::Attempt>({core::Seq{77}, 1'000'000})));
  EXPECT_FALSE(in_range(encode_key<core::Attempt>({core::Seq{76}, 1'000'000})));
  EXPECT_FALSE(in_range(encode_key<core::Attempt>({core::Seq{78}, 0})));
}

core::Mutation purged_events(Moment before) {
  const core::TenantId tenant{5};
  return core::EraseRange<core::Events>{
      core::Range<core::Events>().from(tenant, Moment{}, 0U).before(tenant, before, 0U)};
}

TEST(Codec, PurgingEventsErasesWhatIsOlderOfThatTenant) {
  const auto writes = encoded({purged_events(moment_from_ms(100))});
  ASSERT_EQ(writes.size(), 1U);
  const auto in_range = [&](std::uint32_t tenant, std::int64_t ms, std::uint64_t batch) {
    const std::string key =
        encode_key<core::Events>({core::TenantId{tenant}, moment_from_ms(ms), batch});
    return writes[0].key <= key && key < writes[0].value;
  };
  EXPECT_TRUE(in_range(5, 0, 0));
  EXPECT_TRUE(in_range(5, 99, ~0ULL));
  EXPECT_FALSE(in_range(5, 100, 0));
  EXPECT_FALSE(in_range(4, 99, 0));
  EXPECT_FALSE(in_range(6, 0, 0));

  const auto nothing = encoded({purged_events(moment_from_ms(-1))});
  ASSERT_EQ(nothing.size(), 1U);
  EXPECT_EQ(nothing[0].key, nothing[0].value);
}

/// Calls every decoder; the point is that none of them does anything but answer. How many refuse.
std::size_t refused_by(std::string_view bytes) {
  std::size_t refused = 0;
  core::for_each_record(
      [&]<class R>() { refused += Codec<R>::decode({}, bytes).has_value() ? 0 : 1; });
  return refused;
}

TEST(Codec, ArbitraryBytesAreAnErrorOrARecordButNeverMore) {
  SeededRng rng(3);
  std::vector<std::string> seeds;
  for (const core::Mutation& mutation :
       {core::Mutation{
            core::Put<core::Message>{std::make_shared<const core::Message>(samples::message())}},
        core::Mutation{core::Put<core::MessageState>{{core::Seq{1}, samples::state()}}},
        core::Mutation{core::Put<core::Events>{samples::events()}},
        core::Mutation{core::Put<core::Expiry>{samples::expiry()}},
        core::Mutation{core::Put<core::Task>{samples::cancel_task()}},
        core::Mutation{core::Put<core::DelayedSecond>{samples::delayed_second()}},
        core::Mutation{core::Put<core::Tenant>{samples::tenant()}}}) {
    seeds.push_back(put_of(mutation).value);
  }
  std::size_t refused = 0;
  for (int i = 0; i < 30'000; ++i) {
    std::string bytes = seeds[rng.below(seeds.size())];
    for (std::uint64_t left = 1 + rng.below(4); left != 0; --left) {
      switch (rng.below(3)) {
        case 0: bytes[rng.below(bytes.size())] ^= static_cast<char>(1U << rng.below(8)); break;
        case 1: bytes.resize(1 + rng.below(bytes.size())); break;
        default: bytes.insert(rng.below(bytes.size()), 1, static_cast<char>(rng.next())); break;
      }
    }
    refused += refused_by(bytes) > 0 ? 1 : 0;
  }
  EXPECT_GT(refused, 1000U);
}

TEST(Codec, NumbersThatAreNoStatusOrEventKindAreCorruption) {
  const std::string unknown_status("\x08\x2a", 2);       // status = 42
  const std::string wrapping_status("\x08\x81\x02", 3);  // status = 257: 1 in the low byte
  const std::string unknown_kind("\x0a\x01\x01\x12\x01\x63\x1a\x01\x00", 9);
  const std::string uneven_lists("\x0a\x01\x01", 3);
  EXPECT_EQ(Codec<core::MessageState>::decode({}, "").error().kind, ErrorKind::corruption);
  EXPECT_EQ(Codec<core::MessageState>::decode({}, unknown_status).error().kind,
            ErrorKind::corruption);
  EXPECT_EQ(Codec<core::MessageState>::decode({}, wrapping_status).error().kind,
            ErrorKind::corruption);
  EXPECT_EQ(Codec<core::Events>::decode({{}, {}, 1}, unknown_kind).error().kind,
            ErrorKind::corruption);
  EXPECT_EQ(Codec<core::Events>::decode({{}, {}, 1}, uneven_lists).error().kind,
            ErrorKind::corruption);
}

TEST(Codec, TasksOfNoKindAndCountsOfNothingAreCorruption) {
  const auto broken = [](const auto& decoded) {
    return !decoded && decoded.error().kind == ErrorKind::corruption;
  };
  const core::KeyOf<core::Task> move{core::TenantId{5}, 1U, 1U, "dead"};
  const core::KeyOf<core::Task> cancel{core::TenantId{5}, 2U, 1U, ""};
  using Tasks = Codec<core::Task>;
  EXPECT_TRUE(Tasks::decode(move, std::string("\x0a\x00\x20\x01", 4)).has_value());
  EXPECT_TRUE(broken(Tasks::decode(move, ""))) << "no status";
  EXPECT_TRUE(broken(Tasks::decode(move, "\x20\x01"))) << "no work";
  EXPECT_TRUE(broken(Tasks::decode(move, std::string("\x0a\x00\x20\x06", 4)))) << "no such status";
  EXPECT_TRUE(broken(Tasks::decode(move, std::string("\x12\x00\x20\x01", 4)))) << "other work";
  EXPECT_TRUE(broken(Tasks::decode(cancel, std::string("\x0a\x00\x20\x01", 4))));

  const core::KeyOf<core::DelayedSecond> second{core::TenantId{5}, moment_from_ms(7000), "q"};
  const core::KeyOf<core::DelayedSecond> between{core::TenantId{5}, moment_from_ms(7001), "q"};
  const core::KeyOf<core::DelayedSecond> late{core::TenantId{5}, Moment::max(), "q"};
  using Delayed = Codec<core::DelayedSecond>;
  const std::string one("\x0a\x01\x05\x12\x01\x01", 6);
  EXPECT_TRUE(Delayed::decode(second, one).has_value());
  EXPECT_TRUE(broken(Delayed::decode(between, one))) << "not a whole second";
  EXPECT_TRUE(broken(Delayed::decode(late, one))) << "later than any time";
  EXPECT_TRUE(broken(Delayed::decode(second, "\x0a\x01\x05"))) << "no count";
  EXPECT_TRUE(broken(Delayed::decode(second, "\x0a\x02\x05\x06\x12\x01\x01"))) << "too few counts";
  EXPECT_TRUE(broken(Delayed::decode(second, std::string("\x0a\x01\x05\x12\x01\x00", 6))));
  EXPECT_TRUE(broken(Delayed::decode(second, "\x0a\x02\xe8\x07\x12\x01\x01"))) << "1000 ms";
}

TEST(Codec, FieldsFromANewerServerAreSkipped) {
  std::string value = put_of(core::Put<core::Queue>{samples::queue()}).value;
  value += std::string("\xf2\x07\x03new", 6);  // field 126, three bytes
  EXPECT_EQ(Codec<core::Queue>::decode({core::TenantId{5}, "orders"}, value), samples::queue());
}

}  // namespace HK_TEST_FILE
}  // namespace hk::store
