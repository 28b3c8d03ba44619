// Lines of statements and the entries that they are: rules, decisions by hand, and what always
// holds.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/ledger/recon.h"
#include "unit/core/ledger/copy_book.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

using namespace ledger;
using Action = ReconDecision::Action;

const Instant first_of_may = instant_from_ns(1'777'593'600'000'000'000);
Instant may(int day, int hours = 0) {
  return first_of_may + std::chrono::days{day - 1} + std::chrono::hours{hours};
}
Signed amount_of(std::int64_t amount) {
  return {amount < 0, static_cast<Amount>(amount < 0 ? -amount : amount)};
}

std::string text_of(const std::optional<ReconFound>& found) {
  if (!found) {
    return "none";
  }
  std::string text = found->sure ? "sure" : "perhaps";
  for (const EntryPlace& place : found->entries) {
    text += ' ' + std::to_string(place.seq);
  }
  return text;
}

TEST(ReconRules, ByReference) {
  struct Row {
    const char* name;
    std::vector<std::int64_t> entries;
    std::int64_t amount;
    const char* found;
  };
  const Row rows[] = {
      {"the one", {100}, 100, "sure 1"},
      {"the one of that amount", {40, 100}, 100, "sure 2"},
      {"all together", {40, 70, -10}, 100, "sure 1 2 3"},
      {"two of that amount", {100, 100}, 100, "perhaps 1"},
      {"none", {40, 50}, 100, "none"},
      {"the other direction", {-100}, 100, "none"},
      {"nothing", {}, 100, "none"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    std::vector<FreeEntry> entries;
    for (const std::int64_t amount : row.entries) {
      entries.push_back({{entries.size() + 1, 0}, may(3), amount_of(amount)});
    }
    const ReconLine line{.amount = amount_of(row.amount), .reference = "r"};
    EXPECT_EQ(text_of(match_by_reference(line, entries)), row.found);
    EXPECT_EQ(text_of(match_by_reference(ReconLine{.amount = line.amount}, entries)), "none")
        << "a line without a reference";
  }
}

TEST(ReconRules, ByAmountAndDay) {
  struct Row {
    const char* name;
    std::vector<std::pair<int, std::int64_t>> entries;  ///< day of May, amount
    Rivals rivals;
    const char* found;
  };
  // A line of 100 on May 10, three days around it.
  const Row rows[] = {
      {"that day", {{10, 100}}, {}, "sure 1"},
      {"at the edge", {{13, 100}}, {}, "sure 1"},
      {"at the other edge", {{7, 100}}, {}, "sure 1"},
      {"beyond it", {{14, 100}}, {}, "none"},
      {"another amount", {{10, 99}}, {}, "none"},
      {"the other direction", {{10, -100}}, {}, "none"},
      {"one that day, one near", {{11, 100}, {10, 100}}, {}, "sure 2"},
      {"two that day", {{10, 100}, {10, 100}}, {}, "perhaps 1"},
      {"two near: the closest", {{8, 100}, {11, 100}}, {}, "perhaps 2"},
      {"as close: the first recorded", {{11, 100}, {9, 100}}, {}, "perhaps 1"},
      {"another line wants it, too", {{11, 100}}, {.near = true}, "perhaps 1"},
      {"another line of another day", {{10, 100}}, {.near = true}, "sure 1"},
      {"another line of that day", {{10, 100}}, {.same_day = true, .near = true}, "perhaps 1"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    std::vector<FreeEntry> entries;
    for (const auto& [day, amount] : row.entries) {
      entries.push_back({{entries.size() + 1, 0}, may(day, 23), amount_of(amount)});
    }
    const ReconLine line{.date = may(10), .amount = amount_of(100)};
    EXPECT_EQ(text_of(match_by_amount(line, entries, 3, row.rivals)), row.found);
  }
}

/// Does any choice of two to four entries come to the amount?
bool adds_up(const std::vector<std::int64_t>& entries, std::int64_t amount) {
  for (std::uint32_t bits = 0; bits < (1U << entries.size()); ++bits) {
    std::int64_t sum = 0;
    int count = 0;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if ((bits >> i & 1U) != 0) {
        sum += entries[i];
        ++count;
      }
    }
    if (sum == amount && count >= 2 && count <= 4) {
      return true;
    }
  }
  return false;
}

TEST(ReconRules, SeveralEntriesAsANaiveSearchFindsThem) {
  SeededRng rng(5);
  int found_some = 0;
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::int64_t> amounts;
    std::vector<FreeEntry> entries;
    const int sign = rng.below(2) == 0 ? 1 : -1;
    for (std::uint64_t n = rng.below(9); n > 0; --n) {
      amounts.push_back(sign * static_cast<std::int64_t>(1 + rng.below(40)));
      entries.push_back({{entries.size() + 1, 0},
                         may(1 + static_cast<int>(rng.below(5))),
                         amount_of(amounts.back())});
    }
    const std::int64_t wanted = sign * static_cast<std::int64_t>(1 + rng.below(80));
    const ReconLine line{.date = may(3), .amount = amount_of(wanted)};
    const auto found = match_several(line, entries, 3);
    EXPECT_EQ(found.has_value(), adds_up(amounts, wanted)) << i;
    if (found) {
      ++found_some;
      std::int64_t sum = 0;
      for (const EntryPlace& place : found->entries) {
        sum += amounts[place.seq - 1];
      }
      EXPECT_EQ(sum, wanted);
      EXPECT_FALSE(found->sure);
    }
  }
  EXPECT_GT(found_some, 100);
}

