/// What the records of a book say, and the bytes in which they say it: Protocol Buffers, as the
/// reference has them (docs/reference/ledger-records.md), so that an outsider can read them. The
/// bytes are what the chain hashes; they are written once and never again.
///
/// Pure functions, callable from any thread: the CLI and the API read with them, too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "core/ledger/recon.h"
#include "core/ledger/record.h"

namespace hk::core::ledger {

/// What a record says of a key of metadata: not its value, which can be erased.
struct MetadataHash {
  std::uint32_t entry = 0;  ///< as in MetadataValue
  std::string key{};
  std::optional<Hash> hash{};  ///< SHA-256(salt || value); none: the key is removed
  friend bool operator==(const MetadataHash&, const MetadataHash&) = default;
};

/// "book": the first record of a book.
struct BookCreated {
  Instant recorded_at{};
  std::string id{};
  std::string name{};
  std::string public_key{};
  std::vector<std::string> indexed{};
  std::vector<MetadataHash> metadata{};
  friend bool operator==(const BookCreated&, const BookCreated&) = default;
};
/// "book_changed": what is there is what it has from now on.
struct BookChanged {
  Instant recorded_at{};
  std::optional<std::string> name{};
  std::optional<std::vector<std::string>> indexed{};
  std::vector<MetadataHash> metadata{};
  friend bool operator==(const BookChanged&, const BookChanged&) = default;
};
/// "currency".
struct CurrencyAdded {
  Instant recorded_at{};
  std::string code{};
  std::uint32_t exponent = 0;
  friend bool operator==(const CurrencyAdded&, const CurrencyAdded&) = default;
};
/// "close".
struct BookClosed {
  Instant recorded_at{};
  std::optional<Instant> through{};  ///< none: nothing is closed any more
  std::string reason{};
  friend bool operator==(const BookClosed&, const BookClosed&) = default;
};

struct LimitsOf {
  std::string currency{};  ///< code
  std::optional<Signed> min_available{};
  std::optional<Signed> max_balance{};
  friend bool operator==(const LimitsOf&, const LimitsOf&) = default;
};
/// "account".
struct AccountCreated {
  Instant recorded_at{};
  std::string id{};
  std::string path{};
  AccountType type{};
  std::string currency{};  ///< code; "": any
  std::vector<LimitsOf> limits{};
  std::vector<MetadataHash> metadata{};
  std::uint64_t number = 0;
  friend bool operator==(const AccountCreated&, const AccountCreated&) = default;
};
/// "account_changed".
struct AccountChanged {
  Instant recorded_at{};
  std::string id{};
  std::optional<Account::State> state{};
  std::vector<MetadataHash> metadata{};
  friend bool operator==(const AccountChanged&, const AccountChanged&) = default;
};
/// "limits": each currency that is there has these from now on, and no others.
struct LimitsChanged {
  Instant recorded_at{};
  std::string id{};
  std::vector<LimitsOf> limits{};
  friend bool operator==(const LimitsChanged&, const LimitsChanged&) = default;
};

struct Entry {
  std::string account{};  ///< id
  Side side{};
  Amount amount = 0;
  std::string currency{};  ///< code
  friend bool operator==(const Entry&, const Entry&) = default;
};
/// Of a hold: so much of its entry is no longer held.
struct Released {
  std::uint32_t index = 0;  ///< of the hold's entry
  Amount amount = 0;
  friend bool operator==(const Released&, const Released&) = default;
};

/// "transaction". What it did: an entry of a `posted` one moved its posted counter, of a `pending`
/// one its pending counter; `released` took from the pending counters of the hold's entries.
struct TransactionMade {
  enum class Kind : std::uint8_t { posted = 1, pending = 2, voided = 3 };
  /// Which members the request had, so that a repetition is compared with what was asked.
  struct Given {
    bool id = false;
    bool kind = false;
    bool effective_at = false;
    bool expires_at = false;
    bool timeout = false;
    bool check_history = false;
    bool amounts = false;
    bool final = false;
    bool conditions = false;
    friend bool operator==(const Given&, const Given&) = default;
  };

