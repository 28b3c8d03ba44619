/// One atomic request over several components. What a batch holds will be written, so nothing is
/// done before all of it is known to be possible: first every part is checked, in order, against
/// what the ones before will have done; then every part is done, and none can refuse any more. The
/// rules are those of the components, which offer a check beside each decision. A component
/// (component.h).
#pragma once

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

class Transacts : Component {
 public:
  Transacts(Context& context, Messages& messages, IdempotencyKeys& idempotency_keys)
      : Component(context), messages_(messages), idempotency_keys_(idempotency_keys) {}

  Reply execute(TransactCommand&& command);

 private:
  struct Plan;
  using Why = decltype(TransactRefused::why);
  /// Nothing: it can be done.
  using Checked = std::optional<Why>;

  Transacted decide(Transact command);

  Checked check(const JobIs& condition, Plan& plan);
  Checked check(const KeyIs& condition, Plan& plan);

  // A further kind of operation is one more pair of these.
  Checked check(const EndJob& command, Plan& plan);
  Checked check(Publish& command, Plan& plan);
  Checked check(const CancelMessage& command, Plan& plan);
  Checked check(const EndKey& command, Plan& plan);
  Checked check(const ReleaseKey& command, Plan& plan);
  Performed perform(EndJob command, Plan& plan);
  Performed perform(Publish command, Plan& plan);
  Performed perform(const CancelMessage& command, Plan& plan);
  Performed perform(EndKey command, Plan& plan);
  Performed perform(ReleaseKey command, Plan& plan);

  template <class Change>
  Checked check_key(const Change& command, Plan& plan);

  Messages& messages_;
  IdempotencyKeys& idempotency_keys_;
};

}  // namespace hk::core
