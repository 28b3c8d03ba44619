/// How the ledger is read: pure functions over any reader, for the API, the reports, the CLI and
/// the tests. Each reads by key or by one seek; what is a list has a limit. A reader of the durable
/// view shows what a crash cannot take back.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ledger/payload.h"
#include "core/ledger/view.h"
#include "core/reader.h"

namespace hk::core::ledger {

// ---- currencies ----

/// Of ISO 4217; null: none of that code.
const Currency* iso_currency(std::string_view code);
const std::vector<Currency>& iso_currencies();
/// Of the book or of ISO 4217.
std::optional<Currency> find_currency(const Book& book, std::string_view code);
std::optional<Currency> find_currency(const Book& book, CurrencyNumber number);

// ---- books and the log ----

std::optional<Book> find_book(Reader& reader, TenantId tenant, const std::string& id);
Head head_of(Reader& reader, TenantId tenant, BookNumber book);
/// Records with after < seq, oldest first, at most `limit`.
std::vector<Record> records_after(Reader& reader, TenantId tenant, BookNumber book,
                                  std::uint64_t after, std::size_t limit);
struct RecordAt {
  Record record{};
  Hash prev_hash{};
};
std::optional<RecordAt> find_record(Reader& reader, TenantId tenant, BookNumber book,
                                    std::uint64_t seq);
/// The last record with recorded_at <= at; 0: there is none.
std::uint64_t seq_at(Reader& reader, TenantId tenant, BookNumber book, Instant at);

// ---- accounts ----

/// By id or path.
std::optional<Account> find_account(Reader& reader, TenantId tenant, BookNumber book,
                                    const std::string& name);
std::optional<Account> find_account(Reader& reader, TenantId tenant, BookNumber book,
                                    std::uint64_t number);
/// Oldest first, those with after < number.
std::vector<Account> accounts_after(Reader& reader, TenantId tenant, BookNumber book,
                                    std::uint64_t after, std::size_t limit);
/// In the order of their paths, those of the prefix (whole segments; "": all) and after < path.
std::vector<Account> accounts_under(Reader& reader, TenantId tenant, BookNumber book,
                                    const std::string& prefix, const std::string& after,
                                    std::size_t limit);
bool path_within(std::string_view path, std::string_view prefix);

/// A moment on both axes, inclusive. Not there: now.
struct AsOf {
  std::optional<Instant> effective{};
  std::optional<std::uint64_t> seq{};
};
struct BalanceAt {
  Counters128 counters{};
  std::uint64_t version = 0;  ///< on the recorded axis: of the last seq that counts
};
/// Zeros if it was untouched.
BalanceAt balance_at(Reader& reader, const Account& account, CurrencyNumber currency,
                     const AsOf& as_of);

/// A movement, and the counters after it on the recorded axis.
struct MovementAt {
  Movement movement{};
  Counters128 after{};
};
/// Newest first, those before (seq, index) and of a seq <= up_to.
struct MovementPlace {
  std::uint64_t seq = 0;
  std::uint32_t index = 0;
  Movement::Phase phase{};
};
std::vector<MovementAt> movements_before(Reader& reader, const Account& account,
                                         CurrencyNumber currency,
                                         const std::optional<MovementPlace>& before,
                                         std::size_t limit);
/// Oldest first on the effective axis, from <= effective_at < to; equal ones by seq. Calls `each`
/// until it says false.
void movements_by_effective(Reader& reader, const Account& account, CurrencyNumber currency,
                            Instant from, Instant to,
                            const std::function<bool(const Movement&)>& each);
/// Oldest first on the recorded axis, from <= recorded_at < to.
void movements_by_recorded(Reader& reader, const Account& account, CurrencyNumber currency,
                           Instant from, Instant to,
                           const std::function<bool(const Movement&)>& each);

// ---- transactions ----

struct TransactionAt {
  std::uint64_t seq = 0;
  TransactionMade made{};
  Hash hash{};
  std::optional<Outcome> outcome{};  ///< none: nothing refers to it
};
std::optional<TransactionAt> find_transaction(Reader& reader, TenantId tenant, BookNumber book,
                                              const std::string& id);
std::optional<TransactionAt> find_transaction_by_key(Reader& reader, TenantId tenant,
                                                     BookNumber book, const std::string& key);
/// nullopt: that record is none.
std::optional<TransactionAt> transaction_at(Reader& reader, TenantId tenant, BookNumber book,
                                            std::uint64_t seq);
TransactionState state_of(const TransactionAt& transaction);
/// First to expire first; those after that place.
std::vector<OpenHold> open_holds(Reader& reader, TenantId tenant, BookNumber book,
                                 const std::optional<OpenHold>& after, std::size_t limit);

// ---- metadata ----

/// What the object had after the record `as_of` (none: now). Erased values are left out.
std::vector<MetadataValue> metadata_of(Reader& reader, TenantId tenant, BookNumber book,
                                       Metadata::Of of, std::uint64_t number,
                                       std::optional<std::uint64_t> as_of = {});
/// Accounts' numbers or transactions' seqs, descending, those < before.
std::vector<std::uint64_t> indexed(Reader& reader, TenantId tenant, BookNumber book,
                                   IndexEntry::Kind kind, const std::string& key,
                                   const std::string& value, std::uint64_t before,
                                   std::size_t limit);

}  // namespace hk::core::ledger
