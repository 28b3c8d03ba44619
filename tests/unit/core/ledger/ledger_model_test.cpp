// Random operations, restarts and steps of the clock, against a naive reference (oracle.h); after
// them what must always hold of a ledger.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "core/ledger/chain.h"
#include "core/ledger/history.h"
#include "core/ledger/late.h"
#include "unit/core/ledger/book_rig.h"
#include "unit/core/ledger/copy_book.h"
#include "unit/core/ledger/oracle.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

using namespace ledger;

std::string four(const Counters128& c) {
  return to_text(c.debits_posted) + ' ' + to_text(c.credits_posted) + ' ' +
         to_text(c.debits_pending) + ' ' + to_text(c.credits_pending);
}
std::string four(const std::vector<Amount>& c) {
  return to_text(c[0]) + ' ' + to_text(c[1]) + ' ' + to_text(c[2]) + ' ' + to_text(c[3]);
}

class Play {
 public:
  Play(std::uint64_t seed, const Limits& limits) : rig_(limits), rng_(seed) {
    step({CreateBook{}});
    oracle_.world.seq = 1;
    oracle_.world.recorded = now();
    oracle_.world.uncovered = 1;
    oracle_.world.uncovered_since = now();
    rig_.apply({AddSubscription{.queue = ""}});  // refused: it has no place
    const AccountType types[] = {AccountType::asset, AccountType::liability, AccountType::revenue};
    for (std::size_t i = 0; i < 6; ++i) {
      CreateAccount create{.id = name(i), .type = types[i % 3]};
      if (i >= 2) {
        LimitsIn limit{.currency = "USD"};
        limit.min_available = Signed{i == 4, i == 4 ? Amount{200} : Amount{0}};
        if (i == 3) {
          limit.max_balance = Signed{false, 800};
        }
        create.limits.push_back(limit);
      }
      if (i == 5) {
        create.currency = "USD";
      }
      step({std::move(create)});
    }
  }

