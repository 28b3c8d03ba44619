/// Commands about idempotency keys: work that must take effect once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "core/idempotency/record.h"

namespace hk::core {

/// Who asks first, does the work: KeyClaimed says who. not_found: no such tenant.
struct ClaimKey {
  TenantId tenant{};
  std::string space{};
  std::string key{};
  std::string hash{};  ///< of the request; "": it is not compared
  std::string owner{};
  Millis lease{};
  Millis kept_for{};
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

using IdempotencyCommand = std::variant<ClaimKey, RenewKey, EndKey, ReleaseKey, DeleteKey>;

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

using IdempotencyReply = std::variant<KeyClaimed, KeyChanged>;

}  // namespace hk::core
