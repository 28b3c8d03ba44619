/// Reading that takes its time (every account of a book, a whole log) happens on the thread for
/// such work, one piece of it after the other; so no request waits behind it but others like it.
#pragma once

#include <functional>
#include <optional>

#include "api/call.h"

namespace hk::api::ledger {

/// As many of a tenant, and of all together, may be under way or wait for their turn.
inline constexpr std::size_t aside_of_tenant_max = 4;
inline constexpr std::size_t aside_max = 64;

struct Made {
  http::Response response{};
  std::optional<core::Command> command{};  ///< is carried out before the answer; none: nothing
};
/// On the thread for such work. What it throws is told as everywhere.
using MakeAnswer = std::move_only_function<Result<Made>()>;

/// Answers the call with what `make` makes. Too many under way: 503 with Retry-After. `make` holds
/// what it reads from; the call may be gone when it runs.
void answer_aside(const Services& services, Call& call, MakeAnswer make);

}  // namespace hk::api::ledger
