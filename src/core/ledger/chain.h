/// The chain of a book's records, and its checkpoints: what an outsider recomputes. Pure functions,
/// callable from any thread; the CLI uses them on an export, too.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/ledger/payload.h"

namespace hk::core::ledger {

/// SHA-256(1 || book || seq || prev_hash || kind || payload); book and kind after a length of 2
/// bytes, the payload after one of 4, all numbers big-endian.
Hash record_hash(std::string_view book, std::uint64_t seq, const Hash& prev_hash,
                 std::string_view kind, std::string_view payload);

/// RFC 6962: over the hashes of the records in their order. REQUIRES: there is one.
Hash merkle_root(std::span<const Hash> hashes);
/// A sibling on the way from a leaf to the root.
struct ProofStep {
  bool left = false;  ///< the sibling stands left of what was computed so far
  Hash hash{};
  friend bool operator==(const ProofStep&, const ProofStep&) = default;
};
/// From the leaf up. REQUIRES: index < hashes.size().
std::vector<ProofStep> merkle_path(std::span<const Hash> hashes, std::size_t index);
/// The root that the path leads to.
Hash merkle_root_of(const Hash& hash, std::span<const ProofStep> path);

/// What a checkpoint signs.
std::string checkpoint_text(std::string_view book, std::uint64_t first_seq, std::uint64_t last_seq,
                            const Hash& root, const Hash& last_hash);
bool signature_holds(const Checkpoint& checkpoint, std::string_view book,
                     std::string_view public_key);

}  // namespace hk::core::ledger
