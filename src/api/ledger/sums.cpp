#include "api/ledger/sums.h"

#include <algorithm>

namespace hk::api::ledger {

namespace {

using core::Reader;
using core::ledger::Account;
using core::ledger::AccountType;
using core::ledger::Amount;
using core::ledger::AsOf;
using core::ledger::Counters128;
using core::ledger::CurrencyNumber;
using core::ledger::Side;
using core::ledger::Signed;
using core::ledger::Standing;

constexpr std::size_t accounts_at_once = 256;

/// Calls `each` for every account below the prefix, in the order of their paths, until it fails.
template <class Each>
Result<void> each_account(Reader& reader, const BookPlace& place, const std::string& prefix,
                          Each each) {
  for (std::string after;;) {
    const std::vector<Account> accounts = core::ledger::accounts_under(
        reader, place.tenant, place.book, prefix, after, accounts_at_once);
    for (const Account& account : accounts) {
      if (auto good = each(account); !good) {
        return good;
      }
    }
    if (accounts.size() < accounts_at_once) {
      return {};
    }
    after = accounts.back().path;
  }
}

std::unexpected<Error> too_much() {
  return fail(ErrorKind::conflict,
              "a sum is more than 2^128 - 1: ask for fewer accounts at once, by a longer prefix");
}

bool add_counters(Counters128& sum, const Counters128& more) {
  return core::ledger::add(sum.debits_posted, more.debits_posted) &&
         core::ledger::add(sum.credits_posted, more.credits_posted) &&
         core::ledger::add(sum.debits_pending, more.debits_pending) &&
         core::ledger::add(sum.credits_pending, more.credits_pending);
}

bool has_account(Reader& reader, const BookPlace& place, const std::string& path) {
  const auto found = core::ledger::accounts_under(reader, place.tenant, place.book, path, "", 1);
  return !found.empty() && found.front().path == path;
}

Result<void> add_account(Sums& sums, Reader& reader, const Account& account, const AsOf& as_of) {
  const Side normal = core::ledger::normal_side(account.type);
  for (const Standing& standing : account.standings) {
    const Counters128 counters = counters_at(reader, account, standing, as_of);
    if ((as_of.effective || as_of.seq) && counters == Counters128{}) {
      continue;  // it was moved later
    }
    Sum& sum = sums[standing.currency];
    if (sum.accounts == 0) {
      sum.normal = normal;
    } else if (sum.normal != normal) {
      sum.normal.reset();
    }
    ++sum.accounts;
    if (!add_counters(sum.counters, counters)) {
      return too_much();
    }
  }
  return {};
}

/// A path with fewer segments is a group of its own: what is below it has a longer name.
bool is_alone(std::string_view path, std::size_t segments) {
  return static_cast<std::size_t>(std::ranges::count(path, ':')) + 1 < segments;
}

std::size_t place_of(AccountType type) {
  return static_cast<std::size_t>(std::ranges::find(account_types, type) - account_types.begin());
}

}  // namespace

Counters128 counters_at(Reader& reader, const Account& account, const Standing& standing,
                        const AsOf& as_of) {
  if (!as_of.effective && !as_of.seq) {
    return standing.now;
  }
  return core::ledger::balance_at(reader, account, standing.currency, as_of).counters;
}

std::optional<Result<Sums>> kept_sums(Reader& reader, const BookPlace& place,
                                      const std::string& prefix) {
  const auto rollup = reader.get<core::ledger::Rollup>({place.tenant, place.book, prefix});
  if (!rollup || !rollup->complete) {
    return std::nullopt;
  }
  Sums sums;
  for (const core::ledger::Rollup::Sum& kept : rollup->sums) {
    for (const core::ledger::Total* const total :
         {&kept.debits_posted, &kept.credits_posted, &kept.debits_pending, &kept.credits_pending}) {
      if (total->high != 0) {
        return too_much();
      }
    }
    Sum& sum = sums[kept.currency];
    sum.counters = {kept.debits_posted.low, kept.credits_posted.low, kept.debits_pending.low,
                    kept.credits_pending.low};
    sum.accounts = kept.debit_accounts + kept.credit_accounts;
    if (kept.debit_accounts == 0 || kept.credit_accounts == 0) {
      sum.normal = kept.debit_accounts != 0 ? Side::debit : Side::credit;
    }
  }
  return sums;
}

Result<Sums> sums_under(Reader& reader, const BookPlace& place, const std::string& prefix,
                        const AsOf& as_of) {
  Sums sums;
  auto summed = each_account(reader, place, prefix, [&](const Account& account) -> Result<void> {
    return add_account(sums, reader, account, as_of);
  });
  if (!summed) {
    return std::unexpected(summed.error());
  }
  return sums;
}

std::string_view group_of(std::string_view path, std::size_t segments) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < segments; ++i) {
    const std::size_t colon = path.find(':', at);
    if (colon == std::string_view::npos) {
      return path;
    }
    if (i + 1 == segments) {
      return path.substr(0, colon);
    }
    at = colon + 1;
  }
  return path;
}