TEST(ReconRules, ManyEntriesAreLookedAtWithABound) {
  std::vector<FreeEntry> entries;
  for (std::uint64_t i = 1; i <= 5000; ++i) {
    entries.push_back({{i, 0}, may(3), amount_of(2)});
  }
  EXPECT_EQ(text_of(match_several({.date = may(3), .amount = amount_of(1001)}, entries, 3)),
            "none");
}

/// A bank account whose statements come from a bank.
struct Bank : BookRig {
  Bank() {
    rig.now = std::chrono::floor<Millis>(may(20));
    account("bank", AccountType::asset);
    account("shop", AccountType::liability);
    EXPECT_EQ(code(SetReconSource{.id = "b", .account = "bank", .currency = "USD"}), "");
  }
  /// Into the bank (or out of it) on a day of May.
  void paid(const std::string& id, std::int64_t amount, int day,
            const std::string& reference = "") {
    const auto size = static_cast<Amount>(amount < 0 ? -amount : amount);
    CreateTransaction create =
        amount < 0 ? transfer("shop", "bank", size) : transfer("bank", "shop", size);
    create.id = id;
    create.effective_at = may(day, 5);
    if (!reference.empty()) {
      create.reference = reference;
    }
    EXPECT_EQ(code(std::move(create)), "");
  }
  static ReconLineIn line(std::string id, std::int64_t amount, int day,
                          std::string reference = "") {
    return {.external_id = std::move(id),
            .date = may(day),
            .amount = amount_of(amount),
            .currency = "USD",
            .reference = std::move(reference)};
  }
  /// "imported duplicates matched proposed", or the code.
  std::string lines(std::vector<ReconLineIn> all) {
    const auto result = one(ImportReconLines{.source = "b", .lines = std::move(all)});
    if (!result) {
      return code_of(result);
    }
    const ReconImported& got = *result->imported;
    return std::to_string(got.imported) + ' ' + std::to_string(got.duplicates) + ' ' +
           std::to_string(got.matched) + ' ' + std::to_string(got.proposed);
  }
  std::string decide(const std::string& line, Action action,
                     std::optional<std::vector<EntryName>> entries = {}) {
    return code(DecideRecon{
        .source = "b", .external_id = line, .action = action, .entries = std::move(entries)});
  }
  /// "matched reference t1/0"
  std::string line_state(const std::string& id) {
    const auto row = rig.reader.get<ReconLine>({tenant_one, 1, 1, id});
    if (!row) {
      return "none";
    }
    constexpr std::array<const char*, 5> states = {"", "unmatched", "proposed", "matched",
                                                   "ignored"};
    constexpr std::array<const char*, 5> rules = {"", " manual", " reference", " amount_date",
                                                  " several"};
    std::string text = states.at(static_cast<std::size_t>(row->state));
    text += rules.at(static_cast<std::size_t>(row->rule));
    for (const EntryPlace& place : row->entries) {
      text += ' ' + transaction_at(rig.reader, tenant_one, 1, place.seq)->made.id + '/' +
              std::to_string(place.index);
    }
    return text;
  }
  std::vector<std::string> kinds() {
    std::vector<std::string> out;
    for (const Record& record : records()) {
      out.push_back(record.kind);
    }
    return out;
  }
  /// What always holds: an entry is with one line at most, and their amounts are equal.
  void check() {
    std::set<std::pair<EntryPlace, std::string>> by_lines;
    for (const auto& [key, row] : rig.reader.rows<ReconLine>()) {
      Signed sum{};
      for (const EntryPlace& place : row.entries) {
        const Entry entry =
            transaction_at(rig.reader, tenant_one, 1, place.seq)->made.entries.at(place.index);
        sum = saturating_sum(sum, {entry.side == Side::credit, entry.amount});
        EXPECT_EQ(entry.account, "bank");
        if (row.state == ReconState::matched) {
          EXPECT_TRUE(by_lines.emplace(place, row.external_id).second);
        }
      }
      const bool has = row.state == ReconState::matched || row.state == ReconState::proposed;
      EXPECT_EQ(row.entries.empty(), !has) << row.external_id;
      if (has && row.known) {
        EXPECT_EQ(sum, row.amount) << row.external_id;
      }
    }
    std::set<std::pair<EntryPlace, std::string>> stored;
    std::set<EntryPlace> once;
    for (const auto& [key, row] : rig.reader.rows<ReconEntry>()) {
      EXPECT_TRUE(once.insert({row.seq, row.index}).second);
      if (!row.external_id.empty()) {
        stored.emplace(EntryPlace{row.seq, row.index}, row.external_id);
      }
    }
    EXPECT_EQ(stored, by_lines);
  }
};

