/// Idempotency keys: of all who ask to do a piece of work, one does it; the others learn what came
/// of it. The holder has a token that rises with every claim: who lost the lease changes nothing
/// any more. Work of the server itself is done in the batch that stores its answer (Once). Of all
/// that only who waits is in memory. A component (component.h).
#pragma once

#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

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
  /// Answers claimers who have waited for what is so now.
  void advance();
  [[nodiscard]] Moment wake_at() const;

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
  Reply decide(const StopClaiming& command);
  Reply decide(const RenewKey& command);
  Reply decide(const EndKey& command);
  Reply decide(const ReleaseKey& command);
  Reply decide(const DeleteKey& command);
  Reply decide(Once command);

  /// Without waiting.
  Reply claim(ClaimKey command);

  // once.cpp
  /// None: the key is not known.
  std::optional<Reply> known_answer(const Once& once);
  /// What becomes of the reply to its command. `before`: what the batch had decided before that.
  Reply keep_answer(Once once, Reply reply, std::size_t before);

  // wait.cpp
  using Line = std::pair<TenantId, std::string>;  ///< those who wait for one key
  /// A claim that is not answered yet.
  struct Waiter {
    ClaimKey claim{};
    Moment until{};
    Moment looked_at_next{};     ///< when its wait or the lease of the holder is over
    std::optional<Once> once{};  ///< it is the command of this one
  };
  static Line line_of(const ClaimKey& claim);
  Reply wait_for(ClaimKey claim, Moment lease_until);
  void look_again(ReceiverId receiver);
  void stop_waiting(ReceiverId receiver, Reply reply);
  /// Its waiters are to look again, in this batch.
  void changed(TenantId tenant, const std::string& id);

  /// In the batch, and with a timer at its end.
  void store(IdempotencyKey& record);
  /// A check, and what it says is done.
  template <class Change>
  Reply check_and_store(const Change& command);

  const Tenants& tenants_;
  Timers& timers_;
  const Execute execute_;

  std::map<ReceiverId, Waiter> waiters_;
  std::map<Line, std::vector<ReceiverId>> lines_;  ///< first come, first served; none is empty
  std::set<std::pair<Moment, ReceiverId>> looks_;  ///< by looked_at_next
  std::map<TenantId, std::size_t> waiting_of_;     ///< none is 0
  std::set<Line> changed_;                         ///< they have lines
};

}  // namespace hk::core
