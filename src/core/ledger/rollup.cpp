// Sums over a prefix that are kept with every movement. A new one takes the accounts that are there
// already in pieces, one a batch, in the order of their paths; it counts movements of those that it
// has reached. So it is right at any moment, and complete in the end.
#include <algorithm>

#include "base/assert.h"
#include "base/sometimes.h"
#include "core/ledger/inside.h"
#include "core/ledger/ledger.h"

HK_SOMETIMES_DECLARE(ledger_rollup_kept)
HK_SOMETIMES_DECLARE(ledger_rollup_removed)
HK_SOMETIMES_DECLARE(ledger_rollup_complete)
HK_SOMETIMES_DECLARE(ledger_rollup_goes_on)
HK_SOMETIMES_DECLARE(ledger_rollup_not_reached)

namespace hk::core::ledger {

namespace {

Rollup::Sum& sum_in(Rollup& rollup, CurrencyNumber currency) {
  const auto at = std::ranges::lower_bound(rollup.sums, currency, {}, &Rollup::Sum::currency);
  return at != rollup.sums.end() && at->currency == currency
             ? *at
             : *rollup.sums.insert(at, Rollup::Sum{.currency = currency});
}

void count_account(Rollup::Sum& sum, AccountType type) {
  ++(normal_side(type) == Side::debit ? sum.debit_accounts : sum.credit_accounts);
}

}  // namespace

ItemResult Ledger::decide(HotBook& book, const SetRollup& command) {
  if (!is_ledger_path(command.prefix)) {
    return refuse_member("prefix", "a prefix is segments of a path, joined by \":\"");
  }
  const auto found = std::ranges::find_if(
      book.rollups, [&](const HotRollup& one) { return one.row.prefix == command.prefix; });
  Applied applied{.id = command.prefix};
  if ((found != book.rollups.end()) == command.keep) {
    return applied;
  }
  save(book);
  if (!command.keep) {
    HK_SOMETIMES(ledger_rollup_removed);
    rollups_.erase(own_key(found->row));
    book.rollups.erase(found);
    return applied;
  }
  if (book.rollups.size() >= limits_.ledger_rollups_max) {
    return refuse(
        {.code = Code::too_many,
         .member = "rollups",
         .limit = {false, limits_.ledger_rollups_max},
         .detail = "a book keeps at most " + std::to_string(limits_.ledger_rollups_max) + " sums"});
  }
  HK_SOMETIMES(ledger_rollup_kept);
  change(book);  // its timer is set
  book.rollups.push_back({.row = {.tenant = book.row.tenant,
                                  .book = book.row.number,
                                  .prefix = command.prefix,
                                  .created_at = now()},
                          .dirty = true});
  applied.created = true;
  return applied;
}

/// `first`: the account was not moved in the currency before.
void Ledger::add_to_rollups(AccountAt account, const Movement& movement, CurrencyNumber currency,
                            bool first) {
  HotBook& book = *account->book;
  save(book);
  for (HotRollup& rollup : book.rollups) {
    if (!path_within(account->row.path, rollup.row.prefix)) {
      continue;
    }
    if (!rollup.row.has(account->row.path)) {
      HK_SOMETIMES(ledger_rollup_not_reached);
      continue;
    }
    rollup.dirty = true;
    Rollup::Sum& sum = sum_in(rollup.row, currency);
    if (first) {
      count_account(sum, account->row.type);
    }
    const bool debit = movement.side == Side::debit;
    switch (movement.phase) {
      case Movement::Phase::posted:
        (debit ? sum.debits_posted : sum.credits_posted).add(movement.amount);
        break;
      case Movement::Phase::held:
        (debit ? sum.debits_pending : sum.credits_pending).add(movement.amount);
        break;
      case Movement::Phase::released:
        (debit ? sum.debits_pending : sum.credits_pending).take(movement.amount);
        break;
    }
  }
}

/// The next piece of the accounts that it has not reached.
void Ledger::take_accounts(HotBook& book, HotRollup& rollup) {
  constexpr auto kind = static_cast<std::uint32_t>(Name::Kind::path);
  Rollup& row = rollup.row;
  const auto take = [&](const Name& name) {
    const auto account = find_account(book, name.account);
    HK_ASSERT(account);
    for (const Standing& standing : (*account)->row.standings) {
      Rollup::Sum& sum = sum_in(row, standing.currency);
      count_account(sum, (*account)->row.type);
      sum.debits_posted.add(standing.now.debits_posted);
      sum.credits_posted.add(standing.now.credits_posted);
      sum.debits_pending.add(standing.now.debits_pending);
      sum.credits_pending.add(standing.now.credits_pending);
    }
  };
  rollup.dirty = true;
  // The account of that very path, then everything below it: "a:" up to, without, "a;".
  if (row.reached.empty()) {
    if (const auto own = names_.get({row.tenant, row.book, kind, row.prefix})) {
      take(*own);
    }
    row.reached = row.prefix;
  }
  const std::size_t most = limits_.ledger_rollup_accounts_per_batch;
  const std::string from =
      row.reached == row.prefix ? row.prefix + ':' : row.reached + std::string(1, '\0');
  const auto names = names_.scan(Range<Name>::of(row.tenant, row.book, kind)
                                     .from(row.tenant, row.book, kind, from)
                                     .before(row.tenant, row.book, kind, row.prefix + ';'),
                                 most);
  for (const Name& name : names) {
    take(name);
    row.reached = name.name;
  }
  if (names.size() < most) {
    HK_SOMETIMES(ledger_rollup_complete);
    row.complete = true;
    row.reached.clear();
  } else {
    HK_SOMETIMES(ledger_rollup_goes_on);
  }
}

void Ledger::on_rollup_timer(TenantId tenant, const std::string& id) {
  HotBook* const book = find_book(tenant, id);
  if (book == nullptr) {
    return;
  }
  book->rollup_timer = never;
  for (HotRollup& rollup : book->rollups) {
    if (!rollup.row.complete) {
      take_accounts(*book, rollup);
    }
  }
  set_timers(*book);
}

}  // namespace hk::core::ledger
