#include "store/memory/sim_store.h"

#include <algorithm>
#include <iterator>

#include "base/assert.h"
#include "base/sometimes.h"

HK_SOMETIMES_DECLARE(sim_store_crash_lost_batches)
HK_SOMETIMES_DECLARE(sim_store_crash_kept_unsynced_batches)
HK_SOMETIMES_DECLARE(sim_store_failed_write_survived)

namespace hk::store {

class SimStore::SnapshotReader final : public Reader {
 public:
  SnapshotReader(SimStore& store, BatchSeq batch)
      : store_(store), batch_(batch), life_(store.life_) {}
  ~SnapshotReader() override {
    if (life_ == store_.life_) {
      store_.release(batch_);
    }
  }

  Result<std::optional<std::string>> get(Table table, std::string_view key) override {
    if (life_ != store_.life_) {
      return dead();
    }
    const Rows& rows = store_.rows(table);
    const auto row = rows.find(key);
    if (row == rows.end()) {
      return std::nullopt;
    }
    const Version* version = version_at(row->second, batch_);
    return version == nullptr ? std::nullopt : version->value;
  }

  Result<std::vector<Entry>> scan(Table table, std::string_view from, std::string_view to,
                                  std::size_t limit, bool reverse) override {
    if (life_ != store_.life_) {
      return dead();
    }
    std::vector<Entry> out;
    if (!to.empty() && to <= from) {
      return out;
    }
    const Rows& rows = store_.rows(table);
    const auto begin = rows.lower_bound(from);
    const auto end = to.empty() ? rows.end() : rows.lower_bound(to);
    if (reverse) {
      collect(std::make_reverse_iterator(end), std::make_reverse_iterator(begin), limit, out);
    } else {
      collect(begin, end, limit, out);
    }
    return out;
  }

 private:
  template <class Iterator>
  void collect(Iterator from, Iterator to, std::size_t limit, std::vector<Entry>& out) const {
    for (; from != to && out.size() < limit; ++from) {
      const Version* version = version_at(from->second, batch_);
      if (version != nullptr && version->value) {
        out.push_back({from->first, *version->value});
      }
    }
  }
  static std::unexpected<Error> dead() {
    return fail(ErrorKind::unavailable,
                "the simulated store crashed after this snapshot was taken");
  }

