/// The chain: every batch carries its number and a SHA-256 over the previous hash, the number and
/// the batch's content. Two histories of the same length have different hashes, and a hole in the
/// recovered history is a missing link. The links of the last `ring_size` batches are kept, so that
/// the hash at the witnessed batch can be compared although later batches were recovered too.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/error.h"
#include "security/digest.h"
#include "store/store.h"

namespace hk::store {

using ChainHash = security::Digest256;

struct Link {
  BatchSeq seq = 0;  ///< 0: before the first batch
  ChainHash hash{};
  friend bool operator==(const Link&, const Link&) = default;
};

/// More batches than this are never written without a sync and a witness in between.
inline constexpr std::uint64_t ring_size = 4096;

Link next_link(const Link& previous, std::string_view content);

// The record of a link: key "chain" | u16 seq mod ring_size, value u64 seq | 32 bytes hash.
inline constexpr std::string_view chain_prefix = "chain";
std::string chain_key(BatchSeq seq);
std::string chain_value(const Link& link);
std::optional<Link> parse_chain_value(std::string_view key, std::string_view value);

/// The links found in a recovered store.
class RecoveredChain {
 public:
  void add(const Link& link) { links_.emplace(link.seq, link.hash); }
  [[nodiscard]] Link last() const;
  /// corruption: a link between the first and the last that should be there is missing.
  [[nodiscard]] Result<void> check_no_holes() const;
  /// The hash after batch seq; nullopt: no longer (or not) known.
  [[nodiscard]] std::optional<ChainHash> at(BatchSeq seq) const;

 private:
  std::map<BatchSeq, ChainHash> links_;
};

}  // namespace hk::store
