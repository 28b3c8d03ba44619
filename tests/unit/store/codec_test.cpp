#include "store/codec.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "store/key.h"
#include "unit/store/samples.h"

namespace hk::store {
namespace HK_TEST_FILE {

std::vector<Write> encoded(core::Mutation mutation) {
  std::vector<Write> out;
  encode(mutation, out);
  return out;
}

/// Every mutation kind that puts one record.
Write put_of(core::Mutation mutation) {
  std::vector<Write> writes = encoded(std::move(mutation));
  EXPECT_EQ(writes.size(), 1U);
  EXPECT_EQ(writes.front().kind, Write::Kind::put);
  return writes.front();
}

TEST(Codec, AMessageComesBackAsItWas) {
  const auto original = std::make_shared<const core::Message>(samples::message());
  const Write write = put_of(core::PutMessage{original});
  EXPECT_EQ(write.table, Table::message);
  EXPECT_EQ(write.key, seq_key(original->id.seq));
  const auto decoded = decode_message(original->id.seq, write.value);
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
    const Write write = put_of(core::PutMessage{std::make_shared<const core::Message>(message)});
    const auto decoded = decode_message(core::Seq{1}, write.value);
    ASSERT_TRUE(decoded.has_value());
    EXPECT_EQ(*decoded, message);
  }
}

TEST(Codec, ALargeMessageLeavesNothingBehindInTheNextOne) {
  core::Message large = samples::message();
  large.body.assign(2'000'000, 'x');
  for (int i = 0; i < 130; ++i) {
    const core::Message message = i % 50 == 0 ? large : core::Message{};
    const Write write = put_of(core::PutMessage{std::make_shared<const core::Message>(message)});
    ASSERT_EQ(decode_message(message.id.seq, write.value), message);
  }
}

TEST(Codec, StatesAndAttemptsComeBackAsTheyWere) {
  for (const core::MessageState& state : {samples::state(), core::MessageState{}}) {
    const Write write = put_of(core::PutState{core::Seq{77}, state});
    EXPECT_EQ(write.table, Table::state);
    EXPECT_EQ(write.key, seq_key(core::Seq{77}));
    EXPECT_EQ(decode_state(write.value), state);
  }
  const Write write = put_of(core::PutAttempt{core::Seq{77}, samples::attempt(2)});
  EXPECT_EQ(write.table, Table::attempt);
  EXPECT_EQ(write.key, attempt_key(core::Seq{77}, 2));
  EXPECT_EQ(decode_attempt(write.value), samples::attempt(2));
}

TEST(Codec, LaneEntriesComeBackAsTheyWere) {
  const Write write = put_of(core::PutLaneEntry{samples::lane(), samples::lane_entry()});
  EXPECT_EQ(write.table, Table::lane);
  const auto parsed = parse_lane_entry_key(write.key);
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->first, samples::lane());
  EXPECT_EQ(decode_lane_entry(parsed->second, write.value), samples::lane_entry());
}

TEST(Codec, RecordsOfABatchComeBackAsTheyWere) {
  const core::Dedup dedup{{core::Seq{77}, 12}, moment_from_ms(99)};
  const Write put_dedup = put_of(core::PutDedup{core::TenantId{5}, "d-1", dedup});
  EXPECT_EQ(put_dedup.table, Table::dedup);
  EXPECT_EQ(put_dedup.key, named_key(core::TenantId{5}, "d-1"));
  EXPECT_EQ(decode_dedup(put_dedup.value), dedup);

  const core::AppendEvents events = samples::events();
  const Write append = put_of(events);
  EXPECT_EQ(append.table, Table::event);
  EXPECT_EQ(append.key, event_key(events.tenant, events.time, events.batch));
  const auto back = decode_events(events.tenant, events.time, events.batch, append.value);
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->tenant, events.tenant);
  EXPECT_EQ(back->time, events.time);
  EXPECT_EQ(back->batch, events.batch);
  EXPECT_EQ(back->events, events.events);

  const core::PutExpiry expiry = samples::expiry();
  const Write put_expiry = put_of(expiry);
  EXPECT_EQ(put_expiry.table, Table::expiry);
  EXPECT_EQ(put_expiry.key, expiry_key(expiry.at, expiry.batch));
  const auto due = decode_expiry(expiry.at, expiry.batch, put_expiry.value);
  ASSERT_TRUE(due.has_value());
  EXPECT_EQ(due->at, expiry.at);
  EXPECT_EQ(due->batch, expiry.batch);
  EXPECT_EQ(due->messages, expiry.messages);
  EXPECT_EQ(due->dedups, expiry.dedups);

  const core::DeadLetterKey dead{core::TenantId{5}, moment_from_ms(3), core::Seq{77}};
  const Write put_dead = put_of(core::PutDeadLetter{dead});
  EXPECT_EQ(put_dead.table, Table::dead_letter);
  EXPECT_EQ(parse_dead_letter_key(put_dead.key), dead);

  const Write put_counters = put_of(core::PutCounters{core::TenantId{5}, samples::counters()});
  EXPECT_EQ(put_counters.table, Table::counters);
  EXPECT_EQ(put_counters.key, tenant_key(core::TenantId{5}));
  EXPECT_EQ(decode_counters(put_counters.value), samples::counters());
}

