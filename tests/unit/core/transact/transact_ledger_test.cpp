// The ledger in one atomic request: one with everything else in it, and gone without a trace where
// anything else refuses.
#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "core/ledger/read.h"
#include "unit/core/ledger/book_rig.h"
#include "unit/core/pull/pull_rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

using namespace ledger;

using State = IdempotencyKey::State;
using RefusedByLedger = std::shared_ptr<const Refusal>;

constexpr Signed plus(std::uint64_t amount) { return {false, amount}; }

LedgerOperation in(std::string book, Operation operation) {
  return {std::move(book), std::move(operation)};
}
LedgerOperation in_main(Operation operation) { return in("main", std::move(operation)); }

CreateAccount account(std::string id, AccountType type, std::optional<Signed> min_available = {}) {
  CreateAccount create{.id = std::move(id), .type = type};
  if (min_available) {
    create.limits.push_back({.currency = "USD", .min_available = min_available});
  }
  return create;
}

/// Credits `from`, debits `to`: of assets, money goes to `to`.
CreateTransaction pay(std::string id, Amount amount, std::string to = "bob",
                      std::string from = "alice") {
  CreateTransaction create{.id = std::move(id)};
  create.entries = {debit(std::move(to), amount), credit(std::move(from), amount)};
  return create;
}
CreateTransaction holding(std::string id, Amount amount, std::uint64_t timeout_s = 10) {
  CreateTransaction create = pay(std::move(id), amount);
  create.kind = TransactionMade::Kind::pending;
  create.timeout_s = timeout_s;
  return create;
}
template <class Follow>
Follow following(std::string of, std::string id) {
  Follow follow;
  follow.of = std::move(of);
  follow.id = std::move(id);
  return follow;
}
AccountIs has(std::uint64_t least, std::string who = "alice") {
  return {"main", {.account = std::move(who), .currency = "USD", .value = plus(least)}};
}
AccountIs at_version(std::uint64_t version) {
  return {"main", {.account = "alice", .currency = "USD", .expect_version = version}};
}
Error never_an_error() { return {ErrorKind::internal, "it was no refusal of the ledger"}; }

/// Alice has 100, and no overdraft.
struct MoneyRig : PullRig {
  using PullRig::PullRig;

  void open_wallets() {
    const auto done = run(of(in_main(account("world", AccountType::asset)),
                             in_main(account("alice", AccountType::asset, plus(0))),
                             in_main(account("bob", AccountType::asset)),
                             in_main(pay("t-0", 100, "alice", "world"))))
                          .only<Transacted>();
    EXPECT_FALSE(done.refused);
  }

  template <class... Operations>
  static Transact of(Operations... operations) {
    Transact transact{.tenant = tenant_one};
    (transact.operations.emplace_back(std::move(operations)), ...);
    return transact;
  }
  std::uint64_t claim(const std::string& key) {
    return run(ClaimKey{tenant_one, "s", key, "", "", Millis{60'000}, Millis{60'000}})
        .only<KeyClaimed>()
        .record.token;
  }
  State state_of(const std::string& key) {
    return reader.get<IdempotencyKey>({tenant_one, idempotency_id("s", key)})->state;
  }
  std::string available_of(const std::string& who, const std::string& book = "main") {
    const auto found = find_book(reader, tenant_one, book);
    const auto row = found ? find_account(reader, tenant_one, found->number, who) : std::nullopt;
    if (!row) {
      return "none";
    }
    const BalanceAt at = balance_at(reader, *row, find_currency(*found, "USD")->number, {});
    return to_text(available(at.counters, normal_side(row->type)));
  }
  std::vector<std::string> kinds() {
    std::vector<std::string> kinds;
    const auto found = find_book(reader, tenant_one, "main");
    for (const Record& one : records_after(reader, tenant_one, found->number, 0, 1000)) {
      kinds.push_back(one.kind);
    }
    return kinds;
  }
};

EndKey ending(std::uint64_t token) {
  return {HeldKey{tenant_one, "s", "k", token}, false, "1", {}};
}

