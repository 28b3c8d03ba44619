/// One atomic request over several components. What a batch holds will be written, so nothing is
/// done before all of it is known to be possible: first every part is checked, in order, against
/// what the ones before will have done; then every part is done, and none can refuse any more. The
/// rules are those of the components, which offer a check beside each decision. The ledger is
/// checked by being asked: what it does changes its memory alone, and is taken back if anything
/// else refuses. A component (component.h).
#pragma once

#include <expected>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "core/command.h"
#include "core/component.h"

namespace hk::core {

class IdempotencyKeys;
class Messages;
class Tenants;
namespace ledger {
class Ledger;
}

class Transacts : Component {
 public:
  Transacts(Context& context, const Tenants& tenants, Messages& messages,
            IdempotencyKeys& idempotency_keys, ledger::Ledger& ledger)
      : Component(context),
        tenants_(tenants),
        messages_(messages),
        idempotency_keys_(idempotency_keys),
        ledger_(ledger) {}

  Reply execute(TransactCommand&& command);

 private:
  struct Plan;
  using Why = decltype(TransactRefused::why);
  /// Nothing: it can be done.
  using Checked = std::optional<Why>;

  Transacted decide(Transact command);
  std::optional<TransactRefused> check_all(Transact& command, Plan& plan);

  Checked check(const JobIs& condition, Plan& plan);
  Checked check(const KeyIs& condition, Plan& plan);
  Checked check(const AccountIs& condition, Plan& plan);

  // A further kind of operation is one more pair of these.
  Checked check(const EndJob& command, Plan& plan);
  Checked check(Publish& command, Plan& plan);
  Checked check(const CancelMessage& command, Plan& plan);
  Checked check(const EndKey& command, Plan& plan);
  Checked check(const ReleaseKey& command, Plan& plan);
  Checked check(LedgerOperation& command, Plan& plan);
  Performed perform(EndJob command, Plan& plan);
  Performed perform(Publish command, Plan& plan);
  Performed perform(const CancelMessage& command, Plan& plan);
  Performed perform(EndKey command, Plan& plan);
  Performed perform(ReleaseKey command, Plan& plan);
  Performed perform(const LedgerOperation& command, Plan& plan);

  template <class Change>
  Checked check_key(const Change& command, Plan& plan);
  std::expected<ledger::Applied, Why> apply(Plan& plan, const std::string& book,
                                            ledger::Operation&& operation);

  const Tenants& tenants_;
  Messages& messages_;
  IdempotencyKeys& idempotency_keys_;
  ledger::Ledger& ledger_;
};

}  // namespace hk::core
