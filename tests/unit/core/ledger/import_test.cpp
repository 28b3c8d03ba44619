// A log that is imported is the log that was exported, or nothing.
#include <gtest/gtest.h>

#include "core/ledger/chain.h"
#include "unit/core/ledger/copy_book.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

using namespace ledger;

/// One of everything that a log can have.
struct Books : BookRig {
  explicit Books(bool checkpoints = true) {
    CreateBook create{.name = "old", .metadata = {{"owner", "ada"}}, .indexed = {"order"}};
    EXPECT_EQ(code(std::move(create)), "");
    EXPECT_EQ(code(AddCurrency{.code = "PTS", .exponent = 1}), "");
    account("world", AccountType::asset);
    account("alice", AccountType::liability, Signed{false, 0});
    CreateAccount bob{.id = "b", .path = "people:bob", .type = AccountType::liability};
    bob.metadata = {{"order", "7"}, {"name", "Bob"}};
    EXPECT_EQ(code(std::move(bob)), "");
    CreateTransaction first = transfer("world", "alice", 500);
    first.id = "first";
    first.idempotency_key = "charge:1";
    first.reference = "INV-1";
    first.metadata = {{"order", "1"}};
    EntryIn::More more;
    more.metadata = {{"line", "a"}};
    first.entries[1].more = std::make_shared<const EntryIn::More>(std::move(more));
    EXPECT_EQ(code(std::move(first)), "");
    hold("part", 100, {});
    PostHold post;
    post.of = "part";
    post.amounts = std::vector<Amount>{30, 30};
    post.final = false;
    EXPECT_EQ(code(std::move(post)), "");
    hold("done", 10, {});
    PostHold all;
    all.of = "done";
    EXPECT_EQ(code(std::move(all)), "");
    hold("void", 20, {});
    VoidHold release;
    release.of = "void";
    EXPECT_EQ(code(std::move(release)), "");
    hold("short", 5, 10);
    hold("long", 7, 100'000);
    rig.pass(Millis{20'000});
    ReverseTransaction reverse;
    reverse.of = "first";
    reverse.amounts = std::vector<Amount>{50, 50};
    reverse.effective_original = true;
    EXPECT_EQ(code(std::move(reverse)), "");
    CreateTransaction late = transfer("world", "b", 3);
    late.effective_at = Instant{rig.now} - std::chrono::hours{3};
    EXPECT_EQ(code(std::move(late)), "");
    SetTransactionMetadata set{.transaction = "first", .metadata = {{"order", "2"}, {"x", "y"}}};
    EXPECT_EQ(code(std::move(set)), "");
    EXPECT_EQ(code(EraseMetadata{.account = "b", .keys = {"name"}}), "");
    ChangeAccount change{.account = "b", .state = Account::State::frozen};
    change.metadata = {{"order", std::nullopt}};
    LimitsIn limit{.currency = "PTS"};
    limit.max_balance = std::optional(Signed{false, 900});
    change.limits = {limit};
    EXPECT_EQ(code(std::move(change)), "");
    EXPECT_EQ(code(ChangeBook{.name = "new", .metadata = {{"owner", std::nullopt}}}), "");
    EXPECT_EQ(code(CloseBook{.through = Instant{rig.now} - std::chrono::hours{4}}), "");
    if (checkpoints) {
      rig.pass(Millis{61'000});
      rig.run();
    }
  }
  void hold(const std::string& id, Amount amount, std::optional<std::uint64_t> timeout) {
    CreateTransaction create = transfer("alice", "b", amount);
    create.id = id;
    create.kind = TransactionMade::Kind::pending;
    create.timeout_s = timeout;
    EXPECT_EQ(code(std::move(create)), "");
  }
};

/// A server that has nothing yet.
struct Empty : BookRig {
  explicit Empty(Moment now) {
    rig.now = now;
    static_cast<void>(rig.rng.next());  // another server has another key
  }
};

TEST(LedgerImport, GivesTheSameBookInPiecesOfAnySize) {
  Books source;
  const auto records = exported_records(source);
  ASSERT_EQ(records.back().record.kind, "checkpoint");
  for (const std::size_t piece : {std::size_t{1}, std::size_t{2}, std::size_t{7}, records.size()}) {
    SCOPED_TRACE(piece);
    Empty target(source.rig.now);
    ASSERT_EQ(import_into(target, records, piece), "");
    expect_same_book(source, target);
    target.rig.restart();
    target.rig.run();
    expect_same_book(source, target);
    EXPECT_EQ(target.book().public_key, source.book().public_key);
  }
}

TEST(LedgerImport, WhatWasEndedThereIsEndedHereAndWhatIsOpenGoesOn) {
  Books source;
  Empty target(source.rig.now);
  ASSERT_EQ(import_into(target, exported_records(source), 5), "");

  PostHold post;
  post.of = "part";
  EXPECT_EQ(target.code(std::move(post)), "");
  VoidHold release;
  release.of = "short";
  EXPECT_EQ(target.code(std::move(release)), "expired");
  ReverseTransaction reverse;
  reverse.of = "first";
  reverse.amounts = std::vector<Amount>{451, 451};
  EXPECT_EQ(target.code(ReverseTransaction(reverse)), "already_reversed");
  reverse.amounts = std::vector<Amount>{1, 1};
  EXPECT_EQ(target.code(std::move(reverse)), "");
  CreateTransaction again = BookRig::transfer("world", "alice", 500);
  again.id = "first";
  EXPECT_EQ(target.code(std::move(again)), "exists_with_different_idempotency_key");
  EXPECT_EQ(target.code(BookRig::transfer("alice", "b", 1)), "account_frozen");
  // Its hold of 7 ends at its time, although nobody asks for anything.
  target.rig.pass(Millis{100'000'000});
  target.rig.run();
  EXPECT_TRUE(open_holds(target.rig.reader, tenant_one, 1, {}, 9).empty());
}

TEST(LedgerImport, AHoldWhoseTimeWasOverOnTheWayExpiresHere) {
  Books source;
  Empty target(source.rig.now);
  const auto records = exported_records(source);
  target.rig.pass(Millis{200'000'000});
  ASSERT_EQ(import_into(target, records, 5, false), "");
  target.rig.restart();
  target.rig.run();
  EXPECT_EQ(target.records().size(), records.size()) << "nothing happens before it is complete";

  ASSERT_EQ(target.code(ImportRecords{.complete = true}), "");
  target.rig.run();
  target.rig.run();

  const auto after = target.records();
  ASSERT_GT(after.size(), records.size());
  EXPECT_EQ(after[records.size()].kind, "expiry");
}

TEST(LedgerImport, SignsWithAKeyOfItsOwnAndSaysSo) {
  Books source;
  Empty target(source.rig.now);
  const auto records = exported_records(source);
  ASSERT_EQ(import_into(target, records, 5), "");
  target.rig.pass(Millis{3'600'000});
  target.rig.run();
  EXPECT_EQ(target.records().size(), records.size()) << "a copy stays as it is until it is used";

  EXPECT_EQ(target.code(BookRig::transfer("world", "alice", 1)), "");
  target.rig.pass(Millis{61'000});
  target.rig.run();

  const auto after = target.records();
  ASSERT_EQ(after.size(), records.size() + 3);
  EXPECT_EQ(after[records.size() + 1].kind, "key");
  const auto changed = decode(after[records.size() + 1].kind, after[records.size() + 1].payload);
  const auto signed_here = decode(after.back().kind, after.back().payload);
  ASSERT_TRUE(changed && signed_here);
  const std::string& key = std::get<ledger::KeyChanged>(*changed).public_key;
  EXPECT_NE(key, source.book().public_key);
  EXPECT_EQ(target.book().public_key, key);
  EXPECT_TRUE(signature_holds(std::get<Checkpoint>(*signed_here), "main", key));
  const std::vector<FormerKey> former = {{records.size() + 1, source.book().public_key}};
  EXPECT_EQ(target.book().former_keys, former);

  // And from there to a third server.
  Empty third(target.rig.now);
  ASSERT_EQ(import_into(third, exported_records(target), 4), "");
  expect_same_book(target, third);
  EXPECT_EQ(third.book().former_keys, former);
}

TEST(LedgerImport, NothingElseHappensUntilItIsComplete) {
  Books source;
  Empty target(source.rig.now);
  const auto records = exported_records(source);
  ASSERT_EQ(import_into(target, records, 5, false), "");
  const auto held = target.rig.reader.rows<Book>();

  for (const bool restarted : {false, true}) {
    if (restarted) {
      target.rig.restart();
    }
    EXPECT_EQ(target.code(BookRig::transfer("world", "alice", 1)), "book_importing");
    EXPECT_EQ(target.code(CreateBook{.name = "new"}), "book_importing");
    EXPECT_EQ(target.code(ChangeBook{}), "book_importing");
    EXPECT_EQ(target.code(AddSubscription{.url = "https://example.com/"}), "book_importing");
    target.rig.pass(Millis{100'000'000});
    target.rig.run();
    EXPECT_EQ(target.records().size(), records.size());
  }
  EXPECT_EQ(target.code(ImportRecords{.complete = true}), "");
  EXPECT_EQ(target.code(BookRig::transfer("world", "alice", 1)), "");
}

TEST(LedgerImport, TheSameRecordsAgainChangeNothing) {
  Books source;
  Empty target(source.rig.now);
  const auto records = exported_records(source);
  ASSERT_EQ(import_into(target, records, 9, false), "");
  ASSERT_EQ(import_into(target, records, 4), "") << "from the beginning, in other pieces";
  expect_same_book(source, target);

  ImportRecords all{.records = records, .complete = true};
  const auto again = target.one(ImportRecords(all));
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->replayed);
  EXPECT_EQ(again->seq, records.size());
  EXPECT_EQ(target.code(BookRig::transfer("world", "alice", 1)), "");
  EXPECT_EQ(target.code(ImportRecords(all)), "");
  EXPECT_EQ(target.records().size(), records.size() + 1);

  // A book that has grown elsewhere is not put into the one that has grown here.
  EXPECT_EQ(source.code(BookRig::transfer("world", "alice", 2)), "");
  EXPECT_EQ(target.code(ImportRecords{.records = exported_records(source)}), "book_exists");
  EXPECT_EQ(source.code(ImportRecords{.records = records}), "book_exists");
}

TEST(LedgerImport, WithoutValuesTheyCountAsErased) {
  Books source;
  Empty target(source.rig.now);
  auto records = exported_records(source);
  for (auto& one : records) {
    one.values.clear();
  }
  ASSERT_EQ(import_into(target, records, 5), "");
  EXPECT_EQ(target.records(), source.records());
  EXPECT_TRUE(metadata_of(target.rig.reader, tenant_one, 1, Metadata::Of::book, 0, 1).empty());
  EXPECT_FALSE(metadata_of(source.rig.reader, tenant_one, 1, Metadata::Of::book, 0, 1).empty());
}

/// A record that is chained behind the others, whatever it says.
ImportRecords::One chained(const std::vector<ImportRecords::One>& before, const Payload& payload) {
  ImportRecords::One one{.prev_hash = before.back().record.hash};
  one.record.seq = before.back().record.seq + 1;
  one.record.kind = kind_of(payload);
  encode(payload, one.record.payload);
  one.record.recorded_at = std::visit([](const auto& any) { return any.recorded_at; }, payload);
  one.record.hash =
      record_hash("main", one.record.seq, one.prev_hash, one.record.kind, one.record.payload);
  return one;
}

TEST(LedgerImport, ARecordThatDoesNotFitRefusesItsPiece) {
  const Books source(false);
  Books copy(false);
  const auto good = exported_records(copy);
  const Instant at = good.back().record.recorded_at + std::chrono::seconds{1};
  const auto transaction = [&](std::vector<Entry> entries) {
    TransactionMade made{.recorded_at = at, .id = "x", .effective_at = at};
    made.given.id = true;
    made.entries = std::move(entries);
    return made;
  };
  const auto moved = [&](Amount amount) {
    return transaction(
        {{"world", Side::debit, amount, "USD"}, {"alice", Side::credit, amount, "USD"}});
  };
  const auto edited = [](TransactionMade made, const auto& edit) {
    edit(made);
    return made;
  };
  const auto reversal = [&](Amount amount) {
    TransactionMade made = transaction(
        {{"world", Side::credit, amount, "USD"}, {"alice", Side::debit, amount, "USD"}});
    made.reverses = "first";
    made.of = {0, 1};
    return made;
  };
  const auto post = [&](Amount amount, Amount released) {
    TransactionMade made =
        transaction({{"alice", Side::debit, amount, "USD"}, {"b", Side::credit, amount, "USD"}});
    made.resolves = "part";
    made.of = {0, 1};
    made.released = {{0, released}, {1, released}};
    return made;
  };
  // Each row comes behind this one, in one piece: that one is not taken either.
  const auto before_it = chained(good, BookChanged{.recorded_at = at - Millis{1}, .name = "z"});
  const MetadataHash hash{.key = "k", .hash = Hash{}};
  struct Row {
    const char* name;
    Payload payload;
    const char* why;  ///< "": it fits
  };
  const Row rows[] = {
      {"fits", moved(5), ""},
      {"reversal fits", reversal(450), ""},
      {"post fits", post(70, 70), ""},
      {"post of a part fits", edited(post(20, 20), [](auto& m) { m.final = m.asked_final = false; }),
       ""},
      {"post that releases the rest fits", post(20, 70), ""},
      {"unbalanced",
       transaction({{"world", Side::debit, 5, "USD"}, {"alice", Side::credit, 4, "USD"}}),
       "not balanced in USD"},
      {"amount 0", moved(0), "cannot be"},
      {"one entry", transaction({{"world", Side::debit, 5, "USD"}}), "not balanced"},
      {"none", transaction({}), "fewer than 2"},
      {"no account",
       transaction({{"none", Side::debit, 5, "USD"}, {"alice", Side::credit, 5, "USD"}}),
       "account none"},
      {"account by its path",
       transaction({{"people:bob", Side::debit, 5, "USD"}, {"alice", Side::credit, 5, "USD"}}),
       "account people:bob"},
      {"no currency",
       transaction({{"world", Side::debit, 5, "XXY"}, {"alice", Side::credit, 5, "XXY"}}),
       "cannot be moved in XXY"},
      {"frozen",
       transaction({{"world", Side::debit, 5, "USD"}, {"b", Side::credit, 5, "USD"}}), "frozen"},
      {"id of another", edited(moved(5), [](auto& m) { m.id = "first"; }), "there already"},
      {"key of another", edited(moved(5), [](auto& m) { m.idempotency_key = "charge:1"; }),
       "exists with another"},
      {"generated id of another record", edited(moved(5), [](auto& m) { m.given.id = false; }),
       "not that of this record"},
      {"no parent", edited(moved(5), [](auto& m) { m.parent = "nobody"; }), "nobody"},
      {"closed period",
       edited(moved(5), [&](auto& m) { m.effective_at = at - std::chrono::hours{5}; }), "closed"},
      {"reference", edited(moved(5), [](auto& m) { m.reference = std::string("a\0b", 3); }),
       "too long"},
      {"void of nothing", edited(moved(5), [](auto& m) { m.kind = TransactionMade::Kind::voided; }),
       "belong together"},
      {"released for nothing", edited(moved(5), [](auto& m) { m.released = {{0, 1}}; }),
       "belong together"},
      {"reversed too much", reversal(451), "than is left"},
      {"reversed to the same side",
       edited(reversal(5), [](auto& m) { std::swap(m.of[0], m.of[1]); }), "mirror"},
      {"reversed entry that is not there", edited(reversal(5), [](auto& m) { m.of[1] = 9; }),
       "mirror"},
      {"reversed a hold", edited(reversal(5), [](auto& m) { m.reverses = "long"; }), "hold"},
      {"posted more than is left", post(71, 71), "releases more"},
      {"posted more than it takes", post(70, 69), "posts more"},
      {"ends and leaves a part", post(20, 20), "leaves a part"},
      {"posted twice", edited(post(10, 10), [](auto& m) { m.resolves = "done"; }), "was posted"},
      {"posted before it was held",
       edited(post(70, 70), [&](auto& m) { m.effective_at = at - std::chrono::hours{1}; }),
       "before it was effective"},
      {"expiry before its time",
       HoldExpired{.recorded_at = at, .transaction = "long", .released = {{0, 7}, {1, 7}}},
       "does not expire"},
      {"account twice",
       AccountCreated{.recorded_at = at, .id = "b", .path = "c", .type = AccountType::asset,
                      .number = 4},
       "second time"},
      {"path of another",
       AccountCreated{.recorded_at = at, .id = "c", .path = "b", .type = AccountType::asset,
                      .number = 4},
       "second time"},
      {"number of another",
       AccountCreated{.recorded_at = at, .id = "c", .path = "c", .type = AccountType::asset,
                      .number = 3},
       "number"},
      {"limit in nothing",
       LimitsChanged{.recorded_at = at, .id = "alice", .limits = {{.currency = "USD"}}},
       "cannot be"},
      {"closed with a balance",
       AccountChanged{.recorded_at = at, .id = "alice", .state = Account::State::closed},
       "has a balance"},
      {"currency twice", CurrencyAdded{.recorded_at = at, .code = "PTS", .exponent = 2}, "known"},
      {"currency of ISO", CurrencyAdded{.recorded_at = at, .code = "USD", .exponent = 2}, "known"},
      {"reopened without a reason", BookClosed{.recorded_at = at}, "cannot be closed"},
      {"second book",
       BookCreated{.recorded_at = at, .id = "main", .public_key = std::string(32, 'k')},
       "created once"},
      {"key that is none", ledger::KeyChanged{.recorded_at = at, .public_key = "short"}, "no public key"},
      {"time goes back", CurrencyAdded{.recorded_at = at - std::chrono::hours{1}, .code = "QQQ"},
       "not later"},
      {"in the future", CurrencyAdded{.recorded_at = at + std::chrono::hours{1}, .code = "QQQ"},
       "in the future"},
      {"metadata of no entry",
       edited(moved(5), [&](auto& m) { m.metadata = {{3, "k", Hash{}}}; }), "entry that is not"},
      {"metadata twice",
       MetadataSet{.recorded_at = at, .transaction = "first", .metadata = {hash, hash}}, "twice"},
      {"metadata of nobody", MetadataSet{.recorded_at = at, .transaction = "nobody"}, "nobody"},
      {"erasure of nobody", MetadataErased{.recorded_at = at, .account = "nobody"}, "nobody"},
      {"checkpoint of something else",
       Checkpoint{.recorded_at = at, .first_seq = 2, .last_seq = 3}, "does not cover"},
      {"checkpoint with another root",
       Checkpoint{.recorded_at = at, .first_seq = 1, .last_seq = good.size() + 1}, "root"},
      {"checkpoint without a signature",
       [&] {
         std::vector<Hash> hashes;
         for (const auto& one : good) {
           hashes.push_back(one.record.hash);
         }
         hashes.push_back(before_it.record.hash);
         return Checkpoint{.recorded_at = at,
                           .first_seq = 1,
                           .last_seq = good.size() + 1,
                           .root = merkle_root(hashes),
                           .last_hash = hashes.back(),
                           .signature = std::string(64, 's')};
       }(),
       "signature"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Empty target(source.rig.now);
    target.rig.pass(Millis{1000});
    ASSERT_EQ(import_into(target, good, 8, false), "");
    const auto before = target.rig.reader.rows<Account>();
    auto last = good;
    ImportRecords piece;
    piece.records.push_back(before_it);
    last.push_back(piece.records.back());
    piece.records.push_back(chained(last, row.payload));
    const auto result = target.one(std::move(piece));
    if (std::string_view(row.why).empty()) {
      EXPECT_TRUE(result) << result.error()->detail;
      continue;
    }
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error()->code, Code::record_invalid);
    EXPECT_EQ(result.error()->seq, good.size() + 2);
    EXPECT_NE(result.error()->detail.find(row.why), std::string::npos) << result.error()->detail;
    EXPECT_EQ(target.records().size(), good.size());
    EXPECT_TRUE(target.rig.reader.rows<Account>() == before);
    ASSERT_EQ(target.code(ImportRecords{.complete = true}), "");
    expect_same_book(copy, target);
  }
}

TEST(LedgerImport, AChangedByteAnywhereIsRefusedWhereItIs) {
  Books source;
  const auto good = exported_records(source);
  const auto refused_at = [&](std::vector<ImportRecords::One> records) -> std::uint64_t {
    Empty target(source.rig.now);
    const auto result = target.one(ImportRecords{.records = std::move(records), .complete = true});
    EXPECT_TRUE(target.rig.reader.rows<Account>().empty());
    EXPECT_TRUE(target.rig.reader.rows<Book>().empty());
    return result ? 0 : result.error()->seq;
  };
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (std::size_t byte = 0; byte < good[i].record.payload.size(); byte += 3) {
      auto bent = good;
      char& one = bent[i].record.payload[byte];
      one = static_cast<char>(one ^ 4);
      EXPECT_EQ(refused_at(std::move(bent)), i + 1) << "byte " << byte;
    }
    auto bent = good;
    bent[i].record.hash[5] ^= 1;
    EXPECT_EQ(refused_at(std::move(bent)), i + 1);
    bent = good;
    bent[i].prev_hash[5] ^= 1;
    EXPECT_EQ(refused_at(std::move(bent)), i + 1);
    if (i + 1 < good.size()) {
      bent = good;
      bent.erase(bent.begin() + static_cast<std::ptrdiff_t>(i));
      EXPECT_EQ(refused_at(std::move(bent)), i == 0 ? 1 : i + 2) << "a gap";
    }
    if (!good[i].values.empty()) {
      bent = good;
      bent[i].values[0].value += "!";
      EXPECT_EQ(refused_at(std::move(bent)), i + 1) << "metadata";
    }
  }
  auto other = good;
  Empty target(source.rig.now);
  target.book_id = "other";
  EXPECT_EQ(target.code(ImportRecords{.records = std::move(other)}), "record_invalid")
      << "the id of the book is hashed";
  EXPECT_EQ(target.code(ImportRecords{}), "record_invalid");
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
