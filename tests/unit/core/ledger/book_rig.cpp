#include "unit/core/ledger/book_rig.h"

namespace hk::core::testing {

using namespace ledger;

std::string code_text(Code code, const std::string& member) {
  switch (code) {
    case Code::unbalanced: return "unbalanced";
    case Code::too_few_entries: return "too_few_entries";
    case Code::amount_invalid: return "amount_invalid";
    case Code::currency_unknown: return "currency_unknown";
    case Code::currency_mismatch: return "currency_mismatch";
    case Code::effective_at_invalid: return "effective_at_invalid";
    case Code::invalid: return "invalid " + member;
    case Code::permission_denied: return "permission_denied";
    case Code::book_not_found: return "book_not_found";
    case Code::account_not_found: return "account_not_found";
    case Code::transaction_not_found: return "transaction_not_found";
    case Code::subscription_not_found: return "subscription_not_found";
    case Code::monitor_not_found: return "monitor_not_found";
    case Code::exists_with_different: return "exists_with_different_" + member;
    case Code::insufficient_funds: return "insufficient_funds";
    case Code::limit_exceeded: return "limit_exceeded";
    case Code::condition_failed: return "condition_failed";
    case Code::version_conflict: return "version_conflict";
    case Code::account_frozen: return "account_frozen";
    case Code::account_closed: return "account_closed";
    case Code::account_not_empty: return "account_not_empty";
    case Code::not_pending: return "not_pending";
    case Code::not_reversible: return "not_reversible";
    case Code::open_holds: return "open_holds";
    case Code::already_posted: return "already_posted";
    case Code::already_voided: return "already_voided";
    case Code::already_reversed: return "already_reversed";
    case Code::expired: return "expired";
    case Code::exceeds_hold: return "exceeds_hold";
    case Code::period_closed: return "period_closed";
    case Code::would_break_history: return "would_break_history";
    case Code::too_many: return "too_many";
    case Code::linked_failed: return "linked_failed";
    case Code::record_invalid: return "record_invalid";
    case Code::book_exists: return "book_exists";
    case Code::book_importing: return "book_importing";
    case Code::source_not_found: return "source_not_found";
    case Code::line_not_found: return "line_not_found";
    case Code::line_exists_with_different: return "line_exists_with_different_" + member;
    case Code::already_matched: return "already_matched";
    case Code::match_differs: return "match_differs";
  }
  return "?";
}

LedgerApplied BookRig::apply(std::vector<Operation> operations, Apply::Mode mode,
                             bool limits_at_end) {
  Apply command{.tenant = tenant_one,
                .book = book_id,
                .mode = mode,
                .limits_at_end = limits_at_end,
                .preview = preview,
                .details = details,
                .may_force = may_force};
  for (Operation& operation : operations) {
    command.items.push_back({.operation = std::move(operation)});
  }
  return rig.run(Command(std::move(command))).only<LedgerApplied>();
}

ItemResult BookRig::one(Operation operation) {
  std::vector<Operation> operations;
  operations.push_back(std::move(operation));
  return apply(std::move(operations)).results.at(0);
}

std::string BookRig::code_of(const ItemResult& result) {
  return result ? "" : code_text(result.error()->code, result.error()->member);
}

std::string BookRig::code(Operation operation) { return code_of(one(std::move(operation))); }

void BookRig::account(std::string id, AccountType type, std::optional<Signed> min_available,
                      std::optional<Signed> max_balance) {
  CreateAccount create{.id = std::move(id), .type = type};
  if (min_available || max_balance) {
    LimitsIn limits{.currency = "USD"};
    if (min_available) {
      limits.min_available = min_available;
    }
    if (max_balance) {
      limits.max_balance = max_balance;
    }
    create.limits.push_back(limits);
  }
  EXPECT_EQ(code(std::move(create)), "");
}

CreateTransaction BookRig::transfer(std::string to, std::string from, Amount amount) {
  CreateTransaction create;
  create.entries = {debit(std::move(to), amount), credit(std::move(from), amount)};
  return create;
}

Book BookRig::book() { return find_book(rig.reader, tenant_one, book_id).value_or(Book{}); }

Account BookRig::find(const std::string& name) {
  return find_account(rig.reader, tenant_one, book().number, name).value_or(Account{});
}

std::string BookRig::balance(const std::string& name, const std::string& currency,
                             const AsOf& as_of) {
  const Account found = find(name);
  const BalanceAt at =
      balance_at(rig.reader, found, find_currency(book(), currency)->number, as_of);
  const Side normal = normal_side(found.type);
  return to_text(posted(at.counters, normal)) + ' ' + to_text(pending(at.counters, normal)) + ' ' +
         to_text(available(at.counters, normal)) + " v" + std::to_string(at.version);
}

std::vector<Record> BookRig::records() {
  return records_after(rig.reader, tenant_one, book().number, 0, 1'000'000);
}

}  // namespace hk::core::testing
