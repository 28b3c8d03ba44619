/// Where batches become durable. The whole interface, because the core decides everything else: a
/// store knows tables, keys and bytes, and nothing of messages (codec.h translates).
///
/// Thread safety: write() from one thread at a time (the core's); sync() from one thread at a time
/// (the syncer's), beside write(); snapshot() and Reader from any thread.
///
/// Outcomes: a batch is durable or unknown, never "failed": after an error of write() or sync() the
/// log may or may not hold it. So after an error every later write() and sync() is refused, the
/// process stops, and the next start recovers what the log really holds.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace hk::store {

/// The tables of core/tables.def. Numbers are on disk.
enum class Table : std::uint8_t {
#define HK_TABLE(number_, table_, ...) table_ = number_,
#include "core/tables.def"
#undef HK_TABLE
};
inline constexpr std::array all_tables = {
#define HK_TABLE(number_, table_, ...) Table::table_,
#include "core/tables.def"
#undef HK_TABLE
};
/// Of an array with a place for each table: not every number below has a table.
inline constexpr std::size_t table_places =
    static_cast<std::size_t>(*std::ranges::max_element(all_tables)) + 1;

struct Write {
  enum class Kind : std::uint8_t { put, erase, erase_range };
  Kind kind = Kind::put;
  Table table{};
  std::string key{};    ///< erase_range: first key
  std::string value{};  ///< erase_range: end key, exclusive
};

/// The number of a batch: 1 for the first ever, then one more each.
using BatchSeq = std::uint64_t;

struct Entry {
  std::string key{};
  std::string value{};
  friend bool operator==(const Entry&, const Entry&) = default;
};

/// A consistent view. Usable from any thread, also while the store goes on; must not outlive the
/// store.
class Reader {
 public:
  Reader() = default;
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  virtual ~Reader() = default;

  /// not an error: nullopt for an absent key. corruption: the bytes are not what was written.
  virtual Result<std::optional<std::string>> get(Table table, std::string_view key) = 0;
  /// Of each key what get() says; best in the order of the keys.
  virtual Result<std::vector<std::optional<std::string>>> get_many(
      Table table, std::span<const std::string> keys) {
    std::vector<std::optional<std::string>> values;
    values.reserve(keys.size());
    for (const std::string& key : keys) {
      auto value = get(table, key);
      if (!value) {
        return std::unexpected(std::move(value.error()));
      }
      values.push_back(std::move(*value));
    }
    return values;
  }
  /// Entries with from <= key < to (to = "": no upper bound), at most limit, ascending; with
  /// `reverse` the same range from its end downwards.
  virtual Result<std::vector<Entry>> scan(Table table, std::string_view from, std::string_view to,
                                          std::size_t limit, bool reverse = false) = 0;
};

class Store {
 public:
  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  virtual ~Store() = default;

  /// The whole batch or none of it, after all earlier ones; visible to later snapshots at once;
  /// durable after the next sync(). REQUIRES: !batch.empty().
  virtual Result<BatchSeq> write(std::span<const Write> batch) = 0;
  /// Makes durable everything written before the call; returns the last batch it covers.
  virtual Result<BatchSeq> sync() = 0;
  /// Sees every batch written before the call, synced or not.
  virtual std::unique_ptr<Reader> snapshot() = 0;
  /// The last batch that was there at open, or written since.
  [[nodiscard]] virtual BatchSeq last_written() const = 0;
};

}  // namespace hk::store