TEST(LedgerRecon, MatchesWhatIsSureAndProposesTheRest) {
  Bank rig;
  rig.paid("t1", 100, 3, "INV-1");
  rig.paid("t2", 50, 4);
  rig.paid("t3", -20, 5);
  rig.paid("t4", 7, 6);
  rig.paid("t5", 8, 6);
  rig.paid("t6", 30, 6);
  rig.paid("t7", 30, 6);
  const std::string before = rig.balance("bank");
  const std::size_t records = rig.records().size();

  EXPECT_EQ(
      rig.lines({Bank::line("a", 100, 19, "INV-1"), Bank::line("b", 50, 5), Bank::line("c", -20, 5),
                 Bank::line("d", 15, 6), Bank::line("e", 30, 6), Bank::line("f", 999, 6)}),
      "6 0 3 2");

  EXPECT_EQ(rig.line_state("a"), "matched reference t1/0");
  EXPECT_EQ(rig.line_state("b"), "matched amount_date t2/0");
  EXPECT_EQ(rig.line_state("c"), "matched amount_date t3/1");
  EXPECT_EQ(rig.line_state("d"), "proposed several t4/0 t5/0");
  EXPECT_EQ(rig.line_state("e"), "proposed amount_date t6/0");
  EXPECT_EQ(rig.line_state("f"), "unmatched");
  EXPECT_EQ(rig.balance("bank"), before) << "matching moves nothing";
  EXPECT_EQ(rig.records().size(), records + 1) << "one record for what was decided";
  EXPECT_EQ(rig.kinds().back(), "reconciliation");
  rig.check();
}

