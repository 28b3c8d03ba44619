/// A ledger as one would write it without any thought of speed: every transaction is kept, a
/// balance is a sum over all of them, and a group that fails is undone by going back to a copy.
/// Written from the specification, and sharing nothing with what it is compared with.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/ledger/commands.h"

namespace hk::core::testing {

class Oracle {
 public:
  struct Move {
    std::uint64_t seq = 0;
    std::string account{};
    std::string currency{};
    int counter = 0;  ///< debits posted, credits posted, debits pending, credits pending
    bool less = false;
    ledger::Amount amount = 0;
    std::int64_t effective = 0;
  };
  struct Transaction {
    std::uint64_t seq = 0;
    std::string id{};
    std::string key{};
    std::string body{};  ///< what was asked
    int kind = 1;        ///< posted, pending, void
    bool reversal = false;
    std::int64_t effective = 0;
    std::int64_t expires = 0;  ///< 0: never
    std::vector<ledger::Entry> entries{};
    std::vector<ledger::Amount> left{};
    std::vector<ledger::Amount> reversed{};
    std::string state{"posted"};
  };
  struct Account {
    ledger::AccountType type{};
    std::string currency{};
    std::string state{"open"};
    std::map<std::string, std::optional<ledger::Signed>> min{};
    std::map<std::string, std::optional<ledger::Signed>> max{};
    bool plain = false;  ///< it was created without limits and currency
  };
  struct World {
    std::map<std::string, Account> accounts{};
    std::vector<Transaction> transactions{};
    std::vector<Move> moves{};
    std::uint64_t seq = 0;
    std::int64_t recorded = 0;
    std::uint64_t uncovered = 0;
    std::int64_t uncovered_since = 0;
    std::optional<std::int64_t> closed{};
  };

  /// The code of each result; "" if it is accepted.
  std::vector<std::string> apply(std::int64_t now, const std::vector<ledger::Operation>& operations,
                                 bool atomic);
  /// What happens without being asked.
  void advance(std::int64_t now);

  /// As four numbers.
  [[nodiscard]] std::vector<ledger::Amount> counters(const std::string& account,
                                                     const std::string& currency,
                                                     std::optional<std::int64_t> effective = {},
                                                     std::optional<std::uint64_t> seq = {}) const;
  [[nodiscard]] std::uint64_t version(const std::string& account, const std::string& currency,
                                      std::optional<std::uint64_t> seq = {}) const;

  World world{};

 private:
  std::string one(std::int64_t now, const ledger::Operation& operation);
  std::string decide(std::int64_t now, const ledger::CreateAccount& create);
  std::string decide(std::int64_t now, const ledger::ChangeAccount& change);
  std::string decide(std::int64_t now, const ledger::CreateTransaction& create);
  std::string decide(std::int64_t now, const ledger::PostHold& post);
  std::string decide(std::int64_t now, const ledger::VoidHold& release);
  std::string decide(std::int64_t now, const ledger::ReverseTransaction& reverse);
  std::string decide(std::int64_t now, const ledger::CloseBook& close);
  template <class Other>
  std::string decide(std::int64_t /*now*/, const Other& /*other*/) {
    return "?";
  }
  void expire(std::int64_t now);
  void cover(std::int64_t now);
  std::int64_t record(std::int64_t now);
  Transaction* find(const std::string& id);
  std::string limits(const std::vector<Move>& moves) const;
  std::string repeated(const std::optional<std::string>& id, const std::string& body,
                       Transaction*& found);
};

}  // namespace hk::core::testing