  Instant recorded_at{};
  std::string id{};
  Kind kind = Kind::posted;
  std::optional<std::string> idempotency_key{};
  Instant effective_at{};
  std::optional<Instant> expires_at{};
  std::optional<std::string> description{};
  std::optional<std::string> reference{};
  std::optional<std::string> parent{};    ///< id of a transaction
  std::optional<std::string> resolves{};  ///< id of the hold
  std::optional<std::string> reverses{};  ///< id of the transaction
  std::vector<Entry> entries{};
  std::vector<std::uint32_t> of{};  ///< resolves, reverses: the index of each entry in that one
  std::vector<Released> released{};
  bool final = true;        ///< resolves: nothing is held any more
  bool asked_final = true;  ///< resolves: what the request said
  bool force = false;       ///< min_available was not checked
  bool check_history = false;
  std::vector<MetadataHash> metadata{};
  Given given{};
  std::uint64_t timeout_s = 0;
  std::string request_entries{};     ///< digest of entries that were not written out ("all", split)
  std::string request_conditions{};  ///< digest; "": none
  friend bool operator==(const TransactionMade&, const TransactionMade&) = default;
};
/// "expiry": the time of a hold is over.
struct HoldExpired {
  Instant recorded_at{};
  std::string transaction{};  ///< id of the hold
  std::vector<Released> released{};
  friend bool operator==(const HoldExpired&, const HoldExpired&) = default;
};
/// "metadata": of a transaction.
struct MetadataSet {
  Instant recorded_at{};
  std::string transaction{};
  std::vector<MetadataHash> metadata{};
  friend bool operator==(const MetadataSet&, const MetadataSet&) = default;
};
/// "erasure": values and salts of these keys are gone, in all earlier records.
struct MetadataErased {
  Instant recorded_at{};
  std::string account{};      ///< id; or
  std::string transaction{};  ///< id; both "": the book
  std::vector<std::string> keys{};
  friend bool operator==(const MetadataErased&, const MetadataErased&) = default;
};
/// "checkpoint": of the records since the last one.
struct Checkpoint {
  Instant recorded_at{};
  std::uint64_t first_seq = 0;
  std::uint64_t last_seq = 0;
  Hash root{};
  Hash last_hash{};         ///< of last_seq
  std::string signature{};  ///< Ed25519, 64 bytes
  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

/// "key": checkpoints from here on are signed with another key. The log has come from a server
/// that has kept its own.
struct KeyChanged {
  Instant recorded_at{};
  std::string public_key{};
  friend bool operator==(const KeyChanged&, const KeyChanged&) = default;
};

/// "recon_source": of whose statements the lines are, and of which account.
struct ReconSourceSet {
  Instant recorded_at{};
  std::string id{};
  std::string account{};   ///< id
  std::string currency{};  ///< code
  std::uint32_t window_days = 0;
  bool automatic = true;
  friend bool operator==(const ReconSourceSet&, const ReconSourceSet&) = default;
};
struct EntryName {
  std::string transaction{};  ///< id
  std::uint32_t index = 0;
  friend bool operator==(const EntryName&, const EntryName&) = default;
};
struct ReconDecision {
  enum class Action : std::uint8_t { match = 1, unmatch = 2, ignore = 3 };
  std::string external_id{};  ///< of the line; "": about entries alone
  Hash line{};                ///< of what the line says
  Action action = Action::match;
  ReconRule rule = ReconRule::none;  ///< whose it is: `manual` is a client's
  std::vector<EntryName> entries{};
  friend bool operator==(const ReconDecision&, const ReconDecision&) = default;
};
/// "reconciliation": what was decided about lines of a source.
struct Reconciled {
  Instant recorded_at{};
  std::string source{};
  std::vector<ReconDecision> decisions{};
  friend bool operator==(const Reconciled&, const Reconciled&) = default;
};

using Payload =
    std::variant<BookCreated, BookChanged, CurrencyAdded, BookClosed, AccountCreated,
                 AccountChanged, LimitsChanged, TransactionMade, HoldExpired, MetadataSet,
                 MetadataErased, Checkpoint, KeyChanged, ReconSourceSet, Reconciled>;

/// The kind of a record, as it is hashed.
std::string_view kind_of(const Payload& payload);
/// The bytes.
void encode(const Payload& payload, std::string& out);
void encode(const TransactionMade& payload, std::string& out);
/// corruption: they are not what was written.
Result<Payload> decode(std::string_view kind, std::string_view bytes);

}  // namespace hk::core::ledger