TEST(LedgerRecon, ALineComesOnceAndIsLookedAtAgain) {
  Bank rig;
  EXPECT_EQ(rig.lines({Bank::line("a", 100, 3)}), "1 0 0 0");
  rig.rig.restart();
  EXPECT_EQ(rig.lines({Bank::line("a", 100, 3), Bank::line("a", 100, 3)}), "0 2 0 0");
  rig.paid("t1", 100, 4);
  EXPECT_EQ(rig.lines({Bank::line("a", 100, 3)}), "0 1 1 0") << "its entry has come";
  EXPECT_EQ(rig.lines({Bank::line("a", 100, 3)}), "0 1 0 0");
  struct Row {
    ReconLineIn line;
    std::string code;
  };
  const Row rows[] = {
      {Bank::line("a", 101, 3), "line_exists_with_different_amount"},
      {Bank::line("a", -100, 3), "line_exists_with_different_amount"},
      {Bank::line("a", 100, 4), "line_exists_with_different_date"},
      {Bank::line("a", 100, 3, "r"), "line_exists_with_different_reference"},
      {[] {
         ReconLineIn one = Bank::line("a", 100, 3);
         one.text = "other";
         return one;
       }(),
       "line_exists_with_different_text"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(rig.lines({Bank::line("new", 5, 3), row.line}), row.code);
    EXPECT_EQ(rig.line_state("new"), "none") << "nothing of it was imported";
  }
  EXPECT_EQ(rig.lines({Bank::line("x", 5, 3), Bank::line("x", 6, 3)}),
            "line_exists_with_different_amount");
  rig.check();
}

TEST(LedgerRecon, RefusesWhatIsWrong) {
  Bank rig;
  rig.paid("t1", 100, 3);
  EXPECT_EQ(rig.code(AddCurrency{.code = "PTS"}), "");
  CreateAccount euros{.id = "euros", .type = AccountType::asset, .currency = "EUR"};
  EXPECT_EQ(rig.code(std::move(euros)), "");
  struct Row {
    const char* name;
    Operation operation;
    std::string code;
  };
  const auto with = [](const auto& edit) {
    ReconLineIn one = Bank::line("a", 1, 3);
    edit(one);
    return ImportReconLines{.source = "b", .lines = {one}};
  };
  const Row rows[] = {
      {"source", SetReconSource{.id = "no spaces", .account = "bank", .currency = "USD"},
       "invalid source"},
      {"account", SetReconSource{.id = "x", .account = "none", .currency = "USD"},
       "account_not_found"},
      {"currency", SetReconSource{.id = "x", .account = "bank", .currency = "ZZZ"},
       "currency_unknown"},
      {"locked", SetReconSource{.id = "x", .account = "euros", .currency = "USD"},
       "currency_mismatch"},
      {"window", SetReconSource{.id = "x", .account = "bank", .currency = "USD", .window_days = 61},
       "invalid window_days"},
      {"no source", ImportReconLines{.source = "none", .lines = {Bank::line("a", 1, 3)}},
       "source_not_found"},
      {"no lines", ImportReconLines{.source = "b"}, "invalid lines"},
      {"many lines",
       ImportReconLines{.source = "b",
                        .lines = std::vector<ReconLineIn>(501, Bank::line("a", 1, 3))},
       "invalid lines"},
      {"no id", with([](auto& l) { l.external_id = ""; }), "invalid external_id"},
      {"long id", with([](auto& l) { l.external_id = std::string(256, 'x'); }),
       "invalid external_id"},
      {"zero byte", with([](auto& l) { l.external_id = std::string("a\0b", 3); }),
       "invalid external_id"},
      {"time", with([](auto& l) { l.date += std::chrono::hours{1}; }), "invalid date"},
      {"amount", with([](auto& l) { l.amount = {}; }), "amount_invalid"},
      {"other currency", with([](auto& l) { l.currency = "EUR"; }), "currency_mismatch"},
      {"reference", with([](auto& l) { l.reference = std::string(256, 'x'); }),
       "invalid reference"},
      {"text", with([](auto& l) { l.text = std::string(2001, 'x'); }), "invalid text"},
      {"decide without a source", DecideRecon{.source = "none", .external_id = "a"},
       "source_not_found"},
      {"decide without a line", DecideRecon{.source = "b", .external_id = "a"}, "line_not_found"},
      {"nothing named", DecideRecon{.source = "b", .action = Action::ignore},
       "invalid external_id"},
      {"match without a line",
       DecideRecon{.source = "b", .entries = std::vector<EntryName>{{"t1", 0}}},
       "invalid external_id"},
      {"no entries",
       DecideRecon{.source = "b", .external_id = "a", .entries = std::vector<EntryName>{}},
       "invalid entries"},
  };
  const std::size_t records = rig.records().size();
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(rig.code(Operation(row.operation)), row.code);
  }
  EXPECT_EQ(rig.records().size(), records);
  EXPECT_TRUE(rig.rig.reader.rows<ReconLine>().empty());
}

