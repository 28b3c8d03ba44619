#include "core/ledger/late.h"

#include <algorithm>

#include "base/assert.h"
#include "base/sometimes.h"

HK_SOMETIMES_DECLARE(ledger_late_leaf_split)
HK_SOMETIMES_DECLARE(ledger_late_root_split)

namespace hk::core::ledger {

namespace {

bool late_before(const Movement& a, const Movement& b) {
  return a.effective_at != b.effective_at ? a.effective_at < b.effective_at : a.seq < b.seq;
}

Late::Child summary(const Late& node) {
  Late::Child child{.node = node.node};
  if (!node.movements.empty()) {
    child.effective_at = node.movements.front().effective_at;
    child.seq = node.movements.front().seq;
    child.seq_min = child.seq_max = child.seq;
    for (const Movement& one : node.movements) {
      child.sum += counters_of(one);
      child.seq_min = std::min(child.seq_min, one.seq);
      child.seq_max = std::max(child.seq_max, one.seq);
    }
    return child;
  }
  child.effective_at = node.children.front().effective_at;
  child.seq = node.children.front().seq;
  child.seq_min = node.children.front().seq_min;
  for (const Late::Child& one : node.children) {
    child.sum += one.sum;
    child.seq_min = std::min(child.seq_min, one.seq_min);
    child.seq_max = std::max(child.seq_max, one.seq_max);
  }
  return child;
}

template <class T>
std::vector<T> upper_half(std::vector<T>& all) {
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::vector<T> upper(std::make_move_iterator(middle), std::make_move_iterator(all.end()));
  all.erase(middle, all.end());
  return upper;
}

struct Inserted {
  Late::Child self{};
  std::optional<Late::Child> right{};  ///< it was split: what stands right of it
};

Inserted insert_below(LateNodes& nodes, std::uint64_t at, std::uint64_t& last_node,
                      const Movement& movement) {
  Late node = nodes.get(at);
  if (node.children.empty()) {
    // Behind its equals: entries of one transaction stay in their order.
    node.movements.insert(std::ranges::upper_bound(node.movements, movement, late_before),
                          movement);
  } else {
    auto child =
        std::ranges::upper_bound(node.children, movement, late_before, [](const Late::Child& one) {
          return Movement{.seq = one.seq, .effective_at = one.effective_at};
        });
    if (child != node.children.begin()) {
      --child;
    }
    Inserted below = insert_below(nodes, child->node, last_node, movement);
    *child = below.self;
    if (below.right) {
      node.children.insert(child + 1, *below.right);
    }
  }
  Inserted inserted;
  if (std::max(node.movements.size(), node.children.size()) > late_node_max) {
    HK_SOMETIMES(ledger_late_leaf_split);
    Late right = node;
    right.node = ++last_node;
    right.movements = upper_half(node.movements);
    right.children = upper_half(node.children);
    inserted.right = summary(right);
    nodes.put(std::move(right));
  }
  inserted.self = summary(node);
  nodes.put(std::move(node));
  return inserted;
}

bool visit_late(LateNodes& nodes, std::uint64_t at, Instant from,
                const std::function<bool(const Movement&)>& each) {
  const Late node = nodes.get(at);
  for (const Movement& one : node.movements) {
    if (one.effective_at >= from && !each(one)) {
      return false;
    }
  }
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    // All of a child is before `from` if the next one begins before it.
    const bool behind = i + 1 < node.children.size() && node.children[i + 1].effective_at < from;
    if (!behind && !visit_late(nodes, node.children[i].node, from, each)) {
      return false;
    }
  }
  return true;
}

}  // namespace

void insert_late(LateNodes& nodes, const Late& prototype, std::uint64_t& root,
                 std::uint64_t& last_node, const Movement& movement) {
  if (root == 0) {
    Late first = prototype;
    first.node = root = ++last_node;
    first.movements = {movement};
    nodes.put(std::move(first));
    return;
  }
  Inserted inserted = insert_below(nodes, root, last_node, movement);
  if (inserted.right) {
    HK_SOMETIMES(ledger_late_root_split);
    Late above = prototype;
    above.node = root = ++last_node;
    above.children = {inserted.self, *inserted.right};
    nodes.put(std::move(above));
  }
}

Counters128 late_sum(LateNodes& nodes, std::uint64_t root, Instant effective, std::uint64_t seq) {
  Counters128 sum;
  if (root == 0) {
    return sum;
  }
  const Late node = nodes.get(root);
  for (const Movement& one : node.movements) {
    if (one.effective_at <= effective && one.seq <= seq) {
      sum += counters_of(one);
    }
  }
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    const Late::Child& child = node.children[i];
    if (child.effective_at > effective) {
      break;
    }
    if (child.seq_min > seq) {
      continue;
    }
    // Everything in it is effective by then if the next one's first is.
    const bool all_effective =
        i + 1 < node.children.size() && node.children[i + 1].effective_at <= effective;
    sum += all_effective && child.seq_max <= seq ? child.sum
                                                 : late_sum(nodes, child.node, effective, seq);
  }
  return sum;
}

void each_late(LateNodes& nodes, std::uint64_t root, Instant from,
               const std::function<bool(const Movement&)>& each) {
  if (root != 0) {
    static_cast<void>(visit_late(nodes, root, from, each));
  }
}

}  // namespace hk::core::ledger
