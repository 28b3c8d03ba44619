// A log that comes from another server. Each record is taken as it is, if it fits behind the one
// before: its hash, what it says, and what follows from it. What depended only on the moment of the
// request (limits, conditions) was decided there and is not decided again.
#include <algorithm>
#include <map>

#include "base/assert.h"
#include "base/sometimes.h"
#include "base/sortable_id.h"
#include "core/ledger/chain.h"
#include "core/ledger/inside.h"
#include "core/ledger/ledger.h"
#include "core/ledger/recording.h"
#include "security/digest.h"

HK_SOMETIMES_DECLARE(ledger_import_begun)
HK_SOMETIMES_DECLARE(ledger_import_refused)
HK_SOMETIMES_DECLARE(ledger_import_sent_again)
HK_SOMETIMES_DECLARE(ledger_import_complete)

namespace hk::core::ledger {

namespace {

constexpr std::chrono::minutes recorded_ahead_max{5};
constexpr std::size_t public_key_bytes = 32;
constexpr std::size_t salt_bytes = 16;

/// The record is named where it is taken (import_record).
std::unexpected<std::shared_ptr<const Refusal>> wrong(std::string what) {
  return refuse({.code = Code::record_invalid, .detail = std::move(what)});
}

std::unexpected<std::shared_ptr<const Refusal>> wrong_record(std::uint64_t seq,
                                                             const std::string& what) {
  HK_SOMETIMES(ledger_import_refused);
  return refuse({.code = Code::record_invalid,
                 .seq = seq,
                 .detail = "record " + std::to_string(seq) + ": " + what});
}

std::unexpected<std::shared_ptr<const Refusal>> exists_already(const std::string& id) {
  return refuse({.code = Code::book_exists,
                 .detail = "there is a book " + id + " that was not imported from this log"});
}

/// Per entry of the hold, 0 where nothing is released. nullopt: it cannot be released.
std::optional<std::vector<Amount>> per_entry(const std::vector<Released>& released,
                                             const std::vector<Amount>& left) {
  std::vector<Amount> out(left.size(), 0);
  for (const Released& one : released) {
    if (one.index >= left.size() || one.amount == 0 || out[one.index] != 0 ||
        one.amount > left[one.index]) {
      return std::nullopt;
    }
    out[one.index] = one.amount;
  }
  return out;
}

}  // namespace

Ledger::Or<HotBook*> Ledger::begin_import(TenantId tenant, const std::string& id,
                                          const ImportRecords& command) {
  if (!is_ledger_id(id)) {
    return refuse_member("id", "the id of a book is 1 to 128 of A-Z a-z 0-9 . _ ~ : @ -");
  }
  if (command.records.empty() || command.records.front().record.seq != 1) {
    return wrong_record(1, "the import of a book begins with its first record");
  }
  HK_SOMETIMES(ledger_import_begun);
  HotBook& book = add_book(tenant, id);
  Book& row = change(book);
  row.importing = true;
  row.next_public_key = std::exchange(row.public_key, {});
  return &book;
}

ItemResult Ledger::decide(HotBook& book, const ImportRecords& command) {
  save(book);
  for (SavedBook& saved : saved_books_) {
    if (saved.book == &book && !saved.made) {
      saved.uncovered_whole = book.uncovered;  // checkpoints come within this group
    }
  }
  if (!book.row.importing && book.row.imported_through == 0) {
    return exists_already(book.row.id);
  }
  for (const ImportRecords::One& one : command.records) {
    const std::uint64_t seq = one.record.seq;
    if (seq >= 1 && seq <= book.seq) {
      if (record_at(book, seq).hash != one.record.hash) {
        return book.row.importing
                   ? wrong_record(seq, "another record of that seq was imported before")
                   : exists_already(book.row.id);
      }
      HK_SOMETIMES(ledger_import_sent_again);
      continue;
    }
    if (!book.row.importing) {
      return exists_already(book.row.id);
    }
    if (auto taken = import_record(book, one); !taken) {
      return std::unexpected(taken.error());
    }
  }
  Applied applied{.id = book.row.id, .seq = book.seq, .replayed = !book.row.importing};
  if (book.row.importing && command.complete) {
    HK_SOMETIMES(ledger_import_complete);
    Book& row = change(book);
    row.importing = false;
    row.imported_through = book.seq;
    applied.created = true;
  }
  return applied;
}

Ledger::Or<void> Ledger::import_record(HotBook& book, const ImportRecords::One& one) {
  const Record& record = one.record;
  const auto says = [&](const std::string& what) { return wrong_record(record.seq, what); };
  if (record.seq != book.seq + 1) {
    return says("the record " + std::to_string(book.seq + 1) + " was to come here");
  }
  if (one.prev_hash != book.hash) {
    return says("prev_hash is not the hash of the record before");
  }
  if (record_hash(book.row.id, record.seq, book.hash, record.kind, record.payload) != record.hash) {
    return says("the hash is not that of its content behind the record before");
  }
  const auto payload = decode(record.kind, record.payload);
  if (!payload) {
    return says(payload.error().message);
  }
  std::string again;
  encode(*payload, again);
  if (again != record.payload) {
    return says("the payload is not written as the ledger writes it");
  }
  const Instant recorded_at = std::visit([](const auto& any) { return any.recorded_at; }, *payload);
  if (recorded_at != record.recorded_at) {
    return says("recorded_at is not that of the payload");
  }
  if (book.seq != 0 && recorded_at <= book.recorded_at) {
    return says("recorded_at is not later than that of the record before");
  }
  if (recorded_at > now() + recorded_ahead_max) {
    return says("it was recorded in the future");
  }
  if (book.seq == 0 && !std::holds_alternative<BookCreated>(*payload)) {
    return says("the first record does not create the book");
  }
  touched_.clear();
  legs_.clear();
  imported_values_ = &one.values;
  auto taken = std::visit([&](const auto& any) { return take_in(book, any); }, *payload);
  imported_values_ = nullptr;
  if (!taken) {
    return says(taken.error()->detail);
  }
  HK_ASSERT(book.seq == record.seq && book.hash == record.hash);
  return {};
}

// ---- the book ----

Ledger::Or<void> Ledger::take_in(HotBook& book, const BookCreated& made) {
  if (book.seq != 0) {
    return wrong("a book is created once, by its first record");
  }
  if (made.id != book.row.id) {
    return wrong("it is the log of the book " + made.id);
  }
  if (made.public_key.size() != public_key_bytes || made.indexed.size() > book_indexed_max) {
    return wrong("it cannot be the record of a book");
  }
  Book& row = change(book);
  row.name = made.name;
  row.indexed = made.indexed;
  row.created_at = made.recorded_at;
  row.public_key = made.public_key;
  if (auto fine = import_metadata(book, Metadata::Of::book, 0, made.metadata); !fine) {
    return fine;
  }
  record(book, made);
  return {};
}

Ledger::Or<void> Ledger::take_in(HotBook& book, const BookChanged& changed) {
  if ((changed.name && changed.name->size() > book_name_max) ||
      (changed.indexed && changed.indexed->size() > book_indexed_max)) {
    return wrong("name or indexed cannot be");
  }
  Book& row = change(book);
  row.name = changed.name.value_or(row.name);
  row.indexed = changed.indexed.value_or(row.indexed);
  if (auto fine = import_metadata(book, Metadata::Of::book, 0, changed.metadata); !fine) {
    return fine;
  }
  record(book, changed);
  return {};
}

Ledger::Or<void> Ledger::take_in(HotBook& book, const CurrencyAdded& added) {
  if (!is_currency_code(added.code) || added.exponent > currency_exponent_max ||
      currency_of(book, added.code) != nullptr) {
    return wrong("the currency " + added.code + " is known already, or cannot be");
  }
  Book& row = change(book);
  row.currencies.push_back(
      {own_currencies_from + static_cast<CurrencyNumber>(row.currencies.size()), added.code,
       added.exponent});
  record(book, added);
  return {};
}

Ledger::Or<void> Ledger::take_in(HotBook& book, const BookClosed& closed) {
  const std::optional<Instant>& before = book.row.closed_through;
  const bool reopens = before && (!closed.through || *closed.through < *before);
  if ((reopens && closed.reason.empty()) ||
      (closed.through && *closed.through > closed.recorded_at)) {
    return wrong("the book cannot be closed so");
  }
  change(book).closed_through = closed.through;
  record(book, closed);
  return {};
}

Ledger::Or<void> Ledger::take_in(HotBook& book, const KeyChanged& changed) {
  if (changed.public_key.size() != public_key_bytes) {
    return wrong("it has no public key");
  }
  Book& row = change(book);
  row.former_keys.push_back({book.seq, std::exchange(row.public_key, changed.public_key)});
  record(book, changed);
  return {};
}

Ledger::Or<void> Ledger::take_in(HotBook& book, const Checkpoint& checkpoint) {
  if (checkpoint.first_seq != book.uncovered_from || checkpoint.last_seq != book.seq ||
      book.uncovered.empty()) {
    return wrong("the checkpoint does not cover the records since the one before");
  }
  if (checkpoint.last_hash != book.hash || checkpoint.root != merkle_root(book.uncovered)) {
    return wrong("the root of the checkpoint is not that of its records");
  }
  if (!signature_holds(checkpoint, book.row.id, book.row.public_key)) {
    return wrong("the signature of the checkpoint is not that of the book's key");
  }
  book.uncovered_from = record(book, checkpoint) + 1;
  book.uncovered.clear();
  return {};
}

// ---- accounts ----

Ledger::Or<std::vector<AccountLimits>> Ledger::imported_limits(
    HotBook& book, const Account& account, const std::vector<LimitsOf>& limits) {
  std::vector<AccountLimits> out;
  for (const LimitsOf& one : limits) {
    const Currency* const currency = currency_of(book, one.currency);
    if (currency == nullptr || (!one.min_available && !one.max_balance) ||
        (account.currency != 0 && account.currency != currency->number)) {
      return wrong("a limit in " + one.currency + " cannot be");
    }
    out.push_back({currency->number, one.min_available, one.max_balance});
  }
  std::ranges::sort(out, {}, &AccountLimits::currency);
  if (std::ranges::adjacent_find(out, {}, &AccountLimits::currency) != out.end()) {
    return wrong("a currency has its limits twice");
  }
  return out;
}

/// By its id: records name no account by its path.
Ledger::Or<Ledger::AccountAt> Ledger::imported_account(HotBook& book, const std::string& id) {
  const auto found = find_account(book, id);
  if (!found || (*found)->row.id != id) {
    return wrong("no record has created the account " + id);
  }
  return *found;
}

Ledger::Or<void> Ledger::take_in(HotBook& book, const AccountCreated& made) {
  if (!is_ledger_id(made.id) || !is_ledger_path(made.path) || made.number != book.accounts + 1) {
    return wrong("id, path or number of the account cannot be");
  }
  for (const std::string* const name : {&made.id, &made.path}) {
    if (find_account(book, *name)) {
      return wrong("the account " + *name + " is created a second time");
    }
  }
  const Currency* locked = nullptr;
  if (!made.currency.empty()) {
    locked = currency_of(book, made.currency);
    if (locked == nullptr) {
      return wrong("the book does not know the currency " + made.currency);
    }
  }
  save(book);
  Account row{.tenant = book.row.tenant,
              .book = book.row.number,
              .id = made.id,
              .number = made.number,
              .path = made.path,
              .type = made.type,
              .currency = locked == nullptr ? 0 : locked->number,
              .created_at = made.recorded_at,
              .seq = book.seq + 1};
  auto limits = imported_limits(book, row, made.limits);
  if (!limits) {
    return std::unexpected(limits.error());
  }
  row.limits = std::move(*limits);
  ++book.accounts;
  add_account(book, std::move(row));
  if (auto fine = import_metadata(book, Metadata::Of::account, made.number, made.metadata); !fine) {
    return fine;
  }
  record(book, made);
  return {};
}

Ledger::Or<void> Ledger::take_in(HotBook& book, const AccountChanged& changed) {
  const auto account = imported_account(book, changed.id);
  if (!account) {
    return std::unexpected(account.error());
  }
  if (changed.state == Account::State::closed) {
    for (const Standing& standing : (*account)->row.standings) {
      const Counters128& now = standing.now;
      if (now.debits_posted != now.credits_posted || now.debits_pending != 0 ||
          now.credits_pending != 0) {
        return wrong("it closes the account " + changed.id + ", which has a balance or holds");
      }
    }
  }
  Account& row = change(*account);
  row.state = changed.state.value_or(row.state);
  if (auto fine = import_metadata(book, Metadata::Of::account, row.number, changed.metadata);
      !fine) {
    return fine;
  }
  record(book, changed);
  return {};
}

Ledger::Or<void> Ledger::take_in(HotBook& book, const LimitsChanged& changed) {
  const auto account = imported_account(book, changed.id);
  if (!account) {
    return std::unexpected(account.error());
  }
  auto limits = imported_limits(book, (*account)->row, changed.limits);
  if (!limits) {
    return std::unexpected(limits.error());
  }
  change(*account).limits = std::move(*limits);
  record(book, changed);
  return {};
}

// ---- transactions ----

/// The entries are balanced and their accounts are there: legs_ has them.
Ledger::Or<void> Ledger::import_entries(HotBook& book, const TransactionMade& made) {
  std::map<std::string_view, std::pair<Amount, Amount>> sums;
  for (std::size_t i = 0; i < made.entries.size(); ++i) {
    const Entry& entry = made.entries[i];
    const auto account = imported_account(book, entry.account);
    if (!account) {
      return std::unexpected(account.error());
    }
    const Currency* const currency = currency_of(book, entry.currency);
    if (currency == nullptr ||
        ((*account)->row.currency != 0 && (*account)->row.currency != currency->number)) {
      return wrong("the account " + entry.account + " cannot be moved in " + entry.currency);
    }
    auto& [debits, credits] = sums[entry.currency];
    if (entry.amount == 0 || !add(entry.side == Side::debit ? debits : credits, entry.amount)) {
      return wrong("an amount of the transaction " + made.id + " cannot be");
    }
    legs_.push_back({.account = *account,
                     .currency = currency,
                     .side = entry.side,
                     .amount = entry.amount,
                     .phase = made.kind == TransactionMade::Kind::pending ? Movement::Phase::held
                                                                          : Movement::Phase::posted,
                     .index = static_cast<std::uint32_t>(i)});
  }
  for (const auto& [currency, sum] : sums) {
    if (sum.first != sum.second) {
      return wrong("the transaction " + made.id + " is not balanced in " + std::string(currency));
    }
  }
  if (made.entries.size() < entries_min || made.entries.size() > entries_max) {
    return wrong("the transaction " + made.id + " has fewer than 2 entries, or more than 1000");
  }
  return {};
}

Ledger::Or<void> Ledger::take_in(HotBook& book, const TransactionMade& made) {
  using Kind = TransactionMade::Kind;
  const std::uint64_t seq = book.seq + 1;
  const auto before = find_repeated(book, made.id, made.idempotency_key);
  if (!before) {
    return std::unexpected(before.error());
  }
  if (*before) {
    return wrong("a transaction of its id or idempotency key is there already");
  }
  if (!made.given.id && number_in_id(made.id, transaction_prefix) != seq) {
    return wrong("the id " + made.id + " is not that of this record");
  }
  if (!text_fits(made.description, text_bytes_max) ||
      !text_fits(made.reference, reference_bytes_max)) {
    return wrong("description or reference is too long");
  }
  if (made.parent && !seq_of_transaction(book, *made.parent)) {
    return wrong("there is no transaction " + *made.parent);
  }
  if (made.effective_at == long_ago ||
      (book.row.closed_through && made.effective_at <= *book.row.closed_through)) {
    return wrong("effective_at is in a period that was closed");
  }
  const bool hold = made.kind == Kind::pending;
  const bool follows = made.resolves || made.reverses;
  if ((made.expires_at && (!hold || *made.expires_at == no_end)) ||
      (made.resolves && made.reverses) || (hold && follows) ||
      (made.kind == Kind::voided && !made.resolves) || (made.asked_final && !made.final) ||
      (!made.resolves && (!made.final || !made.released.empty())) ||
      made.of.size() != (follows ? made.entries.size() : 0)) {
    return wrong("its members do not belong together");
  }
  if (auto fine = import_entries(book, made); !fine) {
    return fine;
  }
  if (made.resolves) {
    return import_resolution(book, made);
  }
  if (made.reverses) {
    return import_reversal(book, made);
  }
  if (auto moved = move_touched(false); !moved) {
    return moved;
  }
  if (auto fine =
          import_metadata(book, Metadata::Of::transaction, seq, made.metadata, made.entries.size());
      !fine) {
    return fine;
  }
  enter(book, made);
  if (hold) {
    open_hold(book, seq, made);
  }
  return {};
}

Ledger::Or<void> Ledger::import_resolution(HotBook& book, const TransactionMade& made) {
  const std::uint64_t seq = book.seq + 1;
  const auto target = find_target(book, *made.resolves);
  if (!target) {
    return std::unexpected(target.error());
  }
  const auto& [of, hold] = *target;
  auto outcome = open_outcome(book, of, hold);
  if (!outcome) {
    return std::unexpected(outcome.error());
  }
  const auto released = per_entry(made.released, outcome->left);
  if (!released) {
    return wrong("it releases more than " + hold.id + " holds");
  }
  std::vector<Amount> named(hold.entries.size(), 0);
  for (std::size_t i = 0; i < made.entries.size(); ++i) {
    Entry held = made.of[i] < hold.entries.size() ? hold.entries[made.of[i]] : Entry{};
    held.amount = made.entries[i].amount;
    if (held != made.entries[i] || named[made.of[i]] != 0) {
      return wrong("entry " + std::to_string(i) + " is none of the hold " + hold.id);
    }
    named[made.of[i]] = held.amount;
    if (held.amount > (*released)[made.of[i]]) {
      return wrong("it posts more than it takes from the hold " + hold.id);
    }
  }
  // A post that is not the last releases what it posts; a void names what it releases.
  const bool whole = *released == outcome->left;
  const bool voids = made.kind == TransactionMade::Kind::voided;
  if (made.final ? !whole : (whole || named != *released) || (voids && named != *released)) {
    return wrong("it ends the hold " + hold.id + " and leaves a part of it held, or the reverse");
  }
  if (made.effective_at < hold.effective_at) {
    return wrong("a hold is not resolved before it was effective itself");
  }
  std::vector<Leg> posted = std::exchange(legs_, {});
  add_released(book, hold, made.released);
  if (!voids) {
    legs_.insert(legs_.end(), posted.begin(), posted.end());
  }
  if (auto moved = move_touched(true); !moved) {
    return moved;
  }
  if (auto fine = import_metadata(book, Metadata::Of::transaction, seq, made.metadata); !fine) {
    return fine;
  }
  enter(book, made);
  resolve(std::move(*outcome), made, seq);
  return {};
}

Ledger::Or<void> Ledger::import_reversal(HotBook& book, const TransactionMade& made) {
  const std::uint64_t seq = book.seq + 1;
  const auto target = find_target(book, *made.reverses);
  if (!target) {
    return std::unexpected(target.error());
  }
  const auto& [of, original] = *target;
  if (original.kind != TransactionMade::Kind::posted) {
    return wrong("it reverses " + original.id + ", which is a hold or a void");
  }
  Outcome outcome =
      outcomes_.get({book.row.tenant, book.row.number, of})
          .value_or(Outcome{.tenant = book.row.tenant, .book = book.row.number, .seq = of});
  outcome.reversed.resize(original.entries.size(), 0);
  std::vector<Amount> taken = outcome.reversed;
  for (std::size_t i = 0; i < made.entries.size(); ++i) {
    const Entry& entry = made.entries[i];
    Entry mirror = made.of[i] < original.entries.size() ? original.entries[made.of[i]] : Entry{};
    const Amount whole = std::exchange(mirror.amount, entry.amount);
    mirror.side = other(mirror.side);
    if (mirror != entry) {
      return wrong("entry " + std::to_string(i) + " is not the mirror of one of " + original.id);
    }
    if (entry.amount > whole - taken[made.of[i]]) {
      return wrong("it reverses more of entry " + std::to_string(made.of[i]) + " of " +
                   original.id + " than is left");
    }
    taken[made.of[i]] += entry.amount;
  }
  if (auto moved = move_touched(false); !moved) {
    return moved;
  }
  if (auto fine = import_metadata(book, Metadata::Of::transaction, seq, made.metadata); !fine) {
    return fine;
  }
  enter(book, made);
  take_back(std::move(outcome), made, seq);
  return {};
}

Ledger::Or<void> Ledger::take_in(HotBook& book, const HoldExpired& expired) {
  const auto target = find_target(book, expired.transaction);
  if (!target) {
    return std::unexpected(target.error());
  }
  const auto& [of, hold] = *target;
  auto outcome = open_outcome(book, of, hold);
  if (!outcome) {
    return std::unexpected(outcome.error());
  }
  if (outcome->expires_at > expired.recorded_at ||
      per_entry(expired.released, outcome->left) != outcome->left) {
    return wrong("the hold " + hold.id + " does not expire so");
  }
  save(book);
  enter(book, expired, hold, std::move(*outcome));
  return {};
}

// ---- metadata ----

Ledger::Or<void> Ledger::import_metadata(HotBook& book, Metadata::Of of, std::uint64_t number,
                                         const std::vector<MetadataHash>& hashes,
                                         std::size_t entries) {
  const std::uint64_t seq = book.seq + 1;
  Metadata row{
      .tenant = book.row.tenant, .book = book.row.number, .of = of, .number = number, .seq = seq};
  std::map<std::uint32_t, std::vector<MetadataIn>> by_entry;
  std::size_t used = 0;
  for (const MetadataHash& hash : hashes) {
    MetadataValue value{.entry = hash.entry, .key = hash.key, .removed = !hash.hash};
    MetadataIn in{.key = hash.key};
    const auto given = std::ranges::find_if(*imported_values_, [&](const MetadataValue& one) {
      return one.entry == hash.entry && one.key == hash.key;
    });
    if (hash.hash && given != imported_values_->end()) {
      if (given->salt.size() != salt_bytes ||
          security::sha256(given->salt + given->value) != *hash.hash) {
        return wrong("the value of the metadata " + hash.key + " is not the one that was recorded");
      }
      ++used;
      value.value = given->value;
      value.salt = given->salt;
      in.value = given->value;
    } else {
      value.erased = hash.hash.has_value();
    }
    by_entry[hash.entry].push_back(std::move(in));
    row.values.push_back(std::move(value));
  }
  if (used != imported_values_->size()) {
    return wrong("it comes with metadata that it does not name");
  }
  for (const auto& [entry, keys] : by_entry) {
    if (entry > entries) {
      return wrong("it names metadata of an entry that is not there");
    }
    if (auto fine = check_metadata_of_new(keys); !fine) {
      return fine;
    }
  }
  if (row.values.empty()) {
    return {};
  }
  const std::vector<MetadataValue> before = metadata_now(book, of, number);
  for (const MetadataValue& value : row.values) {
    if (value.entry != 0) {
      continue;
    }
    const auto known = std::ranges::find_if(
        before, [&](const MetadataValue& old) { return old.entry == 0 && old.key == value.key; });
    index(book, of, number, value.key, known == before.end() ? nullptr : &known->value,
          value.removed || value.erased ? nullptr : &value.value);
  }
  metadata_.put(std::move(row));
  return {};
}

Ledger::Or<void> Ledger::take_in(HotBook& book, const MetadataSet& set) {
  const auto target = find_target(book, set.transaction);
  if (!target) {
    return std::unexpected(target.error());
  }
  if (auto fine = import_metadata(book, Metadata::Of::transaction, target->first, set.metadata);
      !fine) {
    return fine;
  }
  record(book, set);
  return {};
}

Ledger::Or<void> Ledger::take_in(HotBook& book, const MetadataErased& erased) {
  Metadata::Of of = Metadata::Of::book;
  std::uint64_t number = 0;
  if (!erased.account.empty()) {
    const auto account = imported_account(book, erased.account);
    if (!account) {
      return std::unexpected(account.error());
    }
    of = Metadata::Of::account;
    number = (*account)->row.number;
  } else if (!erased.transaction.empty()) {
    const auto target = find_target(book, erased.transaction);
    if (!target) {
      return std::unexpected(target.error());
    }
    of = Metadata::Of::transaction;
    number = target->first;
  }
  erase_values(book, of, number, erased.keys);  // nothing, if they did not come along
  record(book, erased);
  return {};
}

}  // namespace hk::core::ledger