TEST(Codec, SettingsComeBackAsTheyWere) {
  const Write queue = put_of(core::PutQueue{samples::queue()});
  EXPECT_EQ(queue.table, Table::queue);
  EXPECT_EQ(queue.key, named_key(core::TenantId{5}, "orders"));
  EXPECT_EQ(decode_queue(core::TenantId{5}, "orders", queue.value), samples::queue());

  const Write flow_key = put_of(core::PutFlowKey{samples::flow_key()});
  EXPECT_EQ(flow_key.table, Table::flow_key);
  EXPECT_EQ(flow_key.key, named_key(core::TenantId{5}, "flow"));
  EXPECT_EQ(decode_flow_key(core::TenantId{5}, "flow", flow_key.value), samples::flow_key());

  const Write group = put_of(core::PutUrlGroup{samples::url_group()});
  EXPECT_EQ(group.table, Table::url_group);
  EXPECT_EQ(group.key, named_key(core::TenantId{5}, "group"));
  EXPECT_EQ(decode_url_group(core::TenantId{5}, "group", group.value), samples::url_group());

  const Write tenant = put_of(core::PutTenant{samples::tenant()});
  EXPECT_EQ(tenant.table, Table::tenant);
  EXPECT_EQ(tenant.key, tenant_key(core::TenantId{5}));
  EXPECT_EQ(decode_tenant(core::TenantId{5}, tenant.value), samples::tenant());

  const Write meta = put_of(core::PutMeta{samples::meta()});
  EXPECT_EQ(meta.table, Table::meta);
  EXPECT_EQ(meta.key, meta_key);
  EXPECT_EQ(decode_meta(meta.value), samples::meta());
}