TEST(LedgerRecon, DecisionsByHandCanBeTakenBack) {
  Bank rig;
  rig.paid("t1", 60, 3);
  rig.paid("t2", 40, 4);
  rig.paid("t3", 5, 4);
  rig.paid("t4", -9, 4);
  EXPECT_EQ(
      rig.code(SetReconSource{.id = "b", .account = "bank", .currency = "USD", .automatic = false}),
      "");
  EXPECT_EQ(rig.lines({Bank::line("a", 100, 3), Bank::line("b", 5, 4), Bank::line("c", 77, 4)}),
            "3 0 0 2")
      << "not automatic: only proposals";
  EXPECT_EQ(rig.line_state("b"), "proposed amount_date t3/0");

  using Names = std::vector<EntryName>;
  EXPECT_EQ(rig.decide("c", Action::match), "invalid entries") << "nothing is proposed for it";
  EXPECT_EQ(rig.decide("a", Action::match, Names{{"t1", 0}}), "match_differs");
  EXPECT_EQ(rig.decide("a", Action::match, Names{{"t1", 1}, {"t2", 0}}), "invalid entries");
  EXPECT_EQ(rig.decide("a", Action::match, Names{{"t1", 0}, {"t1", 0}}), "invalid entries");
  EXPECT_EQ(rig.decide("a", Action::match, Names{{"none", 0}}), "transaction_not_found");
  EXPECT_EQ(rig.decide("a", Action::match, Names{{"t1", 7}}), "invalid entries");
  EXPECT_EQ(rig.decide("a", Action::match), "");
  EXPECT_EQ(rig.line_state("a"), "matched manual t1/0 t2/0");
  const std::size_t records = rig.records().size();
  EXPECT_EQ(rig.decide("a", Action::match), "") << "again";
  EXPECT_EQ(rig.records().size(), records);
  EXPECT_EQ(rig.decide("a", Action::match, Names{{"t3", 0}}), "already_matched");
  EXPECT_EQ(rig.decide("a", Action::ignore), "already_matched");
  EXPECT_EQ(rig.decide("c", Action::match, Names{{"t2", 0}}), "already_matched") << "t2 is a's";
  rig.rig.restart();
  EXPECT_EQ(rig.decide("a", Action::unmatch), "");
  EXPECT_EQ(rig.line_state("a"), "unmatched");
  EXPECT_EQ(rig.decide("a", Action::unmatch), "");
  EXPECT_EQ(rig.records().size(), records + 1);

  EXPECT_EQ(rig.decide("c", Action::ignore), "");
  EXPECT_EQ(rig.line_state("c"), "ignored manual");
  EXPECT_EQ(rig.lines({Bank::line("c", 77, 4)}), "0 1 0 0");
  EXPECT_EQ(rig.line_state("c"), "ignored manual");
  EXPECT_EQ(rig.decide("c", Action::unmatch), "");
  EXPECT_EQ(rig.line_state("c"), "unmatched");

  // An entry alone.
  EXPECT_EQ(rig.decide("", Action::ignore, Names{{"t4", 1}}), "");
  EXPECT_EQ(rig.lines({Bank::line("d", -9, 4)}), "1 0 0 0") << "what is ignored is not proposed";
  EXPECT_EQ(rig.decide("d", Action::match, Names{{"t4", 1}}), "already_matched");
  EXPECT_EQ(rig.decide("", Action::unmatch, Names{{"t4", 1}}), "");
  EXPECT_EQ(rig.decide("d", Action::match, Names{{"t4", 1}}), "");
  EXPECT_EQ(rig.decide("", Action::ignore, Names{{"t4", 1}}), "already_matched");
  rig.check();
}

TEST(LedgerRecon, ASourceWithLinesKeepsItsAccount) {
  Bank rig;
  const auto set = [&](const char* account, const char* currency) {
    return rig.code(SetReconSource{.id = "b", .account = account, .currency = currency});
  };
  EXPECT_EQ(set("shop", "USD"), "");
  EXPECT_EQ(set("bank", "USD"), "");
  const std::size_t records = rig.records().size();
  EXPECT_EQ(set("bank", "USD"), "");
  EXPECT_EQ(rig.records().size(), records) << "nothing has changed";
  EXPECT_EQ(rig.lines({Bank::line("a", 1, 3)}), "1 0 0 0");
  EXPECT_EQ(set("shop", "USD"), "exists_with_different_account");
  EXPECT_EQ(set("bank", "EUR"), "exists_with_different_currency");
  EXPECT_EQ(
      rig.code(SetReconSource{.id = "b", .account = "bank", .currency = "USD", .window_days = 0}),
      "");
  EXPECT_EQ(rig.rig.reader.get<ReconSource>({tenant_one, 1, "b"})->window_days, 0U);
}

