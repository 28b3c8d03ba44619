/// Commands of the ledger. All of them are operations on one book, and one command (Apply) carries
/// them: a single call is an Apply with one item, a batch has many. What a client can be told is a
/// value with a code and members: nobody reads a text to learn what happened.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/ledger/payload.h"
#include "core/ledger/record.h"
#include "core/ledger/view.h"

namespace hk::core::ledger {

/// A key of metadata as a client sets it; no value: it removes the key.
struct MetadataIn {
  std::string key{};
  std::optional<std::string> value{};
  friend bool operator==(const MetadataIn&, const MetadataIn&) = default;
};

// ---- operations: the book ----

/// A book of that id is there afterwards. `main` need not be created: whatever names it makes it.
struct CreateBook {
  std::string name{};
  std::vector<MetadataIn> metadata{};
  std::vector<std::string> indexed{};
};
struct ChangeBook {
  std::optional<std::string> name{};
  std::optional<std::vector<std::string>> indexed{};
  std::vector<MetadataIn> metadata{};
};
struct AddCurrency {
  std::string code{};
  std::uint32_t exponent = 0;
};
/// Nothing with effective_at <= through is accepted afterwards. Earlier than before, or none: it
/// reopens, and says why.
struct CloseBook {
  std::optional<Instant> through{};
  std::string reason{};
};

// ---- operations: accounts ----

struct LimitsIn {
  std::string currency{};
  /// Not there: as before (of a new account: none). There and empty: removed.
  std::optional<std::optional<Signed>> min_available{};
  std::optional<std::optional<Signed>> max_balance{};
};
struct CreateAccount {
  std::optional<std::string> id{};
  std::optional<std::string> path{};
  AccountType type{};
  std::optional<std::string> currency{};
  std::vector<LimitsIn> limits{};
  std::vector<MetadataIn> metadata{};
};
/// `PATCH`, and the batch's `limits` and `metadata` of an account.
struct ChangeAccount {
  std::string account{};                      ///< id or path
  std::vector<LimitsIn> limits{};             ///< merged per currency
  std::vector<std::string> limits_removed{};  ///< currencies that have none any more
  std::optional<Account::State> state{};
  std::vector<MetadataIn> metadata{};
};

// ---- operations: transactions ----

/// One that must be so, or the transaction is refused.
struct Condition {
  enum class At : std::uint8_t { before = 1, after = 2 };
  std::string account{};  ///< id or path
  std::string currency{};
  std::optional<std::uint64_t> expect_version{};  ///< then the rest does not count
  Reading reading = Reading::available;
  At at = At::after;
  Compare compare = Compare::gte;
  Signed value{};
};

struct SplitPart {
  enum class How : std::uint8_t { ratio = 1, percent = 2, remainder = 3 };
  std::string account{};
  How how = How::ratio;
  std::uint64_t ratio = 0;
  /// 12.5 % is 125 with 1 decimal.
  std::uint64_t percent = 0;
  std::uint32_t percent_decimals = 0;
};

struct EntryIn {
  enum class Given : std::uint8_t {
    amount,  ///< as it stands
    all,     ///< the whole available balance of the account
    rest,    ///< no amount: what balances the currency; at most one of each currency
  };
  std::string account{};  ///< id or path; "" of a split
  std::string currency{};
  Amount amount = 0;
  Side side = Side::debit;
  Given given = Given::amount;
  /// What few entries have.
  struct More {
    std::vector<SplitPart> split{};
    std::vector<MetadataIn> metadata{};
    std::vector<Condition> when{};  ///< account and currency are the entry's
  };
  std::shared_ptr<const More> more{};
};

struct CreateTransaction {
  std::optional<std::string> id{};
  std::optional<std::string> idempotency_key{};
  std::optional<TransactionMade::Kind> kind{};  ///< posted or pending
  std::optional<Instant> effective_at{};
  std::optional<Instant> expires_at{};
  std::optional<std::uint64_t> timeout_s{};
  std::optional<std::string> description{};
  std::optional<std::string> reference{};
  std::optional<std::string> parent{};
  std::optional<bool> check_history{};
  std::vector<MetadataIn> metadata{};
  std::vector<EntryIn> entries{};
  std::vector<Condition> conditions{};
};

/// What post, void and reverse have in common.
struct Following {
  std::string of{};  ///< id of the target
  std::optional<std::string> id{};
  std::optional<std::string> idempotency_key{};
  std::optional<std::string> description{};
  std::vector<MetadataIn> metadata{};
};
struct PostHold : Following {
  std::optional<std::vector<Amount>> amounts{};  ///< per held entry; none: all that is left
  std::optional<bool> final{};                   ///< not there: true
  std::optional<Instant> effective_at{};
};
struct VoidHold : Following {};
struct ReverseTransaction : Following {
  std::optional<std::vector<Amount>> amounts{};
  bool effective_original = false;  ///< "original"; or
  std::optional<Instant> effective_at{};
  bool force = false;  ///< REQUIRES Apply::may_force, or it is refused
};
struct SetTransactionMetadata {
  std::string transaction{};
  bool or_account = false;  ///< an account of that id or path goes before a transaction
  std::vector<MetadataIn> metadata{};
};
/// Values and salts are gone, also those of earlier records. The chain verifies all the same.
struct EraseMetadata {
  std::string account{};            ///< id or path; or
  std::string transaction{};        ///< id; both "": of the book
  std::vector<std::string> keys{};  ///< none: all
};
struct AssertConditions {
  std::vector<Condition> conditions{};
};

// ---- operations: who is told ----

/// Exactly one of url, url_group and queue.
struct AddSubscription {
  std::string url{};
  std::string host{};
  std::string url_group{};
  std::string queue{};
  std::vector<std::string> types{};
};
struct RemoveSubscription {
  std::string id{};
};
struct AddMonitor {
  std::string account{};  ///< id or path; or
  std::string prefix{};
  std::string currency{};
  Reading reading = Reading::available;
  Compare compare = Compare::lt;
  Signed value{};
};
struct RemoveMonitor {
  std::string id{};
};

/// The sum over the accounts below the prefix is kept from now on, or no longer.
struct SetRollup {
  std::string prefix{};
  bool keep = true;
};

// ---- operations: reconciliation ----

struct SetReconSource {
  std::string id{};
  std::string account{};  ///< id or path
  std::string currency{};
  std::optional<std::uint32_t> window_days{};
  std::optional<bool> automatic{};
};
struct ReconLineIn {
  std::string external_id{};
  Instant date{};
  Signed amount{};
  std::string currency{};
  std::string reference{};
  std::string text{};
};
/// One that is there already is looked at by the rules again, if it is not matched.
struct ImportReconLines {
  std::string source{};
  std::vector<ReconLineIn> lines{};
};
inline constexpr std::size_t recon_lines_max = 500;
struct DecideRecon {
  std::string source{};
  std::string external_id{};  ///< "": about the entries alone
  ReconDecision::Action action = ReconDecision::Action::match;
  std::optional<std::vector<EntryName>> entries{};  ///< none: those that are proposed
};

// ---- operations: from another server ----

/// Records of a log that was exported: they are taken as they are, or none of them. The first makes
/// the book; until the last has come, nothing else happens in it.
struct ImportRecords {
  struct One {
    Record record{};
    Hash prev_hash{};
    std::vector<MetadataValue> values{};  ///< those that were exported; others count as erased
  };
  std::vector<One> records{};
  bool complete = false;  ///< nothing more follows: the book may be used
};

struct Refusal;
/// The item could not be read: it is refused so, with its group. Thus a wrong amount refuses its
/// item, and not the request.
struct Unreadable {
  std::shared_ptr<const Refusal> refusal{};  ///< never null
};

using Operation =
    std::variant<CreateTransaction, CreateAccount, ChangeAccount, PostHold, VoidHold,
                 ReverseTransaction, SetTransactionMetadata, EraseMetadata, AssertConditions,
                 CreateBook, ChangeBook, AddCurrency, CloseBook, AddSubscription,
                 RemoveSubscription, AddMonitor, RemoveMonitor, SetRollup, SetReconSource,
                 ImportReconLines, DecideRecon, ImportRecords, Unreadable>;

struct Item {
  Operation operation{};
  std::string group{};  ///< of mode groups
};

/// not_found: no such tenant. Everything else is in the results.
struct Apply {
  enum class Mode : std::uint8_t { independent, atomic, groups };

