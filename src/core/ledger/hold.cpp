// Holds: what is promised, and how it ends. The hold itself is never changed; what became of it is
// its Outcome.
#include <algorithm>
#include <map>

#include "base/assert.h"
#include "base/sometimes.h"
#include "core/ledger/inside.h"
#include "core/ledger/ledger.h"
#include "core/ledger/recording.h"

HK_SOMETIMES_DECLARE(ledger_hold_posted)
HK_SOMETIMES_DECLARE(ledger_hold_posted_in_part)
HK_SOMETIMES_DECLARE(ledger_hold_posted_not_final)
HK_SOMETIMES_DECLARE(ledger_hold_used_up)
HK_SOMETIMES_DECLARE(ledger_hold_voided)
HK_SOMETIMES_DECLARE(ledger_hold_expired)
HK_SOMETIMES_DECLARE(ledger_hold_was_resolved)
HK_SOMETIMES_DECLARE(ledger_exceeds_hold)

namespace hk::core::ledger {

Ledger::Or<std::pair<std::uint64_t, TransactionMade>> Ledger::find_target(HotBook& book,
                                                                          const std::string& of) {
  const auto seq = seq_of_transaction(book, of);
  if (!seq) {
    return refuse({.code = Code::transaction_not_found,
                   .transaction = of,
                   .detail = "there is no transaction " + of});
  }
  return std::pair{*seq, transaction_of(book, *seq)};
}

Ledger::Or<Outcome> Ledger::open_outcome(HotBook& book, std::uint64_t seq,
                                         const TransactionMade& made) {
  if (made.kind != TransactionMade::Kind::pending) {
    return refuse({.code = Code::not_pending,
                   .transaction = made.id,
                   .detail = "the transaction " + made.id + " is no hold"});
  }
  auto outcome = outcomes_.get({book.row.tenant, book.row.number, seq});
  if (!outcome) {
    throw CorruptRecord("the outcome of the ledger's hold " + made.id + " is missing");
  }
  const auto over = [&](Code code, const char* what) {
    HK_SOMETIMES(ledger_hold_was_resolved);
    return refuse(
        {.code = code, .transaction = made.id, .detail = "the hold " + made.id + " was " + what});
  };
  switch (outcome->state) {
    case Outcome::State::posted: return over(Code::already_posted, "posted");
    case Outcome::State::voided: return over(Code::already_voided, "voided");
    case Outcome::State::expired: return over(Code::expired, "released when its time was over");
    case Outcome::State::pending: break;
  }
  return std::move(*outcome);
}

ItemResult Ledger::differs(const TransactionMade& made, const std::string& member) {
  return refuse({.code = Code::exists_with_different,
                 .member = member,
                 .transaction = made.id,
                 .detail = "the transaction " + made.id + " exists with another " + member});
}

std::string Ledger::different_following(HotBook& book, std::uint64_t seq,
                                        const TransactionMade& made, const Following& command,
                                        const std::optional<std::string>& target) {
  if (!target) {
    return "kind";
  }
  if (command.id.has_value() != made.given.id || (command.id && *command.id != made.id)) {
    return "id";
  }
  if (command.idempotency_key != made.idempotency_key) {
    return "idempotency_key";
  }
  if (command.of != *target) {
    return "of";
  }
  if (command.description != made.description) {
    return "description";
  }
  if (!same_metadata(book, Metadata::Of::transaction, seq, seq, 0, command.metadata)) {
    return "metadata";
  }
  return {};
}

bool Ledger::same_amounts(HotBook& book, const TransactionMade& made, const std::string& target,
                          const std::optional<std::vector<Amount>>& amounts) {
  if (amounts.has_value() != made.given.amounts) {
    return false;
  }
  if (!amounts) {
    return true;
  }
  const auto seq = seq_of_transaction(book, target);
  HK_ASSERT(seq);
  std::vector<Amount> asked(transaction_of(book, *seq).entries.size(), 0);
  for (std::size_t i = 0; i < made.of.size() && i < made.entries.size(); ++i) {
    asked.at(made.of[i]) = made.entries[i].amount;
  }
  return asked == *amounts;
}

Ledger::Or<std::vector<Amount>> Ledger::amounts_within(
    const TransactionMade& target, const std::optional<std::vector<Amount>>& asked,
    const std::vector<Amount>& most, Code beyond) {
  if (!asked) {
    return most;
  }
  if (asked->size() != target.entries.size()) {
    return refuse_member("amounts", "amounts has one for each of the " +
                                        std::to_string(target.entries.size()) + " entries");
  }
  std::map<std::string, std::pair<Amount, Amount>> sums;
  bool any = false;
  for (std::size_t i = 0; i < asked->size(); ++i) {
    if ((*asked)[i] > most[i]) {
      return refuse(
          {.code = beyond,
           .transaction = target.id,
           .amounts = most,
           .detail = "entry " + std::to_string(i) + " has " + to_text(most[i]) + " left"});
    }
    any = any || (*asked)[i] != 0;
    auto& [debits, credits] = sums[target.entries[i].currency];
    (target.entries[i].side == Side::debit ? debits : credits) += (*asked)[i];
  }
  for (const auto& [currency, sum] : sums) {
    if (sum.first != sum.second) {
      return refuse({.code = Code::unbalanced,
                     .currency = currency,
                     .debits = sum.first,
                     .credits = sum.second,
                     .detail = "the amounts of " + currency + " are not balanced"});
    }
  }
  if (!any) {
    return refuse({.code = Code::amount_invalid,
                   .member = "amounts",
                   .detail = "one of the amounts is more than 0"});
  }
  return *asked;
}

void Ledger::add_released(HotBook& book, const TransactionMade& hold,
                          const std::vector<Released>& released) {
  for (const Released& one : released) {
    const Entry& entry = hold.entries[one.index];
    const auto account = find_account(book, entry.account);
    const Currency* const currency = currency_of(book, entry.currency);
    HK_ASSERT(account && currency != nullptr);
    legs_.push_back({.account = *account,
                     .currency = currency,
                     .side = entry.side,
                     .amount = one.amount,
                     .phase = Movement::Phase::released,
                     .index = one.index});
  }
}

void Ledger::open_hold(HotBook& book, std::uint64_t seq, const TransactionMade& made) {
  Outcome outcome{.tenant = book.row.tenant,
                  .book = book.row.number,
                  .seq = seq,
                  .state = Outcome::State::pending,
                  .expires_at = made.expires_at.value_or(no_end)};
  for (const Entry& entry : made.entries) {
    outcome.left.push_back(entry.amount);
  }
  holds_.put({.tenant = outcome.tenant,
              .book = outcome.book,
              .expires = ordered(outcome.expires_at),
              .seq = seq,
              .effective_at = made.effective_at});
  book.next_expiry = std::min(book.next_expiry, outcome.expires_at);
  outcomes_.put(std::move(outcome));
}

/// What the record `seq`, a post or a void, makes of its hold.
void Ledger::resolve(Outcome outcome, const TransactionMade& made, std::uint64_t seq) {
  for (const Released& one : made.released) {
    outcome.left[one.index] -= one.amount;
  }
  outcome.resolved_by.push_back(seq);
  if (made.kind == TransactionMade::Kind::voided) {
    outcome.state = Outcome::State::voided;
  } else {
    outcome.part_posted = true;
    outcome.state = made.final ? Outcome::State::posted : outcome.state;
  }
  if (outcome.state != Outcome::State::pending) {
    holds_.erase({outcome.tenant, outcome.book, ordered(outcome.expires_at), outcome.seq});
  }
  outcomes_.put(std::move(outcome));
}

ItemResult Ledger::decide(HotBook& book, PostHold& command) {
  auto before = find_repeated(book, command.id, command.idempotency_key);
  if (!before) {
    return std::unexpected(before.error());
  }
  if (*before) {
    const TransactionMade made = transaction_of(book, **before);
    std::string member = different_following(
        book, **before, made, command,
        made.kind == TransactionMade::Kind::posted ? made.resolves : std::nullopt);
    if (member.empty() && !same_amounts(book, made, command.of, command.amounts)) {
      member = "amounts";
    }
    if (member.empty() && (command.final.has_value() != made.given.final ||
                           (command.final && *command.final != made.asked_final))) {
      member = "final";
    }
    if (member.empty() && (command.effective_at.has_value() != made.given.effective_at ||
                           (command.effective_at && *command.effective_at != made.effective_at))) {
      member = "effective_at";
    }
    return member.empty() ? repeated(book, **before, made) : differs(made, member);
  }
  auto target = find_target(book, command.of);
  if (!target) {
    return std::unexpected(target.error());
  }
  const auto& [seq, hold] = *target;
  auto outcome = open_outcome(book, seq, hold);
  if (!outcome) {
    return std::unexpected(outcome.error());
  }
  const auto amounts = amounts_within(hold, command.amounts, outcome->left, Code::exceeds_hold);
  if (!amounts) {
    if (amounts.error()->code == Code::exceeds_hold) {
      HK_SOMETIMES(ledger_exceeds_hold);
    }
    return std::unexpected(amounts.error());
  }
  if (auto fine = check_metadata_of_new(command.metadata); !fine) {
    return std::unexpected(fine.error());
  }
  TransactionMade made{.recorded_at = next_instant(book), .resolves = hold.id};
  made.effective_at = command.effective_at.value_or(std::max(made.recorded_at, hold.effective_at));
  if (command.effective_at) {
    if (auto fine = check_effective(book, made.effective_at); !fine) {
      return std::unexpected(fine.error());
    }
    if (made.effective_at < hold.effective_at) {
      return refuse({.code = Code::effective_at_invalid,
                     .detail = "a hold is not posted before it was effective itself"});
    }
  }
  made.asked_final = command.final.value_or(true);
  made.final = made.asked_final || *amounts == outcome->left;
  for (std::size_t i = 0; i < amounts->size(); ++i) {
    const Amount amount = (*amounts)[i];
    const Amount released = made.final ? outcome->left[i] : amount;
    if (released != 0) {
      made.released.push_back({static_cast<std::uint32_t>(i), released});
    }
    if (amount != 0) {
      made.entries.push_back(hold.entries[i]);
      made.entries.back().amount = amount;
      made.of.push_back(static_cast<std::uint32_t>(i));
    }
  }
  add_released(book, hold, made.released);
  for (std::size_t i = 0; i < made.entries.size(); ++i) {
    const Entry& entry = made.entries[i];
    const auto account = find_account(book, entry.account);
    HK_ASSERT(account);
    legs_.push_back({.account = *account,
                     .currency = currency_of(book, entry.currency),
                     .side = entry.side,
                     .amount = entry.amount,
                     .phase = Movement::Phase::posted,
                     .index = static_cast<std::uint32_t>(i)});
  }
  if (auto moved = move_touched(true); !moved) {
    return std::unexpected(moved.error());
  }

  HK_SOMETIMES(ledger_hold_posted);
  if (*amounts != outcome->left) {
    HK_SOMETIMES(ledger_hold_posted_in_part);
  }
  if (!made.final) {
    HK_SOMETIMES(ledger_hold_posted_not_final);
  } else if (!made.asked_final) {
    HK_SOMETIMES(ledger_hold_used_up);
  }
  made.given = {.id = command.id.has_value(),
                .effective_at = command.effective_at.has_value(),
                .amounts = command.amounts.has_value(),
                .final = command.final.has_value()};
  made.id = command.id ? std::move(*command.id) : std::string();
  made.idempotency_key = std::move(command.idempotency_key);
  made.description = std::move(command.description);
  auto applied = make(book, made, command.metadata, nullptr);
  resolve(std::move(*outcome), made, applied->seq);
  return applied;
}

ItemResult Ledger::decide(HotBook& book, VoidHold& command) {
  auto before = find_repeated(book, command.id, command.idempotency_key);
  if (!before) {
    return std::unexpected(before.error());
  }
  if (*before) {
    const TransactionMade made = transaction_of(book, **before);
    const std::string member = different_following(
        book, **before, made, command,
        made.kind == TransactionMade::Kind::voided ? made.resolves : std::nullopt);
    return member.empty() ? repeated(book, **before, made) : differs(made, member);
  }
  auto target = find_target(book, command.of);
  if (!target) {
    return std::unexpected(target.error());
  }
  const auto& [seq, hold] = *target;
  auto outcome = open_outcome(book, seq, hold);
  if (!outcome) {
    return std::unexpected(outcome.error());
  }
  if (auto fine = check_metadata_of_new(command.metadata); !fine) {
    return std::unexpected(fine.error());
  }
  TransactionMade made{.recorded_at = next_instant(book),
                       .kind = TransactionMade::Kind::voided,
                       .resolves = hold.id};
  made.effective_at = std::max(made.recorded_at, hold.effective_at);
  for (std::size_t i = 0; i < outcome->left.size(); ++i) {
    if (outcome->left[i] != 0) {
      made.released.push_back({static_cast<std::uint32_t>(i), outcome->left[i]});
      made.entries.push_back(hold.entries[i]);
      made.entries.back().amount = outcome->left[i];
      made.of.push_back(static_cast<std::uint32_t>(i));
    }
  }
  add_released(book, hold, made.released);
  const auto moved = move_touched(true);
  HK_ASSERT(moved);  // nothing grows

  HK_SOMETIMES(ledger_hold_voided);
  made.given = {.id = command.id.has_value()};
  made.id = command.id ? std::move(*command.id) : std::string();
  made.idempotency_key = std::move(command.idempotency_key);
  made.description = std::move(command.description);
  auto applied = make(book, made, command.metadata, nullptr);
  resolve(std::move(*outcome), made, applied->seq);
  return applied;
}

// ---- expiry ----

/// Before anything else of the book is decided: so no limit ever counts a hold whose time is over,
/// and its record comes before every later one. False: the batch has no room for all of them.
bool Ledger::expire_due(HotBook& book) {
  if (book.next_expiry > now() || book.row.importing) {
    return true;
  }
  const auto all = Range<OpenHold>::of(book.row.tenant, book.row.number);
  auto due = all;
  due.up_to(book.row.tenant, book.row.number, ordered(now()));
  save(book);
  const std::size_t room = limits_.ledger_expiries_per_batch - expired_;
  for (const OpenHold& hold : holds_.scan(due, room)) {
    HK_SOMETIMES(ledger_hold_expired);
    expire(book, hold);
    ++expired_;
  }
  const auto next = holds_.scan(all, 1);
  book.next_expiry = next.empty() ? no_end : instant_from_ordered(next.front().expires);
  return book.next_expiry > now();
}

/// Expires what is due and sends the events of it; then makes the checkpoint that is due, never one
/// while a hold that is due is still open. Returns what expire_due() does.
bool Ledger::release_due(HotBook& book) {
  const bool all = expire_due(book);
  if (!in_group_) {
    send_events();
    if (all) {
      check_point(book);
    }
  }
  return all;
}

Result<void> Ledger::settle(TenantId tenant, const std::string& id) {
  HotBook* const book = find_book(tenant, id);
  if (book == nullptr || book->next_expiry > now()) {
    return {};
  }
  if (release_due(*book)) {
    return {};
  }
  set_timers(*book);
  return fail(ErrorKind::unavailable,
              "so many holds of the book have just expired that releasing them takes a moment: "
              "send the request again");
}

void Ledger::expire(HotBook& book, const OpenHold& open) {
  const TransactionMade hold = transaction_of(book, open.seq);
  auto outcome = outcomes_.get({book.row.tenant, book.row.number, open.seq});
  HK_ASSERT(outcome && outcome->state == Outcome::State::pending);
  HoldExpired expired{.recorded_at = next_instant(book), .transaction = hold.id};
  for (std::size_t i = 0; i < outcome->left.size(); ++i) {
    if (outcome->left[i] != 0) {
      expired.released.push_back({static_cast<std::uint32_t>(i), outcome->left[i]});
    }
  }
  enter(book, expired, hold, std::move(*outcome));
  tell_of_expiry(book, expired, open.seq, book.seq);
  tell_monitors(book, book.seq, expired.recorded_at);
  touched_.clear();
  legs_.clear();
}

/// What an expiry comes to: what it moves, its record, the end of the hold.
void Ledger::enter(HotBook& book, const HoldExpired& expired, const TransactionMade& hold,
                   Outcome outcome) {
  touched_.clear();
  legs_.clear();
  add_released(book, hold, expired.released);
  const auto moved = move_touched(true);
  HK_ASSERT(moved);
  const std::uint64_t seq = book.seq + 1;
  for (const Leg& leg : legs_) {
    move(leg.account, leg.currency->number,
         {.seq = seq,
          .index = leg.index,
          .side = leg.side,
          .phase = leg.phase,
          .amount = leg.amount,
          .effective_at = std::max(expired.recorded_at, hold.effective_at),
          .recorded_at = expired.recorded_at});
  }
  record(book, expired);
  outcome.left.assign(outcome.left.size(), 0);
  outcome.state = Outcome::State::expired;
  outcome.resolved_by.push_back(seq);
  holds_.erase({outcome.tenant, outcome.book, ordered(outcome.expires_at), outcome.seq});
  outcomes_.put(std::move(outcome));
}

void Ledger::on_expiry_timer(TenantId tenant, const std::string& id) {
  HotBook* const book = find_book(tenant, id);
  if (book != nullptr) {
    book->expiry_timer = never;
    release_due(*book);  // the rest in the next batch: its timer is over, too
    set_timers(*book);
  }
}

}  // namespace hk::core::ledger
