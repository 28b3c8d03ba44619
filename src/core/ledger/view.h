/// What is told of the objects of a book: by answers, by events, in lists. Plain data; a reply to
/// an Apply with details has them as they are after the operation, and read.h finds the parts of
/// the same for whoever reads. JSON of them: json.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/ledger/payload.h"

namespace hk::core::ledger {

/// Where the log of a book ends; seq 0: it has no record yet.
struct Head {
  std::uint64_t seq = 0;
  Hash hash{};
  Instant recorded_at{};
};

/// Of a transaction, with what became of it.
enum class TransactionState : std::uint8_t { posted, pending, partially_posted, voided, expired };

struct BookView {
  Book book{};
  Head head{};
  std::vector<MetadataValue> metadata{};
};

struct AccountView {
  std::shared_ptr<const Book> book{};  ///< for the codes of its currencies; shared by a reply's
  Account account{};                   ///< its standings may be left out
  std::vector<MetadataValue> metadata{};
};

struct TransactionView {
  std::uint64_t seq = 0;  ///< 0: a preview
  TransactionMade made{};
  Hash hash{};  ///< of its record
  TransactionState state = TransactionState::posted;
  std::vector<std::string> resolved_by{};  ///< ids, in their order; an expiry has none
  std::vector<std::string> reversed_by{};  ///< ids, in their order
  std::vector<MetadataValue> metadata{};   ///< its own and its entries'
};

struct MonitorView {
  std::shared_ptr<const Book> book{};
  Monitor monitor{};
};

struct ReconSourceView {
  ReconSource source{};
  std::string currency{};
};
struct ReconLineView {
  ReconLine line{};
  std::string source{};  ///< its id
  std::string currency{};
  std::vector<EntryName> entries{};
};

/// Of a prefix: is its sum kept?
struct RollupView {
  std::string prefix{};
  bool kept = false;
  bool complete = false;  ///< all accounts are in it
};

struct CurrencyView {
  Currency currency{};
};

/// Counters of an account and currency after an operation.
struct BalanceAfter {
  std::string account{};
  std::string currency{};
  Side normal{};
  Counters128 counters{};
  std::uint64_t version = 0;
};

}  // namespace hk::core::ledger
