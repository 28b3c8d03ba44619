#include "store/rocksdb/chain.h"

#include <algorithm>

#include "base/bytes.h"

namespace hk::store {
namespace {

std::string_view as_text(const ChainHash& hash) {
  return {reinterpret_cast<const char*>(hash.data()), hash.size()};
}

}  // namespace

Link next_link(const Link& previous, std::string_view content) {
  const BatchSeq seq = previous.seq + 1;
  std::string number;
  append_be(number, seq);
  security::Sha256 sha;
  sha.update(as_text(previous.hash));
  sha.update(number);
  sha.update(content);
  return {seq, sha.finish()};
}

std::string chain_key(BatchSeq seq) {
  std::string key(chain_prefix);
  append_be(key, static_cast<std::uint16_t>(seq % ring_size));
  return key;
}

std::string chain_value(const Link& link) {
  std::string value;
  append_be(value, link.seq);
  value.append(as_text(link.hash));
  return value;
}

std::optional<Link> parse_chain_value(std::string_view key, std::string_view value) {
  Link link;
  if (value.size() != sizeof link.seq + link.hash.size()) {
    return std::nullopt;
  }
  link.seq = read_be<std::uint64_t>(value);
  value.remove_prefix(sizeof link.seq);
  std::ranges::transform(value, link.hash.begin(),
                         [](char c) { return static_cast<std::uint8_t>(c); });
  return link.seq != 0 && chain_key(link.seq) == key ? std::optional(link) : std::nullopt;
}

Link RecoveredChain::last() const {
  return links_.empty() ? Link{} : Link{links_.rbegin()->first, links_.rbegin()->second};
}

Result<void> RecoveredChain::check_no_holes() const {
  const BatchSeq newest = last().seq;
  const BatchSeq oldest = newest > ring_size ? newest - ring_size + 1 : 1;
  for (BatchSeq seq = oldest; seq <= newest; ++seq) {
    if (!links_.contains(seq)) {
      return fail(ErrorKind::corruption, "batch " + std::to_string(seq) +
                                             " is missing in the recovered history, which goes on "
                                             "to batch " +
                                             std::to_string(newest));
    }
  }
  return {};
}

std::optional<ChainHash> RecoveredChain::at(BatchSeq seq) const {
  if (seq == 0) {
    return ChainHash{};
  }
  const auto found = links_.find(seq);
  return found == links_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace hk::store
