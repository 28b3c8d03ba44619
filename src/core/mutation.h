/// What a batch changes: rows are put and erased, atomically and in order.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/table.h"

namespace hk::core {

/// A row is new, or another than before.
template <class R>
struct Put {
  Row<R> row{};

  [[nodiscard]] const R& record() const { return record_of<R>(row); }
  [[nodiscard]] decltype(auto) key() const {
    if constexpr (KnowsKey<R>) {
      return key_of(record());
    } else {
      return static_cast<const KeyOf<R>&>(row.key);
    }
  }
};

/// Every mutation would be as large as one of them: a schedule holds a whole message.
template <class R>
concept Large = std::is_same_v<R, Schedule> || std::is_same_v<R, webhook::Event> ||
                std::is_same_v<R, webhook::Endpoint> || std::is_same_v<R, webhook::Settings>;
template <Large R>
struct Put<R> {
  std::shared_ptr<const R> row{};

  explicit Put(R record) : row(std::make_shared<const R>(std::move(record))) {}
  explicit Put(std::shared_ptr<const R> record) : row(std::move(record)) {}
  [[nodiscard]] const R& record() const { return *row; }
  [[nodiscard]] auto key() const { return key_of(*row); }
};

/// A row is gone. Not an error: there is none.
template <class R>
struct Erase {
  KeyOf<R> key{};

  template <class... Parts>
    requires std::is_constructible_v<KeyOf<R>, Parts...>
  explicit Erase(Parts&&... parts) : key(std::forward<Parts>(parts)...) {}
};

/// Many rows are gone at once, without reading them.
template <class R>
struct EraseRange {
  Range<R> range{};
};

namespace table_detail {

template <class... Changes>
struct AnyOf;
template <class... Rs, class... Others>
struct AnyOf<Kinds<Rs...>, Others...> {
  using Type = std::variant<Put<Rs>..., Erase<Rs>..., Others...>;
};

}  // namespace table_detail

using Mutation = table_detail::AnyOf<Records, EraseRange<Attempt>, EraseRange<Events>>::Type;

}  // namespace hk::core
