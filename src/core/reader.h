/// How the rules read what is stored: typed, by key, in bounded pieces. It shows every batch
/// written so far (also those not yet synced); what the current batch has changed is the core's own
/// to know (batch.h). Implemented by store/typed_reader.h over any store. A broken record is
/// reported by throwing CorruptRecord: nothing is decided on data that is not what was written.
#pragma once

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "core/table.h"

namespace hk::core {

struct CorruptRecord : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Reader {
 public:
  Reader() = default;
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  virtual ~Reader() = default;

  /// Nothing: there is no such record.
  template <class R>
  Maybe<R> get(const KeyOf<R>& key) {
    return table<R>().get(key);
  }
  /// Of each key what get() says; best in the order of the keys.
  template <class R>
  std::vector<Maybe<R>> get_many(const std::vector<KeyOf<R>>& keys) {
    return table<R>().get_many(keys);
  }
  /// Rows of the range, at most `limit`, in the order of their keys or downwards from its end.
  template <class R>
  std::vector<Row<R>> scan(const Range<R>& range = {}, std::size_t limit = all_rows,
                           Order order = Order::ascending) {
    return table<R>().scan(range, limit, order);
  }

  // ---- scans that components share ----

  /// Entries of the lane with place > after, in order.
  std::vector<LaneEntry> lane_entries(const LaneKey& lane, const std::optional<LanePlace>& after,
                                      std::size_t limit);
  /// Entries of all lanes whose key is > after, lane by lane, in order.
  std::vector<LaneRow> lane_rows(const std::optional<LaneKey>& after, std::size_t limit);
  /// The first lane that has entries and whose key is > after.
  std::optional<LaneKey> next_lane(const std::optional<LaneKey>& after);
  /// The highest number that a message of the stored origin has or had: one is not given out again
  /// when the last message has been purged.
  Seq last_seq();
  /// Of the same origin.
  std::vector<std::shared_ptr<const Message>> messages_after(Seq after, std::size_t limit) {
    return scan(numbered_after(after), limit);
  }

 protected:
  template <class R>
  TableView<R>& table() {
    return *std::get<TableView<R>*>(tables_);
  }
  /// From now on `R` is read there. Before the first read every kind has one.
  template <class R>
  void read_from(TableView<R>& table) {
    std::get<TableView<R>*>(tables_) = &table;
  }

 private:
  static Range<Message> numbered_after(Seq after);

  template <class R>
  using Pointer = TableView<R>*;
  AllRecords<std::tuple, Pointer> tables_{};
};

}  // namespace hk::core
