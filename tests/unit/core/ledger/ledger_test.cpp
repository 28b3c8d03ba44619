#include <gtest/gtest.h>

#include "base/encoding.h"
#include "base/json_reader.h"
#include "core/ledger/chain.h"
#include "core/ledger/split.h"
#include "security/digest.h"
#include "unit/core/ledger/book_rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

using namespace ledger;

Signed plus(Amount amount) { return {false, amount}; }
Signed minus(Amount amount) { return {true, amount}; }

struct Wallet : BookRig {
  explicit Wallet(const Limits& limits = {}) : BookRig(limits) {
    account("world", AccountType::asset);
    account("alice", AccountType::liability, plus(0));
    account("bob", AccountType::liability, plus(0), plus(500));
    EXPECT_EQ(code(transfer("world", "alice", 100)), "");
  }
  /// alice pays bob
  static CreateTransaction pay(Amount amount) { return transfer("alice", "bob", amount); }
  std::string hold(Amount amount, std::optional<std::uint64_t> timeout = {}) {
    CreateTransaction create = pay(amount);
    create.kind = TransactionMade::Kind::pending;
    create.timeout_s = timeout;
    const auto made = one(std::move(create));
    EXPECT_EQ(code_of(made), "");
    return made ? made->id : "";
  }
};

TEST(LedgerAmount, TextAndBack) {
  EXPECT_EQ(to_text(amount_max), "340282366920938463463374607431768211455");
  EXPECT_EQ(parse_amount("340282366920938463463374607431768211455"), amount_max);
  EXPECT_EQ(parse_amount("340282366920938463463374607431768211456"), std::nullopt);
  EXPECT_EQ(parse_amount(""), std::nullopt);
  EXPECT_EQ(parse_amount("-1"), std::nullopt);
  EXPECT_EQ(parse_amount("1.0"), std::nullopt);
  EXPECT_EQ(parse_signed("-7"), minus(7));
  EXPECT_EQ(parse_signed("-0"), plus(0));
  EXPECT_LT(minus(8), minus(7));
  EXPECT_LT(minus(1), plus(0));
}

