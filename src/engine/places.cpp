#include "engine/places.h"

#include <algorithm>

#include "base/assert.h"

namespace hk::engine {

void Places::open(core::PartitionId partition) {
  const std::uint32_t most = shares_.empty() ? total_ : step;
  const std::uint32_t share = std::min(free(), most);
  const bool added = shares_.emplace(partition, Share{.share = share, .held = share}).second;
  HK_ASSERT(added);
}

std::uint32_t Places::free() const {
  std::uint64_t held = 0;
  for (const auto& [partition, one] : shares_) {
    held += one.held;
  }
  return held >= total_ ? 0 : total_ - static_cast<std::uint32_t>(held);
}

/// What each of them may have, however much the others want.
std::uint32_t Places::fair() const {
  return std::max(1U, total_ / static_cast<std::uint32_t>(shares_.size()));
}

/// Of those that want more, the one that has least.
Places::Shares::iterator Places::neediest() {
  auto found = shares_.end();
  for (auto at = shares_.begin(); at != shares_.end(); ++at) {
    if (at->second.wants && (found == shares_.end() || at->second.share < found->second.share)) {
      found = at;
    }
  }
  return found;
}

/// What can be taken from it: what it does not use, and what it has beyond its fair part if the
/// other one has less than that. One place stays, to begin with.
std::uint32_t Places::excess(const Share& of, const Share& needy) const {
  const std::uint32_t part = fair();
  const std::uint32_t keeps = of.wants ? part : std::max(of.used, 1U);
  const std::uint32_t unused = of.share > keeps ? of.share - keeps : 0;
  const std::uint32_t unfair = needy.share < part && of.share > part ? of.share - part : 0;
  return of.wants && needy.share >= part ? 0 : std::max(unused, unfair);
}

Places::Shares::iterator Places::richest(const Share& needy) {
  auto found = shares_.end();
  std::uint32_t most = 0;
  for (auto at = shares_.begin(); at != shares_.end(); ++at) {
    const std::uint32_t has = &at->second == &needy ? 0 : excess(at->second, needy);
    if (has > most) {
      most = has;
      found = at;
    }
  }
  return found;
}

std::vector<Places::Change> Places::report(core::PartitionId partition, const Use& use) {
  const auto reporter = shares_.find(partition);
  if (reporter == shares_.end()) {
    return {};  // it was closed meanwhile
  }
  Share& own = reporter->second;
  own.used = use.used;
  own.wants = use.wants;
  // A batch that began before it was told of a smaller share may have used the larger one.
  own.held = std::max({own.share, use.share, use.used});

  std::vector<Change> changes;
  const auto needy = neediest();
  if (needy == shares_.end()) {
    return changes;
  }
  Share& in_need = needy->second;
  if (const std::uint32_t more = std::min(free(), step); more > 0) {
    in_need.share += more;
    in_need.held = std::max(in_need.held, in_need.share);
    in_need.wants = false;  // it says so again if that is not enough
    changes.push_back({needy->first, in_need.share});
    return changes;
  }
  const bool on_their_way = std::any_of(shares_.begin(), shares_.end(), [](const auto& one) {
    return one.second.held > one.second.share;
  });
  if (const auto rich = richest(in_need); rich != shares_.end() && !on_their_way) {
    rich->second.share -= std::min(excess(rich->second, in_need), step);
    changes.push_back({rich->first, rich->second.share});
  }
  return changes;
}

}  // namespace hk::engine
