/// A record kind is one struct and one row of tables.def. From the row come its table on disk, its
/// key, get and scan for whoever reads (reader.h), put and erase (mutation.h), how it is seen
/// within a batch (batch.h), its column family, that `verify` reads it, and the tests' memory.
///
/// A new kind of record:
///   1. The struct, in its component, with operator==, and key_of() beside it if it holds its key.
///   2. Its message in store/records.proto, and its two translations in a store/record_*.cpp:
///      Codec<R>::encode and Codec<R>::decode. The linker asks for them.
///   3. One row in tables.def. A table more raises the format (docs/reference/data-format.md).
/// What else must hold of it is one overload of Verifier::rule in store/verify.cpp.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/record.h"

namespace hk::core {

enum class Seen : std::uint8_t {
  written,    ///< its component knows in memory what it has put
  read_back,  ///< commands later in a batch read what earlier ones put
};

namespace table_detail {

template <class... Parts>
struct KeyFrom {
  using Type = std::tuple<Parts...>;
};
template <class Part>
struct KeyFrom<Part> {
  using Type = Part;
};
template <class... Rs>
struct Kinds {};
template <class First, class... Rs>
struct Tail {
  using Type = Kinds<Rs...>;
};

}  // namespace table_detail

template <class R>
struct TableOf;

#define HK_TABLE(number_, table_, Record_, seen_, ...)    \
  template <>                                             \
  struct TableOf<Record_> {                               \
    using Key = table_detail::KeyFrom<__VA_ARGS__>::Type; \
    static constexpr Seen seen = Seen::seen_;             \
  };
#include "core/tables.def"
#undef HK_TABLE

/// Every kind of record, in the order of tables.def.
using Records = table_detail::Tail<void
#define HK_TABLE(number_, table_, Record_, ...) , Record_
#include "core/tables.def"
#undef HK_TABLE
                                   >::Type;

/// `Each<R>` for every kind: AllRecords<std::tuple, View> is std::tuple<View<Meta>, …>.
template <template <class...> class Out, template <class> class Each, class List = Records>
struct ForRecords;
template <template <class...> class Out, template <class> class Each, class... Rs>
struct ForRecords<Out, Each, table_detail::Kinds<Rs...>> {
  using Type = Out<Each<Rs>...>;
};
template <template <class...> class Out, template <class> class Each>
using AllRecords = ForRecords<Out, Each>::Type;

/// each.template operator()<R>() for every kind, in the order of tables.def.
template <class Each>
void for_each_record(Each&& each) {
  [&]<class... Rs>(table_detail::Kinds<Rs...>) {
    (each.template operator()<Rs>(), ...);
  }(Records{});
}

template <class R>
using KeyOf = TableOf<R>::Key;

/// The record holds its key.
template <class R>
concept KnowsKey = requires(const R& record) { key_of(record); };

/// The parts of a key; one part alone is its own key.
template <class Part>
std::tuple<const Part&> parts_of(const Part& part) {
  return {part};
}
template <class... Parts>
const std::tuple<Parts...>& parts_of(const std::tuple<Parts...>& key) {
  return key;
}
template <class Key>
inline constexpr std::size_t part_count =
    std::tuple_size_v<std::remove_cvref_t<decltype(parts_of(std::declval<const Key&>()))>>;

/// A key that a record holds as one of its own.
template <class R>
KeyOf<R> own_key(const R& record) {
  return std::apply([](const auto&... parts) { return KeyOf<R>(parts...); },
                    parts_of(key_of(record)));
}

/// With the key beside it, for records that do not hold theirs.
template <class R>
struct Keyed {
  KeyOf<R> key{};
  R record{};
  friend bool operator==(const Keyed&, const Keyed&) = default;
};

/// How a record is read. A message is shared: the cache, deliveries and batches hold the same one.
template <class R>
struct Reading {
  using Maybe = std::optional<R>;
  using Row = std::conditional_t<KnowsKey<R>, R, Keyed<R>>;
};
template <>
struct Reading<Message> {
  using Maybe = std::shared_ptr<const Message>;
  using Row = std::shared_ptr<const Message>;
};
template <class R>
using Maybe = Reading<R>::Maybe;
template <class R>
using Row = Reading<R>::Row;

template <class R>
const R& record_of(const Row<R>& row) {
  if constexpr (std::is_same_v<Row<R>, Keyed<R>>) {
    return row.record;
  } else if constexpr (std::is_same_v<Row<R>, R>) {
    return row;
  } else {
    return *row;
  }
}

/// A place between the rows of a table: before or past all whose key begins with the first `parts`
/// of `key`.
template <class R>
struct Edge {
  KeyOf<R> key{};
  std::size_t parts = 0;
  bool past = false;