  SimStore& store_;
  const BatchSeq batch_;
  const std::uint64_t life_;
};

SimStore::SimStore() = default;
SimStore::~SimStore() { HK_ASSERT(snapshots_.empty()); }

Result<BatchSeq> SimStore::refuse(ErrorKind kind, std::string why) {
  refusal_ = Error{ErrorKind::unknown_outcome, "the store stopped after an error: " + why};
  return fail(kind, std::move(why));
}

Result<BatchSeq> SimStore::write(std::span<const Write> batch) {
  HK_ASSERT(!batch.empty());
  if (refusal_) {
    return std::unexpected(*refusal_);
  }
  if (disk_full_) {
    return refuse(ErrorKind::unavailable, "simulated: no space left on the disk");
  }
  if (std::exchange(fail_next_write_, false)) {
    in_doubt_.assign(batch.begin(), batch.end());
    return refuse(ErrorKind::unknown_outcome, "simulated: the write failed");
  }
  apply(batch);
  prune();
  return last_written_;
}

Result<BatchSeq> SimStore::sync() {
  if (refusal_) {
    return std::unexpected(*refusal_);
  }
  if (std::exchange(fail_next_sync_, false)) {
    return refuse(ErrorKind::unknown_outcome, "simulated: the sync failed");
  }
  last_synced_ = last_written_;
  prune();
  return last_synced_;
}

std::unique_ptr<Reader> SimStore::snapshot() {
  ++snapshots_[last_written_];
  return std::make_unique<SnapshotReader>(*this, last_written_);
}

void SimStore::apply(std::span<const Write> batch) {
  ++last_written_;
  for (const Write& one : batch) {
    Rows& table = rows(one.table);
    switch (one.kind) {
      case Write::Kind::put:
        set(one.table, table.try_emplace(one.key).first, one.value, last_written_);
        break;
      case Write::Kind::erase:
        if (const auto row = table.find(one.key); row != table.end()) {
          set(one.table, row, std::nullopt, last_written_);
        }
        break;
      case Write::Kind::erase_range: {
        const auto end = table.lower_bound(one.value);
        for (auto row = table.lower_bound(one.key); one.key < one.value && row != end; ++row) {
          set(one.table, row, std::nullopt, last_written_);
        }
        break;
      }
    }
  }
}

void SimStore::set(Table table, Rows::iterator row, std::optional<std::string> value,
                   BatchSeq batch) {
  Node& node = row->second;
  if (node.latest.batch == batch) {
    node.latest.value = std::move(value);  // its mark was set by the first change of this batch
    return;
  }
  if (node.latest.batch != 0) {
    if (!node.latest.value && !value) {
      return;
    }
    node.older.push_back(std::move(node.latest));
  }
  node.latest = {batch, std::move(value)};
  ++node.marks;
  stale_.push_back({batch, table, row});
}

const SimStore::Version* SimStore::version_at(const Node& node, BatchSeq batch) {
  if (node.latest.batch <= batch) {
    return &node.latest;
  }
  for (auto version = node.older.rbegin(); version != node.older.rend(); ++version) {
    if (version->batch <= batch) {
      return &*version;
    }
  }
  return nullptr;
}

void SimStore::release(BatchSeq batch) {
  const auto found = snapshots_.find(batch);
  HK_ASSERT(found != snapshots_.end());
  if (--found->second == 0) {
    snapshots_.erase(found);
    prune();
  }
}

BatchSeq SimStore::oldest_needed() const {
  return snapshots_.empty() ? last_synced_ : std::min(last_synced_, snapshots_.begin()->first);
}

void SimStore::prune() {
  const BatchSeq needed = oldest_needed();
  while (!stale_.empty() && stale_.front().batch <= needed) {
    const Stale stale = stale_.front();
    stale_.pop_front();
    Node& node = stale.row->second;
    --node.marks;
    // Of the versions up to `needed` the newest is the one that is still seen.
    if (node.latest.batch <= needed) {
      node.older.clear();
    } else {
      const auto newer = std::ranges::find_if(
          node.older, [needed](const Version& version) { return version.batch > needed; });
      if (newer - node.older.begin() > 1) {
        node.older.erase(node.older.begin(), newer - 1);
      }
    }
    if (node.marks == 0 && node.older.empty() && !node.latest.value) {
      rows(stale.table).erase(stale.row);
    }
  }
}

BatchSeq SimStore::crash(Rng& rng) {
  const BatchSeq survivor = last_synced_ + rng.below(last_written_ - last_synced_ + 1);
  const bool all = survivor == last_written_;
  std::vector<Write> in_doubt = std::exchange(in_doubt_, {});
  crash_at(survivor);
  if (all && !in_doubt.empty() && rng.below(2) == 0) {
    HK_SOMETIMES(sim_store_failed_write_survived);
    apply(in_doubt);
    last_synced_ = last_written_;
  }
  return last_written_;
}

void SimStore::crash_at(BatchSeq survivor) {
  HK_ASSERT(last_synced_ <= survivor && survivor <= last_written_);
  if (survivor < last_written_) {
    HK_SOMETIMES(sim_store_crash_lost_batches);
  }
  if (survivor > last_synced_) {
    HK_SOMETIMES(sim_store_crash_kept_unsynced_batches);
  }
  ++life_;
  snapshots_.clear();
  // Every version after last_synced_ has its mark in stale_, newest last.
  while (!stale_.empty() && stale_.back().batch > survivor) {
    const Stale stale = stale_.back();
    stale_.pop_back();
    Node& node = stale.row->second;
    --node.marks;
    HK_ASSERT(node.latest.batch == stale.batch);
    if (!node.older.empty()) {
      node.latest = std::move(node.older.back());
      node.older.pop_back();
      continue;
    }
    HK_ASSERT(node.marks == 0);
    rows(stale.table).erase(stale.row);
  }
  last_written_ = survivor;
  last_synced_ = survivor;
  in_doubt_.clear();
  refusal_ = Error{ErrorKind::unavailable, "the simulated store crashed; reopen it"};
  prune();
}

void SimStore::reopen() {
  if (!in_doubt_.empty()) {
    const std::vector<Write> in_doubt = std::exchange(in_doubt_, {});
    apply(in_doubt);
  }
  refusal_.reset();
  fail_next_write_ = false;
  fail_next_sync_ = false;
}

std::size_t SimStore::old_versions() const {
  std::size_t count = 0;
  for (const Rows& table : tables_) {
    for (const auto& [key, node] : table) {
      count += node.older.size();
    }
  }
  return count;
}

std::size_t SimStore::keys() const {
  std::size_t count = 0;
  for (const Rows& table : tables_) {
    count += table.size();
  }
  return count;
}

}  // namespace hk::store