// All accounts of a group stand together in the order of paths, but for the one whose path is the
// group's name: between "a" and "a:b" there may be "a-c". So the group comes where its first path
// is, and what follows later is passed over.
Result<GroupPage> groups_under(Reader& reader, const BookPlace& place, const std::string& prefix,
                               std::size_t segments, const std::string& after, const AsOf& as_of,
                               std::size_t limit) {
  GroupPage page;
  std::string reached = after;
  for (;;) {
    const std::vector<Account> next =
        core::ledger::accounts_under(reader, place.tenant, place.book, prefix, reached, 1);
    if (next.empty()) {
      return page;
    }
    const std::string& path = next.front().path;
    const std::string name(group_of(path, segments));
    const bool whole_name = path == name;
    const bool within = core::ledger::path_within(name, prefix);
    const bool seen = !whole_name && within && has_account(reader, place, name);
    // ';' comes right behind ':' and is in no path.
    reached = whole_name ? path : name + ';';
    if (seen) {
      continue;
    }
    if (page.groups.size() == limit) {
      page.more = true;
      return page;
    }
    Sums sums;
    if (is_alone(path, segments)) {
      if (auto good = add_account(sums, reader, next.front(), as_of); !good) {
        return std::unexpected(good.error());
      }
    } else {
      // A name shorter than the prefix: of that group only what is below the prefix was asked for.
      auto below = sums_under(reader, place, within ? name : prefix, as_of);
      if (!below) {
        return std::unexpected(below.error());
      }
      sums = std::move(*below);
    }
    page.groups.push_back({name, reached, std::move(sums)});
  }
}

const TypeSum& TypeSums::of(AccountType type) const { return types[place_of(type)]; }

Signed TypeSums::balance(AccountType type) const {
  const TypeSum& sum = of(type);
  return core::ledger::normal_side(type) == Side::debit
             ? Signed::difference(sum.debits, sum.credits)
             : Signed::difference(sum.credits, sum.debits);
}

Signed TypeSums::net_income() const {
  Signed expense = balance(AccountType::expense);
  expense.negative = expense.magnitude != 0 && !expense.negative;
  return core::ledger::saturating_sum(balance(AccountType::revenue), expense);
}

Result<TrialBalance> trial_balance_of(Reader& reader, const BookPlace& place, const AsOf& as_of,
                                      const std::optional<AsOf>& since) {
  TrialBalance sums;
  auto summed = each_account(reader, place, "", [&](const Account& account) -> Result<void> {
    for (const Standing& standing : account.standings) {
      Counters128 counters = counters_at(reader, account, standing, as_of);
      if (since) {
        counters -= counters_at(reader, account, standing, *since);
      }
      if (counters.debits_posted == 0 && counters.credits_posted == 0) {
        continue;
      }
      TypeSums& of_currency = sums[standing.currency];
      TypeSum& type = of_currency.types[place_of(account.type)];
      type.moved = true;
      if (!core::ledger::add(type.debits, counters.debits_posted) ||
          !core::ledger::add(type.credits, counters.credits_posted) ||
          !core::ledger::add(of_currency.debits, counters.debits_posted) ||
          !core::ledger::add(of_currency.credits, counters.credits_posted)) {
        return too_much();
      }
    }
    return {};
  });
  if (!summed) {
    return std::unexpected(summed.error());
  }
  return sums;
}

}  // namespace hk::api::ledger
