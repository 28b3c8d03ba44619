// What a reply tells of the object that an operation was about, for whoever asked for it. Read as
// the operations of the batch have left it.
#include <algorithm>

#include "core/ledger/fresh.h"
#include "core/ledger/ledger.h"

namespace hk::core::ledger {

namespace {

BalanceAfter balance_after(const Book& book, const Account& row, CurrencyNumber currency,
                           const Counters128& counters, std::uint64_t version) {
  return {.account = row.id,
          .currency = find_currency(book, currency)->code,
          .normal = normal_side(row.type),
          .counters = counters,
          .version = version};
}

}  // namespace

ItemResult Ledger::decide(HotBook& /*book*/, const Unreadable& command) {
  return std::unexpected(command.refusal);
}

TransactionView Ledger::transaction_view(HotBook& book, std::uint64_t seq) {
  const Record record = record_at(book, seq);
  TransactionAt at{.seq = seq, .made = transaction_of(book, seq), .hash = record.hash};
  at.outcome = outcomes_.get({book.row.tenant, book.row.number, seq});
  TransactionView view{.seq = seq, .hash = at.hash, .state = state_of(at)};
  view.metadata = metadata_now(book, Metadata::Of::transaction, seq);
  if (at.outcome) {
    const auto add_ids = [&](const std::vector<std::uint64_t>& seqs,
                             std::vector<std::string>& ids) {
      for (const std::uint64_t one : seqs) {
        if (record_at(book, one).kind == "transaction") {  // an expiry is none
          ids.push_back(transaction_of(book, one).id);
        }
      }
    };
    add_ids(at.outcome->resolved_by, view.resolved_by);
    add_ids(at.outcome->reversed_by, view.reversed_by);
  }
  view.made = std::move(at.made);
  return view;
}

AccountView Ledger::account_view(HotBook& book, AccountAt account) {
  AccountView view{.book = std::make_shared<const Book>(book.row), .account = account->row};
  view.account.standings.clear();
  view.metadata = metadata_now(book, Metadata::Of::account, account->row.number);
  return view;
}

BookView Ledger::book_view(HotBook& book) {
  return {.book = book.row,
          .head = {.seq = book.seq, .hash = book.hash, .recorded_at = book.recorded_at},
          .metadata = metadata_now(book, Metadata::Of::book, 0)};
}

std::vector<BalanceAfter> Ledger::balances_of_touched(const HotBook& book) const {
  std::vector<BalanceAfter> rows;
  for (const Touch& one : touched_) {
    if (const Standing* const standing = find_standing(one.account->row, one.currency)) {
      rows.push_back(balance_after(book.row, one.account->row, one.currency, standing->now,
                                   standing->version));
    }
  }
  return rows;
}

/// Of a replay as they were after it, on the recorded axis.
std::vector<BalanceAfter> Ledger::balances_after(HotBook& book, const TransactionView& view,
                                                 bool replayed) {
  if (!replayed) {
    return balances_of_touched(book);
  }
  std::vector<BalanceAfter> rows;
  Fresh sight(*this, batch_.reader());
  for (const Entry& entry : view.made.entries) {
    const bool told = std::ranges::any_of(rows, [&](const BalanceAfter& row) {
      return row.account == entry.account && row.currency == entry.currency;
    });
    const auto account = told ? std::nullopt : find_account(book, entry.account);
    const Currency* const currency = currency_of(book, entry.currency);
    if (account && currency != nullptr) {
      const BalanceAt at = sight.balance_at((*account)->row, currency->number, {.seq = view.seq});
      rows.push_back(
          balance_after(book.row, (*account)->row, currency->number, at.counters, at.version));
    }
  }
  return rows;
}

/// Which object it was, by the kind of the operation; what it had in it may be taken away already.
void Ledger::describe(HotBook& book, const Operation& operation, Applied& applied) {
  auto detail = std::make_shared<Detail>();
  const auto tell_account = [&] {
    if (const auto account = find_account(book, applied.id)) {
      detail->object = account_view(book, *account);
    }
  };
  const auto tell_transaction = [&](std::uint64_t seq) {
    TransactionView view = transaction_view(book, seq);
    detail->balances_after = balances_after(book, view, applied.replayed);
    if (options_.preview && !applied.replayed) {
      applied.seq = 0;
      applied.created = false;
      view.seq = 0;
      if (!view.made.given.id) {
        view.made.id.clear();  // it would be another one
        applied.id.clear();
      }
    }
    detail->object = std::move(view);
  };
  const auto tell_of_its_transaction = [&] {
    if (const auto seq = seq_of_transaction(book, applied.id)) {
      tell_transaction(*seq);
    }
  };
  if (std::holds_alternative<CreateTransaction>(operation) ||
      std::holds_alternative<PostHold>(operation) || std::holds_alternative<VoidHold>(operation) ||
      std::holds_alternative<ReverseTransaction>(operation)) {
    tell_transaction(applied.seq);
  } else if (const auto* const set = std::get_if<SetTransactionMetadata>(&operation)) {
    if (set->or_account && find_account(book, set->transaction)) {
      tell_account();
    } else {
      tell_of_its_transaction();
    }
  } else if (const auto* const erase = std::get_if<EraseMetadata>(&operation)) {
    if (!erase->account.empty()) {
      tell_account();
    } else if (!erase->transaction.empty()) {
      tell_of_its_transaction();
    } else {
      detail->object = book_view(book);
    }
  } else if (std::holds_alternative<CreateAccount>(operation) ||
             std::holds_alternative<ChangeAccount>(operation)) {
    tell_account();
  } else if (std::holds_alternative<CreateBook>(operation) ||
             std::holds_alternative<ImportRecords>(operation) ||
             std::holds_alternative<ChangeBook>(operation) ||
             std::holds_alternative<CloseBook>(operation)) {
    detail->object = book_view(book);
  } else if (const auto* const sum = std::get_if<SetRollup>(&operation)) {
    const auto kept = std::ranges::find_if(
        book.rollups, [&](const HotRollup& one) { return one.row.prefix == sum->prefix; });
    detail->object = RollupView{.prefix = sum->prefix,
                                .kept = kept != book.rollups.end(),
                                .complete = kept != book.rollups.end() && kept->row.complete};
  } else if (const auto* const source = std::get_if<SetReconSource>(&operation)) {
    if (auto found = recon_source(book, source->id)) {
      const std::string code = ledger::find_currency(book.row, found->currency)->code;
      detail->object = ReconSourceView{std::move(*found), code};
    }
  } else if (const auto* const decided = std::get_if<DecideRecon>(&operation)) {
    const auto of = recon_source(book, decided->source);
    auto line =
        of ? recon_lines_.get({book.row.tenant, book.row.number, of->number, decided->external_id})
           : std::nullopt;
    if (line) {
      ReconLineView view{.source = of->id,
                         .currency = ledger::find_currency(book.row, of->currency)->code};
      for (const EntryPlace& place : line->entries) {
        view.entries.push_back({transaction_of(book, place.seq).id, place.index});
      }
      view.line = std::move(*line);
      detail->object = std::move(view);
    }
  } else if (std::holds_alternative<AddCurrency>(operation)) {
    if (const Currency* const currency = currency_of(book, applied.id)) {
      detail->object = CurrencyView{*currency};
    }
  } else if (std::holds_alternative<AddSubscription>(operation)) {
    const auto& all = book.row.subscriptions;
    if (const auto one = std::ranges::find(all, applied.id, &Subscription::id); one != all.end()) {
      detail->object = *one;
    }
  } else if (std::holds_alternative<AddMonitor>(operation)) {
    const auto& all = book.monitors;
    if (const auto one = std::ranges::find(all, applied.id, &Monitor::id); one != all.end()) {
      detail->object = MonitorView{std::make_shared<const Book>(book.row), *one};
    }
  }
  applied.detail = std::move(detail);
}

}  // namespace hk::core::ledger