  template <class... Parts>
  static Edge at(bool past, const Parts&... parts) {
    static_assert(sizeof...(Parts) > 0 && sizeof...(Parts) <= part_count<KeyOf<R>>);
    Edge edge{.parts = sizeof...(Parts), .past = past};
    if constexpr (part_count<KeyOf<R>> == 1) {
      ((edge.key = parts), ...);
    } else {
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        ((std::get<I>(edge.key) = parts), ...);
      }(std::index_sequence_for<Parts...>{});
    }
    return edge;
  }

  /// Of the first `count` parts.
  static std::strong_ordering compare(const KeyOf<R>& a, const KeyOf<R>& b, std::size_t count) {
    std::strong_ordering order = std::strong_ordering::equal;
    const auto& left = parts_of(a);
    const auto& right = parts_of(b);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      static_cast<void>(
          ((I >= count || (order = std::get<I>(left) <=> std::get<I>(right)) != 0) || ...));
    }(std::make_index_sequence<part_count<KeyOf<R>>>{});
    return order;
  }
  [[nodiscard]] bool is_behind(const KeyOf<R>& row) const {
    const auto order = compare(row, key, parts);
    return order < 0 || (order == 0 && past);
  }
  friend bool operator<(const Edge& a, const Edge& b) {
    const auto order = compare(a.key, b.key, std::min(a.parts, b.parts));
    if (order != 0) {
      return order < 0;
    }
    if (a.parts == b.parts) {
      return !a.past && b.past;
    }
    return a.parts < b.parts ? !a.past : b.past;
  }
};

/// Which rows of a table: all, or those between two edges. Each call makes it narrower.
template <class R>
class Range {
 public:
  Range() { end_.past = true; }
  /// Those whose key begins so.
  template <class... Parts>
  static Range of(const Parts&... parts) {
    return Range().from(parts...).up_to(parts...);
  }
  template <class... Parts>
  Range& from(const Parts&... parts) {
    return begin_at(Edge<R>::at(false, parts...));
  }
  template <class... Parts>
  Range& after(const Parts&... parts) {
    return begin_at(Edge<R>::at(true, parts...));
  }
  template <class... Parts>
  Range& before(const Parts&... parts) {
    return end_at(Edge<R>::at(false, parts...));
  }
  template <class... Parts>
  Range& up_to(const Parts&... parts) {
    return end_at(Edge<R>::at(true, parts...));
  }

  [[nodiscard]] const Edge<R>& begin() const { return begin_; }
  [[nodiscard]] const Edge<R>& end() const { return end_; }

 private:
  Range& begin_at(Edge<R> edge) {
    if (begin_ < edge) {
      begin_ = std::move(edge);
    }
    return *this;
  }
  Range& end_at(Edge<R> edge) {
    if (edge < end_) {
      end_ = std::move(edge);
    }
    return *this;
  }

  Edge<R> begin_{};
  Edge<R> end_{};
};

enum class Order : std::uint8_t { ascending, descending };
inline constexpr std::size_t all_rows = std::numeric_limits<std::size_t>::max();

/// One table, as whoever reads sees it.
template <class R>
class TableView {
 public:
  TableView() = default;
  TableView(const TableView&) = delete;
  TableView& operator=(const TableView&) = delete;
  virtual ~TableView() = default;

  /// Nothing: there is no such record.
  virtual Maybe<R> get(const KeyOf<R>& key) = 0;
  /// The same of each key; many at once cost a store less than one by one.
  virtual std::vector<Maybe<R>> get_many(const std::vector<KeyOf<R>>& keys) {
    std::vector<Maybe<R>> rows;
    rows.reserve(keys.size());
    for (const KeyOf<R>& key : keys) {
      rows.push_back(get(key));
    }
    return rows;
  }
  /// At most `limit`, in the order of their keys or from the end of the range downwards.
  virtual std::vector<Row<R>> scan(const Range<R>& range, std::size_t limit, Order order) = 0;
};

}  // namespace hk::core
