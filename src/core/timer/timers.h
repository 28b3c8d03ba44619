/// Timers: what must happen at a moment that is no message's due time, such as the end of a key's
/// time. One table for all components. A timer is handled in the batch that removes it. A
/// component does not take a timer back: it looks whether what the timer was about is still so.
/// A component (component.h).
#pragma once

#include <string>

#include "core/component.h"

namespace hk::core {

class IdempotencyKeys;
class Sources;
namespace ledger {
class Ledger;
}
namespace webhook {
class Webhooks;
}

class Timers : Component {
 public:
  Timers(Context& context, IdempotencyKeys& idempotency_keys, ledger::Ledger& ledger,
         webhook::Webhooks& webhooks, Sources& sources)
      : Component(context),
        idempotency_keys_(idempotency_keys),
        ledger_(ledger),
        webhooks_(webhooks),
        sources_(sources) {}

  void recover(Reader& reader);
  void advance();
  [[nodiscard]] Moment wake_at() const { return next_; }
  void flush();

  /// The component of that kind is called at that moment, or in the next batch if it has passed.
  void set(Moment due, Timer::Kind kind, TenantId tenant, std::string key);

 private:
  void fire(const Timer& timer);

  IdempotencyKeys& idempotency_keys_;
  ledger::Ledger& ledger_;
  webhook::Webhooks& webhooks_;
  Sources& sources_;

  Moment next_ = never;   ///< the first that is stored
  Moment fresh_ = never;  ///< the first of those set in this batch, which no reader shows yet
};

}  // namespace hk::core
