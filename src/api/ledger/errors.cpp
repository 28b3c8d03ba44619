#include "api/ledger/errors.h"

#include <utility>

#include "api/problem.h"
#include "core/ledger/json.h"

namespace hk::api::ledger {

namespace {

using core::ledger::Amount;
using core::ledger::Code;
using LedgerRefusal = core::ledger::Refusal;

constexpr Problem invalid_problem{"invalid", "Invalid request"};
constexpr Problem unbalanced{"unbalanced", "Unbalanced"};
constexpr Problem too_few_entries{"too_few_entries", "Too few entries"};
constexpr Problem amount_invalid{"amount_invalid", "Amount invalid"};
constexpr Problem currency_unknown{"currency_unknown", "Currency unknown"};
constexpr Problem currency_mismatch{"currency_mismatch", "Currency mismatch"};
constexpr Problem effective_at_invalid{"effective_at_invalid", "effective_at invalid"};
constexpr Problem permission_denied{"permission_denied", "Permission denied"};
constexpr Problem book_not_found{"book_not_found", "Book not found"};
constexpr Problem account_not_found{"account_not_found", "Account not found"};
constexpr Problem transaction_not_found{"transaction_not_found", "Transaction not found"};
constexpr Problem subscription_not_found{"subscription_not_found", "Subscription not found"};
constexpr Problem monitor_not_found{"monitor_not_found", "Monitor not found"};
constexpr Problem insufficient_funds{"insufficient_funds", "Insufficient funds"};
constexpr Problem limit_exceeded{"limit_exceeded", "Limit exceeded"};
constexpr Problem condition_failed{"condition_failed", "Condition failed"};
constexpr Problem version_conflict{"version_conflict", "Version conflict"};
constexpr Problem account_frozen{"account_frozen", "Account frozen"};
constexpr Problem account_closed{"account_closed", "Account closed"};
constexpr Problem account_not_empty{"account_not_empty", "Account not empty"};
constexpr Problem not_pending{"not_pending", "Not pending"};
constexpr Problem not_reversible{"not_reversible", "Not reversible"};
constexpr Problem open_holds{"open_holds", "Open holds"};
constexpr Problem already_posted{"already_posted", "Already posted"};
constexpr Problem already_voided{"already_voided", "Already voided"};
constexpr Problem already_reversed{"already_reversed", "Already reversed"};
constexpr Problem expired{"expired", "Expired"};
constexpr Problem exceeds_hold{"exceeds_hold", "Exceeds hold"};
constexpr Problem period_closed{"period_closed", "Period closed"};
constexpr Problem would_break_history{"would_break_history", "Would break history"};
constexpr Problem too_many{"too_many", "Too many"};
constexpr Problem source_not_found{"source_not_found", "Source not found"};
constexpr Problem line_not_found{"line_not_found", "Line not found"};
constexpr Problem already_matched{"already_matched", "Already matched"};
constexpr Problem match_differs{"match_differs", "Match differs"};
constexpr Problem record_invalid{"record_invalid", "Record invalid"};
constexpr Problem book_exists{"book_exists", "Book exists"};
constexpr Problem book_importing{"book_importing", "Book is being imported"};
constexpr Problem linked_failed{"linked_failed", "Linked item failed"};

/// Without the member that exists_with_different has behind it.
constexpr std::pair<int, Problem> row_of(Code code) {
  switch (code) {  // No default: a new code must be told here before it compiles.
    case Code::unbalanced: return {400, unbalanced};
    case Code::too_few_entries: return {400, too_few_entries};
    case Code::amount_invalid: return {400, amount_invalid};
    case Code::currency_unknown: return {400, currency_unknown};
    case Code::currency_mismatch: return {400, currency_mismatch};
    case Code::effective_at_invalid: return {400, effective_at_invalid};
    case Code::invalid: return {400, invalid_problem};
    case Code::record_invalid: return {400, record_invalid};
    case Code::permission_denied: return {403, permission_denied};
    case Code::book_not_found: return {404, book_not_found};
    case Code::account_not_found: return {404, account_not_found};
    case Code::transaction_not_found: return {404, transaction_not_found};
    case Code::subscription_not_found: return {404, subscription_not_found};
    case Code::monitor_not_found: return {404, monitor_not_found};
    case Code::source_not_found: return {404, source_not_found};
    case Code::line_not_found: return {404, line_not_found};
    case Code::line_exists_with_different:
      return {409, {"line_exists_with_different", "Line exists otherwise"}};
    case Code::already_matched: return {409, already_matched};
    case Code::match_differs: return {409, match_differs};
    case Code::exists_with_different: return {409, {"exists_with_different", "Exists otherwise"}};
    case Code::insufficient_funds: return {409, insufficient_funds};
    case Code::limit_exceeded: return {409, limit_exceeded};
    case Code::condition_failed: return {409, condition_failed};
    case Code::version_conflict: return {409, version_conflict};
    case Code::account_frozen: return {409, account_frozen};
    case Code::account_closed: return {409, account_closed};
    case Code::account_not_empty: return {409, account_not_empty};
    case Code::not_pending: return {409, not_pending};
    case Code::not_reversible: return {409, not_reversible};
    case Code::open_holds: return {409, open_holds};
    case Code::already_posted: return {409, already_posted};
    case Code::already_voided: return {409, already_voided};
    case Code::already_reversed: return {409, already_reversed};
    case Code::expired: return {409, expired};
    case Code::exceeds_hold: return {409, exceeds_hold};
    case Code::period_closed: return {409, period_closed};
    case Code::would_break_history: return {409, would_break_history};
    case Code::too_many: return {409, too_many};
    case Code::linked_failed: return {409, linked_failed};
    case Code::book_exists: return {409, book_exists};
    case Code::book_importing: return {409, book_importing};
  }
  std::unreachable();
}

void write_if_given(JsonWriter& json, std::string_view name, const std::string& text) {
  if (!text.empty()) {
    json.field(name, text);
  }
}

void write_amounts(JsonWriter& json, std::string_view name, const std::vector<Amount>& amounts) {
  json.key(name);
  json.begin_array();
  for (const Amount one : amounts) {
    json.string(core::ledger::to_text(one));
  }
  json.end_array();
}

/// A version or a number of things: no amount, so a number.
void write_count(JsonWriter& json, std::string_view name, const core::ledger::Signed& count) {
  json.field(name, static_cast<std::uint64_t>(count.magnitude));
}

}  // namespace

int status_of(Code code) { return row_of(code).first; }

std::string code_of(const LedgerRefusal& refusal) {
  std::string code(row_of(refusal.code).second.code);
  if (refusal.code == Code::exists_with_different ||
      refusal.code == Code::line_exists_with_different) {
    code += '_' + refusal.member;
  }
  return code;
}

void write_own_members(JsonWriter& json, const LedgerRefusal& refusal) {
  write_if_given(json, "member", refusal.member);
  write_if_given(json, "account", refusal.account);
  write_if_given(json, "currency", refusal.currency);
  write_if_given(json, "transaction", refusal.transaction);
  switch (refusal.code) {
    case Code::unbalanced:
      core::ledger::write_amount(json, "debits", refusal.debits);
      core::ledger::write_amount(json, "credits", refusal.credits);
      break;
    case Code::insufficient_funds:
    case Code::match_differs:
    case Code::limit_exceeded:
      core::ledger::write_amount(json, "limit", refusal.limit);
      core::ledger::write_amount(json, "value", refusal.value);
      break;
    case Code::condition_failed: core::ledger::write_amount(json, "actual", refusal.value); break;
    case Code::version_conflict: write_count(json, "actual", refusal.value); break;
    case Code::exceeds_hold: write_amounts(json, "left", refusal.amounts); break;
    case Code::already_reversed: write_amounts(json, "reversible", refusal.amounts); break;
    case Code::period_closed:
      core::ledger::write_time(json, "closed_through", refusal.moment);
      break;
    case Code::would_break_history:
      core::ledger::write_time(json, "moment", refusal.moment);
      core::ledger::write_amount(json, "value", refusal.value);
      break;
    case Code::too_many: write_count(json, "limit", refusal.limit); break;
    case Code::record_invalid: json.field("seq", refusal.seq); break;
    default: break;  // nothing beyond the names above
  }
}

void write_refusal_members(JsonWriter& json, const LedgerRefusal& refusal) {
  json.field("code", code_of(refusal));
  json.field("detail", refusal.detail);
  write_own_members(json, refusal);
}

http::Response problem_of(const LedgerRefusal& refusal, std::string_view request_id,
                          const std::function<void(JsonWriter&)>& more) {
  const auto& [status, what] = row_of(refusal.code);
  const std::string code = code_of(refusal);
  return problem({code, what.title}, status, refusal.detail, request_id, [&](JsonWriter& json) {
    write_own_members(json, refusal);
    if (more) {
      more(json);
    }
  });
}

LedgerRefusal not_granted() {
  return {.code = Code::permission_denied,
          .member = "force",
          .detail = "force: needs the admin token with the header Hikyaku-Tenant"};
}

LedgerRefusal invalid(std::string_view member, std::string_view right) {
  std::string detail(member);
  detail += member.empty() ? "" : ": ";
  detail += right;
  return {.code = Code::invalid, .member = std::string(member), .detail = std::move(detail)};
}

}  // namespace hk::api::ledger
