/// Bodies of the ledger's calls, read straight into the core's operations: no tree is built, since
/// a batch has thousands of items. What is wrong is a refusal that names the member
/// ("entries[2].amount") and says what would be right. A member that is null counts as absent,
/// unless null means something. Rules about the content (lengths, alphabets, what goes together)
/// are the core's. Pure, any thread.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ledger/commands.h"

namespace hk::api::ledger {

template <class T>
using Parsed = std::expected<T, core::ledger::Refusal>;

struct NewBook {
  std::string id{};
  core::ledger::CreateBook book{};
};
Parsed<NewBook> read_new_book(std::string_view body);
Parsed<core::ledger::ChangeBook> read_book_change(std::string_view body);
Parsed<core::ledger::AddCurrency> read_currency(std::string_view body);
Parsed<core::ledger::CloseBook> read_close(std::string_view body);

Parsed<core::ledger::CreateAccount> read_account(std::string_view body);
Parsed<core::ledger::ChangeAccount> read_account_change(std::string_view body, std::string account);

Parsed<core::ledger::CreateTransaction> read_transaction(std::string_view body);
// An empty body is an empty object.
Parsed<core::ledger::PostHold> read_post(std::string_view body, std::string of);
Parsed<core::ledger::VoidHold> read_void(std::string_view body, std::string of);
Parsed<core::ledger::ReverseTransaction> read_reverse(std::string_view body, std::string of);
Parsed<core::ledger::SetTransactionMetadata> read_transaction_metadata(std::string_view body,
                                                                       std::string transaction);
Parsed<core::ledger::EraseMetadata> read_erasure(std::string_view body);

/// `destination` stands in AddSubscription::url as it was given.
Parsed<core::ledger::AddSubscription> read_subscription(std::string_view body);
Parsed<core::ledger::AddMonitor> read_monitor(std::string_view body);
/// A day: "2026-05-31", as its midnight (UTC).
std::optional<core::ledger::Instant> parse_date(std::string_view text);
Parsed<core::ledger::SetReconSource> read_recon_source(std::string_view body, std::string source);
Parsed<core::ledger::ImportReconLines> read_recon_lines(std::string_view body, std::string source);
Parsed<core::ledger::DecideRecon> read_recon_decision(std::string_view body);
Parsed<core::ledger::SetRollup> read_rollup(std::string_view body, std::string prefix);

// ---- items of batches and of atomic requests ----

struct ItemIn {
  core::ledger::Operation operation{};
  std::string group{};
  std::string book{};
};
/// How items are written where they stand.
struct ItemForm {
  std::string_view op_prefix{};  ///< of every op: "ledger." in atomic requests
  bool has_book = false;         ///< each may name its book; the others are of `main`
  bool has_group = false;        ///< each may name a group
};
/// One item alone: `{"op": "ledger.transaction", "book": "main", "transaction": {…}}`.
Parsed<ItemIn> read_item(std::string_view json, const ItemForm& form);

/// The same evaluator as of any condition: `{"book", "account", "currency", "available_gte" or
/// "version"}`.
struct AccountIsIn {
  std::string book{};
  core::ledger::Condition condition{};
};
Parsed<AccountIsIn> read_account_is(std::string_view json);

struct BatchIn {
  core::ledger::Apply::Mode mode = core::ledger::Apply::Mode::independent;
  bool limits_at_end = false;
  std::vector<core::ledger::Item> items{};  ///< one that cannot be read is Unreadable
  bool too_large = false;                   ///< more than batch_items_max; the rest was not read
};
/// A refusal: the request itself is wrong, and not one of its items.
Parsed<BatchIn> read_batch(std::string_view body);

}  // namespace hk::api::ledger
