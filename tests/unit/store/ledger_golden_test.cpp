/// Bytes of the ledger as they are on disk. A golden record is never changed: a new field gets a
/// new record, and the old ones must still decode to what they meant.
#include <gtest/gtest.h>

#include "base/encoding.h"
#include "core/ledger/payload.h"
#include "store/codec.h"
#include "store/records.pb.h"

namespace hk::store {
namespace HK_TEST_FILE {

using namespace core::ledger;

constexpr core::TenantId tenant{1};
constexpr Amount large = (Amount{3} << 64U) | 5;

Run run_of(std::uint64_t first) {
  return {.first_seq = first,
          .first_recorded = instant_from_ns(1000),
          .before = {.debits_posted = large, .credits_pending = 7},
          .late_before = {.credits_posted = ~Amount{0}},
          .version_before = 4,
          .effective_before = instant_from_ns(-5),
          .count = 2,
          .last_seq = first + 3,
          .last_recorded = instant_from_ns(2000),
          .movements = std::string("\x00\x01\x02", 3)};
}

template <class R>
void expect_golden(const R& record, std::string_view golden) {
  const std::string bytes = Codec<R>::encode(record);
  EXPECT_EQ(hex(bytes), golden);
  const auto back = Codec<R>::decode(core::own_key(record), *unhex(golden));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, record);
  // Cut anywhere, it is refused or a record that has less: never undefined.
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    static_cast<void>(
        Codec<R>::decode(core::own_key(record), std::string_view(bytes).substr(0, length)));
  }
}

TEST(LedgerGolden, Book) {
  expect_golden(
      Book{.tenant = tenant,
           .id = "main",
           .number = 2,
           .name = "n",
           .created_at = instant_from_ns(9),
           .closed_through = instant_from_ns(0),
           .public_key = "pk",
           .sealed_key = "sk",
           .currencies = {{1000, "PTS", 3}},
           .indexed = {"order"},
           .subscriptions = {{.id = "lsub_1",
                              .url = "u",
                              .host = "h",
                              .url_group = "g",
                              .queue = "q",
                              .types = {"a"},
                              .created_at = instant_from_ns(8)}}},
      "080212016e1909000000000000002100000000000000002a02706b3202736b3a0a08e807120350545318"
      "0342056f726465724a200a066c7375625f311201751a01682201672a0171320161390800000000000000");
}

TEST(LedgerGolden, ImportedBook) {
  expect_golden(Book{.tenant = tenant,
                     .id = "main",
                     .number = 2,
                     .created_at = instant_from_ns(9),
                     .importing = true,
                     .imported_through = 7,
                     .next_public_key = "nk",
                     .former_keys = {{5, "ok"}}},
                "080219090000000000000050015807"
                "62026e6b6a06080512026f6b");
}

TEST(LedgerGolden, Rollup) {
  expect_golden(Rollup{.tenant = tenant,
                       .book = 2,
                       .prefix = "a:b",
                       .created_at = instant_from_ns(4),
                       .complete = true,
                       .reached = "r",
                       .sums = {{.currency = 840,
                                 .debits_posted = {large, 9},
                                 .credits_posted = {6, 0},
                                 .credits_pending = {0, 1},
                                 .debit_accounts = 1,
                                 .credit_accounts = 2}}},
                "09040000000000000010011a01722211"
                "08c8061001180220052803300938067801");
}

TEST(LedgerGolden, Reconciliation) {
  expect_golden(ReconSource{.tenant = tenant,
                            .book = 2,
                            .id = "bank:1",
                            .number = 4,
                            .account = "a",
                            .account_number = 7,
                            .currency = 840,
                            .window_days = 3,
                            .automatic = false,
                            .used = true,
                            .created_at = instant_from_ns(4)},
                "0a0161100718c80620032801300139"
                "04000000000000004004");
  Hash hash{};
  hash.fill(0xab);
  std::string hashed;
  for (int i = 0; i < 32; ++i) {
    hashed += "ab";
  }
  expect_golden(ReconLine{.tenant = tenant,
                          .book = 2,
                          .source = 3,
                          .external_id = "e",
                          .known = false,
                          .date = instant_from_ns(6),
                          .amount = {true, 9},
                          .reference = "r",
                          .text = "t",
                          .state = ReconState::matched,
                          .rule = ReconRule::several,
                          .entries = {{5, 1}, {6, 0}},
                          .hash = hash},
                "08011106000000000000001a04080110092201722a01743003"
                "3804420408051001420208064a20" +
                    hashed);
  expect_golden(ReconEntry{.tenant = tenant,
                           .book = 2,
                           .account = 7,
                           .seq = 5,
                           .index = 1,
                           .source = "s",
                           .external_id = "e"},
                "0a0173120165");
  expect_golden(ReconDay{.tenant = tenant, .book = 2, .source = 3, .day = 5, .external_id = "e"},
                "");
}

