// Transactions: what is asked becomes entries, which are checked as a whole, then recorded.
#include <algorithm>
#include <array>
#include <limits>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/sometimes.h"
#include "base/sortable_id.h"
#include "core/ledger/fresh.h"
#include "core/ledger/inside.h"
#include "core/ledger/ledger.h"
#include "core/ledger/recording.h"
#include "core/ledger/split.h"
#include "security/digest.h"

HK_SOMETIMES_DECLARE(ledger_posted)
HK_SOMETIMES_DECLARE(ledger_held)
HK_SOMETIMES_DECLARE(ledger_replayed_by_id)
HK_SOMETIMES_DECLARE(ledger_replayed_by_key)
HK_SOMETIMES_DECLARE(ledger_repeated_otherwise)
HK_SOMETIMES_DECLARE(ledger_unbalanced)
HK_SOMETIMES_DECLARE(ledger_insufficient_funds)
HK_SOMETIMES_DECLARE(ledger_limit_exceeded)
HK_SOMETIMES_DECLARE(ledger_overflow)
HK_SOMETIMES_DECLARE(ledger_condition_failed)
HK_SOMETIMES_DECLARE(ledger_version_conflict)
HK_SOMETIMES_DECLARE(ledger_period_closed)
HK_SOMETIMES_DECLARE(ledger_account_frozen)
HK_SOMETIMES_DECLARE(ledger_backdated)
HK_SOMETIMES_DECLARE(ledger_would_break_history)
HK_SOMETIMES_DECLARE(ledger_took_all)
HK_SOMETIMES_DECLARE(ledger_split_up)

