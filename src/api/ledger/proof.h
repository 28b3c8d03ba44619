/// The proof that a record is among those that a checkpoint has signed. Pure; reads as many records
/// as a checkpoint covers, twice at most.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "api/ledger/sums.h"
#include "core/ledger/chain.h"
#include "core/ledger/read.h"

namespace hk::api::ledger {

struct CheckpointAt {
  std::uint64_t seq = 0;
  core::ledger::Checkpoint checkpoint{};
};

struct Proof {
  CheckpointAt checkpoint{};
  std::uint64_t index = 0;  ///< of the record among those of the checkpoint
  std::vector<core::ledger::ProofStep> path{};
};
/// nullopt: no checkpoint has covered the record yet.
std::optional<Proof> proof_of(core::Reader& reader, const BookPlace& place, std::uint64_t seq);

}  // namespace hk::api::ledger