TEST(Codec, DeletionsEraseTheKeyThatThePutWrote) {
  struct Row {
    const char* name;
    core::Mutation put;
    core::Mutation erase;
  };
  const core::DeadLetterKey dead{core::TenantId{5}, moment_from_ms(3), core::Seq{77}};
  const Row rows[] = {
      {"lane", core::PutLaneEntry{samples::lane(), samples::lane_entry()},
       core::DeleteLaneEntry{samples::lane(), samples::lane_entry().place}},
      {"dedup", core::PutDedup{core::TenantId{5}, "x", {}},
       core::DeleteDedup{core::TenantId{5}, "x"}},
      {"dead letter", core::PutDeadLetter{dead}, core::DeleteDeadLetter{dead}},
      {"expiry", samples::expiry(),
       core::DeleteExpiry{samples::expiry().at, samples::expiry().batch}},
      {"queue", core::PutQueue{samples::queue()},
       core::DeleteQueue{core::TenantId{5}, samples::queue().name}},
      {"flow key", core::PutFlowKey{samples::flow_key()},
       core::DeleteFlowKey{core::TenantId{5}, samples::flow_key().key}},
      {"URL group", core::PutUrlGroup{samples::url_group()},
       core::DeleteUrlGroup{core::TenantId{5}, samples::url_group().name}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const Write put = put_of(row.put);
    const std::vector<Write> erase = encoded(row.erase);
    ASSERT_EQ(erase.size(), 1U);
    EXPECT_EQ(erase[0].kind, Write::Kind::erase);
    EXPECT_EQ(erase[0].table, put.table);
    EXPECT_EQ(erase[0].key, put.key);
  }
}

TEST(Codec, PurgingAMessageErasesItsRowsAndNobodyElses) {
  const std::vector<Write> bare = encoded(core::PurgeMessage{core::Seq{77}, false});
  ASSERT_EQ(bare.size(), 2U);
  EXPECT_EQ(bare[0].table, Table::message);
  EXPECT_EQ(bare[1].table, Table::state);
  for (const Write& write : bare) {
    EXPECT_EQ(write.kind, Write::Kind::erase);
    EXPECT_EQ(write.key, seq_key(core::Seq{77}));
  }

  const std::vector<Write> with_attempts = encoded(core::PurgeMessage{core::Seq{77}, true});
  ASSERT_EQ(with_attempts.size(), 3U);
  const Write& range = with_attempts[2];
  EXPECT_EQ(range.kind, Write::Kind::erase_range);
  EXPECT_EQ(range.table, Table::attempt);
  const auto in_range = [&range](const std::string& key) {
    return range.key <= key && key < range.value;
  };
  EXPECT_TRUE(in_range(attempt_key(core::Seq{77}, 1)));
  EXPECT_TRUE(in_range(attempt_key(core::Seq{77}, 1'000'000)));
  EXPECT_FALSE(in_range(attempt_key(core::Seq{76}, 1'000'000)));
  EXPECT_FALSE(in_range(attempt_key(core::Seq{78}, 0)));
}

TEST(Codec, PurgingEventsErasesWhatIsOlderOfThatTenant) {
  const auto writes = encoded(core::PurgeEvents{core::TenantId{5}, moment_from_ms(100)});
  ASSERT_EQ(writes.size(), 1U);
  const auto in_range = [&](std::uint32_t tenant, std::int64_t ms, std::uint64_t batch) {
    const std::string key = event_key(core::TenantId{tenant}, moment_from_ms(ms), batch);
    return writes[0].key <= key && key < writes[0].value;
  };
  EXPECT_TRUE(in_range(5, 0, 0));
  EXPECT_TRUE(in_range(5, 99, ~0ULL));
  EXPECT_FALSE(in_range(5, 100, 0));
  EXPECT_FALSE(in_range(4, 99, 0));
  EXPECT_FALSE(in_range(6, 0, 0));

  const auto nothing = encoded(core::PurgeEvents{core::TenantId{5}, moment_from_ms(-1)});
  ASSERT_EQ(nothing.size(), 1U);
  EXPECT_EQ(nothing[0].key, nothing[0].value);
}

/// Calls every decoder; the point is that none of them does anything but answer.
std::size_t decode_with_all(std::string_view bytes) {
  const core::TenantId tenant{1};
  std::size_t accepted = 0;
  accepted += decode_message(core::Seq{1}, bytes).has_value();
  accepted += decode_state(bytes).has_value();
  accepted += decode_attempt(bytes).has_value();
  accepted += decode_lane_entry({}, bytes).has_value();
  accepted += decode_dedup(bytes).has_value();
  accepted += decode_events(tenant, {}, 1, bytes).has_value();
  accepted += decode_expiry({}, 1, bytes).has_value();
  accepted += decode_queue(tenant, "q", bytes).has_value();
  accepted += decode_flow_key(tenant, "f", bytes).has_value();
  accepted += decode_tenant(tenant, bytes).has_value();
  accepted += decode_counters(bytes).has_value();
  accepted += decode_meta(bytes).has_value();
  return accepted;
}

TEST(Codec, ArbitraryBytesAreAnErrorOrARecordButNeverMore) {
  SeededRng rng(3);
  std::vector<std::string> seeds;
  for (const core::Mutation& mutation :
       {core::Mutation{core::PutMessage{std::make_shared<const core::Message>(samples::message())}},
        core::Mutation{core::PutState{core::Seq{1}, samples::state()}},
        core::Mutation{samples::events()}, core::Mutation{samples::expiry()},
        core::Mutation{core::PutTenant{samples::tenant()}}}) {
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
    refused += decode_with_all(bytes) < 12 ? 1 : 0;
  }
  EXPECT_GT(refused, 1000U);
}

TEST(Codec, NumbersThatAreNoStatusOrEventKindAreCorruption) {
  const std::string unknown_status("\x08\x2a", 2);       // status = 42
  const std::string wrapping_status("\x08\x81\x02", 3);  // status = 257: 1 in the low byte
  const std::string unknown_kind("\x0a\x01\x01\x12\x01\x63\x1a\x01\x00", 9);
  const std::string uneven_lists("\x0a\x01\x01", 3);
  EXPECT_EQ(decode_state("").error().kind, ErrorKind::corruption);
  EXPECT_EQ(decode_state(unknown_status).error().kind, ErrorKind::corruption);
  EXPECT_EQ(decode_state(wrapping_status).error().kind, ErrorKind::corruption);
  EXPECT_EQ(decode_events({}, {}, 1, unknown_kind).error().kind, ErrorKind::corruption);
  EXPECT_EQ(decode_events({}, {}, 1, uneven_lists).error().kind, ErrorKind::corruption);
}

TEST(Codec, FieldsFromANewerServerAreSkipped) {
  std::string value = put_of(core::PutQueue{samples::queue()}).value;
  value += std::string("\xf2\x07\x03new", 6);  // field 126, three bytes
  EXPECT_EQ(decode_queue(core::TenantId{5}, "orders", value), samples::queue());
}

}  // namespace HK_TEST_FILE
}  // namespace hk::store