namespace hk::core::ledger {

namespace {

constexpr std::chrono::minutes effective_ahead_max{5};

Amount& posted_counter(Counters128& counters, Side side) {
  return side == Side::debit ? counters.debits_posted : counters.credits_posted;
}
Amount& pending_counter(Counters128& counters, Side side) {
  return side == Side::debit ? counters.debits_pending : counters.credits_pending;
}

Signed reading_of(const Counters128& counters, Side normal, Reading reading) {
  switch (reading) {
    case Reading::posted: return posted(counters, normal);
    case Reading::pending: return pending(counters, normal);
    case Reading::available: return available(counters, normal);
  }
  return {};
}

bool written_out(const std::vector<EntryIn>& entries) {
  return std::ranges::all_of(entries, [](const EntryIn& entry) {
    return entry.given == EntryIn::Given::amount &&
           (!entry.more || (entry.more->split.empty() && entry.more->when.empty()));
  });
}

std::string short_digest(const std::string& text) {
  const auto digest = security::sha256(text);
  return {reinterpret_cast<const char*>(digest.data()), 16};
}

/// So that no two lists of parts have one text.
void add_part(std::string& out, std::string_view part) {
  out += std::to_string(part.size());
  out += ':';
  out += part;
}

}  // namespace

// ---- names ----

std::optional<std::uint64_t> Ledger::seq_of_transaction(HotBook& book, const std::string& id) {
  if (const auto seq = number_in_id(id, transaction_prefix); seq && *seq >= 1 && *seq <= book.seq) {
    const Record found = record_at(book, *seq);
    if (found.kind == "transaction" && transaction_of(book, *seq).id == id) {
      return seq;
    }
  }
  const auto name = names_.get(
      {book.row.tenant, book.row.number, static_cast<std::uint32_t>(Name::Kind::transaction), id});
  return name ? std::optional(name->seq) : std::nullopt;
}

std::optional<std::uint64_t> Ledger::seq_of_key(HotBook& book, const std::string& key) {
  const auto name = names_.get(
      {book.row.tenant, book.row.number, static_cast<std::uint32_t>(Name::Kind::key), key});
  return name ? std::optional(name->seq) : std::nullopt;
}

TransactionMade Ledger::transaction_of(HotBook& book, std::uint64_t seq) {
  const Record record = record_at(book, seq);
  auto payload = ledger::decode(record.kind, record.payload);
  auto* const made = payload ? std::get_if<TransactionMade>(&*payload) : nullptr;
  if (made == nullptr) {
    throw CorruptRecord("record " + std::to_string(seq) + " of the ledger book " + book.row.id +
                        " is no transaction");
  }
  return std::move(*made);
}

Ledger::Or<std::optional<std::uint64_t>> Ledger::find_repeated(
    HotBook& book, const std::optional<std::string>& id, const std::optional<std::string>& key) {
  if (id && !is_ledger_id(*id)) {
    return refuse_member("id", "the id of a transaction is 1 to 128 of A-Z a-z 0-9 . _ ~ : @ -");
  }
  if (key && (key->empty() || !text_fits(key, key_bytes_max))) {
    return refuse_member("idempotency_key", "an idempotency key has 1 to 255 bytes");
  }
  const auto by_id = id ? seq_of_transaction(book, *id) : std::nullopt;
  const auto by_key = key ? seq_of_key(book, *key) : std::nullopt;
  const auto differs = [](std::string member) {
    HK_SOMETIMES(ledger_repeated_otherwise);
    return refuse(
        {.code = Code::exists_with_different,
         .member = member,
         .detail = "a transaction of that id or idempotency key exists with another " + member});
  };
  if (by_key && id && by_id != by_key) {
    return differs("id");
  }
  if (by_id && key && by_id != by_key) {
    return differs("idempotency_key");
  }
  if (by_id) {
    HK_SOMETIMES(ledger_replayed_by_id);
  } else if (by_key) {
    HK_SOMETIMES(ledger_replayed_by_key);
  }
  return by_id ? by_id : by_key;
}

ItemResult Ledger::repeated(HotBook& /*book*/, std::uint64_t seq, const TransactionMade& made) {
  return Applied{.id = made.id, .seq = seq, .replayed = true};
}

std::string Ledger::digest_of(HotBook& book, const std::vector<Condition>& conditions) {
  if (conditions.empty()) {
    return {};
  }
  std::string text;
  for (const Condition& one : conditions) {
    const auto account = find_account(book, one.account);
    add_part(text, account ? (*account)->row.id : one.account);
    add_part(text, one.currency);
    if (one.expect_version) {
      add_part(text, "v" + std::to_string(*one.expect_version));
    } else {
      add_part(text, std::to_string(static_cast<int>(one.reading)) + ' ' +
                         std::to_string(static_cast<int>(one.at)) + ' ' +
                         std::to_string(static_cast<int>(one.compare)) + ' ' + to_text(one.value));
    }
  }
  return short_digest(text);
}

std::string Ledger::digest_of(HotBook& book, const std::vector<EntryIn>& entries) {
  std::string text;
  const auto name = [&](const std::string& account) {
    const auto found = account.empty() ? std::nullopt : find_account(book, account);
    add_part(text, found ? (*found)->row.id : account);
  };
  for (const EntryIn& entry : entries) {
    name(entry.account);
    add_part(text, entry.currency);
    add_part(text, std::to_string(static_cast<int>(entry.side)) +
                       std::to_string(static_cast<int>(entry.given)) + to_text(entry.amount));
    if (entry.more) {
      for (const SplitPart& part : entry.more->split) {
        name(part.account);
        add_part(text, std::to_string(static_cast<int>(part.how)) + ' ' +
                           std::to_string(part.ratio) + ' ' + std::to_string(part.percent) + ' ' +
                           std::to_string(part.percent_decimals));
      }
      std::vector<Condition> when = entry.more->when;
      for (Condition& one : when) {
        one.account = entry.account;
        one.currency = entry.currency;
      }
      add_part(text, digest_of(book, when));
    }
  }
  return short_digest(text);
}

// ---- from what is asked to entries ----

Ledger::Or<void> Ledger::resolve_entries(HotBook& book, const CreateTransaction& command,
                                         TransactionMade& made) {
  struct Sum {
    const Currency* currency = nullptr;
    Amount debits = 0;
    Amount credits = 0;
    std::optional<std::size_t> rest{};  ///< the entry that balances
  };
  std::vector<Sum> sums;
  const auto sum_of = [&sums](const Currency* currency) -> Sum& {
    for (Sum& one : sums) {
      if (one.currency == currency) {
        return one;
      }
    }
    return sums.emplace_back(Sum{.currency = currency});
  };
  const auto overflow = [](const std::string& currency) {
    HK_SOMETIMES(ledger_overflow);
    return refuse({.code = Code::limit_exceeded,
                   .currency = currency,
                   .limit = {false, amount_max},
                   .value = {false, amount_max},
                   .detail = "the sum of the entries is more than 2^128 - 1"});
  };
  const auto account_named = [&](const std::string& name) -> Or<AccountAt> {
    const auto found = find_account(book, name);
    if (!found) {
      return refuse({.code = Code::account_not_found,
                     .account = name,
                     .detail = "there is no account " + name});
    }
    return *found;
  };
  made.entries.reserve(command.entries.size());
  legs_.reserve(command.entries.size());
  const auto add_entry = [&](AccountAt account, const Currency* currency, Side side,
                             Amount amount) -> Or<void> {
    if (account->row.currency != 0 && account->row.currency != currency->number) {
      return refuse(
          {.code = Code::currency_mismatch,
           .account = account->row.id,
           .currency = currency->code,
           .detail = "the account " + account->row.id + " is locked to another currency"});
    }
    made.entries.push_back({account->row.id, side, amount, currency->code});
    legs_.push_back({.account = account, .currency = currency, .side = side, .amount = amount});
    return {};
  };
  for (const EntryIn& entry : command.entries) {
    const Currency* const currency = currency_of(book, entry.currency);
    if (currency == nullptr) {
      return refuse({.code = Code::currency_unknown,
                     .currency = entry.currency,
                     .detail = "the book does not know the currency " + entry.currency});
    }
    Sum& sum = sum_of(currency);
    Amount amount = entry.amount;
    const bool split = entry.more && !entry.more->split.empty();
    if (split && (entry.given != EntryIn::Given::amount || !entry.account.empty() ||
                  !entry.more->metadata.empty() || !entry.more->when.empty())) {
      return refuse_member("split",
                           "a split has side, currency, amount and split, and nothing else");
    }
    std::optional<AccountAt> account;
    if (!split) {
      auto named = account_named(entry.account);
      if (!named) {
        return std::unexpected(named.error());
      }
      account = *named;
    }
    switch (entry.given) {
      case EntryIn::Given::amount:
        if (amount == 0) {
          return refuse({.code = Code::amount_invalid,
                         .member = "amount",
                         .detail = "an amount is a whole number of minor units, more than 0"});
        }
        break;
      case EntryIn::Given::all: {
        HK_SOMETIMES(ledger_took_all);
        const Standing* const standing = find_standing((*account)->row, currency->number);
        const Signed whole = standing == nullptr
                                 ? Signed{}
                                 : available(standing->now, normal_side((*account)->row.type));
        if (whole.negative || whole.magnitude == 0) {
          return refuse({.code = Code::amount_invalid,
                         .member = "amount",
                         .account = (*account)->row.id,
                         .currency = currency->code,
                         .value = whole,
                         .detail = "the account " + (*account)->row.id +
                                   " has nothing available, so \"all\" is no amount"});
        }
        amount = whole.magnitude;
        break;
      }
      case EntryIn::Given::rest:
        if (sum.rest) {
          return refuse({.code = Code::amount_invalid,
                         .member = "amount",
                         .currency = currency->code,
                         .detail = "only one entry of a currency may have no amount"});
        }
        sum.rest = made.entries.size();
        break;
    }
    if (entry.given != EntryIn::Given::rest &&
        !add(entry.side == Side::debit ? sum.debits : sum.credits, amount)) {
      return overflow(currency->code);
    }
    if (!split) {
      if (auto added = add_entry(*account, currency, entry.side, amount); !added) {
        return added;
      }
      continue;
    }
    HK_SOMETIMES(ledger_split_up);
    const auto shares = split_amount(amount, entry.more->split);
    if (!shares) {
      return refuse_member("split", shares.error());
    }
    for (std::size_t i = 0; i < shares->size(); ++i) {
      auto named = account_named(entry.more->split[i].account);
      if (!named) {
        return std::unexpected(named.error());
      }
      if ((*shares)[i] == 0) {
        continue;
      }
      if (auto added = add_entry(*named, currency, entry.side, (*shares)[i]); !added) {
        return added;
      }
    }
  }
  for (Sum& sum : sums) {
    if (sum.rest) {
      Entry& entry = made.entries[*sum.rest];
      const bool debit = entry.side == Side::debit;
      const Amount more = debit ? sum.credits : sum.debits;
      const Amount less = debit ? sum.debits : sum.credits;
      if (more <= less) {
        return refuse({.code = Code::unbalanced,
                       .currency = sum.currency->code,
                       .debits = sum.debits,
                       .credits = sum.credits,
                       .detail = "nothing is left for the entry without amount"});
      }
      entry.amount = legs_[*sum.rest].amount = more - less;
      (debit ? sum.debits : sum.credits) = more;
    }
    if (sum.debits != sum.credits) {
      HK_SOMETIMES(ledger_unbalanced);
      return refuse({.code = Code::unbalanced,
                     .currency = sum.currency->code,
                     .debits = sum.debits,
                     .credits = sum.credits,
                     .detail = "debits of " + to_text(sum.debits) + " and credits of " +
                               to_text(sum.credits) + ' ' + sum.currency->code + " are not equal"});
    }
  }
  if (made.entries.size() < entries_min) {
    return refuse(
        {.code = Code::too_few_entries, .detail = "a transaction has at least 2 entries"});
  }
  if (made.entries.size() > entries_max) {
    return refuse_member("entries", "a transaction has at most 1000 entries");
  }
  return {};
}

// ---- checks ----

Ledger::Or<void> Ledger::check_effective(const HotBook& book, Instant effective_at) const {
  if (effective_at > now() + effective_ahead_max || effective_at == long_ago) {
    return refuse({.code = Code::effective_at_invalid,
                   .detail = "effective_at is at most 5 minutes in the future"});
  }
  if (book.row.closed_through && effective_at <= *book.row.closed_through) {
    HK_SOMETIMES(ledger_period_closed);
    return refuse({.code = Code::period_closed,
                   .moment = *book.row.closed_through,
                   .detail = "the book is closed through that time"});
  }
  return {};
}

std::size_t Ledger::touch(AccountAt account, CurrencyNumber currency) {
  for (std::size_t i = 0; i < touched_.size(); ++i) {
    if (touched_[i].account == account && touched_[i].currency == currency) {
      return i;
    }
  }
  const Standing* const standing = find_standing(account->row, currency);
  Touch one{.account = account, .currency = currency};
  if (standing != nullptr) {
    one.before = one.after = standing->now;
    one.version = standing->version;
  }
  touched_.push_back(one);
  return touched_.size() - 1;
}

/// Each leg's account may be moved, and its counters do not overflow.
Ledger::Or<void> Ledger::move_touched(bool resolving) {
  for (Leg& leg : legs_) {
    if (!resolving) {
      if (leg.account->row.state == Account::State::frozen) {
        HK_SOMETIMES(ledger_account_frozen);
        return refuse({.code = Code::account_frozen,
                       .account = leg.account->row.id,
                       .detail = "the account " + leg.account->row.id + " is frozen"});
      }
      if (leg.account->row.state == Account::State::closed) {
        return refuse({.code = Code::account_closed,
                       .account = leg.account->row.id,
                       .detail = "the account " + leg.account->row.id + " is closed"});
      }
    }
    leg.touch = touch(leg.account, leg.currency->number);
    Counters128& after = touched_[leg.touch].after;
    bool fits = true;
    switch (leg.phase) {
      case Movement::Phase::posted: fits = add(posted_counter(after, leg.side), leg.amount); break;
      case Movement::Phase::held: fits = add(pending_counter(after, leg.side), leg.amount); break;
      case Movement::Phase::released:
        HK_ASSERT(pending_counter(after, leg.side) >= leg.amount);
        pending_counter(after, leg.side) -= leg.amount;
        break;
    }
    if (!fits) {
      HK_SOMETIMES(ledger_overflow);
      return refuse({.code = Code::limit_exceeded,
                     .account = leg.account->row.id,
                     .currency = leg.currency->code,
                     .limit = {false, amount_max},
                     .value = {false, amount_max},
                     .detail = "a counter of the account would be more than 2^128 - 1"});
    }
  }
  return {};
}

/// `unforced`: the counters from which min_available counts; none: all of it was forced.
Ledger::Or<void> Ledger::check_limits(HotBook& book, const Touch& touch,
                                      const std::optional<Counters128>& unforced) const {
  const Account& row = touch.account->row;
  const auto limits = std::ranges::find(row.limits, touch.currency, &AccountLimits::currency);
  if (limits == row.limits.end()) {
    return {};
  }
  const Side normal = normal_side(row.type);
  const auto over = [&](Code code, const Signed& limit, const Signed& value, const char* what) {
    return refuse({.code = code,
                   .account = row.id,
                   .currency = ledger::find_currency(book.row, touch.currency)->code,
                   .limit = limit,
                   .value = value,
                   .detail = "the account " + row.id + " would have " + to_text(value) + ", " +
                             what + " its limit of " + to_text(limit)});
  };
  const Signed available_after = available(touch.after, normal);
  if (unforced && limits->min_available && available_after < available(*unforced, normal) &&
      available_after < *limits->min_available) {
    HK_SOMETIMES(ledger_insufficient_funds);
    return over(Code::insufficient_funds, *limits->min_available, available_after, "below");
  }
  const Signed pending_after = pending(touch.after, normal);
  if (limits->max_balance && pending_after > pending(touch.before, normal) &&
      pending_after > *limits->max_balance) {
    HK_SOMETIMES(ledger_limit_exceeded);
    return over(Code::limit_exceeded, *limits->max_balance, pending_after, "above");
  }
  return {};
}

Ledger::Or<void> Ledger::check_touched(HotBook& book, bool force) {
  for (const Touch& one : touched_) {
    const auto unforced = force ? std::nullopt : std::optional(one.before);
    if (!options_.limits_at_end) {
      if (auto within = check_limits(book, one, unforced); !within) {
        return within;
      }
    } else {
      const auto [place, fresh] = at_end_place_.try_emplace(
          {book.row.number, one.account->row.number, one.currency}, at_end_.size());
      if (fresh) {
        at_end_.push_back({one.account, one.currency, one.before, unforced, operation_});
      } else {
        AtEnd& known = at_end_[place->second];
        known.operation = operation_;
        known.unforced = known.unforced ? known.unforced : unforced;
      }
    }
  }
  return {};
}

Ledger::Or<void> Ledger::check_condition(HotBook& book, const Condition& condition,
                                         Condition::At at) {
  if (condition.expect_version ? at != Condition::At::before : condition.at != at) {
    return {};
  }
  const auto account = find_account(book, condition.account);
  if (!account) {
    return refuse({.code = Code::account_not_found,
                   .account = condition.account,
                   .detail = "there is no account " + condition.account});
  }
  const Currency* const currency = currency_of(book, condition.currency);
  if (currency == nullptr) {
    return refuse({.code = Code::currency_unknown,
                   .currency = condition.currency,
                   .detail = "the book does not know the currency " + condition.currency});
  }
  const auto moved = std::ranges::find_if(touched_, [&](const Touch& one) {
    return one.account == *account && one.currency == currency->number;
  });
  Touch untouched{.account = *account, .currency = currency->number};
  if (moved == touched_.end()) {
    if (const Standing* const standing = find_standing((*account)->row, currency->number)) {
      untouched.before = untouched.after = standing->now;
      untouched.version = standing->version;
    }
  }
  const Touch& one = moved == touched_.end() ? untouched : *moved;
  const auto failed = [&](Code code, const Signed& actual, const char* what) {
    return refuse({.code = code,
                   .account = (*account)->row.id,
                   .currency = currency->code,
                   .value = actual,
                   .detail = std::string(what) + " of the account " + (*account)->row.id + " is " +
                             to_text(actual)});
  };
  if (condition.expect_version) {
    if (*condition.expect_version != one.version) {
      HK_SOMETIMES(ledger_version_conflict);
      return failed(Code::version_conflict, {false, one.version}, "the version");
    }
    return {};
  }
  const Signed actual = reading_of(at == Condition::At::before ? one.before : one.after,
                                   normal_side((*account)->row.type), condition.reading);
  if (!holds(actual, condition.compare, condition.value)) {
    HK_SOMETIMES(ledger_condition_failed);
    return failed(Code::condition_failed, actual, "the balance");
  }
  return {};
}

Ledger::Or<void> Ledger::check_conditions(HotBook& book, const CreateTransaction& command,
                                          Condition::At at) {
  for (const Condition& one : command.conditions) {
    if (auto holds = check_condition(book, one, at); !holds) {
      return holds;
    }
  }
  for (const EntryIn& entry : command.entries) {
    if (!entry.more) {
      continue;
    }
    for (Condition one : entry.more->when) {
      one.account = entry.account;
      one.currency = entry.currency;
      if (auto holds = check_condition(book, one, at); !holds) {
        return holds;
      }
    }
  }
  return {};
}

ItemResult Ledger::decide(HotBook& book, const AssertConditions& command) {
  for (const Condition::At at : {Condition::At::before, Condition::At::after}) {
    for (const Condition& one : command.conditions) {
      if (auto holds = check_condition(book, one, at); !holds) {
        return std::unexpected(holds.error());
      }
    }
  }
  return Applied{};
}

/// Every later point of the effective timeline stays within the limits, too.
Ledger::Or<void> Ledger::check_history(HotBook& book, Instant effective_at) {
  Fresh sight(*this, batch_.reader());
  for (const Touch& one : touched_) {
    const Account& row = one.account->row;
    const Standing* const standing = find_standing(row, one.currency);
    const auto limits = std::ranges::find(row.limits, one.currency, &AccountLimits::currency);
    if (standing == nullptr || limits == row.limits.end() ||
        standing->effective_max <= effective_at) {
      continue;
    }
    const Side normal = normal_side(row.type);
    Counters128 moved = one.after;
    moved -= one.before;
    const auto check = [&](Instant moment, const Counters128& before) -> Or<void> {
      Counters128 after = before;
      after += moved;
      const Signed available_after = available(after, normal);
      const Signed pending_after = pending(after, normal);
      const bool below = limits->min_available && available_after < available(before, normal) &&
                         available_after < *limits->min_available;
      const bool above = limits->max_balance && pending_after > pending(before, normal) &&
                         pending_after > *limits->max_balance;
      if (below || above) {
        HK_SOMETIMES(ledger_would_break_history);
        return refuse({.code = Code::would_break_history,
                       .account = row.id,
                       .currency = ledger::find_currency(book.row, one.currency)->code,
                       .value = below ? available_after : pending_after,
                       .moment = moment,
                       .detail = "the account " + row.id +
                                 " would have been beyond its limit at a later moment"});
      }
      return {};
    };
    Counters128 then = sight.balance_at(row, one.currency, {.effective = effective_at}).counters;
    Or<void> result = check(effective_at, then);
    Instant moment = effective_at;
    if (result && effective_at < no_end) {
      sight.by_effective(row, one.currency, effective_at + std::chrono::nanoseconds{1}, no_end,
                         [&](const Movement& movement) {
                           if (movement.effective_at != moment) {
                             result = check(moment, then);
                             moment = movement.effective_at;
                           }
                           then += counters_of(movement);
                           return result.has_value();
                         });
      if (result) {
        result = check(moment, then);
      }
    }
    if (!result) {
      return result;
    }
  }
  return {};
}

// ---- recording ----

/// What a transaction comes to: its names, what it moves (legs_), its record.
void Ledger::enter(HotBook& book, const TransactionMade& made) {
  const std::uint64_t seq = book.seq + 1;
  if (made.given.id) {
    names_.put({.tenant = book.row.tenant,
                .book = book.row.number,
                .kind = Name::Kind::transaction,
                .name = made.id,
                .seq = seq});
  }
  if (made.idempotency_key) {
    names_.put({.tenant = book.row.tenant,
                .book = book.row.number,
                .kind = Name::Kind::key,
                .name = *made.idempotency_key,
                .seq = seq});
  }
  if (made.reference) {
    IndexEntry entry{.tenant = book.row.tenant,
                     .book = book.row.number,
                     .kind = IndexEntry::Kind::reference,
                     .name = index_name(IndexEntry::Kind::reference, *made.reference, {})};
    append_be(entry.name, seq);
    index_.put(std::move(entry));
  }
  for (const Leg& leg : legs_) {
    move(leg.account, leg.currency->number,
         {.seq = seq,
          .index = leg.index,
          .side = leg.side,
          .phase = leg.phase,
          .amount = leg.amount,
          .effective_at = made.effective_at,
          .recorded_at = made.recorded_at});
  }
  record(book, made);
}

/// Everything was checked: from here on nothing can be refused.
ItemResult Ledger::make(HotBook& book, TransactionMade& made,
                        const std::vector<MetadataIn>& metadata,
                        const std::vector<EntryIn>* entries) {
  save(book);
  const std::uint64_t seq = book.seq + 1;
  if (made.id.empty()) {
    made.id = sortable_id(transaction_prefix, made.recorded_at, seq, context_.rng.next());
  }
  made.metadata = set_metadata(book, Metadata::Of::transaction, seq, seq, metadata, entries);
  enter(book, made);
  tell_of_transaction(book, made, seq);
  tell_monitors(book, seq, made.recorded_at);
  return Applied{.id = made.id, .seq = seq, .created = true};
}

/// The first member of the request that is not as it was.
std::string Ledger::different_member(HotBook& book, std::uint64_t seq, const TransactionMade& made,
                                     const CreateTransaction& command) {
  if (made.resolves || made.reverses) {
    return "kind";
  }
  if (command.id.has_value() != made.given.id || (command.id && *command.id != made.id)) {
    return "id";
  }
  if (command.idempotency_key != made.idempotency_key) {
    return "idempotency_key";
  }
  if (command.kind.has_value() != made.given.kind || (command.kind && *command.kind != made.kind)) {
    return "kind";
  }
  if (command.effective_at.has_value() != made.given.effective_at ||
      (command.effective_at && *command.effective_at != made.effective_at)) {
    return "effective_at";
  }
  if (command.expires_at.has_value() != made.given.expires_at ||
      (command.expires_at && command.expires_at != made.expires_at)) {
    return "expires_at";
  }
  if (command.timeout_s.has_value() != made.given.timeout ||
      (command.timeout_s && *command.timeout_s != made.timeout_s)) {
    return "timeout";
  }
  if (command.description != made.description) {
    return "description";
  }
  if (command.reference != made.reference) {
    return "reference";
  }
  if (command.parent != made.parent) {
    return "parent";
  }
  if (!same_metadata(book, Metadata::Of::transaction, seq, seq, 0, command.metadata)) {
    return "metadata";
  }
  const bool plain = written_out(command.entries);
  if (plain != made.request_entries.empty() ||
      (!plain && digest_of(book, command.entries) != made.request_entries)) {
    return "entries";
  }
  if (plain && command.entries.size() != made.entries.size()) {
    return "entries";
  }
  for (std::size_t i = 0; i < command.entries.size(); ++i) {
    const EntryIn& asked = command.entries[i];
    if (plain) {
      const Entry& entry = made.entries[i];
      const auto account = find_account(book, asked.account);
      if (!account || (*account)->row.id != entry.account || asked.side != entry.side ||
          asked.amount != entry.amount || asked.currency != entry.currency) {
        return "entries";
      }
    }
    if (!same_metadata(book, Metadata::Of::transaction, seq, seq, static_cast<std::uint32_t>(i + 1),
                       asked.more ? asked.more->metadata : std::vector<MetadataIn>{})) {
      return "entries";
    }
  }
  if (digest_of(book, command.conditions) != made.request_conditions) {
    return "conditions";
  }
  if (command.check_history.has_value() != made.given.check_history ||
      command.check_history.value_or(false) != made.check_history) {
    return "check_history";
  }
  return {};
}

ItemResult Ledger::decide(HotBook& book, CreateTransaction& command) {
  using Kind = TransactionMade::Kind;
  auto before = find_repeated(book, command.id, command.idempotency_key);
  if (!before) {
    return std::unexpected(before.error());
  }
  if (*before) {
    const TransactionMade made = transaction_of(book, **before);
    if (std::string member = different_member(book, **before, made, command); !member.empty()) {
      HK_SOMETIMES(ledger_repeated_otherwise);
      return refuse({.code = Code::exists_with_different,
                     .member = member,
                     .transaction = made.id,
                     .detail = "the transaction " + made.id + " exists with another " + member});
    }
    return repeated(book, **before, made);
  }

  const bool hold = command.kind == Kind::pending;
  if (command.kind == Kind::voided) {
    return refuse_member("kind", "the kind of a transaction is posted or pending");
  }
  if (!hold && (command.expires_at || command.timeout_s)) {
    return refuse_member(command.expires_at ? "expires_at" : "timeout",
                         "only a pending transaction expires");
  }
  if (command.expires_at && command.timeout_s) {
    return refuse_member("timeout", "a hold has expires_at or timeout, not both");
  }
  if (!text_fits(command.description, text_bytes_max)) {
    return refuse_member("description", "a description has at most 2000 bytes");
  }
  if (!text_fits(command.reference, reference_bytes_max)) {
    return refuse_member("reference", "a reference has at most 255 bytes");
  }
  if (command.parent && !seq_of_transaction(book, *command.parent)) {
    return refuse({.code = Code::transaction_not_found,
                   .transaction = *command.parent,
                   .detail = "there is no transaction " + *command.parent});
  }
  if (auto fine = check_metadata_of_new(command.metadata); !fine) {
    return std::unexpected(fine.error());
  }
  const bool splits = std::ranges::any_of(command.entries, [](const EntryIn& entry) {
    return entry.more && !entry.more->split.empty();
  });
  for (const EntryIn& entry : command.entries) {
    if (!entry.more) {
      continue;
    }
    if (auto fine = check_metadata_of_new(entry.more->metadata); !fine) {
      return std::unexpected(fine.error());
    }
    if (splits && !entry.more->metadata.empty()) {
      // What a split becomes is not known before: metadata would not stand where it was asked for.
      return refuse_member("metadata", "entries beside a split have no metadata of their own");
    }
  }
  TransactionMade made{.kind = hold ? Kind::pending : Kind::posted};
  if (auto resolved = resolve_entries(book, command, made); !resolved) {
    return std::unexpected(resolved.error());
  }
  for (std::size_t i = 0; i < legs_.size(); ++i) {
    legs_[i].index = static_cast<std::uint32_t>(i);
    legs_[i].phase = hold ? Movement::Phase::held : Movement::Phase::posted;
  }
  made.recorded_at = next_instant(book);
  made.effective_at = command.effective_at.value_or(made.recorded_at);
  if (command.effective_at) {
    if (auto fine = check_effective(book, made.effective_at); !fine) {
      return std::unexpected(fine.error());
    }
    if (made.effective_at < made.recorded_at) {
      HK_SOMETIMES(ledger_backdated);
    }
  }
  if (command.expires_at) {
    made.expires_at = *command.expires_at;
  } else if (command.timeout_s) {
    constexpr std::uint64_t timeout_s_max = 10ULL * 366 * 86'400;
    if (*command.timeout_s > timeout_s_max) {
      return refuse_member("timeout", "a timeout is at most 10 years");
    }
    made.expires_at =
        made.recorded_at + std::chrono::seconds{static_cast<std::int64_t>(*command.timeout_s)};
  }
  if (made.expires_at && (*made.expires_at <= now() || *made.expires_at == no_end)) {
    return refuse_member(command.expires_at ? "expires_at" : "timeout",
                         "a hold expires in the future");
  }
  if (auto moved = move_touched(false); !moved) {
    return std::unexpected(moved.error());
  }
  if (auto holds = check_conditions(book, command, Condition::At::before); !holds) {
    return std::unexpected(holds.error());
  }
  if (auto within = check_touched(book, false); !within) {
    return std::unexpected(within.error());
  }
  if (auto holds = check_conditions(book, command, Condition::At::after); !holds) {
    return std::unexpected(holds.error());
  }
  made.check_history = command.check_history.value_or(false);
  if (made.check_history) {
    if (auto fine = check_history(book, made.effective_at); !fine) {
      return std::unexpected(fine.error());
    }
  }

  made.given = {.id = command.id.has_value(),
                .kind = command.kind.has_value(),
                .effective_at = command.effective_at.has_value(),
                .expires_at = command.expires_at.has_value(),
                .timeout = command.timeout_s.has_value(),
                .check_history = command.check_history.has_value()};
  made.timeout_s = command.timeout_s.value_or(0);
  if (!written_out(command.entries)) {
    made.request_entries = digest_of(book, command.entries);
  }
  made.request_conditions = digest_of(book, command.conditions);
  made.id = command.id ? std::move(*command.id) : std::string();
  made.idempotency_key = std::move(command.idempotency_key);
  made.description = std::move(command.description);
  made.reference = std::move(command.reference);
  made.parent = std::move(command.parent);
  auto applied = make(book, made, command.metadata, &command.entries);
  if (hold) {
    HK_SOMETIMES(ledger_held);
    open_hold(book, applied->seq, made);
  } else {
    HK_SOMETIMES(ledger_posted);
  }
  return applied;
}

}  // namespace hk::core::ledger
