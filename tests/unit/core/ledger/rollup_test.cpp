// Sums that are kept: what they are made of, and when. That they are right after any sequence is
// ledger_model_test.
#include <gtest/gtest.h>

#include "unit/core/ledger/book_rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

using namespace ledger;

Limits two_at_once() {
  Limits limits;
  limits.ledger_rollup_accounts_per_batch = 2;
  return limits;
}

struct Shops : BookRig {
  Shops() : BookRig(two_at_once()) {
    account("bank", AccountType::asset);
    for (const char* const name :
         {"shop", "shop-x", "shop:1", "shop:2", "shop:2:fees", "shop:3", "shop:4", "shopping"}) {
      account(name, AccountType::revenue);
      EXPECT_EQ(code(transfer("bank", name, 10)), "");
    }
  }
  Rollup kept(const std::string& prefix) {
    return rig.reader.get<Rollup>({tenant_one, 1, prefix}).value_or(Rollup{});
  }
  /// "credits posted / accounts", and "…" while it is not complete.
  std::string sum(const std::string& prefix) {
    const Rollup rollup = kept(prefix);
    std::string text;
    for (const Rollup::Sum& one : rollup.sums) {
      text += to_text(one.credits_posted.low) + '/' + std::to_string(one.credit_accounts);
    }
    return text + (rollup.complete ? "" : " …");
  }
  void batches(int count) {
    for (int i = 0; i < count; ++i) {
      rig.run();
    }
  }
};

TEST(LedgerRollup, TakesWhatWasThereInPiecesAndWhatComesAtOnce) {
  Shops rig;
  EXPECT_EQ(rig.code(SetRollup{.prefix = "shop"}), "");
  EXPECT_EQ(rig.sum("shop"), " …");
  rig.batches(1);
  EXPECT_EQ(rig.sum("shop"), "30/3 …") << "the account itself, and two of those below";
  rig.rig.restart();
  // One that it has, one that it has not yet, one that is none of it.
  EXPECT_EQ(rig.code(BookRig::transfer("bank", "shop:1", 1)), "");
  EXPECT_EQ(rig.code(BookRig::transfer("bank", "shop:4", 2)), "");
  EXPECT_EQ(rig.code(BookRig::transfer("bank", "shop-x", 4)), "");
  rig.batches(5);
  EXPECT_EQ(rig.sum("shop"), "63/6");
  rig.account("shop:2:late", AccountType::revenue);
  EXPECT_EQ(rig.code(BookRig::transfer("bank", "shop:2:late", 5)), "");
  EXPECT_EQ(rig.sum("shop"), "68/7");
  EXPECT_EQ(rig.sum("shop:2"), " …") << "nobody asked for it";
}

TEST(LedgerRollup, ARefusedGroupLeavesItAsItWas) {
  Shops rig;
  EXPECT_EQ(rig.code(SetRollup{.prefix = "shop"}), "");
  rig.batches(5);
  const std::string before = rig.sum("shop");
  std::vector<Operation> operations;
  operations.push_back(BookRig::transfer("bank", "shop:1", 7));
  operations.push_back(SetRollup{.prefix = "bank"});
  operations.push_back(SetRollup{.prefix = "shop", .keep = false});
  operations.push_back(BookRig::transfer("bank", "nobody", 7));
  EXPECT_TRUE(rig.apply(std::move(operations), Apply::Mode::atomic).failed);
  EXPECT_EQ(rig.sum("shop"), before);
  EXPECT_EQ(rig.code(BookRig::transfer("bank", "shop:1", 1)), "");
  EXPECT_EQ(rig.sum("shop"), "61/6");
  EXPECT_FALSE(rig.rig.reader.get<Rollup>({tenant_one, 1, "bank"}));
}

TEST(LedgerRollup, IsRemovedAndKeptAnew) {
  Shops rig;
  EXPECT_EQ(rig.code(SetRollup{.prefix = "shop:2"}), "");
  rig.batches(3);
  EXPECT_EQ(rig.sum("shop:2"), "20/2");
  std::vector<Operation> operations;
  operations.push_back(SetRollup{.prefix = "shop:2", .keep = false});
  operations.push_back(BookRig::transfer("bank", "shop:2", 3));
  operations.push_back(SetRollup{.prefix = "shop:2"});
  rig.apply(std::move(operations));
  rig.batches(3);
  EXPECT_EQ(rig.sum("shop:2"), "23/2");
  EXPECT_EQ(rig.code(SetRollup{.prefix = "shop:2", .keep = false}), "");
  EXPECT_FALSE(rig.rig.reader.get<Rollup>({tenant_one, 1, "shop:2"}));
  EXPECT_EQ(rig.code(SetRollup{.prefix = "shop:2", .keep = false}), "") << "again";
  EXPECT_EQ(rig.code(SetRollup{.prefix = "a::b"}), "invalid prefix");
  EXPECT_EQ(rig.code(SetRollup{.prefix = ""}), "invalid prefix");
}

TEST(LedgerRollup, HasABound) {
  Limits limits;
  limits.ledger_rollups_max = 2;
  BookRig rig(limits);
  EXPECT_EQ(rig.code(SetRollup{.prefix = "a"}), "");
  EXPECT_EQ(rig.code(SetRollup{.prefix = "b"}), "");
  EXPECT_EQ(rig.code(SetRollup{.prefix = "c"}), "too_many");
  EXPECT_EQ(rig.code(SetRollup{.prefix = "a"}), "");
}

TEST(LedgerRollup, ATotalHasMoreThan128Bits) {
  Total total;
  total.add(amount_max);
  total.add(amount_max);
  EXPECT_EQ(total.high, 1U);
  EXPECT_EQ(total.low, amount_max - 1);
  total.take(amount_max);
  EXPECT_EQ(total.high, 0U);
  EXPECT_EQ(total.low, amount_max);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
