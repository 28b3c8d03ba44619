// Corrections: the mirror of a transaction, bounded by what it reverses.
#include "base/assert.h"
#include "base/sometimes.h"
#include "core/ledger/inside.h"
#include "core/ledger/ledger.h"
#include "core/ledger/recording.h"

HK_SOMETIMES_DECLARE(ledger_reversed)
HK_SOMETIMES_DECLARE(ledger_reversed_in_part)
HK_SOMETIMES_DECLARE(ledger_already_reversed)
HK_SOMETIMES_DECLARE(ledger_forced)
HK_SOMETIMES_DECLARE(ledger_history_restated)

namespace hk::core::ledger {

ItemResult Ledger::decide(HotBook& book, ReverseTransaction& command) {
  auto before = find_repeated(book, command.id, command.idempotency_key);
  if (!before) {
    return std::unexpected(before.error());
  }
  if (*before) {
    const TransactionMade made = transaction_of(book, **before);
    std::string member = different_following(book, **before, made, command, made.reverses);
    if (member.empty() && !same_amounts(book, made, command.of, command.amounts)) {
      member = "amounts";
    }
    if (member.empty()) {
      const auto asked =
          command.effective_original
              ? std::optional(
                    transaction_of(book, *seq_of_transaction(book, command.of)).effective_at)
              : command.effective_at;
      member =
          asked.has_value() != made.given.effective_at || (asked && *asked != made.effective_at)
              ? "effective_at"
              : "";
    }
    if (member.empty() && command.force != made.force) {
      member = "force";
    }
    return member.empty() ? repeated(book, **before, made) : differs(made, member);
  }
  if (command.force && !options_.may_force) {
    return refuse({.code = Code::permission_denied,
                   .member = "force",
                   .detail = "force needs the grant ledger.force"});
  }
  auto target = find_target(book, command.of);
  if (!target) {
    return std::unexpected(target.error());
  }
  const auto& [seq, original] = *target;
  if (original.kind != TransactionMade::Kind::posted) {
    return refuse({.code = Code::not_reversible,
                   .transaction = original.id,
                   .detail = original.kind == TransactionMade::Kind::pending
                                 ? "a hold is voided, not reversed"
                                 : "the void of a hold cannot be reversed"});
  }
  Outcome outcome =
      outcomes_.get({book.row.tenant, book.row.number, seq})
          .value_or(Outcome{.tenant = book.row.tenant, .book = book.row.number, .seq = seq});
  outcome.reversed.resize(original.entries.size(), 0);
  std::vector<Amount> reversible;
  bool untouched = true;
  for (std::size_t i = 0; i < original.entries.size(); ++i) {
    reversible.push_back(original.entries[i].amount - outcome.reversed[i]);
    untouched = untouched && outcome.reversed[i] == 0;
  }
  if (!command.amounts && !untouched) {
    HK_SOMETIMES(ledger_already_reversed);
    return refuse({.code = Code::already_reversed,
                   .transaction = original.id,
                   .amounts = reversible,
                   .detail = "the transaction " + original.id +
                             " was reversed, in part at least; what is left needs amounts"});
  }
  const auto amounts =
      amounts_within(original, command.amounts, reversible, Code::already_reversed);
  if (!amounts) {
    if (amounts.error()->code == Code::already_reversed) {
      HK_SOMETIMES(ledger_already_reversed);
    }
    return std::unexpected(amounts.error());
  }
  if (auto fine = check_metadata_of_new(command.metadata); !fine) {
    return std::unexpected(fine.error());
  }
  TransactionMade made{
      .recorded_at = next_instant(book), .reverses = original.id, .force = command.force};
  made.effective_at = command.effective_original ? original.effective_at
                                                 : command.effective_at.value_or(made.recorded_at);
  if (command.effective_original || command.effective_at) {
    if (auto fine = check_effective(book, made.effective_at); !fine) {
      return std::unexpected(fine.error());
    }
  }
  for (std::size_t i = 0; i < amounts->size(); ++i) {
    if ((*amounts)[i] == 0) {
      continue;
    }
    const Entry& entry = original.entries[i];
    const auto account = find_account(book, entry.account);
    HK_ASSERT(account);
    legs_.push_back({.account = *account,
                     .currency = currency_of(book, entry.currency),
                     .side = other(entry.side),
                     .amount = (*amounts)[i],
                     .phase = Movement::Phase::posted,
                     .index = static_cast<std::uint32_t>(made.entries.size())});
    made.entries.push_back({entry.account, other(entry.side), (*amounts)[i], entry.currency});
    made.of.push_back(static_cast<std::uint32_t>(i));
  }
  if (auto moved = move_touched(false); !moved) {
    return std::unexpected(moved.error());
  }
  if (auto within = check_touched(book, command.force); !within) {
    return std::unexpected(within.error());
  }

  HK_SOMETIMES(ledger_reversed);
  if (*amounts != reversible) {
    HK_SOMETIMES(ledger_reversed_in_part);
  }
  if (command.force) {
    HK_SOMETIMES(ledger_forced);
  }
  if (command.effective_original) {
    HK_SOMETIMES(ledger_history_restated);
  }
  made.given = {.id = command.id.has_value(),
                .effective_at = command.effective_original || command.effective_at,
                .amounts = command.amounts.has_value()};
  made.id = command.id ? std::move(*command.id) : std::string();
  made.idempotency_key = std::move(command.idempotency_key);
  made.description = std::move(command.description);
  auto applied = make(book, made, command.metadata, nullptr);
  take_back(std::move(outcome), made, applied->seq);
  return applied;
}

/// What the record `seq`, a reversal, makes of what it reverses.
void Ledger::take_back(Outcome outcome, const TransactionMade& made, std::uint64_t seq) {
  for (std::size_t i = 0; i < made.entries.size(); ++i) {
    outcome.reversed[made.of[i]] += made.entries[i].amount;
  }
  outcome.reversed_by.push_back(seq);
  outcomes_.put(std::move(outcome));
}

}  // namespace hk::core::ledger
