/// Commands about idempotency keys: work that must take effect once.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "base/error.h"
#include "core/idempotency/record.h"
#include "core/pull/receipt.h"

namespace hk::core {

template <class Of>
class OneOf;
struct Commands;
struct Replies;

/// A command in a command.
struct DropCommand {
  void operator()(OneOf<Commands>* command) const;
};
using BoxedCommand = std::unique_ptr<OneOf<Commands>, DropCommand>;
BoxedCommand boxed(OneOf<Commands> command);

/// Who asks first, does the work: KeyClaimed says who. Who would wait is answered when the holder
/// has ended, when it is the claimer's turn, or when the wait is over. not_found: no such tenant.
/// limit_exceeded: too many wait.
struct ClaimKey {
  TenantId tenant{};
  std::string space{};
  std::string key{};
  std::string hash{};  ///< of the request; "": it is not compared
  std::string owner{};
  Millis lease{};
  Millis kept_for{};
  Millis wait{};          ///< 0: it is answered at once
  ReceiverId receiver{};  ///< with a wait: by whom it is known
};

/// A claimer who waits is gone: its claim is answered with `unavailable`, and claims nothing.
struct StopClaiming {
  TenantId tenant{};
  ReceiverId receiver{};
};

/// What every command of a holder names.
struct HeldKey {
  TenantId tenant{};
  std::string space{};
  std::string key{};
  std::uint64_t token = 0;
};

/// The holder needs more time. not_found: no such key.
struct RenewKey : HeldKey {
  Millis lease{};
};

/// The work has ended: nobody does it again while the key is known. not_found: no such key.
struct EndKey : HeldKey {
  bool failed = false;
  std::string answer{};
  std::optional<Millis> kept_for{};  ///< none: as the claim said
};

/// The work was not done: the next claim begins it again. not_found: no such key.
struct ReleaseKey : HeldKey {};

/// Done, also if there is none. Tokens go on to rise.
struct DeleteKey {
  TenantId tenant{};
  std::string space{};
  std::string key{};
};

/// An answer as its sender gets it.
struct TextAnswer {
  AnswerHead head{};
  std::string body{};
};

/// What is kept of the answer to a Once.
struct KeptAnswer {
  TextAnswer answer{};
  /// Stored in place of a large body; who asks again gets what can be made of it then.
  std::optional<std::string> reference{};
};

/// How an adapter answers a command, for a Once.
class Answers {
 public:
  Answers() = default;
  Answers(const Answers&) = delete;
  Answers& operator=(const Answers&) = delete;
  virtual ~Answers() = default;

  /// Pure; called at most once, in the batch, with the reply to the command. None: the answer is of
  /// the moment only (too busy, held by another), and the same request may do something later.
  /// REQUIRES: the command has then changed nothing.
  virtual std::optional<KeptAnswer> keep(const std::expected<OneOf<Replies>, Error>& reply) = 0;
};

/// A command that takes effect once: what it decides and the answer to it are in one batch, under a
/// key. If the key is known, nothing is done, and the first answer is the answer. There is no time
/// between the look and the effect, so nobody has to wait for anybody. REQUIRES: its command is of
/// the same tenant, and no Once. not_found: no such tenant.
struct Once {
  TenantId tenant{};
  std::string space{};  ///< one of the server's own
  std::string key{};
  std::string hash{};  ///< of the request
  Millis kept_for{};
  BoxedCommand command{};              ///< null: nothing is to be done; the reply is a Done
  std::shared_ptr<Answers> answers{};  ///< the adapter has it, too, for what is not kept
};
/// The namespace of writes to the own API. Handlers cannot claim a key in it.
inline const std::string api_space = "api";
/// Of those of the API of webhooks, whose keys are for one path of one caller: made of all three.
inline const std::string svix_space = "api/svix";

using IdempotencyCommand =
    std::variant<ClaimKey, StopClaiming, RenewKey, EndKey, ReleaseKey, DeleteKey, Once>;

// ---- replies ----

/// The reply to a ClaimKey.
struct KeyClaimed {
  enum class Outcome : std::uint8_t {
    started,        ///< the claimer does the work, and brings the token with it
    ended,          ///< it was done: the record has the answer
    held,           ///< somebody else does it, until the lease ends
    other_request,  ///< the key was used for a request with another hash
  };
  Outcome outcome{};
  bool taken_over = false;  ///< started: the lease of somebody else has ended
  Moment at{};              ///< when it was decided
  IdempotencyKey record{};  ///< as it is now
};

/// The reply to the others.
struct KeyChanged {
  enum class Outcome : std::uint8_t {
    done,
    again,   ///< it was so already
    fenced,  ///< the token is not that of the last claim: nothing changed
    over,    ///< it has ended otherwise: nothing changed
  };
  Outcome outcome{};
  IdempotencyKey record{};  ///< as it is now
};

/// The reply to a Once whose answer is kept. One that is not kept has the reply of its command.
struct OnceAnswered {
  bool replayed = false;  ///< nothing was done now
  TextAnswer answer{};    ///< replayed and by_reference: the body is the reference
};
/// The reply to a Once whose key was used for another request. Nothing was done.
struct OnceReused {};

using IdempotencyReply = std::variant<KeyClaimed, KeyChanged, OnceAnswered, OnceReused>;

}  // namespace hk::core
