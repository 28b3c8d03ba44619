/// The rows that a relay has claimed and whose outcomes are not yet written. The relay's thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "outbox/lease.h"
#include "outbox/relay_log.h"
#include "outbox/row.h"

namespace hk::outbox {

/// How long until a row that somebody else holds locked is tried again.
inline constexpr Millis locked_again{2'000};

/// A claimed row on its way.
struct Sending {
  Claim claim{};
  std::string idempotency_key{};
  std::string request_digest{};
  ProcessSpan span{};
  std::chrono::steady_clock::time_point since{};
  std::shared_ptr<Lease> lease{};  ///< never null; the second owner is the row in the sender
  std::string target{};            ///< as the row's, while the sender has it
  bool in_ledger = false;          ///< as the row's
};

/// A row that we let expire can be claimed by us again while its first sending is under way.
using ClaimName = std::pair<std::int64_t, std::string>;
inline ClaimName name_of(const Claim& claim) { return {claim.id, claim.locked_by}; }

using SendingRows = std::map<ClaimName, Sending>;

inline std::vector<Claim> claims_of(const SendingRows& rows) {
  std::vector<Claim> claims;
  claims.reserve(rows.size());
  for (const auto& [name, sending] : rows) {
    claims.push_back(sending.claim);
  }
  return claims;
}

}  // namespace hk::outbox
