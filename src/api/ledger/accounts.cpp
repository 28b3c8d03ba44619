// Accounts: made, shown, changed, listed; their balances and entries.
#include <algorithm>
#include <utility>

#include "api/ledger/errors.h"
#include "api/ledger/handlers.h"
#include "api/ledger/parse.h"
#include "api/ledger/question.h"
#include "api/ledger/reading.h"
#include "api/ledger/render.h"
#include "core/ledger/json.h"

namespace hk::api::ledger {

namespace {

using core::ledger::Account;
using core::ledger::Currency;
using core::ledger::CurrencyNumber;
using core::ledger::Movement;
using core::ledger::MovementAt;
using core::ledger::MovementPlace;
using core::ledger::Standing;

// ---- the list ----

/// Which accounts a list shows.
struct AccountFilter {
  std::optional<std::string> prefix{};
  std::optional<core::ledger::AccountType> type{};
  std::optional<Account::State> state{};
  std::vector<std::pair<std::string, std::string>> metadata{};
  std::optional<std::string> currency{};
  std::optional<core::ledger::Signed> available_gte{};
  std::optional<core::ledger::Signed> available_lt{};
  std::size_t limit = 0;
  std::optional<std::string> cursor{};
  std::size_t scanned_max = 0;
  bool count = false;  ///< of all that match, from the first page on
};

AccountFilter read_account_filter(const Services& services, Query& query) {
  AccountFilter filter{.prefix = query.text("prefix"),
                       .metadata = query.metadata(),
                       .currency = query.text("currency"),
                       .available_gte = query.signed_amount("available_gte"),
                       .available_lt = query.signed_amount("available_lt"),
                       .limit = query.limit(),
                       .cursor = query.text("cursor"),
                       .scanned_max = services.options.scanned_per_listing_max,
                       .count = query.flag("count")};
  if (const auto place = query.one_of("type", core::ledger::account_type_names)) {
    filter.type = static_cast<core::ledger::AccountType>(*place + 1);
  }
  if (const auto place = query.one_of("state", core::ledger::account_state_names)) {
    filter.state = static_cast<Account::State>(*place + 1);
  }
  if ((filter.available_gte || filter.available_lt) && !filter.currency) {
    query.refuse("currency", "must be given with available_gte and available_lt");
  }
  if (!filter.prefix && !filter.type && !filter.state && !filter.currency &&
      filter.metadata.empty()) {
    filter.scanned_max = filter.limit;  // every one is shown
  }
  return filter;
}

bool has_metadata(const BookReading& reading, const Account& account,
                  const std::pair<std::string, std::string>& wanted) {
  const auto values =
      core::ledger::metadata_of(reading.reader, reading.tenant, reading.number(),
                                core::ledger::Metadata::Of::account, account.number);
  return std::ranges::any_of(values, [&](const core::ledger::MetadataValue& one) {
    return one.key == wanted.first && one.value == wanted.second;
  });
}

bool is_wanted(const BookReading& reading, const Account& account, const AccountFilter& filter,
               std::optional<CurrencyNumber> currency) {
  if ((filter.type && account.type != *filter.type) ||
      (filter.state && account.state != *filter.state) ||
      (filter.prefix && !core::ledger::path_within(account.path, *filter.prefix))) {
    return false;
  }
  if (currency) {
    if (account.currency != 0 && account.currency != *currency) {
      return false;
    }
    const auto standing = std::ranges::find(account.standings, *currency, &Standing::currency);
    const core::ledger::Signed available =
        standing == account.standings.end()
            ? core::ledger::Signed{}
            : core::ledger::available(standing->now, core::ledger::normal_side(account.type));
    if ((filter.available_gte && available < *filter.available_gte) ||
        (filter.available_lt && available >= *filter.available_lt)) {
      return false;
    }
  }
  return std::ranges::all_of(
      filter.metadata, [&](const auto& wanted) { return has_metadata(reading, account, wanted); });
}

/// The accounts behind `after`, oldest first, as many as are looked at for one page: of an index if
/// that has few enough, otherwise all.
std::vector<Account> candidates(const BookReading& reading, const AccountFilter& filter,
                                std::uint64_t after) {
  const auto later = [after](std::vector<Account> accounts) {
    std::erase_if(accounts, [after](const Account& one) { return one.number <= after; });
    std::ranges::sort(accounts, {}, &Account::number);
    return accounts;
  };
  if (!filter.metadata.empty()) {
    const auto& [key, value] = filter.metadata.front();
    const auto numbers = core::ledger::indexed(reading.reader, reading.tenant, reading.number(),
                                               core::ledger::IndexEntry::Kind::account_metadata,
                                               key, value, UINT64_MAX, filter.scanned_max + 1);
    if (numbers.size() <= filter.scanned_max) {
      std::vector<Account> accounts;
      for (const std::uint64_t number : numbers) {
        if (number > after) {
          if (auto account = core::ledger::find_account(reading.reader, reading.tenant,
                                                        reading.number(), number)) {
            accounts.push_back(std::move(*account));
          }
        }
      }
      return later(std::move(accounts));
    }
  } else if (filter.prefix) {
    auto accounts = core::ledger::accounts_under(reading.reader, reading.tenant, reading.number(),
                                                 *filter.prefix, "", filter.scanned_max + 1);
    if (accounts.size() <= filter.scanned_max) {
      return later(std::move(accounts));
    }
  }
  return core::ledger::accounts_after(reading.reader, reading.tenant, reading.number(), after,
                                      filter.scanned_max + 1);
}

/// Of all accounts that match, whatever the page shows.
void write_account_count(JsonWriter& json, const BookReading& reading, const AccountFilter& filter,
                         std::optional<CurrencyNumber> currency) {
  constexpr std::size_t at_once = 256;
  std::size_t count = 0;
  const auto take = [&](const Account& account) {
    count += is_wanted(reading, account, filter, currency) ? 1 : 0;
    return count <= counted_max;
  };
  if (!filter.metadata.empty()) {
    const auto& [key, value] = filter.metadata.front();
    for (std::uint64_t before = UINT64_MAX; count <= counted_max;) {
      const auto numbers = core::ledger::indexed(reading.reader, reading.tenant, reading.number(),
                                                 core::ledger::IndexEntry::Kind::account_metadata,
                                                 key, value, before, at_once);
      for (const std::uint64_t number : numbers) {
        const auto account =
            core::ledger::find_account(reading.reader, reading.tenant, reading.number(), number);
        if (account && !take(*account)) {
          break;
        }
      }
      if (numbers.size() < at_once) {
        break;
      }
      before = numbers.back();
    }
  } else {
    for (std::string after; count <= counted_max;) {
      const auto accounts =
          core::ledger::accounts_under(reading.reader, reading.tenant, reading.number(),
                                       filter.prefix.value_or(""), after, at_once);
      if (!std::ranges::all_of(accounts, take) || accounts.size() < at_once) {
        break;
      }
      after = accounts.back().path;
    }
  }
  json.field("count", std::min(count, counted_max));
  json.field("count_exact", count <= counted_max);
}

http::Response show_accounts(const BookReading& reading, const AccountFilter& filter) {
  std::uint64_t after = 0;
  if (filter.cursor) {
    const auto place = read_cursor(Listing::ledger_accounts, reading, *filter.cursor);
    if (!place) {
      return reading.invalid_parameter("cursor",
                                       "must be the cursor of an answer to the same list");
    }
    after = place->place;
  }
  std::optional<CurrencyNumber> currency;
  if (filter.currency) {
    const auto found = core::ledger::find_currency(*reading.book, *filter.currency);
    if (!found) {
      return reading.no_currency(*filter.currency);
    }
    currency = found->number;
  }
  for (const auto& [key, value] : filter.metadata) {
    if (std::ranges::find(reading.book->indexed, key) == reading.book->indexed.end()) {
      return reading.invalid_parameter("metadata[" + key + "]",
                                       "is not one of the keys that the book declares as indexed");
    }
  }

  std::vector<Account> found = candidates(reading, filter, after);
  bool more = found.size() > filter.scanned_max;
  found.resize(std::min(found.size(), filter.scanned_max));
  http::Response response;
  JsonWriter json(response.body);
  json.begin_object();
  json.key("accounts");
  json.begin_array();
  std::size_t shown = 0;
  for (Account& account : found) {
    if (!is_wanted(reading, account, filter, currency)) {
      after = account.number;
      continue;
    }
    if (shown == filter.limit) {
      more = true;
      break;
    }
    ++shown;
    after = account.number;
    json.begin_object();
    core::ledger::write_account_members(json, reading.view_of(std::move(account)));
    json.end_object();
  }
  json.end_array();
  if (more) {
    json.field("cursor", cursor_text(Listing::ledger_accounts, reading, after));
  }
  if (filter.count) {
    write_account_count(json, reading, filter, currency);
  }
  json.end_object();
  return response;
}

// ---- balances ----

void write_balance_row(JsonWriter& json, const std::string& code, const Account& account,
                       const core::ledger::BalanceAt& at) {
  json.begin_object();
  json.field("currency", code);
  core::ledger::write_counters(json, at.counters, core::ledger::normal_side(account.type));
  json.field("version", at.version);
  json.end_object();
}

http::Response show_balances(const BookReading& reading, const std::string& name,
                             const std::optional<std::string>& wanted, const AsOfIn& as_of_in) {
  const auto account = reading.find_account(name);
  if (!account) {
    return reading.no_account(name);
  }
  std::vector<Currency> currencies;
  if (wanted) {
    const auto currency = core::ledger::find_currency(*reading.book, *wanted);
    if (!currency) {
      return reading.no_currency(*wanted);
    }
    currencies.push_back(*currency);
  } else {
    for (const Standing& one : account->standings) {
      if (const auto currency = core::ledger::find_currency(*reading.book, one.currency)) {
        currencies.push_back(*currency);
      }
    }
    std::ranges::sort(currencies, {}, &Currency::code);
  }
  const core::ledger::AsOf as_of = as_of_in.resolve(reading);
  http::Response response;
  JsonWriter json(response.body);
  json.begin_object();
  json.field("account", account->id);
  json.key("balances");
  json.begin_array();
  for (const Currency& one : currencies) {
    write_balance_row(json, one.code, *account,
                      core::ledger::balance_at(reading.reader, *account, one.number, as_of));
  }
  json.end_array();
  json.end_object();
  return response;
}

// ---- entries ----

enum class EntriesOf : std::uint8_t { posted, pending, all };

struct EntriesFilter {
  std::string account{};
  std::optional<std::string> currency{};
  EntriesOf of = EntriesOf::posted;
  std::size_t limit = 0;
  std::optional<std::string> cursor{};
  std::size_t scanned_max = 0;
};

/// A movement of one of the account's currencies.
struct EntryRow {
  MovementAt at{};
  const std::string* currency = nullptr;
};

/// Movements of one account have no order beyond their seq; within it by index.
bool is_newer(const EntryRow& a, const EntryRow& b) {
  const Movement& x = a.at.movement;
  const Movement& y = b.at.movement;
  return std::tuple(x.seq, x.index, x.phase) > std::tuple(y.seq, y.index, y.phase);
}

bool is_shown(const Movement& movement, EntriesOf of) {
  switch (movement.phase) {
    case Movement::Phase::posted: return of != EntriesOf::pending;
    case Movement::Phase::held: return of != EntriesOf::posted;
    case Movement::Phase::released: return false;  // no entry of its own
  }
  return false;
}

/// Newest first, behind the place; at most scanned_max + 1 of all of its currencies.
std::vector<EntryRow> movements_of(const BookReading& reading, const Account& account,
                                   const std::vector<Currency>& currencies,
                                   const EntriesFilter& filter,
                                   const std::optional<EntryRow>& before) {
  // The place is that of one currency: of the others, those of the same record may stand behind it.
  constexpr std::size_t of_one_record_max = 2'000;
  std::optional<MovementPlace> from;
  std::size_t count = filter.scanned_max + 1;
  if (before) {
    from = MovementPlace{.seq = before->at.movement.seq + 1};
    count += of_one_record_max;
  }
  std::vector<EntryRow> rows;
  for (const Currency& one : currencies) {
    for (MovementAt& at :
         core::ledger::movements_before(reading.reader, account, one.number, from, count)) {
      rows.push_back({std::move(at), &one.code});
    }
  }
  if (before) {
    std::erase_if(rows, [&](const EntryRow& row) { return !is_newer(*before, row); });
  }
  std::ranges::sort(rows, is_newer);
  rows.resize(std::min(rows.size(), filter.scanned_max + 1));
  return rows;
}

void write_entry_row(JsonWriter& json, const Account& account, const EntryRow& row,
                     const std::string& transaction) {
  const Movement& movement = row.at.movement;
  json.begin_object();
  json.field("transaction", transaction);
  json.field("index", movement.index);
  json.field("seq", movement.seq);
  json.field("kind", movement.phase == Movement::Phase::posted ? "posted" : "pending");
  json.field("side", core::ledger::name_of(movement.side));
  core::ledger::write_amount(json, "amount", movement.amount);
  json.field("currency", *row.currency);
  core::ledger::write_time(json, "effective_at", movement.effective_at);
  core::ledger::write_time(json, "recorded_at", movement.recorded_at);
  core::ledger::write_amount(
      json, "balance", core::ledger::posted(row.at.after, core::ledger::normal_side(account.type)));
  json.end_object();
}

constexpr std::uint64_t phases = 3;

http::Response show_entries(const BookReading& reading, const EntriesFilter& filter) {
  const auto account = reading.find_account(filter.account);
  if (!account) {
    return reading.no_account(filter.account);
  }
  std::vector<Currency> currencies;
  for (const Standing& one : account->standings) {
    if (const auto currency = core::ledger::find_currency(*reading.book, one.currency);
        currency && (!filter.currency || *filter.currency == currency->code)) {
      currencies.push_back(*currency);
    }
  }
  if (filter.currency && !core::ledger::find_currency(*reading.book, *filter.currency)) {
    return reading.no_currency(*filter.currency);
  }
  std::optional<EntryRow> before;
  if (filter.cursor) {
    const auto place = read_cursor(Listing::ledger_entries, reading, *filter.cursor);
    if (!place) {
      return reading.invalid_parameter("cursor",
                                       "must be the cursor of an answer to the same list");
    }
    Movement& at = before.emplace().at.movement;
    at.seq = place->place;
    at.index = static_cast<std::uint32_t>(place->more / phases);
    at.phase = static_cast<Movement::Phase>(place->more % phases);
  }

  std::vector<EntryRow> rows = movements_of(reading, *account, currencies, filter, before);
  bool more = rows.size() > filter.scanned_max;
  rows.resize(std::min(rows.size(), filter.scanned_max));
  http::Response response;
  JsonWriter json(response.body);
  json.begin_object();
  json.key("entries");
  json.begin_array();
  std::size_t shown = 0;
  std::pair<std::uint64_t, std::string> named;  // the id of the transaction of that seq
  for (const EntryRow& row : rows) {
    const Movement& movement = row.at.movement;
    const bool wanted = is_shown(movement, filter.of);
    if (wanted && shown == filter.limit) {
      more = true;
      break;
    }
    before = row;
    if (!wanted) {
      continue;
    }
    ++shown;
    if (named.first != movement.seq) {
      auto at = core::ledger::transaction_at(reading.reader, reading.tenant, reading.number(),
                                             movement.seq);
      named = {movement.seq, at ? std::move(at->made.id) : std::string()};
    }
    write_entry_row(json, *account, row, named.second);
  }
  json.end_array();
  if (more && before) {
    const Movement& last = before->at.movement;
    json.field("cursor", cursor_text(Listing::ledger_entries, reading, last.seq,
                                     last.index * phases + static_cast<std::uint64_t>(last.phase)));
  }
  json.end_object();
  return response;
}

}  // namespace

Write create_account(const Services& services, Call& call) {
  auto read = read_account(call.request.body);
  if (!read) {
    return refuse(call, read.error());
  }
  return plan(services, call, {.operation = std::move(*read)});
}

Write change_account(const Services& services, Call& call) {
  auto read = read_account_change(call.request.body, call.more_params.at(0));
  if (!read) {
    return refuse(call, read.error());
  }
  return plan(services, call, {.operation = std::move(*read)});
}

void get_account(const Services& services, Call& call) {
  Query query(call.request.query(), {"as_of_seq"});
  const auto as_of = query.number("as_of_seq");
  show(services, call, query.wrong(),
       [name = call.more_params.at(0), as_of](const BookReading& reading) {
         auto account = reading.find_account(name);
         if (!account) {
           return reading.no_account(name);
         }
         http::Response response;
         JsonWriter json(response.body);
         json.begin_object();
         core::ledger::write_account_members(json, reading.view_of(std::move(*account), as_of));
         json.field("replayed", false);
         json.end_object();
         return response;
       });
}

void list_accounts(const Services& services, Call& call) {
  Query query(call.request.query(), {"prefix", "type", "state", "metadata", "currency",
                                     "available_gte", "available_lt", "limit", "cursor", "count"});
  AccountFilter filter = read_account_filter(services, query);
  if (filter.count) {
    show_aside(services, call, query, [filter = std::move(filter)](const BookReading& reading) {
      return show_accounts(reading, filter);
    });
    return;
  }
  show(services, call, query.wrong(), [filter = std::move(filter)](const BookReading& reading) {
    return show_accounts(reading, filter);
  });
}

void get_balances(const Services& services, Call& call) {
  Query query(call.request.query(), {"currency", "as_of_effective", "as_of_recorded", "as_of_seq"});
  auto currency = query.text("currency");
  const AsOfIn as_of = AsOfIn::read(query);
  show(services, call, query.wrong(),
       [name = call.more_params.at(0), currency = std::move(currency), as_of](
           const BookReading& reading) { return show_balances(reading, name, currency, as_of); });
}

void list_entries(const Services& services, Call& call) {
  constexpr std::string_view kinds[] = {"posted", "pending", "all"};
  Query query(call.request.query(), {"currency", "kind", "limit", "cursor"});
  EntriesFilter filter{.account = call.more_params.at(0),
                       .currency = query.text("currency"),
                       .of = static_cast<EntriesOf>(query.one_of("kind", kinds).value_or(0)),
                       .limit = query.limit(),
                       .cursor = query.text("cursor"),
                       .scanned_max = services.options.scanned_per_listing_max};
  show(services, call, query.wrong(), [filter = std::move(filter)](const BookReading& reading) {
    return show_entries(reading, filter);
  });
}

}  // namespace hk::api::ledger
