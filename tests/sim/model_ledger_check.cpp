// What a batch has written of the ledger, against what it must have written; and what nobody may
// forget to do.
#include <algorithm>

#include "core/ledger/read.h"
#include "sim/model_ledger.h"
#include "sim/trace.h"

namespace hk::sim {

namespace {

ledger::Outcome::State stored_state(LedgerTransaction::State state) {
  switch (state) {
    case LedgerTransaction::State::posted: return ledger::Outcome::State::posted;
    case LedgerTransaction::State::pending: return ledger::Outcome::State::pending;
    case LedgerTransaction::State::voided: return ledger::Outcome::State::voided;
    case LedgerTransaction::State::expired: return ledger::Outcome::State::expired;
  }
  return {};
}

}  // namespace

bool same_book(const ledger::Book& got, const LedgerBook& want) {
  return got.number == want.number && got.name == want.name && got.indexed == want.indexed &&
         got.public_key == want.public_key && got.subscriptions == want.subscriptions &&
         (got.closed_through ? std::optional(ledger::to_ns(*got.closed_through)) : std::nullopt) ==
             want.closed &&
         std::ranges::equal(got.currencies, want.currencies,
                            [](const ledger::Currency& one, const auto& own) {
                              return one.code == own.first && one.exponent == own.second;
                            });
}

/// What it says of its balances, but not how they came to be: that is looked at by the scan.
bool same_account(const ledger::Account& got, const LedgerAccount& want,
                  const std::function<std::string(ledger::CurrencyNumber)>& code_of) {
  std::size_t limits = 0;
  for (const auto& [currency, one] : want.limits) {
    const auto found = std::ranges::find_if(
        got.limits, [&](const auto& row) { return code_of(row.currency) == currency; });
    if (found == got.limits.end() || found->min_available != one.min ||
        found->max_balance != one.max) {
      return false;
    }
    ++limits;
  }
  for (const auto& [currency, standing] : want.standings) {
    const auto found = std::ranges::find_if(
        got.standings, [&](const auto& row) { return code_of(row.currency) == currency; });
    if (found == got.standings.end() ||
        LedgerCounters{found->now.debits_posted, found->now.credits_posted,
                       found->now.debits_pending, found->now.credits_pending} != standing.now ||
        found->version != standing.version) {
      return false;
    }
  }
  return limits == got.limits.size() && want.standings.size() == got.standings.size() &&
         got.id == want.id && got.path == want.path && got.type == want.type &&
         got.state == want.state && got.seq == want.seq && got.number == want.number &&
         (got.currency == 0 ? "" : code_of(got.currency)) == want.currency;
}

bool same_outcome(const ledger::Outcome& got, const LedgerTransaction& want) {
  return got.state == stored_state(want.state) && got.part_posted == want.part_posted &&
         got.left == want.left && got.resolved_by == want.resolved_by &&
         got.reversed_by == want.reversed_by &&
         (got.reversed == want.reversed || (got.reversed.empty() && want.reversed_by.empty())) &&
         got.expires_at == (want.expires ? ledger::instant_from_ns(*want.expires) : ledger::no_end);
}

std::string currency_code(const ledger::Book& book, ledger::CurrencyNumber number) {
  const auto currency = ledger::find_currency(book, number);
  return currency ? currency->code : "";
}

namespace {

std::string told_balance(const ledger::BalanceAfter& row) {
  return "{\"account\":\"" + row.account + "\",\"currency\":\"" + row.currency +
         "\",\"debits_posted\":\"" + ledger::to_text(row.counters.debits_posted) +
         "\",\"credits_posted\":\"" + ledger::to_text(row.counters.credits_posted) +
         "\",\"debits_pending\":\"" + ledger::to_text(row.counters.debits_pending) +
         "\",\"credits_pending\":\"" + ledger::to_text(row.counters.credits_pending) + '"';
}

void check_item(const ledger::ItemResult& got, const LedgerItem& want, const std::string& which) {
  if (!got) {
    const ledger::Refusal& refusal = *got.error();
    require(!want.accepted && refusal.code == want.code, "ledger replies",
            which + " was refused: " + std::to_string(static_cast<int>(refusal.code)) + ' ' +
                refusal.member + ' ' + refusal.detail +
                (want.accepted ? "" : ", expected " + std::to_string(static_cast<int>(want.code))));
    require(want.members.empty() ||
                std::ranges::find(want.members, refusal.member) != want.members.end(),
            "ledger replies",
            which + " was refused because of " + refusal.member + ", not " +
                (want.members.empty() ? "" : want.members.front()));
    require((want.account.empty() || refusal.account == want.account) &&
                (!want.limit || refusal.limit == *want.limit) &&
                (!want.value || refusal.value == *want.value) &&
                (want.amounts.empty() || refusal.amounts == want.amounts),
            "ledger replies", which + " was refused with other particulars: " + refusal.detail);
    return;
  }
  require(want.accepted, "ledger replies",
          which + " was accepted, and had to be refused: " +
              std::to_string(static_cast<int>(want.code)));
  require(got->created == want.created && got->replayed == want.replayed && got->seq == want.seq &&
              (want.id.empty() || got->id == want.id),
          "ledger replies",
          which + " was answered wrongly: " + got->id + " as record " + std::to_string(got->seq) +
              ", not " + want.id + " as " + std::to_string(want.seq));
  if (want.balances.empty() || !got->detail) {
    return;
  }
  require(std::ranges::equal(got->detail->balances_after, want.balances,
                             [](const ledger::BalanceAfter& row, const std::string& text) {
                               return text.starts_with(told_balance(row)) &&
                                      text.ends_with(":" + std::to_string(row.version) + '}');
                             }),
          "ledger replies", which + " was told other balances");
}

}  // namespace

void check_ledger_answer(const ledger::LedgerApplied& got, const LedgerAnswer& want) {
  require(got.results.size() == want.items.size() && got.failed == want.failed, "ledger replies",
          "a batch was answered wrongly");
  for (std::size_t i = 0; i < want.items.size(); ++i) {
    check_item(got.results[i], want.items[i], "item " + std::to_string(i));
  }
}

void LedgerModel::compare() const {
  require(drafts_.empty() && events_.empty(), "ledger reference", "something was left undecided");
  require(matched_ == written_->ledger_records.size(), "ledger log",
          "a record was written that nothing has caused");
  for (const auto& [key, row] : written_->ledger_books) {
    const auto want = books_.find(key);
    require(want != books_.end() && same_book(row, want->second), "ledger book",
            "the book " + key.second + " is stored differently");
  }
  for (const Named& key : changed_books_) {
    const auto row = written_->ledger_books.find(key);
    const LedgerBook& book = books_.at(key);
    require(book.seq == 0 ||
                written_->ledger_records.contains({key.first, book.number, book.seq}) ||
                row != written_->ledger_books.end() || !written_->ledger_monitors.empty(),
            "ledger book", "a change of the book " + key.second + " is not stored");
  }
  std::map<std::pair<core::TenantId, ledger::BookNumber>, Named> by_number;
  for (const auto& [key, book] : books_) {
    by_number[{key.first, book.number}] = key;
  }
  const auto book_of = [&](core::TenantId tenant, ledger::BookNumber number) -> const Named& {
    const auto found = by_number.find({tenant, number});
    require(found != by_number.end(), "ledger book", "a row of a book that is not there");
    return found->second;
  };
  for (const auto& [key, row] : written_->ledger_accounts) {
    const auto want = accounts_.find({book_of(row.tenant, row.book), row.id});
    ledger::Book codes;
    if (want != accounts_.end()) {
      std::uint32_t number = ledger::own_currencies_from;
      for (const auto& [code, exponent] : books_.at(want->first.first).currencies) {
        codes.currencies.push_back({number++, code, exponent});
      }
    }
    require(want != accounts_.end() && same_account(row, want->second,
                                                    [&codes](ledger::CurrencyNumber number) {
                                                      return currency_code(codes, number);
                                                    }),
            "ledger balances", "the account " + row.id + " is stored differently");
  }
  for (const AccountKey& key : changed_accounts_) {
    require(
        !accounts_.contains(key) || written_->ledger_accounts.contains(
                                        {key.first.first, books_.at(key.first).number, key.second}),
        "ledger balances", "the account " + key.second + " has moved and is not stored");
  }
  for (const auto& [key, row] : written_->ledger_outcomes) {
    const auto want = transactions_.find({book_of(row.tenant, row.book), row.seq});
    require(want != transactions_.end() && same_outcome(row, want->second), "ledger outcome",
            "what became of transaction " + std::to_string(row.seq) + " is stored differently");
  }
  std::size_t holds = 0;
  std::set<TransactionKey> seen;
  for (const TransactionKey& key : changed_transactions_) {
    if (!seen.insert(key).second) {
      continue;
    }
    const LedgerTransaction& one = transactions_.at(key);
    const ledger::BookNumber number = books_.at(key.first).number;
    const bool followed = one.kind == ledger::TransactionMade::Kind::pending ||
                          !one.reversed_by.empty() || !one.resolved_by.empty();
    require(!followed || written_->ledger_outcomes.contains({key.first.first, number, one.seq}),
            "ledger outcome", "what became of " + one.id + " is not stored");
    if (one.kind != ledger::TransactionMade::Kind::pending) {
      continue;
    }
    const auto row = written_->ledger_holds.find(
        {key.first.first, number,
         ledger::ordered(one.expires ? ledger::instant_from_ns(*one.expires) : ledger::no_end),
         one.seq});
    const bool open = one.state == LedgerTransaction::State::pending;
    // A post that is not final leaves the row as it is.
    require(row != written_->ledger_holds.end() ? row->second == open
                                                : open && !one.resolved_by.empty(),
            "ledger holds", "the hold " + one.id + " is stored as open, or not, and is otherwise");
    holds += row != written_->ledger_holds.end() ? 1 : 0;
  }
  require(holds == written_->ledger_holds.size(), "ledger holds",
          "a row of a hold was written that nothing has caused");
}

void LedgerModel::check_nothing_due(Moment time) const {
  const std::int64_t at = ledger::to_ns(ledger::Instant{time});
  for (const auto& [key, book] : books_) {
    for (const LedgerTransaction* hold : open_holds(key)) {
      require(!hold->expires || *hold->expires > at, "ledger expiry",
              "the time of the hold " + hold->id + " is over, and it is open");
    }
    require(book.seq == book.covered ||
                recorded_.at(key)[book.covered] + Millis{60'000} / std::chrono::nanoseconds{1} > at,
            "ledger checkpoint", "a minute has passed, and records are not covered");
  }
}

bool LedgerModel::quiet() const {
  return std::ranges::all_of(books_, [this](const auto& one) {
    return one.second.seq == one.second.covered &&
           std::ranges::none_of(open_holds(one.first), [](const LedgerTransaction* hold) {
             return hold->expires.has_value();
           });
  });
}

}  // namespace hk::sim
