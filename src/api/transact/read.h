/// What a transact asks for, read from its body: everything that can be said of it without looking
/// at what is stored is said here, all faults at once. On I/O threads.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "api/call.h"
#include "api/limits/limiter.h"
#include "core/transact/commands.h"

namespace hk::api::transact {

inline constexpr std::size_t operations_max = 100;
inline constexpr std::size_t transact_bytes_max = std::size_t{10} * 1024 * 1024;

/// One part of it that is wrong, or that this server cannot do.
struct Fault {
  bool of_precondition = false;
  std::size_t index = 0;
  std::string op{};  ///< "" = it says none
  int status = 400;
  std::string detail{};
  std::shared_ptr<const core::ledger::Refusal> ledger{};  ///< it says the rest, if it is there
};

/// What is told of an operation, beside what came of it.
struct Told {
  std::string op{};
  std::string job{};  ///< its text
  std::string key{};
  std::string space{};
  std::string url_json{};  ///< of a publish; "" = it is pulled, or goes to many
  std::string book{};      ///< of the ledger
  bool makes_transaction = false;
};

struct Asked {
  core::Transact command{};
  std::vector<Told> told{};  ///< by operation
  limits::Costs costs{};     ///< of all operations
};

/// Faults: at least one. Error: what it is no transact for at all.
using Read = std::variant<Asked, std::vector<Fault>, Error>;
Read read_transact(const Services& services, Call& call);

}  // namespace hk::api::transact