TEST(LedgerGolden, PayloadOfAKey) {
  std::string bytes;
  encode(Payload(KeyChanged{.recorded_at = instant_from_ns(2), .public_key = "k"}), bytes);
  EXPECT_EQ(hex(bytes), "09020000000000000012016b");
  EXPECT_EQ(kind_of(Payload(KeyChanged{})), "key");
  bytes.clear();
  Reconciled made{.recorded_at = instant_from_ns(2), .source = "s"};
  made.decisions.push_back(
      {.action = ReconDecision::Action::ignore, .rule = ReconRule::manual, .entries = {{"t", 1}}});
  encode(Payload(made), bytes);
  EXPECT_EQ(hex(bytes),
            "090200000000000000120173"
            "1a0b180320012a050a01741001");
  EXPECT_EQ(kind_of(Payload(made)), "reconciliation");
  bytes.clear();
  encode(Payload(ReconSourceSet{.recorded_at = instant_from_ns(2),
                                .id = "s",
                                .account = "a",
                                .currency = "USD",
                                .window_days = 3,
                                .automatic = false}),
         bytes);
  EXPECT_EQ(hex(bytes),
            "0902000000000000001201731a01612203555344280330"
            "01");
}

TEST(LedgerGolden, Account) {
  expect_golden(
      Account{.tenant = tenant,
              .book = 2,
              .id = "a",
              .number = 7,
              .path = "p:a",
              .type = AccountType::liability,
              .currency = 840,
              .state = Account::State::frozen,
              .created_at = instant_from_ns(9),
              .seq = 3,
              .limits = {{840, Signed{true, 5}, Signed{false, large}}},
              .standings = {{.currency = 840,
                             .now = {.debits_posted = 1, .credits_posted = large},
                             .late = {.debits_pending = 2},
                             .version = 6,
                             .effective_max = instant_from_ns(77),
                             .late_root = 3,
                             .late_last_node = 4,
                             .last = run_of(11)}}},
      "08071203703a61180320c80628023109000000000000003803420f08c8061204080110051a0410051803"
      "4a6308c8061006194d00000000000000200328043246080b11e803000000000000180421fbffffffffff"
      "ffff2802300e39d00700000000000042030001024805500378079801ffffffffffffffffff01a001ffff"
      "ffffffffffffff01380148055003980102");
}

TEST(LedgerGolden, Names) {
  expect_golden(
      Name{.tenant = tenant, .book = 2, .kind = Name::Kind::path, .name = "p", .account = "a"},
      "0a0161");
  expect_golden(Name{.tenant = tenant, .book = 2, .kind = Name::Kind::key, .name = "k", .seq = 300},
                "10ac02");
}

TEST(LedgerGolden, Segment) {
  Segment segment{.tenant = tenant, .book = 2, .first_seq = 5};
  segment.prev_hash.fill(1);
  Record record{.seq = 5,
                .recorded_at = instant_from_ns(0x0102030405060708),
                .kind = "transaction",
                .payload = std::string("\x09\x08\x07\x06\x05\x04\x03\x02\x01", 9)};
  record.hash.fill(2);
  segment.records.push_back(record);
  expect_golden(
      segment,
      "0a200101010101010101010101010101010101010101010101010101010101010101123a0a0b7472616e"
      "73616374696f6e12090908070605040302011a2002020202020202020202020202020202020202020202"
      "02020202020202020202");
}

