/// The ledger as it is stored. Everything it knows is a fold over the records of a book, which are
/// in Segment rows; the other tables are derived from them, so that nothing has to be folded to
/// decide or to read. Numbers of enums are on disk: never change or reuse one.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/ledger/amount.h"
#include "core/message.h"

namespace hk::core::ledger {

/// A book within its tenant: 1, 2, …. Keys have it in place of the book's id.
using BookNumber = std::uint32_t;
/// ISO 4217: the numeric code. Those that a book has added: from own_currencies_from on.
using CurrencyNumber = std::uint32_t;
inline constexpr CurrencyNumber own_currencies_from = 1000;
using Hash = std::array<std::uint8_t, 32>;

struct Currency {
  CurrencyNumber number = 0;
  std::string code{};
  std::uint32_t exponent = 0;
  friend bool operator==(const Currency&, const Currency&) = default;
};

enum class Side : std::uint8_t { debit = 1, credit = 2 };
constexpr Side other(Side side) { return side == Side::debit ? Side::credit : Side::debit; }

enum class AccountType : std::uint8_t {
  asset = 1,
  expense = 2,
  liability = 3,
  equity = 4,
  revenue = 5
};
constexpr Side normal_side(AccountType type) {
  return type == AccountType::asset || type == AccountType::expense ? Side::debit : Side::credit;
}

// ---- books ----

/// Who is told of the records of a book. Exactly one of `url`, `url_group` and `queue` is not "".
struct Subscription {
  std::string id{};  ///< lsub_…
  std::string url{};
  std::string host{};  ///< of url, as in Message
  std::string url_group{};
  std::string queue{};
  std::vector<std::string> types{};  ///< "ledger.account.created"; none: all
  Instant created_at{};
  friend bool operator==(const Subscription&, const Subscription&) = default;
};

/// A key that signed checkpoints of the book up to a record.
struct FormerKey {
  std::uint64_t through_seq = 0;
  std::string public_key{};
  friend bool operator==(const FormerKey&, const FormerKey&) = default;
};

/// Table ledger_book. Where the log ends is in its last segment.
struct Book {
  TenantId tenant{};
  std::string id{};
  BookNumber number = 0;
  std::string name{};
  Instant created_at{};
  std::optional<Instant> closed_through{};
  std::string public_key{};            ///< Ed25519, 32 bytes
  std::string sealed_key{};            ///< the private half
  std::vector<Currency> currencies{};  ///< that it has added to those of ISO 4217
  std::vector<std::string> indexed{};  ///< metadata keys that searches may use
  std::vector<Subscription> subscriptions{};
  bool importing = false;                ///< it takes records of another server, and nothing else
  std::uint64_t imported_through = 0;    ///< the last record that was made elsewhere
  std::string next_public_key{};         ///< of sealed_key, while no record has said so
  std::vector<FormerKey> former_keys{};  ///< the oldest first
  friend bool operator==(const Book&, const Book&) = default;
};
inline std::tuple<const TenantId&, const std::string&> key_of(const Book& book) {
  return {book.tenant, book.id};
}

// ---- the log ----

/// One record of the log. Its hash covers everything but `recorded_at`, which is in the payload.
struct Record {
  std::uint64_t seq = 0;
  Instant recorded_at{};
  std::string kind{};     ///< "transaction", "account" …: payload.h
  std::string payload{};  ///< the bytes that are hashed
  Hash hash{};
  friend bool operator==(const Record&, const Record&) = default;
};

/// Table ledger_log: consecutive records of one batch, at most segment_records and about
/// segment_bytes of them.
struct Segment {
  TenantId tenant{};
  BookNumber book = 0;
  std::uint64_t first_seq = 0;
  Hash prev_hash{};  ///< of the record before
  std::vector<Record> records{};
  friend bool operator==(const Segment&, const Segment&) = default;
};
inline std::tuple<const TenantId&, const BookNumber&, const std::uint64_t&> key_of(
    const Segment& segment) {
  return {segment.tenant, segment.book, segment.first_seq};
}
inline constexpr std::size_t segment_records = 64;
inline constexpr std::size_t segment_bytes = std::size_t{16} * 1024;

/// Table ledger_time: the key of a segment, found by when its first record was recorded.
struct SegmentTime {
  TenantId tenant{};
  BookNumber book = 0;
  std::uint64_t recorded = 0;  ///< ordered()
  std::uint64_t first_seq = 0;
  friend bool operator==(const SegmentTime&, const SegmentTime&) = default;
};
inline auto key_of(const SegmentTime& time) {
  return std::tie(time.tenant, time.book, time.recorded, time.first_seq);
}

// ---- accounts and their balances ----

/// What has moved. Differences of two of them are taken modulo 2^128.
struct Counters128 {
  Amount debits_posted = 0;
  Amount credits_posted = 0;
  Amount debits_pending = 0;
  Amount credits_pending = 0;
  friend bool operator==(const Counters128&, const Counters128&) = default;
  Counters128& operator+=(const Counters128& more) {
    debits_posted += more.debits_posted;
    credits_posted += more.credits_posted;
    debits_pending += more.debits_pending;
    credits_pending += more.credits_pending;
    return *this;
  }
  Counters128& operator-=(const Counters128& less) {
    debits_posted -= less.debits_posted;
    credits_posted -= less.credits_posted;
    debits_pending -= less.debits_pending;
    credits_pending -= less.credits_pending;
    return *this;
  }
};

/// The three readings, in the normal direction of the account.
Signed posted(const Counters128& counters, Side normal);
Signed pending(const Counters128& counters, Side normal);
Signed available(const Counters128& counters, Side normal);

/// What one entry of a transaction did to one account and currency.
struct Movement {
  enum class Phase : std::uint8_t {
    posted = 0,    ///< adds to the posted counter of its side
    held = 1,      ///< adds to the pending counter of its side
    released = 2,  ///< takes from the pending counter of its side
  };
  std::uint64_t seq = 0;    ///< of the record
  std::uint32_t index = 0;  ///< of the entry
  Side side{};
  Phase phase{};
  bool late = false;  ///< effective before another that was recorded earlier
  Amount amount = 0;
  Instant effective_at{};
  Instant recorded_at{};
  friend bool operator==(const Movement&, const Movement&) = default;
};
/// In which the only one that is not zero is the movement's.
Counters128 counters_of(const Movement& movement);

/// A run of movements of one account and currency in the order of their seq, as bytes
/// (history.h), with what had moved before it.
struct Run {
  std::uint64_t first_seq = 0;
  Instant first_recorded{};
  Counters128 before{};       ///< all of them
  Counters128 late_before{};  ///< of these the late ones
  std::uint64_t version_before = 0;
  Instant effective_before = long_ago;  ///< the latest effective_at so far
  std::uint32_t count = 0;
  std::uint64_t last_seq = 0;
  Instant last_recorded{};
  std::string movements{};
  friend bool operator==(const Run&, const Run&) = default;
};

/// An account in one currency. The last movements are here, so that a batch writes one row for
/// each account that it moves; from run_movements on they go to a Block.
struct Standing {
  CurrencyNumber currency = 0;
  Counters128 now{};
  Counters128 late{};         ///< of these, by late movements
  std::uint64_t version = 0;  ///< how many transactions have touched it
  Instant effective_max = long_ago;
  std::uint64_t late_root = 0;       ///< of its tree of late movements (Late); 0: there is none
  std::uint64_t late_last_node = 0;  ///< the highest number of a node so far
  Run last{};
  friend bool operator==(const Standing&, const Standing&) = default;
};
inline constexpr std::uint32_t run_movements = 48;     ///< as many stay with the account
inline constexpr std::uint32_t block_movements = 256;  ///< of a block, at most

struct AccountLimits {
  CurrencyNumber currency = 0;
  std::optional<Signed> min_available{};
  std::optional<Signed> max_balance{};
  friend bool operator==(const AccountLimits&, const AccountLimits&) = default;
};

/// Table ledger_account.
struct Account {
  enum class State : std::uint8_t { open = 1, frozen = 2, closed = 3 };

