/// The ledger's objects as JSON: the one place for the words in which answers, events, exports and
/// the command line tell of them. Amounts are texts of digits, times RFC 3339 in nanoseconds,
/// hashes hexadecimal. `write_…_members` writes the members alone, for who adds some of its own.
/// Pure, any thread.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "base/json.h"
#include "core/ledger/view.h"

namespace hk::core::ledger {

// In the order of the enums, from the first on.
inline constexpr std::array<std::string_view, 2> side_names = {"debit", "credit"};
inline constexpr std::array<std::string_view, 5> account_type_names = {
    "asset", "expense", "liability", "equity", "revenue"};
inline constexpr std::array<std::string_view, 3> account_state_names = {"open", "frozen", "closed"};
inline constexpr std::array<std::string_view, 3> kind_names = {"posted", "pending", "void"};
inline constexpr std::array<std::string_view, 5> transaction_state_names = {
    "posted", "pending", "partially_posted", "voided", "expired"};
inline constexpr std::array<std::string_view, 3> reading_names = {"posted", "pending", "available"};
inline constexpr std::array<std::string_view, 5> compare_names = {"gte", "gt", "lte", "lt", "eq"};

inline constexpr std::array<std::string_view, 4> recon_state_names = {"unmatched", "proposed",
                                                                      "matched", "ignored"};
/// From `none` on, which has no name.
inline constexpr std::array<std::string_view, 5> recon_rule_names = {"", "manual", "reference",
                                                                     "amount_date", "several"};
inline constexpr std::array<std::string_view, 3> recon_action_names = {"match", "unmatch",
                                                                       "ignore"};

constexpr std::string_view name_of(ReconState state) {
  return recon_state_names[static_cast<std::size_t>(state) - 1];
}
constexpr std::string_view name_of(ReconRule rule) {
  return recon_rule_names[static_cast<std::size_t>(rule)];
}
constexpr std::string_view name_of(ReconDecision::Action action) {
  return recon_action_names[static_cast<std::size_t>(action) - 1];
}
constexpr std::string_view name_of(Side side) {
  return side_names[static_cast<std::size_t>(side) - 1];
}
constexpr std::string_view name_of(AccountType type) {
  return account_type_names[static_cast<std::size_t>(type) - 1];
}
constexpr std::string_view name_of(Account::State state) {
  return account_state_names[static_cast<std::size_t>(state) - 1];
}
constexpr std::string_view name_of(TransactionMade::Kind kind) {
  return kind_names[static_cast<std::size_t>(kind) - 1];
}
constexpr std::string_view name_of(TransactionState state) {
  return transaction_state_names[static_cast<std::size_t>(state)];
}
constexpr std::string_view name_of(Reading reading) {
  return reading_names[static_cast<std::size_t>(reading) - 1];
}
constexpr std::string_view name_of(Compare compare) {
  return compare_names[static_cast<std::size_t>(compare) - 1];
}

// ---- values ----

void write_time(JsonWriter& json, std::string_view name, Instant instant);
/// null: there is none.
void write_time(JsonWriter& json, std::string_view name, const std::optional<Instant>& instant);
void write_text(JsonWriter& json, std::string_view name, const std::optional<std::string>& text);
void write_amount(JsonWriter& json, std::string_view name, Amount amount);
void write_amount(JsonWriter& json, std::string_view name, const Signed& amount);
/// {"key": "value"} of the object itself (entry 0) or of an entry (1 + its index).
void write_metadata(JsonWriter& json, std::span<const MetadataValue> values,
                    std::uint32_t entry = 0);

// ---- objects ----

void write_book_members(JsonWriter& json, const BookView& view);
void write_account_members(JsonWriter& json, const AccountView& view);
/// Without `seq` and `hash` if it is a preview.
void write_transaction_members(JsonWriter& json, const TransactionView& view);
void write_subscription_members(JsonWriter& json, const Subscription& subscription);
void write_monitor_members(JsonWriter& json, const MonitorView& view);
void write_recon_source_members(JsonWriter& json, const ReconSourceView& view);
void write_recon_line_members(JsonWriter& json, const ReconLineView& view);
void write_rollup_members(JsonWriter& json, const RollupView& view);
void write_currency_members(JsonWriter& json, const Currency& currency);

/// `seq`: of its record.
void write_checkpoint_members(JsonWriter& json, std::uint64_t seq, const Checkpoint& checkpoint);

/// The four counters and the three readings; `normal` none: the readings are null.
void write_counters(JsonWriter& json, const Counters128& counters, std::optional<Side> normal);
/// One row: account, currency, counters, readings, version.
void write_balance_after(JsonWriter& json, const BalanceAfter& row);

/// seq, kind, recorded_at, prev_hash, hash, payload_base64, payload (null if it cannot be read).
void write_record_members(JsonWriter& json, const Record& record, const Hash& prev_hash);
/// An object with what the record says.
void write_payload(JsonWriter& json, const Payload& payload);

}  // namespace hk::core::ledger