  void run(int steps) {
    for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) {
      SCOPED_TRACE("step " + std::to_string(i));
      const std::uint64_t dice = rng_.below(40);
      if (dice == 0) {
        rig_.rig.restart();
        oracle_.advance(now());
        continue;
      }
      if (dice < 6) {
        rig_.rig.pass(Millis{static_cast<std::int64_t>(rng_.below(dice == 1 ? 70'000 : 3'000))});
      }
      if (dice == 7) {
        rig_.rig.run();
        oracle_.advance(now());
        continue;
      }
      if (dice == 8) {
        keep_a_sum();
        continue;
      }
      const bool atomic = rng_.below(3) == 0;
      std::vector<Operation> operations;
      for (std::uint64_t n = 1 + rng_.below(rng_.below(3) == 0 ? 6 : 1); n > 0; --n) {
        operations.push_back(operation());
      }
      step(std::move(operations), atomic);
      if (rng_.below(8) == 0) {
        check();
      }
    }
    check();
    rig_.rig.restart();
    oracle_.advance(now());
    check();
    check_log();
    check_copy();
  }

 private:
  std::int64_t now() const { return to_ns(Instant{rig_.rig.now}); }
  static std::string name(std::size_t i) { return "acc:" + std::to_string(i); }

  void step(std::vector<Operation> operations, bool atomic = false) {
    const bool first = oracle_.world.seq == 0;
    const auto got =
        rig_.apply(operations, atomic ? Apply::Mode::atomic : Apply::Mode::independent);
    if (first) {
      return;
    }
    std::vector<std::string> expected = oracle_.apply(now(), operations, atomic);
    oracle_.advance(now());
    ASSERT_EQ(got.results.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      std::string code = BookRig::code_of(got.results[i]);
      if (expected[i] == "exists") {
        code = code.starts_with("exists_with_different_") ? "exists" : code;
      }
      EXPECT_EQ(code, expected[i]) << "item " << i;
    }
    EXPECT_EQ(head().seq, oracle_.world.seq);
    EXPECT_EQ(to_ns(head().recorded_at), oracle_.world.recorded);
  }

  /// It writes no record, so the reference does not know of it.
  void keep_a_sum() {
    constexpr std::array<const char*, 4> prefixes = {"acc", "acc:2", "acc:9", "none"};
    const SetRollup set{.prefix = prefixes[rng_.below(prefixes.size())],
                        .keep = rng_.below(4) != 0};
    EXPECT_EQ(BookRig::code_of(rig_.apply({set}).results.at(0)), "");
    oracle_.advance(now());
  }

  /// Each sum is that of the accounts that it has reached: of all, if it is complete.
  void check_sums() {
    for (const auto& [key, rollup] : rig_.rig.reader.rows<Rollup>()) {
      SCOPED_TRACE("sum of " + rollup.prefix);
      std::map<CurrencyNumber, Rollup::Sum> sums;
      for (const auto& [id, row] : oracle_.world.accounts) {
        if (!path_within(id, rollup.prefix) || !rollup.has(id)) {
          continue;
        }
        for (const std::string currency : {"USD", "EUR"}) {
          if (oracle_.version(id, currency) == 0) {
            continue;
          }
          const std::vector<Amount> counters = oracle_.counters(id, currency);
          Rollup::Sum& sum = sums[iso_currency(currency)->number];
          sum.currency = iso_currency(currency)->number;
          sum.debits_posted.add(counters[0]);
          sum.credits_posted.add(counters[1]);
          sum.debits_pending.add(counters[2]);
          sum.credits_pending.add(counters[3]);
          ++(normal_side(row.type) == Side::debit ? sum.debit_accounts : sum.credit_accounts);
        }
      }
      std::vector<Rollup::Sum> expected;
      for (const auto& [number, sum] : sums) {
        expected.push_back(sum);
      }
      EXPECT_TRUE(rollup.sums == expected);
      complete_ = complete_ || rollup.complete;
      partial_ = partial_ || (!rollup.complete && !rollup.reached.empty());
    }
  }

  Head head() { return head_of(rig_.rig.reader, tenant_one, 1); }

  std::string some_transaction() {
    const auto& all = oracle_.world.transactions;
    if (all.empty() || rng_.below(20) == 0) {
      return "nobody";
    }
    const std::size_t window = std::min<std::size_t>(all.size(), 12);
    return all[all.size() - 1 - rng_.below(window)].id;
  }

  std::optional<std::string> some_id() {
    // Everything has an id of its own, so that both know it by the same one.
    if (rng_.below(12) == 0) {
      const std::string again = some_transaction();
      if (again != "nobody") {
        return again;
      }
    }
    return "t" + std::to_string(++ids_);
  }

  std::vector<Amount> some_amounts(const std::string& of) {
    const auto found = std::ranges::find(oracle_.world.transactions, of, &Oracle::Transaction::id);
    std::vector<Amount> amounts;
    const Amount same = rng_.below(60);
    if (found != oracle_.world.transactions.end()) {
      for (const Entry& entry : found->entries) {
        amounts.push_back(rng_.below(8) == 0 ? Amount{rng_.below(100)}
                                             : std::min(same, entry.amount));
      }
    }
    return amounts;
  }

  Operation operation() {
    const std::uint64_t dice = rng_.below(100);
    if (!made_.empty() && dice < 8) {
      Operation again = made_[rng_.below(made_.size())];
      if (auto* const create = std::get_if<CreateTransaction>(&again);
          create && rng_.below(2) == 0) {
        create->entries[0].amount += 1;
      }
      return again;
    }
    if (dice < 60) {
      CreateTransaction create{.id = some_id()};
      const std::string currency = rng_.below(5) == 0 ? "EUR" : "USD";
      const Amount amount = rng_.below(30) == 0 ? 0 : 1 + rng_.below(120);
      const std::size_t from = rng_.below(6);
      const std::size_t to = rng_.below(6);
      create.entries = {debit(name(to), amount, currency), credit(name(from), amount, currency)};
      if (rng_.below(4) == 0) {
        const Amount more = 1 + rng_.below(50);
        create.entries.push_back(debit(name(rng_.below(7)), more, "USD"));
        create.entries.push_back(
            credit(name(rng_.below(6)), more + (rng_.below(9) == 0 ? 1 : 0), "USD"));
      }
      if (rng_.below(3) == 0) {
        create.kind = TransactionMade::Kind::pending;
        if (rng_.below(2) == 0) {
          create.timeout_s = 1 + rng_.below(20);
        }
      }
      if (rng_.below(3) == 0) {
        create.effective_at =
            instant_from_ns(now() - static_cast<std::int64_t>(rng_.below(40'000)) * 1'000'000 +
                            (rng_.below(10) == 0 ? 200'000'000'000 : 0));
      }
      made_.push_back(create);
      return create;
    }
    if (dice < 70) {
      PostHold post{};
      post.id = some_id();
      post.of = some_transaction();
      if (rng_.below(2) == 0) {
        post.amounts = some_amounts(post.of);
        if (post.amounts->empty()) {
          post.amounts.reset();
        }
      }
      if (rng_.below(2) == 0) {
        post.final = rng_.below(2) == 0;
      }
      made_.push_back(post);
      return post;
    }
    if (dice < 77) {
      VoidHold release{};
      release.id = some_id();
      release.of = some_transaction();
      made_.push_back(release);
      return release;
    }
    if (dice < 88) {
      ReverseTransaction reverse{};
      reverse.id = some_id();
      reverse.of = some_transaction();
      reverse.effective_original = rng_.below(3) == 0;
      if (rng_.below(2) == 0) {
        reverse.amounts = some_amounts(reverse.of);
        if (reverse.amounts->empty()) {
          reverse.amounts.reset();
        }
      }
      made_.push_back(reverse);
      return reverse;
    }
    if (dice < 92) {
      return CloseBook{.through = instant_from_ns(
                           now() - static_cast<std::int64_t>(rng_.below(60'000)) * 1'000'000),
                       .reason = "test"};
    }
    if (dice < 97) {
      ChangeAccount change{.account = name(rng_.below(7))};
      if (rng_.below(2) == 0) {
        change.state = static_cast<Account::State>(rng_.below(4) == 0 ? 1 + rng_.below(3) : 1);
      } else {
        LimitsIn limit{.currency = "USD"};
        if (rng_.below(3) == 0) {
          limit.min_available = std::optional<Signed>{};
        } else {
          limit.min_available = Signed{rng_.below(2) == 1, 1 + rng_.below(100)};
        }
        change.limits.push_back(limit);
      }
      return change;
    }
    return CreateAccount{.id = name(rng_.below(7)), .type = AccountType::asset};
  }

  /// Counters now and at moments of both axes, sums, holds.
  void check() {
    Reader& reader = rig_.rig.reader;
    std::map<std::string, Counters128> totals;
    for (const auto& [id, row] : oracle_.world.accounts) {
      const auto found = find_account(reader, tenant_one, 1, id);
      ASSERT_TRUE(found) << id;
      for (const std::string currency : {"USD", "EUR"}) {
        SCOPED_TRACE(id + ' ' + currency);
        const CurrencyNumber number = iso_currency(currency)->number;
        const BalanceAt at = balance_at(reader, *found, number, {});
        EXPECT_EQ(four(at.counters), four(oracle_.counters(id, currency)));
        EXPECT_EQ(at.version, oracle_.version(id, currency));
        totals[currency] += at.counters;
        const std::uint64_t seq = rng_.below(oracle_.world.seq + 2);
        const std::int64_t effective =
            now() - static_cast<std::int64_t>(rng_.below(120'000)) * 1'000'000;
        const BalanceAt then = balance_at(reader, *found, number, {.seq = seq});
        EXPECT_EQ(four(then.counters), four(oracle_.counters(id, currency, {}, seq))) << seq;
        EXPECT_EQ(then.version, oracle_.version(id, currency, seq));
        const Instant moment = instant_from_ns(effective);
        EXPECT_EQ(four(balance_at(reader, *found, number, {.effective = moment}).counters),
                  four(oracle_.counters(id, currency, effective)))
            << effective;
        EXPECT_EQ(
            four(balance_at(reader, *found, number, {.effective = moment, .seq = seq}).counters),
            four(oracle_.counters(id, currency, effective, seq)))
            << effective << ' ' << seq;
      }
    }
    for (const auto& [currency, sum] : totals) {
      EXPECT_EQ(sum.debits_posted, sum.credits_posted) << currency;
      EXPECT_EQ(sum.debits_pending, sum.credits_pending) << currency;
    }
    std::size_t open = 0;
    for (const Oracle::Transaction& one : oracle_.world.transactions) {
      open += one.state == "pending" ? 1 : 0;
      const auto found = find_transaction(reader, tenant_one, 1, one.id);
      ASSERT_TRUE(found) << one.id;
      EXPECT_EQ(found->seq, one.seq);
      if (one.kind == 2) {
        ASSERT_TRUE(found->outcome);
        EXPECT_EQ(found->outcome->left, one.left);
      }
      if (found->outcome && !found->outcome->reversed.empty()) {
        EXPECT_EQ(found->outcome->reversed, one.reversed);
      }
    }
    EXPECT_EQ(open_holds(reader, tenant_one, 1, {}, 100'000).size(), open);
    check_sums();
  }

  /// The chain, and that the fold over what the records say is what is stored.
  void check_log() {
    Hash prev{};
    std::uint64_t seq = 0;
    Instant recorded = long_ago;
    std::map<std::pair<std::string, std::string>, Counters128> fold;
    std::map<std::string, TransactionMade> holds;
    const auto release = [&](const TransactionMade& hold, const std::vector<Released>& released) {
      for (const Released& one : released) {
        const Entry& entry = hold.entries.at(one.index);
        Counters128& c = fold[{entry.account, entry.currency}];
        (entry.side == Side::debit ? c.debits_pending : c.credits_pending) -= one.amount;
      }
    };
    for (const Record& record : rig_.records()) {
      EXPECT_EQ(record.seq, ++seq);
      EXPECT_GT(record.recorded_at, recorded);
      recorded = record.recorded_at;
      EXPECT_EQ(record.hash, record_hash("main", seq, prev, record.kind, record.payload));
      prev = record.hash;
      const auto payload = decode(record.kind, record.payload);
      ASSERT_TRUE(payload);
      if (const auto* const made = std::get_if<TransactionMade>(&*payload)) {
        if (made->resolves) {
          release(holds.at(*made->resolves), made->released);
        }
        if (made->kind == TransactionMade::Kind::pending) {
          holds[made->id] = *made;
        }
        for (const Entry& entry : made->entries) {
          Counters128& c = fold[{entry.account, entry.currency}];
          if (made->kind == TransactionMade::Kind::posted) {
            (entry.side == Side::debit ? c.debits_posted : c.credits_posted) += entry.amount;
          } else if (made->kind == TransactionMade::Kind::pending) {
            (entry.side == Side::debit ? c.debits_pending : c.credits_pending) += entry.amount;
          }
        }
      } else if (const auto* const expired = std::get_if<HoldExpired>(&*payload)) {
        release(holds.at(expired->transaction), expired->released);
      }
    }
    EXPECT_EQ(seq, oracle_.world.seq);
    for (const auto& [key, counters] : fold) {
      EXPECT_EQ(four(counters), four(oracle_.counters(key.first, key.second)));
    }
  }

  /// Whatever the log is, a server that imports it has the same book.
  void check_copy() {
    BookRig copy;
    copy.rig.now = rig_.rig.now;
    ASSERT_EQ(import_into(copy, exported_records(rig_), 1 + rng_.below(100)), "");
    expect_same_book(rig_, copy);
  }

  BookRig rig_;
  Oracle oracle_;
  SeededRng rng_;
  std::uint64_t ids_ = 0;
  std::vector<Operation> made_;

 public:
  bool complete_ = false;  ///< a sum that was compared was complete
  bool partial_ = false;   ///< one was not
};

TEST(LedgerModel, AgreesWithTheNaiveReference) {
  bool complete = false;
  bool partial = false;
  for (std::uint64_t seed = 1; seed <= 25 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Limits limits;
    limits.ledger_rollup_accounts_per_batch = 1 + seed % 3;
    Play play(seed, limits);
    play.run(150);
    complete = complete || play.complete_;
    partial = partial || play.partial_;
  }
  EXPECT_TRUE(complete);
  EXPECT_TRUE(partial);
}

TEST(LedgerModel, AgreesAlsoWithoutRoomInMemory) {
  for (std::uint64_t seed = 101; seed <= 110 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Limits limits;
    limits.ledger_account_bytes = 0;
    limits.ledger_books = 0;
    Play(seed, limits).run(150);
  }
}

TEST(LedgerModel, ALongHistoryHasBlocks) { Play(1000, {}).run(1500); }

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