TEST(LedgerSplit, IsExact) {
  struct Row {
    std::string_view name;
    Amount amount;
    std::vector<SplitPart> parts;
    std::string shares;
  };
  const auto ratio = [](std::uint64_t r) { return SplitPart{.ratio = r}; };
  const auto percent = [](std::uint64_t p, std::uint32_t d) {
    return SplitPart{.how = SplitPart::How::percent, .percent = p, .percent_decimals = d};
  };
  const SplitPart rest{.how = SplitPart::How::remainder};
  const Row rows[] = {
      {"thirds: ties to the earlier", 100, {ratio(1), ratio(1), ratio(1)}, "34 33 33"},
      {"one unit", 1, {ratio(1), ratio(2)}, "0 1"},
      {"percents", 1000, {percent(125, 1), rest}, "125 875"},
      {"percents rounded", 99, {percent(50, 0), percent(50, 0)}, "50 49"},
      {"more than all", 10, {percent(60, 0), percent(60, 0)}, "refused"},
      {"less than all", 10, {percent(60, 0)}, "refused"},
      {"mixed", 10, {ratio(1), rest}, "refused"},
      {"large",
       amount_max,
       {ratio(1), ratio(1)},
       "170141183460469231731687303715884105728 170141183460469231731687303715884105727"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const auto shares = split_amount(row.amount, row.parts);
    std::string text;
    if (shares) {
      for (const Amount share : *shares) {
        text += (text.empty() ? "" : " ") + to_text(share);
      }
    } else {
      text = "refused";
    }
    EXPECT_EQ(text, row.shares);
  }
}

TEST(LedgerChain, HashIsOverTheBytesOfTheReference) {
  const std::string expected = std::string("\x01\x00\x04", 3) + "main" +
                               std::string("\0\0\0\0\0\0\0\x02", 8) + std::string(32, '\x07') +
                               std::string("\x00\x07", 2) + "account" +
                               std::string("\0\0\0\x03", 4) + "abc";
  Hash prev;
  prev.fill(7);
  EXPECT_EQ(record_hash("main", 2, prev, "account", "abc"), security::sha256(expected));
}

TEST(LedgerChain, MerklePathsLeadToTheRoot) {
  std::vector<Hash> hashes;
  for (std::uint8_t i = 0; i < 13; ++i) {
    hashes.emplace_back().fill(i);
    const Hash root = merkle_root(hashes);
    for (std::size_t at = 0; at < hashes.size(); ++at) {
      EXPECT_EQ(merkle_root_of(hashes[at], merkle_path(hashes, at)), root);
    }
  }
}

TEST(Ledger, TransfersMoveBalances) {
  Wallet rig;

  EXPECT_EQ(rig.code(Wallet::pay(30)), "");

  EXPECT_EQ(rig.balance("alice"), "70 70 70 v2");
  EXPECT_EQ(rig.balance("bob"), "30 30 30 v1");
  EXPECT_EQ(rig.balance("world"), "100 100 100 v1");
  rig.rig.restart();
  EXPECT_EQ(rig.code(Wallet::pay(71)), "insufficient_funds");
  EXPECT_EQ(rig.code(Wallet::pay(70)), "");
  EXPECT_EQ(rig.balance("bob"), "100 100 100 v2");
}

TEST(Ledger, RefusesWhatIsWrong) {
  struct Row {
    std::string_view name;
    std::string code;
    CreateTransaction create;
  };
  const auto with = [](std::vector<EntryIn> entries) {
    CreateTransaction create;
    create.entries = std::move(entries);
    return create;
  };
  const Instant now = Instant{moment_from_ms(1'000'000)};
  Row rows[] = {
      {"none", "too_few_entries", {}},
      {"one", "unbalanced", with({debit("alice", 1)})},
      {"unbalanced", "unbalanced", with({debit("alice", 1), credit("bob", 2)})},
      {"two currencies", "unbalanced", with({debit("alice", 1), credit("bob", 1, "EUR")})},
      {"zero", "amount_invalid", with({debit("alice", 0), credit("bob", 0)})},
      {"no account", "account_not_found", with({debit("alice", 1), credit("carol", 1)})},
      {"no currency", "currency_unknown",
       with({debit("alice", 1, "XYZ"), credit("bob", 1, "XYZ")})},
      {"overdraft", "insufficient_funds", with({debit("alice", 101), credit("bob", 101)})},
      {"above", "limit_exceeded", with({debit("world", 501), credit("bob", 501)})},
      {"overflow", "limit_exceeded",
       with({debit("world", amount_max), debit("world", 1), credit("alice", amount_max),
             credit("alice", 1)})},
      {"expires", "invalid timeout", {}},
      {"future", "effective_at_invalid", Wallet::pay(1)},
      {"id", "invalid id", Wallet::pay(1)},
      {"parent", "transaction_not_found", Wallet::pay(1)},
      {"condition", "condition_failed", Wallet::pay(1)},
      {"version", "version_conflict", Wallet::pay(1)},
  };
  rows[10].create = Wallet::pay(1);
  rows[10].create.timeout_s = 5;
  rows[11].create.effective_at = now + std::chrono::minutes{6};
  rows[12].create.id = "no spaces";
  rows[13].create.parent = "nobody";
  rows[14].create.conditions = {
      {.account = "alice", .currency = "USD", .compare = Compare::gte, .value = plus(100)}};
  rows[15].create.conditions = {{.account = "alice", .currency = "USD", .expect_version = 7}};
  Wallet rig;
  const std::size_t records = rig.records().size();
  for (Row& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(rig.code(std::move(row.create)), row.code);
  }
  EXPECT_EQ(rig.records().size(), records);
  EXPECT_EQ(rig.balance("alice"), "100 100 100 v1");
}

TEST(Ledger, SameIdTwiceIsOneTransaction) {
  Wallet rig;
  CreateTransaction create = Wallet::pay(10);
  create.id = "order-1";
  create.idempotency_key = "charge:1";
  const auto first = rig.one(CreateTransaction(create));
  ASSERT_TRUE(first);

  rig.rig.restart();
  const auto again = rig.one(CreateTransaction(create));

  ASSERT_TRUE(again);
  EXPECT_TRUE(again->replayed);
  EXPECT_EQ(again->seq, first->seq);
  struct Row {
    std::string_view name;
    std::string code;
    std::function<void(CreateTransaction&)> change;
  };
  const Row rows[] = {
      {"id", "exists_with_different_id", [](auto& one) { one.id = "order-2"; }},
      {"no id", "exists_with_different_id", [](auto& one) { one.id.reset(); }},
      {"key", "exists_with_different_idempotency_key",
       [](auto& one) { one.idempotency_key = "charge:2"; }},
      {"kind", "exists_with_different_kind",
       [](auto& one) { one.kind = TransactionMade::Kind::posted; }},
      {"description", "exists_with_different_description", [](auto& one) { one.description = ""; }},
      {"metadata", "exists_with_different_metadata",
       [](auto& one) {
         one.metadata = {{"a", "b"}};
       }},
      {"amount", "exists_with_different_entries", [](auto& one) { one.entries[0].amount = 11; }},
      {"all", "exists_with_different_entries",
       [](auto& one) { one.entries[0].given = EntryIn::Given::all; }},
      {"conditions", "exists_with_different_conditions",
       [](auto& one) {
         one.conditions = {{.account = "alice", .currency = "USD", .expect_version = 1}};
       }},
      {"check_history", "exists_with_different_check_history",
       [](auto& one) { one.check_history = false; }},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    CreateTransaction other = create;
    row.change(other);
    EXPECT_EQ(rig.code(std::move(other)), row.code);
  }
  EXPECT_EQ(rig.balance("bob"), "10 10 10 v1");
}

TEST(Ledger, HoldsArePostedVoidedAndExpire) {
  Wallet rig;
  const std::string hold = rig.hold(60);
  EXPECT_EQ(rig.balance("alice"), "100 40 40 v2");
  EXPECT_EQ(rig.balance("bob"), "0 60 0 v1");
  EXPECT_EQ(rig.code(Wallet::pay(41)), "insufficient_funds");

  PostHold part{};
  part.of = hold;
  part.amounts = {20, 20};
  part.final = false;
  EXPECT_EQ(rig.code(PostHold(part)), "");
  EXPECT_EQ(rig.balance("alice"), "80 40 40 v3");
  part.amounts = {41, 41};
  EXPECT_EQ(rig.code(PostHold(part)), "exceeds_hold");
  part.amounts = {10, 5};
  EXPECT_EQ(rig.code(PostHold(part)), "unbalanced");
  VoidHold release{};
  release.of = hold;
  EXPECT_EQ(rig.code(VoidHold(release)), "");
  EXPECT_EQ(rig.balance("alice"), "80 80 80 v4");
  EXPECT_EQ(rig.code(VoidHold(release)), "already_voided");
  EXPECT_EQ(rig.code(PostHold(part)), "already_voided");

  const std::string second = rig.hold(80);
  part.of = second;
  part.amounts.reset();
  part.final.reset();
  EXPECT_EQ(rig.code(PostHold(part)), "");
  EXPECT_EQ(rig.code(PostHold(part)), "already_posted");
  EXPECT_EQ(rig.balance("alice"), "0 0 0 v6");

  EXPECT_EQ(rig.code(BookRig::transfer("world", "alice", 50)), "");
  const std::string third = rig.hold(50, 10);
  rig.rig.restart();
  rig.rig.pass(Millis{9'999});
  EXPECT_EQ(rig.code(Wallet::pay(1)), "insufficient_funds");
  rig.rig.pass(Millis{2});
  EXPECT_EQ(rig.code(Wallet::pay(50)), "") << "what has expired does not count, timer or not";
  part.of = third;
  EXPECT_EQ(rig.code(PostHold(part)), "expired");
  const auto records = rig.records();
  EXPECT_EQ(records[records.size() - 2].kind, "expiry");
  EXPECT_EQ(records.back().kind, "transaction");
}

TEST(Ledger, AHoldExpiresByItsTimer) {
  Wallet rig;
  rig.hold(60, 10);
  rig.rig.pass(Millis{10'001});
  rig.rig.run();
  EXPECT_EQ(rig.balance("alice"), "100 100 100 v3");
  EXPECT_TRUE(rig.rig.reader.rows<OpenHold>().empty());
}

TEST(Ledger, ManyHoldsExpireInSeveralBatches) {
  Limits limits;
  limits.ledger_expiries_per_batch = 3;
  Wallet rig(limits);
  EXPECT_EQ(rig.code(AddSubscription{.url = "https://a.example/", .host = "https://a.example:443"}),
            "");
  for (int i = 0; i < 7; ++i) {
    rig.hold(10, 10);
  }
  const std::size_t told = rig.rig.reader.rows<Message>().size();
  rig.rig.pass(Millis{10'001});

  Apply pay{.tenant = tenant_one, .book = "main"};
  pay.items.push_back({.operation = Wallet::pay(100)});
  const Reply refused = rig.rig.run(Command(Apply(pay))).replies.at(0);

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::unavailable);
  for (int batches = 0; batches < 3; ++batches) {
    rig.rig.run();
  }
  EXPECT_TRUE(rig.rig.reader.rows<OpenHold>().empty());
  EXPECT_EQ(rig.rig.reader.rows<Message>().size(), told + 7) << "an event for each";
  EXPECT_EQ(rig.code(Wallet::pay(100)), "");
}

TEST(Ledger, ABookThatIsForgottenGoesOnAsItWas) {
  Limits limits;
  limits.ledger_books = 1;
  Wallet rig(limits);
  rig.hold(60, 10);
  const std::uint64_t last = rig.records().back().seq;
  for (const char* const other : {"second", "third"}) {
    rig.book_id = other;
    EXPECT_EQ(rig.code(CreateBook{}), "");
    rig.account("world", AccountType::asset);
    rig.account("alice", AccountType::liability);
    EXPECT_EQ(rig.code(BookRig::transfer("world", "alice", 5)), "");
  }
  EXPECT_EQ(rig.rig.machine->ledger_books(), 1U);
  rig.rig.pass(Millis{10'001});
  rig.rig.run();

  rig.book_id = "main";
  EXPECT_EQ(rig.records().back().seq, last + 1);
  EXPECT_EQ(rig.records().back().kind, "expiry");
  EXPECT_EQ(rig.code(Wallet::pay(100)), "");
  EXPECT_EQ(rig.balance("alice"), "0 0 0 v4");
  rig.book_id = "second";
  EXPECT_EQ(rig.balance("alice"), "5 5 5 v1");
}

TEST(Ledger, ABatchReadsItsAccountsTogether) {
  Limits limits;
  limits.ledger_account_bytes = 0;  // none stays in memory
  BookRig rig(limits);
  rig.account("a", AccountType::asset);
  rig.account("b", AccountType::asset);
  EXPECT_EQ(rig.code(CreateAccount{.id = "c", .path = "way:to:c", .type = AccountType::asset}), "");
  std::size_t& one_by_one = rig.rig.reader.stored<Account>().asked;
  const std::size_t before = one_by_one;

  const LedgerApplied done = rig.apply({CreateAccount{.id = "new", .type = AccountType::asset},
                                        rig.transfer("a", "b", 5), rig.transfer("new", "a", 2),
                                        rig.transfer("b", "new", 1), rig.transfer("a", "c", 1)});

  for (const ItemResult& one : done.results) {
    EXPECT_EQ(BookRig::code_of(one), "");
  }
  EXPECT_EQ(one_by_one - before, 1U) << "whether \"new\" is there; the others came together";
  EXPECT_EQ(rig.balance("a"), "4 4 4 v3");
  EXPECT_EQ(rig.balance("new"), "1 1 1 v2");

  // What is not an id may be a path, or nothing.
  const LedgerApplied more = rig.apply({rig.transfer("way:to:c", "a", 7), rig.transfer("c", "b", 1),
                                        rig.transfer("way:to:c", "none", 1)});
  EXPECT_EQ(BookRig::code_of(more.results[0]), "");
  EXPECT_EQ(BookRig::code_of(more.results[1]), "");
  EXPECT_EQ(BookRig::code_of(more.results[2]), "account_not_found");
  EXPECT_EQ(rig.balance("way:to:c"), "7 7 7 v3");
}

TEST(Ledger, ReversalsAreBounded) {
  Wallet rig;
  const auto paid = rig.one(Wallet::pay(90));
  ASSERT_TRUE(paid);
  ReverseTransaction reverse{};
  reverse.of = paid->id;
  reverse.amounts = {40, 40};
  EXPECT_EQ(rig.code(ReverseTransaction(reverse)), "");
  EXPECT_EQ(rig.balance("alice"), "50 50 50 v3");
  reverse.amounts = {51, 51};
  const auto more = rig.one(ReverseTransaction(reverse));
  EXPECT_EQ(BookRig::code_of(more), "already_reversed");
  EXPECT_EQ(more.error()->amounts, (std::vector<Amount>{50, 50}));
  reverse.amounts.reset();
  EXPECT_EQ(rig.code(ReverseTransaction(reverse)), "already_reversed") << "whole means whole";
  reverse.amounts = {50, 50};
  EXPECT_EQ(rig.code(ReverseTransaction(reverse)), "");
  EXPECT_EQ(rig.code(ReverseTransaction(reverse)), "already_reversed");

  EXPECT_EQ(rig.code(Wallet::pay(100)), "");
  EXPECT_EQ(rig.code(BookRig::transfer("bob", "world", 100)), "");
  const auto first = rig.records();
  reverse = {};
  reverse.of = paid->id;
  const std::string hold = rig.one(BookRig::transfer("world", "alice", 5))->id;
  reverse.of = hold;
  EXPECT_EQ(rig.code(BookRig::transfer("alice", "world", 5)), "");
  EXPECT_EQ(rig.code(ReverseTransaction(reverse)), "insufficient_funds");
  reverse.force = true;
  EXPECT_EQ(rig.code(ReverseTransaction(reverse)), "permission_denied");
  rig.may_force = true;
  EXPECT_EQ(rig.code(ReverseTransaction(reverse)), "");
  EXPECT_EQ(rig.balance("alice"), "-5 -5 -5 v8");
}

TEST(Ledger, AnAtomicBatchIsAllOrNothing) {
  Wallet rig;
  const auto before = rig.records();
  std::vector<Operation> operations;
  operations.emplace_back(CreateAccount{.id = "carol", .type = AccountType::liability});
  operations.emplace_back(BookRig::transfer("alice", "carol", 60));
  operations.emplace_back(Wallet::pay(41));

  const auto refused = rig.apply(operations, Apply::Mode::atomic);

  EXPECT_EQ(refused.failed, 2U);
  EXPECT_EQ(BookRig::code_of(refused.results[0]), "linked_failed");
  EXPECT_EQ(BookRig::code_of(refused.results[2]), "insufficient_funds");
  EXPECT_EQ(rig.records(), before);
  EXPECT_EQ(rig.find("carol").number, 0U);
  EXPECT_EQ(rig.balance("alice"), "100 100 100 v1");
  operations[2] = Wallet::pay(40);
  const auto applied = rig.apply(operations, Apply::Mode::atomic);
  EXPECT_EQ(applied.failed, std::nullopt);
  EXPECT_EQ(rig.balance("alice"), "0 0 0 v3");
  EXPECT_EQ(rig.balance("carol"), "60 60 60 v1");
}

TEST(Ledger, LimitsCanBeCheckedAtTheEnd) {
  Wallet rig;
  std::vector<Operation> swap;
  swap.emplace_back(BookRig::transfer("bob", "alice", 50));  // bob has nothing yet
  swap.emplace_back(Wallet::pay(70));
  EXPECT_EQ(rig.apply(swap, Apply::Mode::atomic).failed, 0U);
  EXPECT_EQ(rig.apply(swap, Apply::Mode::atomic, true).failed, std::nullopt);
  EXPECT_EQ(rig.balance("bob"), "20 20 20 v2");
  swap[1] = BookRig::transfer("alice", "bob", 1);
  EXPECT_EQ(rig.apply(swap, Apply::Mode::atomic, true).failed, 1U);
}

TEST(Ledger, APreviewWritesNothing) {
  Wallet rig;
  const auto before = rig.records();
  rig.preview = true;
  const auto shown = rig.one(Wallet::pay(60));
  ASSERT_TRUE(shown);
  ASSERT_NE(shown->detail, nullptr);
  EXPECT_EQ(shown->detail->balances_after.at(0).counters.debits_posted, 60U);
  EXPECT_EQ(rig.code(Wallet::pay(101)), "insufficient_funds");
  EXPECT_EQ(rig.records(), before);
  rig.preview = false;
  EXPECT_EQ(rig.code(Wallet::pay(100)), "");
}

TEST(Ledger, AmountsCanBeFoundOut) {
  Wallet rig;
  CreateTransaction all;
  all.entries = {debit("alice", 0), credit("bob", 0)};
  all.entries[0].given = EntryIn::Given::all;
  all.entries[1].given = EntryIn::Given::rest;
  EXPECT_EQ(rig.code(CreateTransaction(all)), "");
  EXPECT_EQ(rig.balance("bob"), "100 100 100 v1");
  EXPECT_EQ(rig.code(CreateTransaction(all)), "amount_invalid") << "nothing is left";
  CreateTransaction split;
  EntryIn parts{.currency = "USD", .amount = 10, .side = Side::credit};
  parts.more = std::make_shared<const EntryIn::More>(
      EntryIn::More{.split = {{.account = "alice", .ratio = 1}, {.account = "world", .ratio = 2}}});
  split.entries = {debit("bob", 10), parts};
  EXPECT_EQ(rig.code(std::move(split)), "");
  EXPECT_EQ(rig.balance("alice"), "3 3 3 v3");
}

TEST(Ledger, BothAxesOfTime) {
  Wallet rig;
  const Instant start = Instant{rig.rig.now};
  const auto at = [&](int hours) { return start + std::chrono::hours{hours}; };
  std::vector<std::uint64_t> seqs;
  const auto pay_at = [&](Amount amount, int hours) {
    CreateTransaction create = BookRig::transfer("world", "alice", amount);
    create.effective_at = at(hours);
    const auto made = rig.one(std::move(create));
    EXPECT_EQ(BookRig::code_of(made), "");
    seqs.push_back(made ? made->seq : 0);
  };
  rig.rig.pass(std::chrono::hours{48});
  pay_at(1, 10);
  pay_at(10, 5);  // late
  pay_at(1000, 20);
  pay_at(10000, 7);  // late
  const auto posted_at = [&](const AsOf& as_of) { return rig.balance("alice", "USD", as_of); };
  EXPECT_EQ(posted_at({.effective = at(4)}), "100 100 100 v5");
  EXPECT_EQ(posted_at({.effective = at(5)}), "110 110 110 v5");
  EXPECT_EQ(posted_at({.effective = at(9)}), "10110 10110 10110 v5");
  EXPECT_EQ(posted_at({.effective = at(30)}), "11111 11111 11111 v5");
  EXPECT_EQ(posted_at({.effective = at(9), .seq = seqs[2]}), "110 110 110 v4");
  EXPECT_EQ(posted_at({.effective = at(9), .seq = seqs[0]}), "100 100 100 v2");
  EXPECT_EQ(posted_at({.seq = seqs[1]}), "111 111 111 v3");
  EXPECT_EQ(posted_at({.seq = 2}), "0 0 0 v0");

  CreateTransaction late = Wallet::pay(150);
  late.effective_at = at(6);
  late.check_history = true;
  const auto refused = rig.one(CreateTransaction(late));
  EXPECT_EQ(BookRig::code_of(refused), "would_break_history");
  EXPECT_EQ(refused.error()->moment, at(6));
  EXPECT_EQ(refused.error()->value, minus(40));
  late.check_history = false;
  EXPECT_EQ(rig.code(std::move(late)), "");
}

TEST(Ledger, AClosedPeriodStaysAsItIs) {
  Wallet rig;
  const Instant start = Instant{rig.rig.now};
  const std::string hold = rig.hold(10);
  const Instant through = start + Millis{1};
  rig.rig.pass(Millis{10'000});
  EXPECT_EQ(rig.code(CloseBook{.through = through}), "open_holds");
  VoidHold release{};
  release.of = hold;
  EXPECT_EQ(rig.code(VoidHold(release)), "");
  EXPECT_EQ(rig.code(CloseBook{.through = through}), "");
  CreateTransaction late = Wallet::pay(1);
  late.effective_at = start;
  EXPECT_EQ(rig.code(CreateTransaction(late)), "period_closed");
  EXPECT_EQ(rig.code(CloseBook{}), "invalid reason");
  EXPECT_EQ(rig.code(CloseBook{.reason = "audit"}), "");
  EXPECT_EQ(rig.code(CreateTransaction(late)), "");
}

TEST(Ledger, AccountsAreCreatedOnceAndChange) {
  Wallet rig;
  CreateAccount create{.id = "carol",
                       .path = "user:carol",
                       .type = AccountType::liability,
                       .currency = "EUR",
                       .metadata = {{"tier", "gold"}}};
  EXPECT_EQ(rig.code(CreateAccount(create)), "");
  EXPECT_TRUE(rig.one(CreateAccount(create))->replayed);
  CreateAccount other = create;
  other.metadata = {{"tier", "silver"}};
  EXPECT_EQ(rig.code(CreateAccount(other)), "exists_with_different_metadata");
  other = create;
  other.id = "user:carol";
  EXPECT_EQ(rig.code(CreateAccount(other)), "exists_with_different_id");
  EXPECT_EQ(rig.code(BookRig::transfer("world", "user:carol", 1)), "currency_mismatch");
  EXPECT_EQ(rig.find("user:carol").id, "carol");

  EXPECT_EQ(rig.code(ChangeAccount{.account = "alice", .state = Account::State::closed}),
            "account_not_empty");
  EXPECT_EQ(rig.code(ChangeAccount{.account = "alice", .state = Account::State::frozen}), "");
  EXPECT_EQ(rig.code(Wallet::pay(1)), "account_frozen");
  EXPECT_EQ(rig.code(ChangeAccount{.account = "alice", .state = Account::State::open}), "");
  EXPECT_EQ(rig.code(ChangeAccount{
                .account = "alice",
                .limits = {{.currency = "USD", .min_available = std::optional(minus(50))}}}),
            "");
  rig.rig.restart();
  EXPECT_EQ(rig.code(Wallet::pay(150)), "");
  EXPECT_EQ(rig.code(Wallet::pay(1)), "insufficient_funds");
}

TEST(Ledger, MetadataCanBeErasedAndTheChainHolds) {
  Wallet rig;
  CreateTransaction create = Wallet::pay(1);
  create.metadata = {{"email", "a@example.com"}, {"order", "7"}};
  const auto made = rig.one(std::move(create));
  ASSERT_TRUE(made);
  const auto before = rig.records();
  EXPECT_EQ(rig.code(EraseMetadata{.transaction = made->id, .keys = {"email"}}), "");
  const auto left = metadata_of(rig.rig.reader, tenant_one, rig.book().number,
                                Metadata::Of::transaction, made->seq);
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].key, "order");
  Hash prev{};
  for (const Record& record : rig.records()) {
    EXPECT_EQ(record.hash, record_hash("main", record.seq, prev, record.kind, record.payload));
    EXPECT_EQ(record.payload.find("example.com"), std::string::npos);
    prev = record.hash;
  }
}

TEST(Ledger, CheckpointsCoverEverythingAndVerify) {
  Wallet rig;
  std::vector<Operation> operations;
  for (int i = 0; i < 2500; ++i) {
    operations.emplace_back(BookRig::transfer("world", "alice", 1));
  }
  rig.apply(std::move(operations));
  rig.rig.restart();
  rig.rig.pass(Millis{60'001});
  rig.rig.run();
  std::vector<Hash> hashes;
  std::vector<Checkpoint> checkpoints;
  std::uint64_t first = 1;
  for (const Record& record : rig.records()) {
    if (record.kind != "checkpoint") {
      hashes.push_back(record.hash);
      continue;
    }
    const auto payload = decode(record.kind, record.payload);
    ASSERT_TRUE(payload);
    const auto& checkpoint = std::get<Checkpoint>(*payload);
    EXPECT_EQ(checkpoint.first_seq, first);
    EXPECT_EQ(checkpoint.last_seq, record.seq - 1);
    EXPECT_EQ(checkpoint.root, merkle_root(hashes));
    EXPECT_TRUE(signature_holds(checkpoint, "main", rig.book().public_key));
    hashes.clear();
    first = record.seq + 1;
    checkpoints.push_back(checkpoint);
  }
  EXPECT_EQ(checkpoints.size(), 3U);
  EXPECT_TRUE(hashes.empty());
}

TEST(Ledger, AnExpiryComesBeforeACheckpointThatIsDueEarlier) {
  Wallet rig;
  rig.hold(10, 60);
  rig.rig.pass(Millis{70'000});
  rig.rig.run();
  const auto records = rig.records();
  ASSERT_GE(records.size(), 2U);
  EXPECT_EQ(records[records.size() - 2].kind, "expiry");
  EXPECT_EQ(records.back().kind, "checkpoint");
}

TEST(Ledger, ForceSkipsNoOtherLimitAtTheEnd) {
  Wallet rig;
  rig.may_force = true;
  EXPECT_EQ(rig.code(BookRig::transfer("world", "bob", 450)), "");
  CreateTransaction paid = BookRig::transfer("bob", "world", 450);
  paid.id = "paid";
  EXPECT_EQ(rig.code(paid), "");
  EXPECT_EQ(rig.code(BookRig::transfer("world", "bob", 300)), "");
  ReverseTransaction reverse{};
  reverse.of = "paid";
  reverse.force = true;
  EXPECT_EQ(rig.code(reverse), "limit_exceeded");
  const auto got = rig.apply({reverse}, Apply::Mode::atomic, true);
  EXPECT_EQ(BookRig::code_of(got.results.front()), "limit_exceeded");
  EXPECT_EQ(rig.balance("bob"), "300 300 300 v3");
}

TEST(Ledger, AReversalOfAnotherTimeIsNotTheSame) {
  Wallet rig;
  CreateTransaction paid = Wallet::pay(10);
  paid.id = "paid";
  EXPECT_EQ(rig.code(paid), "");
  rig.rig.pass(Millis{5000});
  ReverseTransaction reverse{};
  reverse.of = "paid";
  reverse.id = "back";
  reverse.effective_at = Instant{rig.rig.now} - std::chrono::seconds{1};
  EXPECT_EQ(rig.code(reverse), "");
  EXPECT_EQ(rig.code(reverse), "");
  reverse.effective_at.reset();
  reverse.effective_original = true;
  EXPECT_EQ(rig.code(reverse), "exists_with_different_effective_at");
}

TEST(Ledger, EachRecordHasItsEventInTheSameBatch) {
  Wallet rig;
  EXPECT_EQ(rig.code(AddSubscription{.url = "https://a.example/", .host = "https://a.example:443"}),
            "");
  EXPECT_EQ(rig.code(AddMonitor{.account = "alice", .currency = "USD", .value = plus(50)}), "");
  const std::size_t before = rig.records().size();
  EXPECT_EQ(rig.code(Wallet::pay(60)), "");
  EXPECT_EQ(rig.code(Wallet::pay(41)), "insufficient_funds");
  std::vector<Operation> failing;
  failing.emplace_back(Wallet::pay(1));
  failing.emplace_back(Wallet::pay(1000));
  rig.apply(std::move(failing), Apply::Mode::atomic);
  const auto& messages = rig.rig.reader.rows<Message>();
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(rig.records().size(), before + 1);
  EXPECT_NE(messages.begin()->second->body.find("ledger.transaction.created"), std::string::npos);
  EXPECT_NE(messages.rbegin()->second->body.find("ledger.monitor.triggered"), std::string::npos);
  EXPECT_EQ(messages.begin()->second->group, "main");
  for (const auto& [key, message] : messages) {
    JsonReader body(message->body);
    body.skip();
    body.end();
    EXPECT_FALSE(body.failed()) << message->body;
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
