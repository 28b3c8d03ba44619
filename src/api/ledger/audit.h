/// A log of the ledger checked from its records alone: the chain, the signed checkpoints, and what
/// follows from the records (balances, holds), which is compared with what is stored. For the
/// server, for the data directory of a stopped one and for an export without either. One thread at
/// a time; reads in pieces.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/ledger/sums.h"
#include "core/ledger/payload.h"
#include "core/ledger/read.h"

namespace hk::api::ledger {

struct AuditFault {
  std::uint64_t seq = 0;  ///< 0: no record, but what is stored beside the log
  std::string what{};
  friend bool operator==(const AuditFault&, const AuditFault&) = default;
};

struct AuditReport {
  std::uint64_t from_seq = 0;
  std::uint64_t to_seq = 0;
  std::uint64_t records = 0;
  core::ledger::Hash head{};         ///< hash of the last record
  std::vector<AuditFault> faults{};  ///< the first faults_max of them
  std::uint64_t fault_count = 0;
  [[nodiscard]] bool ok() const { return fault_count == 0; }

  static constexpr std::size_t faults_max = 100;
};

/// Takes records in their order. From the first record of a book on it also knows what they come
/// to; from a later one it checks the chain and each record for itself.
class Audit {
 public:
  explicit Audit(std::string book) : book_(std::move(book)) {}
  /// Begins with `first_seq`, whose prev_hash this is.
  Audit(std::string book, std::uint64_t first_seq, const core::ledger::Hash& prev_hash,
        std::string public_key);

  /// `stated_prev`: what is said to be its prev_hash, where that is said.
  void take(const core::ledger::Record& record, const core::ledger::Hash* stated_prev = nullptr);

  /// What is stored is what the records come to. REQUIRES: all records from the first on were
  /// taken, and the reader has no later ones.
  void compare(core::Reader& reader, const core::ledger::Book& book);

  void fault(std::uint64_t seq, std::string what);
  /// What was found so far. Debits equal credits is checked here.
  AuditReport report();

 private:
  struct Moved {
    core::ledger::Counters128 counters{};
    std::uint64_t version = 0;
    std::uint64_t last_seq = 0;
  };
  struct Folded {
    std::string path{};
    core::ledger::AccountType type{};
    std::map<std::string, Moved> moved{};  ///< by code of the currency
  };
  /// An entry of a posted transaction, and what no reversal has taken back yet. Packed: there is
  /// one for each entry of the log.
  struct Reversible {
    core::ledger::Amount left = 0;
    const Folded* account = nullptr;  ///< nodes of the map stay where they are
    const std::string* currency = nullptr;
    core::ledger::Side side{};
  };
  struct Held {
    std::uint64_t seq = 0;
    std::vector<core::ledger::Entry> entries{};
    std::vector<core::ledger::Amount> left{};
  };

  void check_checkpoint(std::uint64_t seq, const core::ledger::Checkpoint& checkpoint);
  void check_entries(std::uint64_t seq, const core::ledger::TransactionMade& made);
  void fold(std::uint64_t seq, const core::ledger::Payload& payload);
  void fold(std::uint64_t seq, const core::ledger::TransactionMade& made);
  void reverse(std::uint64_t seq, const core::ledger::TransactionMade& made);
  void release(std::uint64_t seq, const std::string& hold,
               const std::vector<core::ledger::Released>& released, bool last);
  /// Null: there is no such account, and a fault says so.
  Moved* find_moved(std::uint64_t seq, const std::string& account, const std::string& currency);
  void compare_rollup(const core::ledger::Book& book, const core::ledger::Rollup& rollup);
  void compare_account(const core::ledger::Book& book, const core::ledger::Account& account,
                       const Folded& folded);

  std::string book_;
  std::string public_key_{};
  bool whole_ = true;  ///< since the first record
  std::uint64_t first_seq_ = 1;
  std::uint64_t next_seq_ = 1;
  core::ledger::Hash prev_{};
  core::ledger::Instant recorded_at_ = core::ledger::long_ago;
  /// Hashes that no checkpoint has covered yet, from the record `uncovered_from_` on.
  std::vector<core::ledger::Hash> uncovered_{};
  std::uint64_t uncovered_from_ = 1;
  std::unordered_map<std::string, Folded> accounts_{};
  std::unordered_map<std::string, Held> holds_{};  ///< those that are open, by id
  /// Of posted transactions, by id: where their entries begin, and how many there are.
  std::unordered_map<std::string, std::pair<std::size_t, std::uint32_t>> posted_{};
  std::vector<Reversible> reversible_{};
  std::set<std::string> currencies_{};
  AuditReport report_{};
};

/// The key that signs a checkpoint of that seq.
const std::string& key_at(const core::ledger::Book& book, std::uint64_t seq);

/// The records from_seq to to_seq of a book (0: to the last), and if these are all of them also
/// what is stored beside the log.
AuditReport audit_book(core::Reader& reader, const core::ledger::Book& book, std::uint64_t from_seq,
                       std::uint64_t to_seq);

}  // namespace hk::api::ledger
