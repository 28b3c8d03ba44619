/// What the ledger has in memory: books, and accounts as far as there is room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/secret.h"
#include "base/time.h"
#include "core/ledger/record.h"

namespace hk::core::ledger {

struct HotBook;

/// An account in memory.
struct HotAccount {
  HotBook* book = nullptr;
  Account row{};
  bool dirty = false;           ///< to be written with this batch
  std::uint64_t saved_for = 0;  ///< the group that has a copy of it
  std::uint64_t used_in = 0;    ///< the batch that asked for it last
  std::size_t bytes = 0;        ///< as it was counted
};
/// The one that was used last is the first.
using HotAccounts = std::list<HotAccount>;

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>{}(text);
  }
};

/// A sum that is kept.
struct HotRollup {
  Rollup row{};
  bool dirty = false;
};

/// A book in memory. All but the cache of accounts comes back if a group is refused.
struct HotBook {
  Book row{};
  bool dirty = false;
  std::uint64_t saved_for = 0;
  std::uint64_t used_in = 0;  ///< the batch that asked for it last

  // Where its log ends.
  std::uint64_t seq = 0;
  Hash hash{};
  Instant recorded_at{};
  std::uint64_t accounts = 0;  ///< the highest number of one
  std::uint64_t monitors_made = 0;
  /// Nothing that is open expires before it.
  Instant next_expiry = no_end;

  // Since the last checkpoint.
  std::vector<Hash> uncovered{};
  std::uint64_t uncovered_from = 1;  ///< seq
  Instant uncovered_since{};

  // Timers that are set; `never`: none is known.
  Moment expiry_timer = never;
  Moment checkpoint_timer = never;
  Moment rollup_timer = never;

  /// Of this batch: written by flush().
  std::vector<Record> records{};
  Hash hash_before_records{};

  std::vector<Monitor> monitors{};
  std::vector<HotRollup> rollups{};
  Secret key{};

  std::unordered_map<std::string, HotAccounts::iterator, TextHash, std::equal_to<>> names{};
};

/// The one that was used last is the first.
using HotBooks = std::list<HotBook>;

/// What a group changed in a book, as it was before.
struct SavedBook {
  HotBook* book = nullptr;
  Book row{};
  bool dirty = false;
  bool made = false;  ///< the group made it
  std::uint64_t seq = 0;
  Hash hash{};
  Instant recorded_at{};
  std::uint64_t accounts = 0;
  std::uint64_t monitors_made = 0;
  Instant next_expiry{};
  std::size_t uncovered = 0;
  /// Of an import, whose checkpoints come within the group.
  std::optional<std::vector<Hash>> uncovered_whole{};
  std::uint64_t uncovered_from = 1;
  Instant uncovered_since{};
  std::size_t records = 0;
  std::vector<Monitor> monitors{};
  std::vector<HotRollup> rollups{};
};

struct SavedAccount {
  HotAccounts::iterator account{};
  Account row{};
  bool dirty = false;
  bool made = false;
};

}  // namespace hk::core::ledger
