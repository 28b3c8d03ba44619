/// What the core reads, from memory: every table of core/tables.def is a map. For unit tests only;
/// no bytes, no snapshots. What it does stands in the .cpp file: every test of the core includes
/// this.
#pragma once

#include <map>
#include <tuple>
#include <type_traits>
#include <vector>

#include "core/mutation.h"
#include "core/reader.h"

namespace hk::core::testing {

template <class R>
class MemoryTable : public TableView<R> {
 public:
  struct Less {
    using is_transparent = void;
    bool operator()(const KeyOf<R>& a, const KeyOf<R>& b) const { return a < b; }
    bool operator()(const KeyOf<R>& key, const Edge<R>& edge) const { return edge.is_behind(key); }
  };
  /// A message is shared, as everywhere.
  using Held = std::conditional_t<std::is_same_v<Row<R>, Keyed<R>>, R, Row<R>>;

  Maybe<R> get(const KeyOf<R>& key) override;
  std::vector<Maybe<R>> get_many(const std::vector<KeyOf<R>>& keys) override;
  std::vector<Row<R>> scan(const Range<R>& range, std::size_t limit, Order order) override;

  std::map<KeyOf<R>, Held, Less> rows;
  bool broken = false;      ///< every record of it is corrupt
  std::size_t scanned = 0;  ///< rows that scans have given out
  std::size_t asked = 0;    ///< keys that were asked for one by one

 private:
  void throw_if_broken() const;
};

class MemoryReader : public Reader {
 public:
  MemoryReader();
  ~MemoryReader() override;

  void apply(const Mutation& mutation);

  /// In the open: a test looks at them and may bend them.
  template <class R>
  auto& rows() {
    return stored<R>().rows;
  }
  template <class R>
  [[nodiscard]] const auto& rows() const {
    return std::get<MemoryTable<R>>(tables_).rows;
  }
  template <class R>
  MemoryTable<R>& stored() {
    return std::get<MemoryTable<R>>(tables_);
  }
  /// For records that hold their key.
  template <class R>
  auto& put(typename MemoryTable<R>::Held record) {
    if constexpr (std::is_same_v<Row<R>, R>) {
      const KeyOf<R> key = own_key(record);
      return rows<R>().insert_or_assign(key, std::move(record)).first->second;
    } else {
      const KeyOf<R> key = own_key(*record);
      return rows<R>().insert_or_assign(key, std::move(record)).first->second;
    }
  }

 private:
  AllRecords<std::tuple, MemoryTable> tables_;
};

}  // namespace hk::core::testing
