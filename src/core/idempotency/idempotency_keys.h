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

  /// The time of a key may be over.
  void on_timer(Moment due, TenantId tenant, const std::string& id);

 private:
  Reply decide(ClaimKey command);
  Reply decide(const RenewKey& command);
  Reply decide(EndKey command);
  Reply decide(const ReleaseKey& command);
  Reply decide(const DeleteKey& command);

  /// Nothing: there is none, or its time is over.
  std::optional<IdempotencyKey> find(TenantId tenant, const std::string& space,
                                     const std::string& key);
  /// In the batch, and with a timer at its end.
  void store(IdempotencyKey& record);
  /// Or what is answered to somebody who may not change it.
  std::expected<IdempotencyKey, Reply> find_held(const HeldKey& held);

  const Tenants& tenants_;
  Timers& timers_;
};

}  // namespace hk::core