TEST(LedgerRecon, DecisionsComeWithAnImportedLogAndLinesLater) {
  Bank source;
  source.paid("t1", 100, 3);
  source.paid("t2", 50, 4);
  source.paid("t3", 6, 4);
  EXPECT_EQ(source.lines({Bank::line("a", 100, 3), Bank::line("b", 50, 4), Bank::line("c", 8, 4)}),
            "3 0 2 0");
  EXPECT_EQ(source.decide("b", Action::unmatch), "");
  EXPECT_EQ(source.decide("c", Action::ignore), "");
  EXPECT_EQ(source.decide("", Action::ignore, std::vector<EntryName>{{"t3", 0}}), "");

  BookRig plain;
  plain.rig.now = source.rig.now;
  ASSERT_EQ(import_into(plain, exported_records(source), 3), "");
  expect_same_book(source, plain);
  const auto line = [&](const char* id) {
    return plain.rig.reader.get<ReconLine>({tenant_one, 1, 1, id}).value_or(ReconLine{});
  };
  EXPECT_FALSE(line("a").known);
  EXPECT_EQ(line("a").state, ReconState::matched);
  EXPECT_EQ(plain.rig.reader.rows<ReconEntry>(), source.rig.reader.rows<ReconEntry>());
  EXPECT_EQ(plain.code(DecideRecon{.source = "b", .external_id = "a", .action = Action::unmatch}),
            "line_not_found");
  EXPECT_EQ(plain.code(ImportReconLines{.source = "b", .lines = {Bank::line("a", 101, 3)}}),
            "line_exists_with_different_content");
  const auto sent = plain.one(ImportReconLines{
      .source = "b",
      .lines = {Bank::line("a", 100, 3), Bank::line("b", 50, 4), Bank::line("c", 8, 4)}});
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->imported->imported, 3U);
  EXPECT_EQ(sent->imported->matched, 1U) << "b, which was free";
  EXPECT_TRUE(line("a").known);
  EXPECT_EQ(line("a").state, ReconState::matched);
  EXPECT_EQ(line("c").state, ReconState::ignored);
}

TEST(LedgerRecon, HoldsAfterWhateverIsAsked) {
  for (std::uint64_t seed = 1; seed <= 12 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Bank rig;
    SeededRng rng(seed);
    std::map<std::string, ReconLineIn> sent;
    const auto some_amount = [&] {
      return (rng.below(4) == 0 ? -1 : 1) * static_cast<std::int64_t>(1 + rng.below(6) * 5);
    };
    std::uint64_t transactions = 0;
    std::size_t matched = 0;
    for (int step = 0; step < 150 && !HasFailure(); ++step) {
      const auto day = static_cast<int>(1 + rng.below(12));
      const std::string reference = rng.below(3) == 0 ? "r" + std::to_string(rng.below(8)) : "";
      switch (rng.below(6)) {
        case 0:
        case 1:
          rig.paid("t" + std::to_string(++transactions), some_amount(), day, reference);
          break;
        case 2: {
          std::vector<ReconLineIn> lines;
          for (std::uint64_t n = 1 + rng.below(4); n > 0; --n) {
            const std::string id = "l" + std::to_string(rng.below(40));
            lines.push_back(
                sent.try_emplace(id, Bank::line(id, some_amount(), day, reference)).first->second);
          }
          EXPECT_EQ(rig.lines(std::move(lines)).find("exists"), std::string::npos);
          break;
        }
        case 3:
        case 4: {
          std::optional<std::vector<EntryName>> entries;
          if (rng.below(2) == 0 && transactions > 0) {
            entries.emplace();
            for (std::uint64_t n = 1 + rng.below(2); n > 0; --n) {
              entries->push_back({"t" + std::to_string(1 + rng.below(transactions)),
                                  static_cast<std::uint32_t>(rng.below(2))});
            }
          }
          static_cast<void>(rig.decide(rng.below(6) == 0 ? "" : "l" + std::to_string(rng.below(40)),
                                       static_cast<Action>(1 + rng.below(3)), std::move(entries)));
          break;
        }
        default: rig.rig.restart();
      }
      rig.check();
      for (const auto& [key, row] : rig.rig.reader.rows<ReconLine>()) {
        matched += row.state == ReconState::matched ? 1 : 0;
      }
    }
    EXPECT_GT(matched, 0U);
    BookRig copy;
    copy.rig.now = rig.rig.now;
    ASSERT_EQ(import_into(copy, exported_records(rig), 7), "");
    EXPECT_EQ(copy.rig.reader.rows<ReconEntry>(), rig.rig.reader.rows<ReconEntry>());
    expect_same_book(rig, copy);
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
