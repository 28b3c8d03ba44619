// What is read of many accounts: sums, the trial balance, statements, days.
#include "api/ledger/sums.h"

#include <algorithm>

#include "api/ledger/statement_page.h"
#include "books_rig.h"

namespace hk::api::testing {

namespace {

using ledger::activity_of;
using ledger::groups_under;
using ledger::statement_of;
using ledger::sums_under;
using ledger::TimeAxis;
using ledger::trial_balance_of;

std::string signed_text(const cl::Signed& amount) { return cl::to_text(amount); }

class LedgerReports : public ::testing::Test {
 protected:
  LedgerReports() {
    rig.account("bank", cl::AccountType::asset);
    rig.account("costs", cl::AccountType::expense);
    rig.account("sales", cl::AccountType::revenue);
  }
  core::Reader& reader() { return *rig.reader; }

  BooksRig rig;
};

TEST_F(LedgerReports, SumsHaveEveryAccountOfThePrefixAndNoOther) {
  for (const char* const id : {"m:4", "m:4:pending", "m:42", "m:4-b", "n"}) {
    rig.account(id, cl::AccountType::liability);
    rig.move({.debit = "bank", .credit = id, .amount = 10});
  }
  rig.move({.debit = "bank", .credit = "m:4", .amount = 5, .currency = "EUR"});

  const auto sums = sums_under(reader(), rig.place(), "m:4", {});
  ASSERT_TRUE(sums);
  EXPECT_EQ(sums->at(BooksRig::usd).accounts, 2U);
  EXPECT_EQ(sums->at(BooksRig::usd).counters.credits_posted, 20U);
  EXPECT_EQ(sums->at(BooksRig::usd).normal, cl::Side::credit);
  EXPECT_EQ(sums->at(BooksRig::eur).counters.credits_posted, 5U);

  const auto all = sums_under(reader(), rig.place(), "", {});
  EXPECT_EQ(all->at(BooksRig::usd).accounts, 6U);
  EXPECT_EQ(all->at(BooksRig::usd).normal, std::nullopt) << "accounts of both sides";
  EXPECT_TRUE(sums_under(reader(), rig.place(), "m:", {})->empty());
}

TEST_F(LedgerReports, GroupsAreTheSamePageByPage) {
  // "a-c" stands between "a" and "a:b" in the order of paths.
  const std::map<std::string, std::vector<std::string>> groups = {
      {"a", {"a", "a:b", "a:z:1"}},
      {"a-c", {"a-c:x"}},
      {"b:1", {"b:1", "b:1:c", "b:1:d"}},
      {"b:2", {"b:2:c"}}};
  std::map<std::string, std::uint64_t> expected;
  for (const auto& [name, paths] : groups) {
    for (const std::string& path : paths) {
      rig.account(path, cl::AccountType::liability);
      rig.move({.debit = "bank", .credit = path, .amount = 1});
    }
  }
  for (const std::size_t segments : {1U, 2U, 3U}) {
    expected.clear();
    for (const auto& [name, paths] : groups) {
      for (const std::string& path : paths) {
        ++expected[std::string(ledger::group_of(path, segments))];
      }
    }
    for (const std::size_t limit : {1U, 2U, 100U}) {
      SCOPED_TRACE(std::to_string(segments) + " segments, pages of " + std::to_string(limit));
      std::map<std::string, std::uint64_t> found;
      std::string after;
      for (bool more = true; more;) {
        const auto page = groups_under(reader(), rig.place(), "", segments, after, {}, limit);
        ASSERT_TRUE(page);
        ASSERT_LE(page->groups.size(), limit);
        for (const auto& group : page->groups) {
          const auto sum = group.sums.find(BooksRig::usd);
          if (sum != group.sums.end() && sum->second.normal == cl::Side::credit) {
            EXPECT_TRUE(found.emplace(group.name, sum->second.accounts).second) << group.name;
          }
        }
        more = page->more;
        after = page->groups.empty() ? "" : page->groups.back().after;
      }
      EXPECT_EQ(found, expected);
    }
  }
  const auto below = groups_under(reader(), rig.place(), "b:1", 1, "", {}, 100);
  ASSERT_EQ(below->groups.size(), 1U);
  EXPECT_EQ(below->groups[0].name, "b");
  EXPECT_EQ(below->groups[0].sums.at(BooksRig::usd).accounts, 3U) << "not those of b:2";
}

TEST_F(LedgerReports, ASumThatDoesNotFitIsSaid) {
  rig.account("more", cl::AccountType::asset);
  for (const char* const id : {"bank", "more"}) {
    cl::CreateTransaction huge;
    huge.entries.push_back(
        {.account = id, .currency = "USD", .amount = cl::amount_max, .side = cl::Side::debit});
    huge.entries.push_back({.account = std::string(id) == "bank" ? "sales" : "costs",
                            .currency = "USD",
                            .amount = cl::amount_max,
                            .side = cl::Side::credit});
    ASSERT_EQ(rig.apply(std::move(huge)), "");
  }
  EXPECT_EQ(sums_under(reader(), rig.place(), "", {}).error().kind, ErrorKind::conflict);
  EXPECT_EQ(trial_balance_of(reader(), rig.place(), {}).error().kind, ErrorKind::conflict);
  EXPECT_TRUE(sums_under(reader(), rig.place(), "bank", {}));
}

TEST_F(LedgerReports, TheTrialBalanceIsThatOfItsMoment) {
  rig.move(
      {.id = "a", .debit = "bank", .credit = "sales", .amount = 900, .effective_at = january(1)});
  rig.move({.id = "b",
            .debit = "costs",
            .credit = "bank",
            .amount = 200,
            .effective_at = january(1, 1)});
  const std::uint64_t then = cl::head_of(reader(), BooksRig::tenant, rig.place().book).seq;
  rig.move({.id = "c",
            .debit = "bank",
            .credit = "sales",
            .amount = 50,
            .effective_at = january(1) - std::chrono::hours{24}});
  rig.move({.debit = "bank", .credit = "sales", .amount = 7, .hold = true});

  struct Row {
    const char* name;
    cl::AsOf as_of;
    std::optional<cl::AsOf> since;
    const char* revenue;
    const char* expense;
    const char* net_income;
    const char* assets;
  };
  const Row rows[] = {
      {"now", {}, {}, "950", "200", "750", "750"},
      {"before the last record", {.seq = then}, {}, "900", "200", "700", "700"},
      {"the day before",
       {.effective = january(1) - std::chrono::nanoseconds{1}},
       {},
       "50",
       "0",
       "50",
       "50"},
      {"both", {.effective = january(1), .seq = then}, {}, "900", "0", "900", "900"},
      {"from that day on",
       {},
       cl::AsOf{.effective = january(1) - std::chrono::nanoseconds{1}},
       "900",
       "200",
       "700",
       "700"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const auto balance = trial_balance_of(reader(), rig.place(), row.as_of, row.since);
    ASSERT_TRUE(balance);
    const ledger::TypeSums& usd = balance->at(BooksRig::usd);
    EXPECT_EQ(usd.debits, usd.credits);
    EXPECT_EQ(signed_text(usd.balance(cl::AccountType::revenue)), row.revenue);
    EXPECT_EQ(signed_text(usd.balance(cl::AccountType::expense)), row.expense);
    EXPECT_EQ(signed_text(usd.net_income()), row.net_income);
    EXPECT_EQ(signed_text(usd.balance(cl::AccountType::asset)), row.assets);
  }
}

/// Lines as "amount balance", page by page.
std::vector<std::string> statement_lines(core::Reader& reader, const cl::Account& account,
                                         ledger::StatementQuery query,
                                         cl::Signed* closing = nullptr) {
  std::vector<std::string> lines;
  for (;;) {
    const auto page = statement_of(reader, account, query);
    for (const auto& line : page.lines) {
      lines.push_back((line.movement.side == cl::Side::debit ? "+" : "-") +
                      cl::to_text(line.movement.amount) + " " + signed_text(line.balance));
    }
    if (closing != nullptr) {
      *closing = page.closing;
    }
    if (!page.next) {
      return lines;
    }
    query.after = page.next;
  }
}

TEST_F(LedgerReports, AStatementHasThePeriodOnEitherAxis) {
  rig.move(
      {.id = "1", .debit = "bank", .credit = "sales", .amount = 100, .effective_at = january(1)});
  rig.move(
      {.id = "2", .debit = "bank", .credit = "sales", .amount = 10, .effective_at = january(1)});
  rig.move({.id = "h", .debit = "bank", .credit = "sales", .amount = 4, .hold = true});
  rig.move({.id = "3",
            .debit = "costs",
            .credit = "bank",
            .amount = 30,
            .effective_at = january(1) - std::chrono::hours{48}});
  rig.move({.id = "4",
            .debit = "bank",
            .credit = "sales",
            .amount = 1,
            .effective_at = january(1) - std::chrono::hours{24}});
  const cl::Account bank = rig.account_of("bank");
  const std::uint64_t head = cl::head_of(reader(), BooksRig::tenant, rig.place().book).seq;

  for (const std::size_t limit : {1U, 2U, 100U}) {
    for (const std::size_t looked_at : {1U, 3U, 100U}) {
      SCOPED_TRACE(std::to_string(limit) + " lines, looking at " + std::to_string(looked_at));
      ledger::StatementQuery query{
          .currency = BooksRig::usd, .up_to_seq = head, .limit = limit, .looked_at_max = looked_at};
      cl::Signed closing;
      EXPECT_EQ(statement_lines(reader(), bank, query, &closing),
                (std::vector<std::string>{"-30 -30", "+1 -29", "+100 71", "+10 81"}));
      EXPECT_EQ(signed_text(closing), "81");
      query.from = january(1);
      EXPECT_EQ(statement_lines(reader(), bank, query),
                (std::vector<std::string>{"+100 71", "+10 81"}));
      query.to = january(1);
      EXPECT_TRUE(statement_lines(reader(), bank, query, &closing).empty());
      EXPECT_EQ(signed_text(closing), "-29");
      query = {.currency = BooksRig::usd,
               .axis = TimeAxis::recorded,
               .up_to_seq = head,
               .limit = limit,
               .looked_at_max = looked_at};
      EXPECT_EQ(statement_lines(reader(), bank, query),
                (std::vector<std::string>{"+100 100", "+10 110", "-30 80", "+1 81"}));
    }
  }
}

TEST_F(LedgerReports, AStatementHasWhatAHoldPostedAlsoWhereAPageEndsBesideIt) {
  rig.move({.id = "h", .debit = "bank", .credit = "sales", .amount = 9, .hold = true});
  for (const std::uint64_t amount : {4U, 5U}) {
    cl::PostHold post;
    post.of = "h";
    post.amounts = std::vector<cl::Amount>{amount, amount};
    post.final = amount == 5;
    ASSERT_EQ(rig.apply(std::move(post)), "");
  }
  const std::uint64_t head = cl::head_of(reader(), BooksRig::tenant, rig.place().book).seq;
  for (const std::size_t looked_at : {1U, 2U, 3U, 100U}) {
    EXPECT_EQ(
        statement_lines(reader(), rig.account_of("bank"),
                        {.currency = BooksRig::usd, .up_to_seq = head, .looked_at_max = looked_at}),
        (std::vector<std::string>{"+4 4", "+5 9"}))
        << looked_at;
  }
}

TEST_F(LedgerReports, PagesOfAStatementDoNotSeeWhatIsRecordedBetweenThem) {
  for (int i = 0; i < 4; ++i) {
    rig.move({.debit = "bank", .credit = "sales", .amount = 1, .effective_at = january(1, i)});
  }
  ledger::StatementQuery query{
      .currency = BooksRig::usd,
      .up_to_seq = cl::head_of(reader(), BooksRig::tenant, rig.place().book).seq,
      .limit = 2};
  auto page = statement_of(reader(), rig.account_of("bank"), query);
  ASSERT_TRUE(page.next);
  rig.move({.debit = "bank", .credit = "sales", .amount = 1000, .effective_at = january(1, 2)});

  query.after = page.next;
  page = statement_of(reader(), rig.account_of("bank"), query);
  ASSERT_EQ(page.lines.size(), 2U);
  EXPECT_EQ(signed_text(page.lines[1].balance), "4");
  EXPECT_EQ(signed_text(page.closing), "4");
  EXPECT_FALSE(page.next);
}

TEST_F(LedgerReports, DaysAreSummedForEachAccountAndCurrency) {
  const auto post = [&](int day, int hour, std::uint64_t amount, const char* currency = "USD") {
    rig.move({.debit = "bank",
              .credit = "sales",
              .amount = amount,
              .currency = currency,
              .effective_at = january(day, hour)});
  };
  post(3, 0, 1);
  post(3, 23, 2);
  post(5, 12, 4);
  post(4, 1, 8, "EUR");
  post(3, 5, 16);
  rig.move({.debit = "costs", .credit = "bank", .amount = 32, .effective_at = january(5, 13)});
  rig.move(
      {.debit = "bank", .credit = "sales", .amount = 64, .effective_at = january(9), .hold = true});

  const std::vector<std::string> expected = {
      "bank 978 4 8/0",  "bank 840 3 19/0",  "bank 840 5 4/32", "costs 840 5 32/0",
      "sales 978 4 0/8", "sales 840 3 0/19", "sales 840 5 0/4"};
  for (const std::size_t limit : {1U, 2U, 100U}) {
    for (const std::size_t looked_at : {1U, 2U, 100U}) {
      SCOPED_TRACE(std::to_string(limit) + " days, looking at " + std::to_string(looked_at));
      ledger::ActivityQuery query{
          .from = january(2), .to = january(30), .limit = limit, .looked_at_max = looked_at};
      std::vector<std::string> found;
      for (bool more = true; more;) {
        const auto page = activity_of(reader(), rig.place(), query);
        for (const auto& day : page.days) {
          const std::chrono::year_month_day date{day.date};
          found.push_back(day.account + " " + std::to_string(day.currency) + " " +
                          std::to_string(static_cast<unsigned>(date.day())) + " " +
                          cl::to_text(day.debits) + "/" + cl::to_text(day.credits));
        }
        query.next = page.next;
        more = page.next.has_value();
      }
      auto sorted = found;
      auto wanted = expected;
      std::ranges::sort(sorted);
      std::ranges::sort(wanted);
      EXPECT_EQ(sorted, wanted);
    }
  }
  const auto part = activity_of(reader(), rig.place(),
                                {.prefix = "bank", .from = january(3, 12), .to = january(5, 13)});
  ASSERT_EQ(part.days.size(), 3U);
  EXPECT_EQ(cl::to_text(part.days.back().credits), "0") << "to does not count";
}

}  // namespace

}  // namespace hk::api::testing