TEST(TransactLedger, MovesMoneyWithEverythingElseInOneBatch) {
  MoneyRig rig;
  rig.open_wallets();
  rig.make("work");
  const std::uint64_t token = rig.claim("k");
  Transact transact = MoneyRig::of(in_main(pay("t-1", 60)), PullRig::sending("work", "next"),
                                   ending(token), in_main(pay("t-2", 40)));
  transact.preconditions = {has(100)};

  const Ran ran = rig.run(std::move(transact));

  const auto done = ran.only<Transacted>();
  ASSERT_EQ(done.results.size(), 4U);
  const auto& first = std::get<Applied>(done.results[0]);
  EXPECT_EQ(first.id, "t-1");
  EXPECT_TRUE(first.created);
  ASSERT_TRUE(first.detail);
  EXPECT_EQ(std::get<TransactionView>(first.detail->object).made.entries.size(), 2U);
  EXPECT_EQ(std::get<Applied>(done.results[3]).id, "t-2");
  EXPECT_EQ(rig.available_of("alice"), "0");
  EXPECT_EQ(rig.available_of("bob"), "100");
  EXPECT_EQ(rig.state_of("k"), State::completed);
  EXPECT_EQ(rig.receive("work"), (Bodies{"next"}));
}

TEST(TransactLedger, EveryOperationOfABatchIsOneHereToo) {
  MoneyRig rig;
  rig.open_wallets();
  ChangeAccount limits{.account = "bob"};
  limits.limits.push_back({.currency = "USD", .max_balance = plus(1000)});
  SetTransactionMetadata metadata{.transaction = "t-1", .metadata = {{"order", "7"}}};
  AssertConditions so;
  so.conditions.push_back({.account = "bob", .currency = "USD", .value = plus(20)});
  PostHold post = following<PostHold>("h-1", "p-1");
  post.amounts = std::vector<Amount>{20, 20};

  const auto done =
      rig.run(MoneyRig::of(in_main(account("carol", AccountType::liability)),
                           in_main(pay("t-1", 10)), in_main(holding("h-1", 30)), in_main(post),
                           in_main(holding("h-2", 5)), in_main(following<VoidHold>("h-2", "v-2")),
                           in_main(following<ReverseTransaction>("t-1", "r-1")), in_main(limits),
                           in_main(metadata), in_main(so)))
          .only<Transacted>();

  EXPECT_FALSE(done.refused);
  std::vector<std::string> ids;
  for (const Performed& one : done.results) {
    ids.push_back(std::get<Applied>(one).id);
  }
  EXPECT_EQ(ids, (std::vector<std::string>{"carol", "t-1", "h-1", "p-1", "h-2", "v-2", "r-1", "bob",
                                           "t-1", ""}));
  EXPECT_EQ(rig.available_of("alice"), "80");
  EXPECT_EQ(rig.available_of("bob"), "20");
  EXPECT_TRUE(rig.reader.rows<OpenHold>().empty());
}

TEST(TransactLedger, SeveralBooksAreOne) {
  MoneyRig rig;
  rig.open_wallets();
  rig.run(Apply{.tenant = tenant_one, .book = "fees", .items = {{.operation = CreateBook{}}}});
  const auto two_books = [](Amount amount) {
    return MoneyRig::of(in("fees", account("us", AccountType::asset)),
                        in("fees", account("them", AccountType::asset)),
                        in("fees", pay("f-1", 3, "us", "them")), in_main(pay("t-1", amount)));
  };

  const auto refused = rig.run(two_books(101)).only<Transacted>().refused;

  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->index, 3U);
  EXPECT_EQ(std::get<RefusedByLedger>(refused->why)->code, Code::insufficient_funds);
  EXPECT_EQ(rig.available_of("us", "fees"), "none");
  EXPECT_FALSE(rig.run(two_books(100)).only<Transacted>().refused);
  EXPECT_EQ(rig.available_of("us", "fees"), "3");
  EXPECT_EQ(rig.available_of("bob"), "100");
}

