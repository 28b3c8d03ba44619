/// `/api/v1/ledger/-` is short for the book `main`. Written out before anybody looks at the target,
/// so that there is one row for both, and both are the same request to an Idempotency-Key.
#pragma once

#include <string>

#include "base/ascii.h"

namespace hk::api::ledger {

inline void spell_out(std::string& target) {
  constexpr std::string_view short_path = "/api/v1/ledger/-";
  if (starts_with_ignoring_case(target, short_path) &&
      (target.size() == short_path.size() || target[short_path.size()] == '/' ||
       target[short_path.size()] == '?')) {
    target.replace(0, short_path.size(), "/api/v1/ledger/books/main");
  }
}

}  // namespace hk::api::ledger
