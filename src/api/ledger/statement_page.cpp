#include "api/ledger/statement_page.h"

#include <algorithm>
#include <limits>

namespace hk::api::ledger {

namespace {

using core::Reader;
using core::ledger::Account;
using core::ledger::AsOf;
using core::ledger::Counters128;
using core::ledger::CurrencyNumber;
using core::ledger::Instant;
using core::ledger::long_ago;
using core::ledger::Movement;
using core::ledger::no_end;
using core::ledger::Side;
using core::ledger::Signed;
using core::ledger::Standing;

Instant time_of(const Movement& movement, TimeAxis axis) {
  return axis == TimeAxis::effective ? movement.effective_at : movement.recorded_at;
}

/// Oldest first on that axis, from <= time < to, until `each` says false.
void each_movement(Reader& reader, const Account& account, CurrencyNumber currency, TimeAxis axis,
                   Instant from, Instant to, const std::function<bool(const Movement&)>& each) {
  if (axis == TimeAxis::effective) {
    core::ledger::movements_by_effective(reader, account, currency, from, to, each);
  } else {
    core::ledger::movements_by_recorded(reader, account, currency, from, to, each);
  }
}

/// What had moved before `at` on that axis, of what was recorded up to the seq.
Counters128 counters_before(Reader& reader, const Account& account, CurrencyNumber currency,
                            TimeAxis axis, Instant at, std::uint64_t up_to_seq) {
  if (at == long_ago) {
    return {};
  }
  AsOf as_of{.seq = up_to_seq};
  if (at != no_end) {
    const Instant last = at - std::chrono::nanoseconds{1};
    if (axis == TimeAxis::effective) {
      as_of.effective = last;
    } else {
      as_of.seq =
          std::min(up_to_seq, core::ledger::seq_at(reader, account.tenant, account.book, last));
    }
  }
  return core::ledger::balance_at(reader, account, currency, as_of).counters;
}

}  // namespace

StatementPage statement_of(Reader& reader, const Account& account, const StatementQuery& query) {
  const Side normal = core::ledger::normal_side(account.type);
  const auto posted_before = [&](Instant at) {
    return core::ledger::posted(
        counters_before(reader, account, query.currency, query.axis, at, query.up_to_seq), normal);
  };
  StatementPage page{.opening = posted_before(query.from), .closing = posted_before(query.to)};

  StatementPlace reached{.at = query.from, .balance = page.opening};
  if (query.after) {
    reached = *query.after;
  }
  std::uint64_t passed_over = 0;
  std::size_t looked_at = 0;
  const auto each = [&](const Movement& movement) {
    const Instant at = time_of(movement, query.axis);
    if (query.after && at == query.after->at && passed_over < query.after->same) {
      ++passed_over;
      return true;
    }
    if (page.lines.size() == query.limit || looked_at == query.looked_at_max) {
      page.next = reached;
      return false;
    }
    ++looked_at;
    reached.same = at == reached.at ? reached.same + 1 : 1;
    reached.at = at;
    if (movement.phase == Movement::Phase::posted && movement.seq <= query.up_to_seq) {
      const Signed change{.negative = movement.side != normal, .magnitude = movement.amount};
      reached.balance = core::ledger::saturating_sum(reached.balance, change);
      page.lines.push_back({movement, reached.balance});
    }
    return true;
  };
  each_movement(reader, account, query.currency, query.axis, reached.at, query.to, each);
  return page;
}

namespace {

using std::chrono::sys_days;

Instant begin_of(sys_days day) {
  return std::chrono::time_point_cast<std::chrono::nanoseconds>(day);
}

/// The day of the first posted movement in the period; none: there is none.
std::optional<sys_days> first_day(Reader& reader, const Account& account, CurrencyNumber currency,
                                  TimeAxis axis, Instant from, Instant to) {
  std::optional<sys_days> day;
  each_movement(reader, account, currency, axis, from, to, [&](const Movement& movement) {
    if (movement.phase != Movement::Phase::posted) {
      return true;
    }
    day = std::chrono::floor<std::chrono::days>(time_of(movement, axis));
    return false;
  });
  return day;
}

/// The days of one account and currency from `from` on, until the page is full.
void add_days(Reader& reader, const Account& account, CurrencyNumber currency, Instant from,
              const ActivityQuery& query, ActivityPage& page) {
  constexpr std::uint64_t all = std::numeric_limits<std::uint64_t>::max();
  while (from < query.to) {
    const auto day = first_day(reader, account, currency, query.axis, from, query.to);
    if (!day) {
      return;
    }
    if (page.days.size() == query.limit) {
      page.next = {account.path, currency, *day};
      return;
    }
    const Instant begin = std::max(query.from, begin_of(*day));
    const Instant end = std::min(query.to, begin_of(*day + std::chrono::days{1}));
    Counters128 moved = counters_before(reader, account, currency, query.axis, end, all);
    moved -= counters_before(reader, account, currency, query.axis, begin, all);
    page.days.push_back({account.id, currency, *day, moved.debits_posted, moved.credits_posted});
    from = end;
  }
}

}  // namespace

ActivityPage activity_of(Reader& reader, const BookPlace& place, const ActivityQuery& query) {
  constexpr std::size_t accounts_in_turn = 100;
  ActivityPage page;
  std::size_t looked_at = 0;
  // The account with which the page begins is asked for by name, those behind it by its path.
  std::vector<Account> accounts;
  std::string after;
  if (query.next) {
    after = query.next->path;
    accounts = core::ledger::accounts_under(reader, place.tenant, place.book, after, "", 1);
    std::erase_if(accounts, [&](const Account& account) {
      return account.path != after || !core::ledger::path_within(after, query.prefix);
    });
  }
  for (bool last = false; !last;) {
    for (const Account& account : accounts) {
      if (++looked_at > query.looked_at_max) {
        page.next = {account.path, 0, {}};
        return page;
      }
      const bool first = query.next && account.path == query.next->path;
      for (const Standing& standing : account.standings) {
        if (first && standing.currency < query.next->currency) {
          continue;
        }
        const bool goes_on = first && standing.currency == query.next->currency;
        add_days(reader, account, standing.currency,
                 goes_on ? std::max(query.from, begin_of(query.next->day)) : query.from, query,
                 page);
        if (page.next) {
          return page;
        }
      }
      after = account.path;
    }
    accounts = core::ledger::accounts_under(reader, place.tenant, place.book, query.prefix, after,
                                            accounts_in_turn);
    last = accounts.empty();
  }
  return page;
}

}  // namespace hk::api::ledger
