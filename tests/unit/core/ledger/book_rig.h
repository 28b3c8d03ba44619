/// A rig with a book of accounts, and short words for what is asked of it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/ledger/commands.h"
#include "core/ledger/read.h"
#include "unit/core/rig.h"

namespace hk::core::testing {

inline ledger::EntryIn debit(std::string account, ledger::Amount amount,
                             std::string currency = "USD") {
  return {.account = std::move(account),
          .currency = std::move(currency),
          .amount = amount,
          .side = ledger::Side::debit};
}
inline ledger::EntryIn credit(std::string account, ledger::Amount amount,
                              std::string currency = "USD") {
  return {.account = std::move(account),
          .currency = std::move(currency),
          .amount = amount,
          .side = ledger::Side::credit};
}

class BookRig {
 public:
  explicit BookRig(const Limits& limits = {}) : rig(limits) {}

  ledger::LedgerApplied apply(std::vector<ledger::Operation> operations,
                              ledger::Apply::Mode mode = ledger::Apply::Mode::independent,
                              bool limits_at_end = false);
  ledger::ItemResult one(ledger::Operation operation);
  /// "" if it was accepted, else its code as clients see it.
  std::string code(ledger::Operation operation);
  static std::string code_of(const ledger::ItemResult& result);

  void account(std::string id, ledger::AccountType type,
               std::optional<ledger::Signed> min_available = {},
               std::optional<ledger::Signed> max_balance = {});
  /// From `from` (credited) to `to` (debited).
  static ledger::CreateTransaction transfer(std::string to, std::string from,
                                            ledger::Amount amount);

  ledger::Book book();
  ledger::Account find(const std::string& name);
  /// "posted pending available version"
  std::string balance(const std::string& name, const std::string& currency = "USD",
                      const ledger::AsOf& as_of = {});
  std::vector<ledger::Record> records();

  Rig rig;
  std::string book_id = "main";
  bool details = false;
  bool may_force = false;
  bool preview = false;
};

std::string code_text(ledger::Code code, const std::string& member);

}  // namespace hk::core::testing
