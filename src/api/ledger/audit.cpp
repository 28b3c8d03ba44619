#include "api/ledger/audit.h"

#include <algorithm>
#include <set>
#include <span>

#include "core/ledger/chain.h"

namespace hk::api::ledger {

namespace {

using core::Reader;
using core::ledger::Account;
using core::ledger::Amount;
using core::ledger::Book;
using core::ledger::Checkpoint;
using core::ledger::Counters128;
using core::ledger::Entry;
using core::ledger::Hash;
using core::ledger::HoldExpired;
using core::ledger::Instant;
using core::ledger::OpenHold;
using core::ledger::Payload;
using core::ledger::Record;
using core::ledger::Released;
using core::ledger::Side;
using core::ledger::TransactionMade;

constexpr std::size_t records_at_once = 1024;

Amount& posted_of(Counters128& counters, Side side) {
  return side == Side::debit ? counters.debits_posted : counters.credits_posted;
}
Amount& pending_of(Counters128& counters, Side side) {
  return side == Side::debit ? counters.debits_pending : counters.credits_pending;
}

std::string counters_text(const Counters128& counters) {
  using core::ledger::to_text;
  return "debits " + to_text(counters.debits_posted) + ", credits " +
         to_text(counters.credits_posted) + ", pending debits " + to_text(counters.debits_pending) +
         ", pending credits " + to_text(counters.credits_pending);
}

}  // namespace

Audit::Audit(std::string book, std::uint64_t first_seq, const Hash& prev_hash,
             std::string public_key)
    : book_(std::move(book)),
      public_key_(std::move(public_key)),
      whole_(first_seq == 1),
      first_seq_(first_seq),
      next_seq_(first_seq),
      prev_(prev_hash),
      uncovered_from_(first_seq) {}

void Audit::fault(std::uint64_t seq, std::string what) {
  ++report_.fault_count;
  if (report_.faults.size() < AuditReport::faults_max) {
    report_.faults.push_back({seq, std::move(what)});
  }
}

void Audit::take(const Record& record, const Hash* stated_prev) {
  if (record.seq != next_seq_) {
    fault(record.seq, "the record " + std::to_string(next_seq_) + " was to come here");
  }
  if (stated_prev != nullptr && *stated_prev != prev_) {
    fault(record.seq, "prev_hash is not the hash of the record before");
  }
  if (core::ledger::record_hash(book_, record.seq, prev_, record.kind, record.payload) !=
      record.hash) {
    fault(record.seq, "the hash is not that of its content behind the record before");
  }
  // What follows is compared with the hash that is there: one fault is told once.
  prev_ = record.hash;
  next_seq_ = record.seq + 1;
  ++report_.records;

  const auto payload = core::ledger::decode(record.kind, record.payload);
  if (!payload) {
    fault(record.seq, payload.error().message);
    uncovered_.push_back(record.hash);
    return;
  }
  const Instant recorded_at = std::visit([](const auto& one) { return one.recorded_at; }, *payload);
  if (recorded_at != record.recorded_at) {
    fault(record.seq, "recorded_at is not that of the payload");
  }
  if (recorded_at <= recorded_at_) {
    fault(record.seq, "recorded_at is not later than that of the record before");
  }
  recorded_at_ = recorded_at;
  if (const auto* const changed = std::get_if<core::ledger::KeyChanged>(&*payload)) {
    public_key_ = changed->public_key;
  }
  if (const auto* const checkpoint = std::get_if<Checkpoint>(&*payload)) {
    check_checkpoint(record.seq, *checkpoint);
  } else {
    uncovered_.push_back(record.hash);
  }
  if (const auto* const made = std::get_if<TransactionMade>(&*payload)) {
    check_entries(record.seq, *made);
  }
  if (whole_) {
    fold(record.seq, *payload);
  }
}

// A checkpoint covers what came since the one before; itself it is covered by none but the chain.
void Audit::check_checkpoint(std::uint64_t seq, const Checkpoint& checkpoint) {
  const bool began_before = !whole_ && checkpoint.first_seq < uncovered_from_;
  // Of a part of an export the key is not known.
  if (!public_key_.empty() && !core::ledger::signature_holds(checkpoint, book_, public_key_)) {
    fault(seq, "the signature of the checkpoint is not that of the book's key");
  }
  if (checkpoint.last_seq + 1 != seq ||
      (checkpoint.first_seq != uncovered_from_ && !began_before) ||
      (uncovered_.empty() && !began_before)) {
    fault(seq, "the checkpoint does not cover the records since the one before");
  } else if ((!uncovered_.empty() && checkpoint.last_hash != uncovered_.back()) ||
             (!began_before && core::ledger::merkle_root(uncovered_) != checkpoint.root)) {
    fault(seq, "the root of the checkpoint is not that of its records");
  }
  uncovered_.clear();
  uncovered_from_ = seq + 1;
}

void Audit::check_entries(std::uint64_t seq, const TransactionMade& made) {
  if (made.kind == TransactionMade::Kind::voided) {
    return;
  }
  if (made.entries.size() < 2) {
    fault(seq, "the transaction " + made.id + " has fewer than 2 entries");
  }
  std::map<std::string_view, std::pair<Amount, Amount>> sums;
  for (const Entry& entry : made.entries) {
    auto& [debits, credits] = sums[entry.currency];
    if (entry.amount == 0 ||
        !core::ledger::add(entry.side == Side::debit ? debits : credits, entry.amount)) {
      fault(seq, "an amount of the transaction " + made.id + " cannot be");
    }
  }
  for (const auto& [currency, sum] : sums) {
    if (sum.first != sum.second) {
      fault(seq, "the transaction " + made.id + " is not balanced in " + std::string(currency));
    }
  }
}

Audit::Moved* Audit::find_moved(std::uint64_t seq, const std::string& account,
                                const std::string& currency) {
  const auto found = accounts_.find(account);
  if (found == accounts_.end()) {
    fault(seq, "it names the account " + account + ", which no record has created");
    return nullptr;
  }
  Moved& moved = found->second.moved[currency];
  if (moved.last_seq != seq) {
    moved.last_seq = seq;
    ++moved.version;
  }
  return &moved;
}

void Audit::release(std::uint64_t seq, const std::string& hold,
                    const std::vector<Released>& released, bool last) {
  const auto found = holds_.find(hold);
  if (found == holds_.end()) {
    fault(seq, "it resolves " + hold + ", which is no open hold");
    return;
  }
  Held& held = found->second;
  for (const Released& one : released) {
    if (one.index >= held.entries.size() || held.left[one.index] < one.amount) {
      fault(seq, "it releases more than " + hold + " holds");
      continue;
    }
    const Entry& entry = held.entries[one.index];
    held.left[one.index] -= one.amount;
    if (Moved* const moved = find_moved(seq, entry.account, entry.currency)) {
      Amount& pending = pending_of(moved->counters, entry.side);
      if (pending < one.amount) {
        fault(seq, "the account " + entry.account + " holds less than is released");
      }
      pending -= std::min(pending, one.amount);
    }
  }
  const bool empty = std::ranges::all_of(held.left, [](Amount left) { return left == 0; });
  if (last && !empty) {
    fault(seq, "it ends the hold " + hold + " and leaves a part of it held");
  }
  if (last || empty) {
    holds_.erase(found);
  }
}

/// Each entry of a reversal is the mirror of one that it names, and over all reversals none is
/// taken back more than once.
void Audit::reverse(std::uint64_t seq, const TransactionMade& made) {
  const auto found = posted_.find(*made.reverses);
  if (found == posted_.end() || *made.reverses == made.id) {
    fault(seq, "it reverses " + *made.reverses + ", which is no earlier posted transaction");
    return;
  }
  const auto [first, count] = found->second;
  for (std::size_t i = 0; i < made.entries.size(); ++i) {
    const Entry& entry = made.entries[i];
    const std::size_t of = i < made.of.size() ? made.of[i] : count;
    if (of >= count) {
      fault(seq, "it does not say which entry of " + *made.reverses + " it reverses");
      continue;
    }
    Reversible& original = reversible_[first + of];
    const auto account = accounts_.find(entry.account);
    if (account == accounts_.end() || &account->second != original.account ||
        entry.currency != *original.currency || entry.side == original.side) {
      fault(seq, "entry " + std::to_string(i) + " is not the mirror of entry " +
                     std::to_string(of) + " of " + *made.reverses);
    } else if (entry.amount > original.left) {
      fault(seq, "it reverses more of entry " + std::to_string(of) + " of " + *made.reverses +
                     " than is left");
    }
    original.left -= std::min(original.left, entry.amount);
  }
}

void Audit::fold(std::uint64_t seq, const TransactionMade& made) {
  const bool holds = made.kind == TransactionMade::Kind::pending;
  if (made.kind != TransactionMade::Kind::voided) {
    for (const Entry& entry : made.entries) {
      Moved* const moved = find_moved(seq, entry.account, entry.currency);
      if (moved != nullptr && !core::ledger::add(holds ? pending_of(moved->counters, entry.side)
                                                       : posted_of(moved->counters, entry.side),
                                                 entry.amount)) {
        fault(seq, "the account " + entry.account + " would have more than an amount can be");
      }
    }
  }
  if (made.kind == TransactionMade::Kind::posted) {
    const std::size_t first = reversible_.size();
    for (const Entry& entry : made.entries) {
      const auto account = accounts_.find(entry.account);
      reversible_.push_back({.left = entry.amount,
                             .account = account == accounts_.end() ? nullptr : &account->second,
                             .currency = &*currencies_.insert(entry.currency).first,
                             .side = entry.side});
    }
    posted_.try_emplace(made.id, first, static_cast<std::uint32_t>(made.entries.size()));
  }
  if (made.reverses) {
    reverse(seq, made);
  }
  if (holds) {
    Held held{.seq = seq, .entries = made.entries};
    for (const Entry& entry : made.entries) {
      held.left.push_back(entry.amount);
    }
    if (!holds_.emplace(made.id, std::move(held)).second) {
      fault(seq, "a hold of the id " + made.id + " is open already");
    }
  }
  if (made.resolves) {
    for (std::size_t i = 0; i < made.entries.size(); ++i) {
      const auto of =
          std::ranges::find(made.released, i < made.of.size() ? made.of[i] : i, &Released::index);
      if (of == made.released.end() || of->amount < made.entries[i].amount) {
        fault(seq, "it posts more than it takes from the hold " + *made.resolves);
      }
    }
    release(seq, *made.resolves, made.released, made.final);
  }
}

void Audit::fold(std::uint64_t seq, const Payload& payload) {
  if (const auto* const created = std::get_if<core::ledger::BookCreated>(&payload)) {
    if (seq != 1 || created->id != book_) {
      fault(seq, "a book is created once, by its first record");
    }
    public_key_ = created->public_key;
  } else if (seq == 1) {
    fault(seq, "the first record does not create the book");
  }
  if (const auto* const account = std::get_if<core::ledger::AccountCreated>(&payload)) {
    if (!accounts_.emplace(account->id, Folded{account->path, account->type, {}}).second) {
      fault(seq, "the account " + account->id + " is created a second time");
    }
  } else if (const auto* const made = std::get_if<TransactionMade>(&payload)) {
    fold(seq, *made);
  } else if (const auto* const expired = std::get_if<HoldExpired>(&payload)) {
    release(seq, expired->transaction, expired->released, true);
  }
}

void Audit::compare_account(const Book& book, const Account& account, const Folded& folded) {
  if (account.path != folded.path || account.type != folded.type) {
    fault(0, "the account " + account.id + " is stored with another path or type");
  }
  std::size_t matched = 0;
  for (const core::ledger::Standing& standing : account.standings) {
    const auto currency = core::ledger::find_currency(book, standing.currency);
    const std::string code = currency ? currency->code : "?";
    const auto found = folded.moved.find(code);
    const Moved moved = found == folded.moved.end() ? Moved{} : found->second;
    matched += found == folded.moved.end() ? 0 : 1;
    if (moved.counters != standing.now) {
      fault(0, "the account " + account.id + " is stored in " + code + " with " +
                   counters_text(standing.now) + "; its records come to " +
                   counters_text(moved.counters));
    } else if (moved.version != standing.version) {
      fault(0, "the account " + account.id + " is stored in " + code + " with version " +
                   std::to_string(standing.version) + "; its records come to " +
                   std::to_string(moved.version));
    }
  }
  if (matched != folded.moved.size()) {
    fault(0, "the account " + account.id + " is stored without one of its currencies");
  }
}

/// The sum over the members that it has reached.
void Audit::compare_rollup(const Book& book, const core::ledger::Rollup& rollup) {
  std::map<std::string, core::ledger::Rollup::Sum> sums;
  for (const auto& [id, account] : accounts_) {
    if (!core::ledger::path_within(account.path, rollup.prefix) || !rollup.has(account.path)) {
      continue;
    }
    for (const auto& [currency, moved] : account.moved) {
      core::ledger::Rollup::Sum& sum = sums[currency];
      sum.debits_posted.add(moved.counters.debits_posted);
      sum.credits_posted.add(moved.counters.credits_posted);
      sum.debits_pending.add(moved.counters.debits_pending);
      sum.credits_pending.add(moved.counters.credits_pending);
      ++(core::ledger::normal_side(account.type) == Side::debit ? sum.debit_accounts
                                                                : sum.credit_accounts);
    }
  }
  for (const core::ledger::Rollup::Sum& kept : rollup.sums) {
    const auto currency = core::ledger::find_currency(book, kept.currency);
    const auto found = sums.find(currency ? currency->code : "?");
    if (found == sums.end()) {
      fault(0, "the sum kept for " + rollup.prefix + " has a currency that its accounts have not");
      continue;
    }
    found->second.currency = kept.currency;
    if (found->second != kept) {
      fault(0, "the sum kept for " + rollup.prefix + " in " + found->first +
                   " is not that of its accounts");
    }
    sums.erase(found);
  }
  if (!sums.empty()) {
    fault(0, "the sum kept for " + rollup.prefix + " has no " + sums.begin()->first);
  }
}

void Audit::compare(Reader& reader, const Book& book) {
  std::size_t known = 0;
  for (std::uint64_t after = 0;;) {
    constexpr std::size_t accounts_in_piece = 256;
    const auto accounts =
        core::ledger::accounts_after(reader, book.tenant, book.number, after, accounts_in_piece);
    for (const Account& account : accounts) {
      const auto found = accounts_.find(account.id);
      if (found == accounts_.end()) {
        fault(0, "the account " + account.id + " is stored, and no record has created it");
      } else {
        ++known;
        compare_account(book, account, found->second);
      }
    }
    if (accounts.size() < accounts_in_piece) {
      break;
    }
    after = accounts.back().number;
  }
  if (known != accounts_.size()) {
    fault(0, std::to_string(accounts_.size() - known) +
                 " accounts that records have created are not stored");
  }

  for (const core::ledger::Rollup& rollup : reader.scan<core::ledger::Rollup>(
           core::Range<core::ledger::Rollup>::of(book.tenant, book.number))) {
    compare_rollup(book, rollup);
  }

  std::set<std::uint64_t> open;
  for (const auto& [id, held] : holds_) {
    open.insert(held.seq);
  }
  for (std::optional<OpenHold> after;;) {
    const auto holds =
        core::ledger::open_holds(reader, book.tenant, book.number, after, records_at_once);
    for (const OpenHold& hold : holds) {
      if (open.erase(hold.seq) == 0) {
        fault(hold.seq, "it is stored as an open hold, and its records say that it is none");
      }
    }
    if (holds.size() < records_at_once) {
      break;
    }
    after = holds.back();
  }
  for (const std::uint64_t seq : open) {
    fault(seq, "it is an open hold, and is not stored as one");
  }
}

AuditReport Audit::report() {
  if (whole_) {
    std::map<std::string_view, Counters128> sums;
    for (const auto& [id, account] : accounts_) {
      for (const auto& [currency, moved] : account.moved) {
        sums[currency] += moved.counters;  // modulo 2^128: equal is equal all the same
      }
    }
    for (const auto& [currency, sum] : sums) {
      if (sum.debits_posted != sum.credits_posted || sum.debits_pending != sum.credits_pending) {
        fault(0, "debits and credits differ in " + std::string(currency));
      }
    }
  }
  report_.from_seq = first_seq_;
  report_.to_seq = next_seq_ - 1;
  report_.head = prev_;
  return report_;
}

const std::string& key_at(const Book& book, std::uint64_t seq) {
  const auto former =
      std::ranges::lower_bound(book.former_keys, seq, {}, &core::ledger::FormerKey::through_seq);
  return former == book.former_keys.end() ? book.public_key : former->public_key;
}

AuditReport audit_book(Reader& reader, const Book& book, std::uint64_t from_seq,
                       std::uint64_t to_seq) {
  const core::ledger::Head head = core::ledger::head_of(reader, book.tenant, book.number);
  const std::uint64_t last = to_seq == 0 ? head.seq : std::min(to_seq, head.seq);
  Hash prev{};
  if (from_seq > 1) {
    const auto first = core::ledger::find_record(reader, book.tenant, book.number, from_seq);
    prev = first ? first->prev_hash : prev;
  }
  Audit audit(book.id, from_seq, prev, key_at(book, from_seq));
  for (std::uint64_t after = from_seq - 1; after < last;) {
    const auto records = core::ledger::records_after(
        reader, book.tenant, book.number, after,
        static_cast<std::size_t>(std::min<std::uint64_t>(records_at_once, last - after)));
    if (records.empty()) {
      audit.fault(after + 1, "the record is missing");
      break;
    }
    for (const Record& record : records) {
      audit.take(record);
    }
    after = std::max(after, records.back().seq);
  }
  if (from_seq == 1 && last == head.seq) {
    audit.compare(reader, book);
  }
  return audit.report();
}

}  // namespace hk::api::ledger