TEST(TransactLedger, SaysWhatTheLedgerRefuses) {
  struct Row {
    std::string_view name;
    std::function<Operation()> operation;
    Code code;
  };
  CreateTransaction conditional = pay("t-1", 1);
  conditional.conditions.push_back(
      {.account = "bob", .currency = "USD", .at = Condition::At::before, .value = plus(1)});
  ReverseTransaction forced = following<ReverseTransaction>("t-0", "r-0");
  forced.force = true;
  const Row rows[] = {
      {"overdraft", [] { return pay("t-1", 101); }, Code::insufficient_funds},
      {"condition", [&] { return conditional; }, Code::condition_failed},
      {"no account", [] { return pay("t-1", 1, "nobody"); }, Code::account_not_found},
      {"same id, other content", [] { return pay("t-0", 1); }, Code::exists_with_different},
      {"no hold", [] { return following<PostHold>("t-0", "p-0"); }, Code::not_pending},
      {"force without the grant", [&] { return forced; }, Code::permission_denied},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    MoneyRig rig;
    rig.open_wallets();

    const auto refused =
        rig.run(MoneyRig::of(Rig::publishing(message_to("http://b")), in_main(row.operation())))
            .only<Transacted>()
            .refused;

    ASSERT_TRUE(refused);
    EXPECT_FALSE(refused->of_precondition);
    EXPECT_EQ(refused->index, 1U);
    ASSERT_TRUE(std::holds_alternative<RefusedByLedger>(refused->why));
    EXPECT_EQ(std::get<RefusedByLedger>(refused->why)->code, row.code);
    EXPECT_TRUE(rig.reader.rows<Message>().empty());
  }
}

TEST(TransactLedger, WhoHasTheGrantMayForce) {
  MoneyRig rig;
  rig.open_wallets();
  rig.run(MoneyRig::of(in_main(pay("t-1", 50))));
  ReverseTransaction forced = following<ReverseTransaction>("t-0", "r-0");
  forced.force = true;
  Transact transact = MoneyRig::of(in_main(forced));
  transact.may_force = true;

  EXPECT_FALSE(rig.run(std::move(transact)).only<Transacted>().refused);
  EXPECT_EQ(rig.available_of("alice"), "-50");
}

TEST(TransactLedger, LimitsHoldAfterEachOperation) {
  MoneyRig rig;
  rig.open_wallets();

  const auto refused =
      rig.run(MoneyRig::of(in_main(pay("t-1", 101)), in_main(pay("t-2", 50, "alice", "bob"))))
          .only<Transacted>()
          .refused;

  ASSERT_TRUE(refused) << "at the end alice would have had 49";
  EXPECT_EQ(refused->index, 0U);
}

TEST(TransactLedger, PreconditionsAreConditionsOfTheLedger) {
  struct Row {
    std::string_view name;
    AccountIs condition;
    std::optional<Code> code;
  };
  AccountIs elsewhere = has(1);
  elsewhere.book = "nowhere";
  const Row rows[] = {
      {"enough", has(100), {}},
      {"too little", has(101), Code::condition_failed},
      {"the version", at_version(1), {}},
      {"another version", at_version(2), Code::version_conflict},
      {"no account", has(0, "nobody"), Code::account_not_found},
      {"no book", elsewhere, Code::book_not_found},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    MoneyRig rig;
    rig.open_wallets();
    Transact transact = MoneyRig::of(Rig::publishing(message_to("http://b")));
    transact.preconditions = {row.condition};

    const Ran ran = rig.run(std::move(transact));

    const auto refused = ran.only<Transacted>().refused;
    EXPECT_EQ(refused.has_value(), row.code.has_value());
    if (refused && row.code) {
      EXPECT_TRUE(refused->of_precondition);
      ASSERT_TRUE(std::holds_alternative<RefusedByLedger>(refused->why));
      EXPECT_EQ(std::get<RefusedByLedger>(refused->why)->code, *row.code);
      EXPECT_TRUE(ran.starts.empty());
    }
  }
}

