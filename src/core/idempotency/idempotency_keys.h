/// Idempotency keys: of all who ask to do a piece of work, one does it; the others learn what came
/// of it. The holder has a token that rises with every claim: who lost the lease changes nothing
/// any more. Nothing of them is in memory. A component (component.h).
#pragma once

#include <expected>
#include <optional>
#include <string>

#include "core/command.h"
#include "core/component.h"

namespace hk::core {

class Tenants;
class Timers;

class IdempotencyKeys : Component {
 public:
  IdempotencyKeys(Context& context, const Tenants& tenants, Timers& timers)
      : Component(context), tenants_(tenants), timers_(timers) {}

  Reply execute(IdempotencyCommand&& command);

  /// Nothing: there is none, or its time is over.
  std::optional<IdempotencyKey> find(TenantId tenant, const std::string& space,
                                     const std::string& key);
  /// What would come of it; if it can be done, `known` is afterwards as the command will leave it.
  /// Changes nothing else. not_found: there is none.
  [[nodiscard]] Result<KeyChanged::Outcome> check(const EndKey& command,
                                                  std::optional<IdempotencyKey>& known) const;
  [[nodiscard]] Result<KeyChanged::Outcome> check(const ReleaseKey& command,
                                                  std::optional<IdempotencyKey>& known) const;

  /// The time of a key may be over.
  void on_timer(Moment due, TenantId tenant, const std::string& id);

 private:
  Reply decide(ClaimKey command);
  Reply decide(const RenewKey& command);
  Reply decide(const EndKey& command);
  Reply decide(const ReleaseKey& command);
  Reply decide(const DeleteKey& command);

  /// In the batch, and with a timer at its end.
  void store(IdempotencyKey& record);
  /// A check, and what it says is done.
  template <class Change>
  Reply check_and_store(const Change& command);

  const Tenants& tenants_;
  Timers& timers_;
};

}  // namespace hk::core
