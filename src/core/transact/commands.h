/// One atomic request: conditions, and operations of several components. All of it or nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/idempotency/commands.h"
#include "core/ledger/commands.h"
#include "core/message/commands.h"

namespace hk::core {

// ---- what must be so before anything is done ----

struct JobIs {
  MessageId job{};
  std::vector<Status> any_of{};  ///< running: somebody has it
};
/// It is there, and is so.
struct KeyIs {
  std::string space{};
  std::string key{};
  std::optional<IdempotencyKey::State> state{};
  std::optional<std::uint64_t> token{};
};
/// It is there, and its balance or version is so.
struct AccountIs {
  std::string book{};
  ledger::Condition condition{};
};
using Precondition = std::variant<JobIs, KeyIs, AccountIs>;

/// Limits of the accounts hold after each of them.
struct LedgerOperation {
  std::string book{};
  ledger::Operation operation{};
};

/// Each as if it were asked alone, but for these: an EndJob must end its job, and not find that it
/// was ended so before; a CancelMessage is of a job that nobody has.
using TransactOperation =
    std::variant<EndJob, Publish, CancelMessage, EndKey, ReleaseKey, LedgerOperation>;

/// First all preconditions, then all operations, in their order; each operation sees what those
/// before it do. The first that cannot be done ends it, and nothing is changed.
struct Transact {
  TenantId tenant{};       ///< of all operations
  bool may_force = false;  ///< the caller has the grant ledger.force
  std::vector<Precondition> preconditions{};
  std::vector<TransactOperation> operations{};
};

using TransactCommand = std::variant<Transact>;

// ---- replies ----

using Performed =
    std::variant<JobEnded, Published, FannedOut, Canceled, KeyChanged, ledger::Applied>;

/// Why nothing was done.
struct TransactRefused {
  std::size_t index = 0;  ///< of what could not be done
  bool of_precondition = false;
  /// A refusal of the ledger is never null.
  std::variant<Error, JobEnded, KeyChanged, std::shared_ptr<const ledger::Refusal>> why{};
};

/// The reply to a Transact.
struct Transacted {
  std::string id{};                  ///< "" = it was refused
  std::vector<Performed> results{};  ///< of the operations, in their order
  std::optional<TransactRefused> refused{};
};

using TransactReply = std::variant<Transacted>;

}  // namespace hk::core