TEST(TransactLedger, APreconditionSeesWhatHasExpired) {
  MoneyRig rig;
  rig.open_wallets();
  rig.run(MoneyRig::of(in_main(holding("h-1", 60))));
  const auto ask = [&] {
    Transact transact = MoneyRig::of(in_main(pay("t-1", 90)));
    transact.preconditions = {has(90)};
    return rig.run(std::move(transact)).only<Transacted>().refused;
  };

  EXPECT_TRUE(ask());
  rig.pass(Millis{10'001});
  EXPECT_FALSE(ask());

  EXPECT_EQ(rig.available_of("alice"), "10");
  const auto kinds = rig.kinds();
  EXPECT_EQ(kinds[kinds.size() - 2], "expiry") << "its record comes before every later one";
}

TEST(TransactLedger, EventsAreInTheBatchOfTheirRecordsOrNowhere) {
  MoneyRig rig;
  rig.open_wallets();
  rig.make("events");
  rig.run(Apply{.tenant = tenant_one,
                .book = "main",
                .items = {{.operation = AddSubscription{.queue = "events"}}}});

  const auto refused =
      rig.run(MoneyRig::of(in_main(pay("t-1", 1)), ending(1))).only<Transacted>().refused;
  ASSERT_TRUE(refused);
  EXPECT_TRUE(rig.reader.rows<Message>().empty());
  rig.run(MoneyRig::of(in_main(pay("t-2", 2)), in_main(pay("t-3", 3))));

  EXPECT_EQ(rig.reader.rows<Message>().size(), 2U);
  const Bodies told = rig.receive("events");
  ASSERT_EQ(told.size(), 2U);
  EXPECT_NE(told[0].find("\"t-2\""), std::string::npos);
  EXPECT_NE(told[1].find("\"t-3\""), std::string::npos);
}

TEST(TransactLedger, WithoutATenantThereIsNoBook) {
  MoneyRig rig;
  Transact transact = MoneyRig::of(in_main(account("a", AccountType::asset)));
  transact.tenant = TenantId{9};

  const auto refused = rig.run(std::move(transact)).only<Transacted>().refused;

  ASSERT_TRUE(refused);
  const auto* const error = std::get_if<Error>(&refused->why);
  EXPECT_EQ((error == nullptr ? never_an_error() : *error).kind, ErrorKind::not_found);
  EXPECT_TRUE(rig.reader.rows<Book>().empty());
}

// ---- a refusal leaves no trace ----

template <class R>
bool same_rows(const MemoryReader& left, const MemoryReader& right) {
  const auto& a = left.rows<R>();
  const auto& b = right.rows<R>();
  return std::ranges::equal(a, b, [](const auto& one, const auto& other) {
    if constexpr (requires { *one.second; }) {  // messages are shared
      return one.first == other.first && *one.second == *other.second;
    } else {
      return one == other;
    }
  });
}

/// Everything that is stored.
std::vector<std::string> differences(const MemoryReader& left, const MemoryReader& right) {
  std::vector<std::string> tables;
#define HK_TABLE(number, name, R, ...)        \
  if (!same_rows<hk::core::R>(left, right)) { \
    tables.emplace_back(#name);               \
  }
#include "core/tables.def"
#undef HK_TABLE
  return tables;
}

/// The same life twice. One of the two has a transact in the middle that is refused: nobody can
/// tell later which one.
struct Twins {
  MoneyRig with{};
  MoneyRig without{};

  template <class Work>
  void both(Work work) {
    for (MoneyRig* const rig : {&with, &without}) {
      std::construct_at(&rig->rng, 11U);  // what a refusal has drawn does not come back
      work(*rig);
    }
  }
  void refuse(Transact transact) {
    EXPECT_TRUE(with.run(std::move(transact)).only<Transacted>().refused);
    without.run();
  }
  void expect_same(std::string_view when) {
    EXPECT_EQ(differences(with.reader, without.reader), std::vector<std::string>{}) << when;
  }
};

TEST(TransactLedger, ARefusedOneLeavesNoTraceInMemory) {
  const auto cannot = [] { return ending(99); };  // there is no such key
  ChangeAccount limits{.account = "alice"};
  limits.limits.push_back({.currency = "USD", .min_available = plus(50)});
  ChangeAccount frozen{.account = "bob", .state = Account::State::frozen};
  struct Row {
    std::string_view name;
    std::function<Transact()> refused;
  };
  const Row rows[] = {
      {"a transaction", [&] { return MoneyRig::of(in_main(pay("t-1", 70)), cannot()); }},
      {"an account and money for it",
       [&] {
         return MoneyRig::of(in_main(account("carol", AccountType::asset)),
                             in_main(pay("t-1", 70, "carol")), cannot());
       }},
      {"a hold", [&] { return MoneyRig::of(in_main(holding("t-1", 70, 1)), cannot()); }},
      {"a hold and its post",
       [&] {
         return MoneyRig::of(in_main(holding("t-1", 70, 1)),
                             in_main(following<PostHold>("t-1", "t-2")), cannot());
       }},
      {"the end of an open hold",
       [&] { return MoneyRig::of(in_main(following<VoidHold>("h-0", "t-1")), cannot()); }},
      {"a reversal",
       [&] {
         return MoneyRig::of(in_main(following<ReverseTransaction>("t-a", "t-1")), cannot());
       }},
      {"limits and a state",
       [&] { return MoneyRig::of(in_main(limits), in_main(frozen), cannot()); }},
      {"metadata",
       [&] {
         return MoneyRig::of(
             in_main(SetTransactionMetadata{.transaction = "t-a", .metadata = {{"k", "v"}}}),
             cannot());
       }},
      {"a refusal of the ledger itself",
       [&] { return MoneyRig::of(in_main(pay("t-1", 50)), in_main(pay("t-2", 50))); }},
      {"a precondition of the ledger",
       [&] {
         Transact transact = MoneyRig::of(in_main(pay("t-1", 1)));
         transact.preconditions = {has(0), has(1000)};
         return transact;
       }},
      {"two books",
       [&] {
         return MoneyRig::of(in_main(pay("t-1", 1)), in("other", account("x", AccountType::asset)),
                             in("other", account("y", AccountType::asset)),
                             in("other", pay("t-1", 1, "x", "y")), cannot());
       }},
      {"what was late",
       [&] {
         CreateTransaction late = pay("t-1", 5);
         late.effective_at = Instant{} + std::chrono::seconds{1};
         return MoneyRig::of(in_main(late), in_main(pay("t-2", 1)), cannot());
       }},
  };
  for (const bool cold : {false, true}) {
    for (const Row& row : rows) {
      SCOPED_TRACE(std::string(row.name) + (cold ? ", after a start" : ""));
      Twins twins;
      twins.both([&](MoneyRig& rig) {
        rig.open_wallets();
        rig.make("events");
        rig.run(Apply{.tenant = tenant_one,
                      .book = "main",
                      .items = {{.operation = AddSubscription{.queue = "events"}},
                                {.operation = AddMonitor{
                                     .account = "alice", .currency = "USD", .value = plus(40)}}}});
        rig.run(
            Apply{.tenant = tenant_one, .book = "other", .items = {{.operation = CreateBook{}}}});
        rig.run(MoneyRig::of(in_main(holding("h-0", 20, 100)), in_main(pay("t-a", 10))));
        if (cold) {
          rig.restart();
        }
      });
      twins.expect_same("before");

      twins.refuse(row.refused());

      twins.expect_same("at once");
      // The same ids again, what the refused one would have changed, and time for its hold.
      twins.both([&](MoneyRig& rig) {
        EXPECT_FALSE(rig.run(MoneyRig::of(in_main(pay("t-1", 30)), in_main(holding("t-2", 40, 5))))
                         .template only<Transacted>()
                         .refused);
      });
      twins.expect_same("soon");  // also which timers are set
      twins.both([&](MoneyRig& rig) {
        EXPECT_FALSE(rig.run(MoneyRig::of(in("other", account("x", AccountType::liability)),
                                          in_main(account("carol", AccountType::liability)),
                                          in_main(following<ReverseTransaction>("t-a", "r-a"))))
                         .template only<Transacted>()
                         .refused);
        for (int second = 0; second < 70; second += 2) {
          rig.pass(Millis{2'000});
          rig.run();
        }
        EXPECT_EQ(rig.available_of("alice"), "50");
      });
      twins.expect_same("later");
      twins.both([](MoneyRig& rig) {
        rig.restart();
        rig.run(MoneyRig::of(in_main(pay("t-9", 1))));
      });
      twins.expect_same("after a start");
    }
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
