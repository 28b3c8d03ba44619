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
  /// The time of a Once may be over.
  void forget_if_over(TenantId tenant, const std::string& id);

 private:
  Reply decide(ClaimKey command);
  Reply decide(const RenewKey& command);
  Reply decide(const EndKey& command);
  Reply decide(const ReleaseKey& command);
  Reply decide(const DeleteKey& command);
  Reply decide(Once command);

  /// In the batch, and with a timer at its end.
  void store(IdempotencyKey& record);
  /// A check, and what it says is done.
  template <class Change>
  Reply check_and_store(const Change& command);

  const Tenants& tenants_;
  Timers& timers_;
  const Execute execute_;
};

}  // namespace hk::core