TEST(LedgerGolden, Block) {
  expect_golden(
      Block{.tenant = tenant, .book = 2, .account = 7, .currency = 840, .run = run_of(11)},
      "11e803000000000000180421fbffffffffffffff2802300e39d007000000000000420300010248055003"
      "78079801ffffffffffffffffff01a001ffffffffffffffffff01");
}

TEST(LedgerGolden, Late) {
  expect_golden(Late{.tenant = tenant,
                     .book = 2,
                     .account = 7,
                     .currency = 840,
                     .node = 3,
                     .movements = {{.seq = 9,
                                    .index = 1,
                                    .side = Side::credit,
                                    .phase = Movement::Phase::released,
                                    .late = true,
                                    .amount = large,
                                    .effective_at = instant_from_ns(-1),
                                    .recorded_at = instant_from_ns(1)}}},
                "0a1e08091001180220022805300339ffffffffffffffff410100000000000000");
  expect_golden(
      Late{.tenant = tenant,
           .book = 2,
           .account = 7,
           .currency = 840,
           .node = 4,
           .children = {{.node = 3,
                         .effective_at = instant_from_ns(-1),
                         .seq = 9,
                         .sum = {.credits_pending = ~Amount{0}},
                         .seq_min = 9,
                         .seq_max = 12}}},
      "1227080311ffffffffffffffff18092009280c60ffffffffffffffffff0168ffffffffffffffffff01");
}

TEST(LedgerGolden, Outcome) {
  expect_golden(Outcome{.tenant = tenant,
                        .book = 2,
                        .seq = 9,
                        .state = Outcome::State::expired,
                        .part_posted = true,
                        .expires_at = instant_from_ns(5),
                        .left = {0, large},
                        .reversed = {1},
                        .resolved_by = {10, 300},
                        .reversed_by = {11}},
                "0804100119050000000000000022002204080510032a02080132030aac023a010b");
}

TEST(LedgerGolden, OpenHold) {
  expect_golden(OpenHold{.tenant = tenant,
                         .book = 2,
                         .expires = ordered(no_end),
                         .seq = 9,
                         .effective_at = instant_from_ns(0)},
                "090000000000000000");
}

TEST(LedgerGolden, Metadata) {
  expect_golden(Metadata{.tenant = tenant,
                         .book = 2,
                         .of = Metadata::Of::account,
                         .number = 7,
                         .seq = 9,
                         .values = {{.entry = 1, .key = "k", .value = "v", .salt = "s"},
                                    {.key = "gone", .removed = true},
                                    {.key = "erased", .erased = true}}},
                "0a0b080112016b2a01763201730a081204676f6e6518010a0a12066572617365642001");
}

TEST(LedgerGolden, Monitor) {
  expect_golden(Monitor{.tenant = tenant,
                        .book = 2,
                        .number = 3,
                        .id = "lmon_1",
                        .account = "a",
                        .prefix = "p",
                        .currency = 840,
                        .reading = Reading::available,
                        .compare = Compare::lt,
                        .value = {true, 9},
                        .created_at = instant_from_ns(4)},
                "0a066c6d6f6e5f311201611a017020c806280330043a0408011009410400000000000000");
}

TEST(LedgerGolden, WhatTheKeyAloneSays) {
  for (const core::Timer::Kind kind :
       {core::Timer::Kind::ledger_expiry, core::Timer::Kind::ledger_checkpoint,
        core::Timer::Kind::ledger_rollup}) {
    expect_golden(
        core::Timer{.due = moment_from_ms(5), .kind = kind, .tenant = tenant, .key = "main"}, "");
  }
  expect_golden(SegmentTime{.tenant = tenant, .book = 2, .recorded = 3, .first_seq = 4}, "");
  expect_golden(BlockTime{.tenant = tenant,
                          .book = 2,
                          .account = 7,
                          .currency = 840,
                          .effective_before = 5,
                          .first_seq = 6},
                "");
  expect_golden(IndexEntry{.tenant = tenant,
                           .book = 2,
                           .kind = IndexEntry::Kind::reference,
                           .name = std::string("r\0x", 3)},
                "");
}

}  // namespace HK_TEST_FILE
}  // namespace hk::store
