// Accounts: created once, changed by records, never deleted.
#include <algorithm>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/sometimes.h"
#include "base/sortable_id.h"
#include "core/ledger/inside.h"
#include "core/ledger/ledger.h"
#include "core/ledger/recording.h"

HK_SOMETIMES_DECLARE(ledger_account_made)
HK_SOMETIMES_DECLARE(ledger_account_made_again)
HK_SOMETIMES_DECLARE(ledger_account_differs)
HK_SOMETIMES_DECLARE(ledger_account_is_closed)
HK_SOMETIMES_DECLARE(ledger_account_not_empty)
HK_SOMETIMES_DECLARE(ledger_limits_changed)

namespace hk::core::ledger {

namespace {

std::vector<LimitsOf> in_words(const Book& book, const std::vector<AccountLimits>& limits) {
  std::vector<LimitsOf> out;
  for (const AccountLimits& one : limits) {
    const auto currency = find_currency(book, one.currency);
    HK_ASSERT(currency);
    out.push_back({currency->code, one.min_available, one.max_balance});
  }
  std::ranges::sort(out, {}, &LimitsOf::currency);
  return out;
}

std::string account_number_name(std::uint64_t number) {
  std::string name;
  append_be(name, number);
  return name;
}

}  // namespace

Ledger::Or<std::vector<AccountLimits>> Ledger::merged_limits(
    HotBook& book, const Account* account, const std::vector<LimitsIn>& limits,
    const std::vector<std::string>& removed) {
  std::vector<AccountLimits> merged =
      account == nullptr ? std::vector<AccountLimits>{} : account->limits;
  const auto unknown = [](const std::string& code) {
    return refuse({.code = Code::currency_unknown,
                   .currency = code,
                   .detail = "the book does not know the currency " + code});
  };
  for (const std::string& code : removed) {
    const Currency* const currency = currency_of(book, code);
    if (currency == nullptr) {
      return unknown(code);
    }
    std::erase_if(merged,
                  [&](const AccountLimits& one) { return one.currency == currency->number; });
  }
  for (const LimitsIn& given : limits) {
    const Currency* const currency = currency_of(book, given.currency);
    if (currency == nullptr) {
      return unknown(given.currency);
    }
    if (account != nullptr && account->currency != 0 && account->currency != currency->number) {
      return refuse({.code = Code::currency_mismatch,
                     .account = account->id,
                     .currency = given.currency,
                     .detail = "the account " + account->id + " is locked to another currency"});
    }
    auto at = std::ranges::lower_bound(merged, currency->number, {}, &AccountLimits::currency);
    if (at == merged.end() || at->currency != currency->number) {
      at = merged.insert(at, AccountLimits{.currency = currency->number});
    }
    if (given.min_available) {
      at->min_available = *given.min_available;
    }
    if (given.max_balance) {
      at->max_balance = *given.max_balance;
    }
    if (!at->min_available && !at->max_balance) {
      merged.erase(at);
    }
  }
  return merged;
}

/// It is compared with how it was created, not with what it has become.
ItemResult Ledger::same_account(HotBook& book, AccountAt account, const CreateAccount& command) {
  const Account& row = account->row;
  const Record first = record_at(book, row.seq);
  const auto payload = decode(first.kind, first.payload);
  const auto* const made = payload ? std::get_if<AccountCreated>(&*payload) : nullptr;
  if (made == nullptr) {
    throw CorruptRecord("the record of the ledger account " + row.id);
  }
  Account as_created = row;
  as_created.limits.clear();
  const auto limits = merged_limits(book, &as_created, command.limits, {});
  const char* different = nullptr;
  if (command.id ? *command.id != row.id : !number_in_id(row.id, account_prefix)) {
    different = "id";
  } else if (command.path.value_or(row.id) != row.path) {
    different = "path";
  } else if (command.type != row.type) {
    different = "type";
  } else if (command.currency.value_or("") != made->currency) {
    different = "currency";
  } else if (!limits || in_words(book.row, *limits) != made->limits) {
    different = "limits";
  } else if (!same_metadata(book, Metadata::Of::account, row.number, row.seq, 0,
                            command.metadata)) {
    different = "metadata";
  }
  if (different != nullptr) {
    HK_SOMETIMES(ledger_account_differs);
    return refuse({.code = Code::exists_with_different,
                   .member = different,
                   .account = row.id,
                   .detail = "the account " + row.id + " exists with another " + different});
  }
  HK_SOMETIMES(ledger_account_made_again);
  return Applied{.id = row.id, .seq = row.seq, .replayed = true};
}

/// A new account with its names.
Ledger::AccountAt Ledger::add_account(HotBook& book, Account row) {
  const AccountAt account = keep(book, std::move(row));
  if (in_group_) {
    account->saved_for = group_count_;
    saved_accounts_.push_back({.account = account, .made = true});
  }
  const Account& made = change(account);
  names_.put({.tenant = made.tenant,
              .book = made.book,
              .kind = Name::Kind::path,
              .name = made.path,
              .account = made.id});
  names_.put({.tenant = made.tenant,
              .book = made.book,
              .kind = Name::Kind::number,
              .name = account_number_name(made.number),
              .account = made.id});
  return account;
}

ItemResult Ledger::decide(HotBook& book, CreateAccount& command) {
  if (command.id && !is_ledger_id(*command.id)) {
    return refuse_member("id", "the id of an account is 1 to 128 of A-Z a-z 0-9 . _ ~ : @ -");
  }
  if (command.path && !is_ledger_path(*command.path)) {
    return refuse_member("path",
                         "a path is segments of A-Z a-z 0-9 . _ ~ @ - joined by \":\", at most 256 "
                         "characters");
  }
  if (command.type < AccountType::asset || command.type > AccountType::revenue) {
    return refuse_member("type", "the type is asset, expense, liability, equity or revenue");
  }
  if (command.id && !command.path && !is_ledger_path(*command.id)) {
    return refuse_member("id", "an id that is no path needs a path beside it");
  }
  // Ids and paths share one name space.
  for (const std::optional<std::string>* name : {&command.id, &command.path}) {
    if (*name) {
      if (const auto found = find_account(book, **name)) {
        return same_account(book, *found, command);
      }
    }
  }
  const Currency* locked = nullptr;
  if (command.currency) {
    locked = currency_of(book, *command.currency);
    if (locked == nullptr) {
      return refuse({.code = Code::currency_unknown,
                     .currency = *command.currency,
                     .detail = "the book does not know the currency " + *command.currency});
    }
  }
  Account row{.tenant = book.row.tenant,
              .book = book.row.number,
              .type = command.type,
              .currency = locked == nullptr ? 0 : locked->number};
  auto limits = merged_limits(book, &row, command.limits, {});
  if (!limits) {
    return std::unexpected(limits.error());
  }
  if (auto fine = check_metadata_of_new(command.metadata); !fine) {
    return std::unexpected(fine.error());
  }

  HK_SOMETIMES(ledger_account_made);
  save(book);
  row.created_at = next_instant(book);
  row.seq = book.seq + 1;
  row.number = ++book.accounts;
  row.id = command.id
               ? std::move(*command.id)
               : sortable_id(account_prefix, row.created_at, row.number, context_.rng.next());
  row.path = command.path ? std::move(*command.path) : row.id;
  row.limits = std::move(*limits);
  const AccountAt account = add_account(book, std::move(row));
  const Account& made = account->row;
  const std::uint64_t seq =
      record(book, AccountCreated{.recorded_at = made.created_at,
                                  .id = made.id,
                                  .path = made.path,
                                  .type = made.type,
                                  .currency = locked == nullptr ? "" : locked->code,
                                  .limits = in_words(book.row, made.limits),
                                  .metadata = set_metadata(book, Metadata::Of::account, made.number,
                                                           made.seq, command.metadata),
                                  .number = made.number});
  tell_of_account(book, account, "ledger.account.created", seq);
  return Applied{.id = made.id, .seq = seq, .created = true};
}

ItemResult Ledger::decide(HotBook& book, const ChangeAccount& command) {
  const auto found = find_account(book, command.account);
  if (!found) {
    return refuse({.code = Code::account_not_found,
                   .account = command.account,
                   .detail = "there is no account " + command.account});
  }
  const AccountAt account = *found;
  auto limits = merged_limits(book, &account->row, command.limits, command.limits_removed);
  if (!limits) {
    return std::unexpected(limits.error());
  }
  if (auto fine =
          check_metadata(book, Metadata::Of::account, account->row.number, command.metadata);
      !fine) {
    return std::unexpected(fine.error());
  }
  const bool other_state = command.state && *command.state != account->row.state;
  if (other_state && *command.state == Account::State::closed) {
    for (const Standing& standing : account->row.standings) {
      const Counters128& now = standing.now;
      if (now.debits_posted != now.credits_posted || now.debits_pending != 0 ||
          now.credits_pending != 0) {
        HK_SOMETIMES(ledger_account_not_empty);
        return refuse({.code = Code::account_not_empty,
                       .account = account->row.id,
                       .currency = find_currency(book.row, standing.currency)->code,
                       .detail = "the account " + account->row.id +
                                 " has a balance or holds, so it cannot be closed"});
      }
    }
    HK_SOMETIMES(ledger_account_is_closed);
  }

  Applied applied{.id = account->row.id};
  if (*limits != account->row.limits) {
    HK_SOMETIMES(ledger_limits_changed);
    Account& row = change(account);
    row.limits = std::move(*limits);
    applied.seq = record(book, LimitsChanged{.recorded_at = next_instant(book),
                                             .id = row.id,
                                             .limits = in_words(book.row, row.limits)});
    tell_of_account(book, account, "ledger.limit.changed", applied.seq);
  }
  if (other_state || !command.metadata.empty()) {
    Account& row = change(account);
    AccountChanged changed{.recorded_at = next_instant(book), .id = row.id};
    if (other_state) {
      row.state = *command.state;
      changed.state = command.state;
    }
    changed.metadata =
        set_metadata(book, Metadata::Of::account, row.number, book.seq + 1, command.metadata);
    applied.seq = record(book, changed);
    tell_of_account(book, account, "ledger.account.updated", applied.seq);
  }
  return applied;
}

}  // namespace hk::core::ledger