  TenantId tenant{};
  std::string book{};
  Mode mode = Mode::independent;
  bool limits_at_end = false;  ///< only after the group (of `atomic`: all items)
  bool preview = false;        ///< nothing is written; results have their details
  bool details = false;        ///< results have the transaction and the balances after it
  bool may_force = false;      ///< the caller has the grant ledger.force
  std::vector<Item> items{};
};
inline constexpr std::size_t batch_items_max = 8192;

using LedgerCommand = std::variant<Apply>;

// ---- results ----

enum class Code : std::uint8_t {
  // 400
  unbalanced,  ///< currency, debits, credits
  too_few_entries,
  amount_invalid,     ///< member
  currency_unknown,   ///< currency
  currency_mismatch,  ///< account, currency: the account is locked to another
  effective_at_invalid,
  invalid,         ///< member
  record_invalid,  ///< seq: the record of an import
  // 403
  permission_denied,  ///< force
  // 404
  book_not_found,
  account_not_found,      ///< account: as it was named
  transaction_not_found,  ///< transaction: as it was named
  subscription_not_found,
  monitor_not_found,
  source_not_found,  ///< member
  line_not_found,    ///< member
  // 409
  exists_with_different,  ///< member: the code is exists_with_different_<member>
  insufficient_funds,     ///< account, currency, limit, value
  limit_exceeded,         ///< account, currency, limit, value
  condition_failed,       ///< account, currency, actual in `value`
  version_conflict,       ///< account, currency, actual in `value`
  account_frozen,         ///< account
  account_closed,         ///< account
  account_not_empty,      ///< account, currency
  not_pending,            ///< it is no hold
  not_reversible,         ///< it is a hold, a void
  open_holds,             ///< transaction: the first
  already_posted,
  already_voided,
  already_reversed,  ///< amounts: reversible, per entry
  expired,
  exceeds_hold,                ///< amounts: left, per entry
  period_closed,               ///< moment: closed through
  would_break_history,         ///< account, currency, moment, value
  too_many,                    ///< of something that is bounded; member, limit
  linked_failed,               ///< another item of the group was refused
  book_exists,                 ///< an import into a book that is there
  book_importing,              ///< only its import may go on
  line_exists_with_different,  ///< member: the code is line_exists_with_different_<member>
  already_matched,             ///< the line, or an entry (transaction)
  match_differs,               ///< limit: the amount of the line; value: the sum of the entries
};

struct Refusal {
  Code code{};
  std::string member{};
  std::string account{};  ///< its id (account_not_found: as it was named)
  std::string currency{};
  std::string transaction{};
  Signed limit{};
  Signed value{};
  Amount debits = 0;
  Amount credits = 0;
  std::vector<Amount> amounts{};
  Instant moment{};
  std::uint64_t seq = 0;
  std::string detail{};  ///< for people
};

/// What a reply has beyond id and seq, for whoever asked for it.
struct Detail {
  /// What the operation was about, as it is afterwards; of a replay as it is now.
  std::variant<std::monostate, TransactionView, AccountView, BookView, CurrencyView, Subscription,
               MonitorView, RollupView, ReconSourceView, ReconLineView>
      object{};
  std::vector<BalanceAfter> balances_after{};
};

/// What came of lines.
struct ReconImported {
  std::size_t imported = 0;
  std::size_t duplicates = 0;
  std::size_t matched = 0;
  std::size_t proposed = 0;
};

struct Applied {
  std::string id{};       ///< of the account, transaction, subscription or monitor; the book's
  std::uint64_t seq = 0;  ///< of the record (of a change: the last one); 0: nothing was recorded
  bool replayed = false;  ///< it was there before, with the same content
  bool created = false;   ///< something has come into being: 201
  std::optional<ReconImported> imported{};
  std::shared_ptr<const Detail> detail{};
};

/// Shared, because a reply can be copied and a refusal is large. Never null.
using ItemResult = std::expected<Applied, std::shared_ptr<const Refusal>>;

/// The reply to an Apply, in the order of its items.
struct LedgerApplied {
  std::vector<ItemResult> results{};
  std::optional<std::size_t> failed{};  ///< mode atomic: the item because of which nothing is
};

using LedgerReply = std::variant<LedgerApplied>;

}  // namespace hk::core::ledger
