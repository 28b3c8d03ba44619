/// Sums over the accounts of a book: aggregates, the trial balance and the reports that follow from
/// it. Pure functions over any reader. A sum reads every account that it is about, in pieces: on a
/// thread that may take its time (aside.h), never on one that serves others.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "core/ledger/read.h"

namespace hk::api::ledger {

/// Which book of whom.
struct BookPlace {
  core::TenantId tenant{};
  core::ledger::BookNumber book = 0;
};

/// Counters of several accounts in one currency.
struct Sum {
  core::ledger::Counters128 counters{};
  std::uint64_t accounts = 0;                  ///< that had been moved in this currency
  std::optional<core::ledger::Side> normal{};  ///< of all of them; none: they differ
};
using Sums = std::map<core::ledger::CurrencyNumber, Sum>;

/// The counters of an account at a moment; zeros if it was untouched.
core::ledger::Counters128 counters_at(core::Reader& reader, const core::ledger::Account& account,
                                      const core::ledger::Standing& standing,
                                      const core::ledger::AsOf& as_of);

/// The sums as they are kept (Rollup), which is one look; nullopt: they are not, or not yet.
/// conflict: as below.
std::optional<Result<Sums>> kept_sums(core::Reader& reader, const BookPlace& place,
                                      const std::string& prefix);
/// conflict: a sum is more than an amount can be.
Result<Sums> sums_under(core::Reader& reader, const BookPlace& place, const std::string& prefix,
                        const core::ledger::AsOf& as_of);

struct Group {
  std::string name{};   ///< the first segments that its paths have in common
  std::string after{};  ///< in the order of paths: where a listing goes on behind it
  Sums sums{};
};
struct GroupPage {
  std::vector<Group> groups{};
  bool more = false;
};
/// Of the accounts below the prefix, by the first `segments` of their paths (a shorter path is a
/// group of its own), in the order of each group's first path; those behind `after`. conflict:
/// as above.
Result<GroupPage> groups_under(core::Reader& reader, const BookPlace& place,
                               const std::string& prefix, std::size_t segments,
                               const std::string& after, const core::ledger::AsOf& as_of,
                               std::size_t limit);

/// The first `segments` of a path.
std::string_view group_of(std::string_view path, std::size_t segments);

/// What the accounts of a type have moved.
struct TypeSum {
  core::ledger::Amount debits = 0;
  core::ledger::Amount credits = 0;
  bool moved = false;
};
inline constexpr std::array account_types = {
    core::ledger::AccountType::asset, core::ledger::AccountType::expense,
    core::ledger::AccountType::liability, core::ledger::AccountType::equity,
    core::ledger::AccountType::revenue};
/// Of one currency, in the order of account_types.
struct TypeSums {
  std::array<TypeSum, account_types.size()> types{};
  core::ledger::Amount debits = 0;
  core::ledger::Amount credits = 0;

  [[nodiscard]] const TypeSum& of(core::ledger::AccountType type) const;
  /// In the normal direction of the type.
  [[nodiscard]] core::ledger::Signed balance(core::ledger::AccountType type) const;
  /// Revenue less expense.
  [[nodiscard]] core::ledger::Signed net_income() const;
};
using TrialBalance = std::map<core::ledger::CurrencyNumber, TypeSums>;

/// The posted counters of all accounts at a moment, less those at an earlier one (`since`, if it is
/// there). conflict: as above.
Result<TrialBalance> trial_balance_of(core::Reader& reader, const BookPlace& place,
                                      const core::ledger::AsOf& as_of,
                                      const std::optional<core::ledger::AsOf>& since = {});

}  // namespace hk::api::ledger
