/// Idempotency keys: of all who ask to do a piece of work, one does it; the others learn what came
/// of it. The holder has a token that rises with every claim: who lost the lease changes nothing
/// any more. Work of the server itself is done in the batch that stores its answer (Once). Nothing
/// of them is in memory. A component (component.h).
#pragma once

#include <expected>
#include <functional>
#include <optional>
#include <string>

#include "core/command.h"
#include "core/component.h"

namespace hk::core {

class Tenants;
class Timers;

class IdempotencyKeys : Component {
 public:
  /// Whatever another component does, in this batch.
  using Execute = std::function<Reply(Command)>;

  IdempotencyKeys(Context& context, const Tenants& tenants, Timers& timers, Execute execute)
      : Component(context), tenants_(tenants), timers_(timers), execute_(std::move(execute)) {}

  Reply execute(IdempotencyCommand&& command);

  /// The time of a key may be over.
  void on_timer(Moment due, TenantId tenant, const std::string& id);
  /// The time of a Once may be over.
  void forget_if_over(TenantId tenant, const std::string& id);

 private:
  Reply decide(ClaimKey command);
  Reply decide(const RenewKey& command);
  Reply decide(EndKey command);
  Reply decide(const ReleaseKey& command);
  Reply decide(const DeleteKey& command);
  Reply decide(Once command);

  /// Nothing: there is none, or its time is over.
  std::optional<IdempotencyKey> find(TenantId tenant, const std::string& space,
                                     const std::string& key);
  /// In the batch, and with a timer at its end.
  void store(IdempotencyKey& record);
  /// Or what is answered to somebody who may not change it.
  std::expected<IdempotencyKey, Reply> find_held(const HeldKey& held);

  const Tenants& tenants_;
  Timers& timers_;
  const Execute execute_;
};

}  // namespace hk::core