  TenantId tenant{};
  BookNumber book = 0;
  std::string id{};
  std::uint64_t number = 0;  ///< 1, 2, … in the order of their creation
  std::string path{};
  AccountType type{};
  CurrencyNumber currency = 0;  ///< 0: any
  State state = State::open;
  Instant created_at{};
  std::uint64_t seq = 0;                ///< of the record that created it
  std::vector<AccountLimits> limits{};  ///< by currency; each has at least one
  std::vector<Standing> standings{};    ///< by currency; only those that were touched
  friend bool operator==(const Account&, const Account&) = default;
};
inline std::tuple<const TenantId&, const BookNumber&, const std::string&> key_of(
    const Account& account) {
  return {account.tenant, account.book, account.id};
}

/// Table ledger_block: earlier movements of an account and currency. The key's seq is that of its
/// first movement, and no movement of that record is in the block before.
struct Block {
  TenantId tenant{};
  BookNumber book = 0;
  std::uint64_t account = 0;
  CurrencyNumber currency = 0;
  Run run{};
  friend bool operator==(const Block&, const Block&) = default;
};
inline std::tuple<const TenantId&, const BookNumber&, const std::uint64_t&, const CurrencyNumber&,
                  const std::uint64_t&>
key_of(const Block& block) {
  return {block.tenant, block.book, block.account, block.currency, block.run.first_seq};
}

/// Table ledger_block_at: the key of a block, found by the latest effective_at before it. Both
/// orders of the blocks are the same.
struct BlockTime {
  TenantId tenant{};
  BookNumber book = 0;
  std::uint64_t account = 0;
  CurrencyNumber currency = 0;
  std::uint64_t effective_before = 0;  ///< ordered()
  std::uint64_t first_seq = 0;
  friend bool operator==(const BlockTime&, const BlockTime&) = default;
};
inline auto key_of(const BlockTime& time) {
  return std::tie(time.tenant, time.book, time.account, time.currency, time.effective_before,
                  time.first_seq);
}

/// Table ledger_late: a node of the tree that has the late movements of an account and currency in
/// the order of (effective_at, seq). A leaf has movements, another node has children with what is
/// below each.
struct Late {
  struct Child {
    std::uint64_t node = 0;
    Instant effective_at{};  ///< of its first movement
    std::uint64_t seq = 0;   ///< of its first movement
    Counters128 sum{};
    std::uint64_t seq_min = 0;
    std::uint64_t seq_max = 0;
    friend bool operator==(const Child&, const Child&) = default;
  };
  TenantId tenant{};
  BookNumber book = 0;
  std::uint64_t account = 0;
  CurrencyNumber currency = 0;
  std::uint64_t node = 0;
  std::vector<Movement> movements{};
  std::vector<Child> children{};
  friend bool operator==(const Late&, const Late&) = default;
};
inline auto key_of(const Late& late) {
  return std::tie(late.tenant, late.book, late.account, late.currency, late.node);
}
inline constexpr std::size_t late_node_max = 128;  ///< movements or children

// ---- names ----

/// Table ledger_name: names that are unique in their book, and what they name.
struct Name {
  enum class Kind : std::uint32_t {
    path = 1,         ///< of an account: its id. Every account has one
    number = 2,       ///< of an account, as 8 bytes, big-endian: its id
    transaction = 3,  ///< an id that the client chose: its seq
    key = 4,          ///< an idempotency key: the seq of its transaction
  };
  TenantId tenant{};
  BookNumber book = 0;
  Kind kind{};
  std::string name{};
  std::string account{};  ///< path, number: the id
  std::uint64_t seq = 0;  ///< transaction, key
  friend bool operator==(const Name&, const Name&) = default;
};
inline std::tuple<const TenantId&, const BookNumber&, std::uint32_t, const std::string&> key_of(
    const Name& name) {
  return {name.tenant, name.book, static_cast<std::uint32_t>(name.kind), name.name};
}

/// Table ledger_index: what has a property. Found by its beginning.
struct IndexEntry {
  enum class Kind : std::uint32_t {
    account_metadata = 1,      ///< name: key 00 value 00 account number (8 bytes, big-endian)
    transaction_metadata = 2,  ///< name: key 00 value 00 seq (8 bytes, big-endian)
    reference = 3,             ///< name: reference 00 seq (8 bytes, big-endian)
  };
  TenantId tenant{};
  BookNumber book = 0;
  Kind kind{};
  std::string name{};
  friend bool operator==(const IndexEntry&, const IndexEntry&) = default;
};
inline std::tuple<const TenantId&, const BookNumber&, std::uint32_t, const std::string&> key_of(
    const IndexEntry& entry) {
  return {entry.tenant, entry.book, static_cast<std::uint32_t>(entry.kind), entry.name};
}

// ---- what became of a transaction ----

/// Table ledger_outcome: of a hold from its beginning, of others when something refers to them.
struct Outcome {
  enum class State : std::uint8_t { posted = 1, pending = 2, voided = 3, expired = 4 };

