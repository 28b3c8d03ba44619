#include "core/ledger/chain.h"

#include <bit>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/encoding.h"
#include "core/ledger/wire.h"
#include "security/digest.h"
#include "security/ed25519.h"

namespace hk::core::ledger {

namespace {

constexpr char chain_version = 1;

Hash leaf(const Hash& hash) {
  std::string bytes(1, '\0');
  bytes += bytes_of(hash);
  return security::sha256(bytes);
}
Hash node(const Hash& left, const Hash& right) {
  std::string bytes(1, '\1');
  bytes += bytes_of(left);
  bytes += bytes_of(right);
  return security::sha256(bytes);
}

/// The largest power of two below the count. REQUIRES: count > 1.
std::size_t left_leaves(std::size_t count) { return std::bit_floor(count - 1); }

}  // namespace

Hash record_hash(std::string_view book, std::uint64_t seq, const Hash& prev_hash,
                 std::string_view kind, std::string_view payload) {
  // One buffer for all: it is filled again for every record.
  thread_local std::string bytes;
  bytes.clear();
  bytes.push_back(chain_version);
  append_be(bytes, static_cast<std::uint16_t>(book.size()));
  bytes += book;
  append_be(bytes, seq);
  bytes += bytes_of(prev_hash);
  append_be(bytes, static_cast<std::uint16_t>(kind.size()));
  bytes += kind;
  append_be(bytes, static_cast<std::uint32_t>(payload.size()));
  bytes += payload;
  return security::sha256(bytes);
}

Hash merkle_root(std::span<const Hash> hashes) {
  HK_ASSERT(!hashes.empty());
  if (hashes.size() == 1) {
    return leaf(hashes.front());
  }
  const std::size_t left = left_leaves(hashes.size());
  return node(merkle_root(hashes.first(left)), merkle_root(hashes.subspan(left)));
}

std::vector<ProofStep> merkle_path(std::span<const Hash> hashes, std::size_t index) {
  HK_ASSERT(index < hashes.size());
  if (hashes.size() == 1) {
    return {};
  }
  const std::size_t left = left_leaves(hashes.size());
  const bool in_left = index < left;
  std::vector<ProofStep> path = in_left ? merkle_path(hashes.first(left), index)
                                        : merkle_path(hashes.subspan(left), index - left);
  path.push_back(
      {.left = !in_left, .hash = merkle_root(in_left ? hashes.subspan(left) : hashes.first(left))});
  return path;
}

Hash merkle_root_of(const Hash& hash, std::span<const ProofStep> path) {
  Hash so_far = leaf(hash);
  for (const ProofStep& step : path) {
    so_far = step.left ? node(step.hash, so_far) : node(so_far, step.hash);
  }
  return so_far;
}

std::string checkpoint_text(std::string_view book, std::uint64_t first_seq, std::uint64_t last_seq,
                            const Hash& root, const Hash& last_hash) {
  return "hikyaku-checkpoint-v1\n" + std::string(book) + '\n' + std::to_string(first_seq) + '\n' +
         std::to_string(last_seq) + '\n' + hex(root) + '\n' + hex(last_hash) + '\n';
}

bool signature_holds(const Checkpoint& checkpoint, std::string_view book,
                     std::string_view public_key) {
  return security::ed25519_verify(public_key,
                                  checkpoint_text(book, checkpoint.first_seq, checkpoint.last_seq,
                                                  checkpoint.root, checkpoint.last_hash),
                                  checkpoint.signature);
}

}  // namespace hk::core::ledger
