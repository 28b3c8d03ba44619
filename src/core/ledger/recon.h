/// Reconciliation as it is stored and decided: lines of statements that others write (banks, card
/// processors), and which entries of an account they are. Matching never changes a balance. Numbers
/// of enums are on disk: never change or reuse one.
///
/// Rules are pure functions: they see a line, and the entries that nobody has matched.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/ledger/amount.h"
#include "core/ledger/record.h"

namespace hk::core::ledger {

/// Table ledger_recon_source: whose statements they are, and of which account.
struct ReconSource {
  TenantId tenant{};
  BookNumber book = 0;
  std::string id{};
  std::uint32_t number = 0;  ///< 1, 2, …: keys of its lines have it in place of its id
  std::string account{};     ///< its id
  std::uint64_t account_number = 0;
  CurrencyNumber currency = 0;
  std::uint32_t window_days = 0;  ///< so far may the day of a line be from that of its entries
  bool automatic = true;          ///< what a rule is sure of is matched; otherwise only proposed
  bool used = false;              ///< a line or a decision was there: account and currency stay
  Instant created_at{};
  friend bool operator==(const ReconSource&, const ReconSource&) = default;
};
inline std::tuple<const TenantId&, const BookNumber&, const std::string&> key_of(
    const ReconSource& source) {
  return {source.tenant, source.book, source.id};
}

/// An entry of a transaction.
struct EntryPlace {
  std::uint64_t seq = 0;
  std::uint32_t index = 0;
  friend auto operator<=>(const EntryPlace&, const EntryPlace&) = default;
};

enum class ReconRule : std::uint8_t {
  none = 0,
  manual = 1,
  reference = 2,    ///< the reference of the line is that of the transaction
  amount_date = 3,  ///< one entry of that amount, within the days
  several = 4,      ///< some entries within the days come to that amount
};
enum class ReconState : std::uint8_t { unmatched = 1, proposed = 2, matched = 3, ignored = 4 };

/// Table ledger_recon_line.
struct ReconLine {
  TenantId tenant{};
  BookNumber book = 0;
  std::uint32_t source = 0;  ///< its number
  std::string external_id{};
  /// False: a decision about it came with an imported log, and the line itself was not sent yet.
  bool known = true;
  Instant date{};   ///< midnight of the day, UTC
  Signed amount{};  ///< + is a debit of the account
  std::string reference{};
  std::string text{};
  ReconState state = ReconState::unmatched;
  ReconRule rule = ReconRule::none;
  std::vector<EntryPlace> entries{};  ///< proposed, or matched
  Hash hash{};                        ///< of what the line says: its decisions have it
  friend bool operator==(const ReconLine&, const ReconLine&) = default;
};
inline std::tuple<const TenantId&, const BookNumber&, const std::uint32_t&, const std::string&>
key_of(const ReconLine& line) {
  return {line.tenant, line.book, line.source, line.external_id};
}

/// Table ledger_recon_day: the key of a line, found by its day.
struct ReconDay {
  TenantId tenant{};
  BookNumber book = 0;
  std::uint32_t source = 0;
  std::uint64_t day = 0;  ///< ordered()
  std::string external_id{};
  friend bool operator==(const ReconDay&, const ReconDay&) = default;
};
inline auto key_of(const ReconDay& day) {
  return std::tie(day.tenant, day.book, day.source, day.day, day.external_id);
}

/// Table ledger_recon_entry: an entry that is matched or ignored.
struct ReconEntry {
  TenantId tenant{};
  BookNumber book = 0;
  std::uint64_t account = 0;
  std::uint64_t seq = 0;
  std::uint32_t index = 0;
  std::string source{};
  std::string external_id{};  ///< of its line; "": it is ignored
  friend bool operator==(const ReconEntry&, const ReconEntry&) = default;
};
inline std::tuple<const TenantId&, const BookNumber&, const std::uint64_t&, const std::uint64_t&,
                  const std::uint32_t&>
key_of(const ReconEntry& entry) {
  return {entry.tenant, entry.book, entry.account, entry.seq, entry.index};
}

// ---- rules ----

/// An entry that no line has.
struct FreeEntry {
  EntryPlace place{};
  Instant effective_at{};
  Signed amount{};  ///< as of a line
};

struct ReconFound {
  ReconRule rule = ReconRule::none;
  std::vector<EntryPlace> entries{};
  bool sure = false;
};

/// The day of a moment, as its midnight.
Instant day_of(Instant moment);
/// SHA-256 of what a line says.
Hash hash_of(const ReconLine& line);
/// By the transactions that have its reference: `entries` are all of theirs that are free.
std::optional<ReconFound> match_by_reference(const ReconLine& line,
                                             const std::vector<FreeEntry>& entries);
/// Are there other lines of that amount?
struct Rivals {
  bool same_day = false;
  bool near = false;  ///< which may want the same entry
};
/// By amount and day.
std::optional<ReconFound> match_by_amount(const ReconLine& line,
                                          const std::vector<FreeEntry>& entries,
                                          std::uint32_t window_days, const Rivals& rivals);
/// Two to four entries that come to the amount. Looks at a bounded number of sums.
std::optional<ReconFound> match_several(const ReconLine& line,
                                        const std::vector<FreeEntry>& entries,
                                        std::uint32_t window_days);

}  // namespace hk::core::ledger