  TenantId tenant{};
  BookNumber book = 0;
  std::uint64_t seq = 0;  ///< of the transaction
  State state =
      State::posted;         ///< of a hold: by its last resolution; pending while more may follow
  bool part_posted = false;  ///< of a hold: something was posted
  Instant expires_at = no_end;               ///< of a hold
  std::vector<Amount> left{};                ///< of a hold: per entry, what can still be posted
  std::vector<Amount> reversed{};            ///< per entry, by all reversals; empty: none
  std::vector<std::uint64_t> resolved_by{};  ///< seqs of transactions; of the expiry its record's
  std::vector<std::uint64_t> reversed_by{};  ///< seqs of transactions
  friend bool operator==(const Outcome&, const Outcome&) = default;
};
inline auto key_of(const Outcome& outcome) {
  return std::tie(outcome.tenant, outcome.book, outcome.seq);
}

/// Table ledger_hold: the holds that are open, the first to expire first.
struct OpenHold {
  TenantId tenant{};
  BookNumber book = 0;
  std::uint64_t expires = 0;  ///< ordered(); that of no_end: never
  std::uint64_t seq = 0;      ///< of its transaction
  Instant effective_at{};
  friend bool operator==(const OpenHold&, const OpenHold&) = default;
};
inline auto key_of(const OpenHold& hold) {
  return std::tie(hold.tenant, hold.book, hold.expires, hold.seq);
}

// ---- metadata ----

/// One key that was set or removed by a record.
struct MetadataValue {
  std::uint32_t entry = 0;  ///< of a transaction: 0 its own, else 1 + the index of its entry
  std::string key{};
  bool removed = false;  ///< the record takes the key away
  bool erased = false;   ///< value and salt are gone for ever; the record has the hash still
  std::string value{};
  std::string salt{};  ///< 16 bytes; the record has SHA-256(salt || value)
  friend bool operator==(const MetadataValue&, const MetadataValue&) = default;
};

/// Table ledger_metadata: what one record said about the metadata of one object. What an object has
/// is the fold over its rows, in the order of their seq.
struct Metadata {
  enum class Of : std::uint32_t { book = 1, account = 2, transaction = 3 };
  TenantId tenant{};
  BookNumber book = 0;
  Of of{};
  std::uint64_t number = 0;  ///< 0 of the book; the account's number; the transaction's seq
  std::uint64_t seq = 0;     ///< of the record
  std::vector<MetadataValue> values{};
  friend bool operator==(const Metadata&, const Metadata&) = default;
};
inline std::tuple<const TenantId&, const BookNumber&, std::uint32_t, const std::uint64_t&,
                  const std::uint64_t&>
key_of(const Metadata& metadata) {
  return {metadata.tenant, metadata.book, static_cast<std::uint32_t>(metadata.of), metadata.number,
          metadata.seq};
}

// ---- monitors ----

enum class Reading : std::uint8_t { posted = 1, pending = 2, available = 3 };
enum class Compare : std::uint8_t { gte = 1, gt = 2, lte = 3, lt = 4, eq = 5 };
/// Does `value` stand to `bound` as the comparison says?
bool holds(const Signed& value, Compare compare, const Signed& bound);

/// Table ledger_monitor: tells when a balance comes to be so (and again after it was not so).
struct Monitor {
  TenantId tenant{};
  BookNumber book = 0;
  std::uint64_t number = 0;
  std::string id{};       ///< lmon_…
  std::string account{};  ///< its id; "": all accounts of the prefix, each for itself
  std::string prefix{};   ///< whole segments of the path
  CurrencyNumber currency = 0;
  Reading reading{};
  Compare compare{};
  Signed value{};
  Instant created_at{};
  friend bool operator==(const Monitor&, const Monitor&) = default;
};
inline auto key_of(const Monitor& monitor) {
  return std::tie(monitor.tenant, monitor.book, monitor.number);
}

// ---- sums that are kept ----

/// A counter of many accounts: their sum may have more than 128 bits.
struct Total {
  Amount low = 0;
  std::uint64_t high = 0;
  friend bool operator==(const Total&, const Total&) = default;
  void add(Amount amount) {
    low += amount;
    high += low < amount ? 1 : 0;
  }
  void take(Amount amount) {
    high -= low < amount ? 1 : 0;
    low -= amount;
  }
};

/// Table ledger_rollup: the sum over the accounts below a prefix, kept with every movement.
struct Rollup {
  struct Sum {
    CurrencyNumber currency = 0;
    Total debits_posted{};
    Total credits_posted{};
    Total debits_pending{};
    Total credits_pending{};
    std::uint64_t debit_accounts = 0;   ///< moved in the currency, of a debit-normal type
    std::uint64_t credit_accounts = 0;  ///< the others
    friend bool operator==(const Sum&, const Sum&) = default;
  };
  TenantId tenant{};
  BookNumber book = 0;
  std::string prefix{};  ///< whole segments of the path
  Instant created_at{};
  /// Accounts that were there before it are added in pieces, in the order of their paths: those up
  /// to `reached` are in the sums.
  bool complete = false;
  std::string reached{};
  std::vector<Sum> sums{};  ///< by currency

  [[nodiscard]] bool has(std::string_view path) const {
    return complete || (!reached.empty() && path <= reached);
  }
  friend bool operator==(const Rollup&, const Rollup&) = default;
};
inline std::tuple<const TenantId&, const BookNumber&, const std::string&> key_of(
    const Rollup& rollup) {
  return {rollup.tenant, rollup.book, rollup.prefix};
}

}  // namespace hk::core::ledger
