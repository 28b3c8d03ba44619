#include "support/memory_reader.h"

#include <algorithm>
#include <variant>

namespace hk::core::testing {

template <class R>
void MemoryTable<R>::throw_if_broken() const {
  if (broken) {
    throw CorruptRecord("the secret place where it broke");
  }
}

template <class R>
Maybe<R> MemoryTable<R>::get(const KeyOf<R>& key) {
  throw_if_broken();
  ++asked;
  const auto found = rows.find(key);
  return found == rows.end() ? Maybe<R>{} : Maybe<R>{found->second};
}

template <class R>
std::vector<Maybe<R>> MemoryTable<R>::get_many(const std::vector<KeyOf<R>>& keys) {
  const std::size_t before = asked;
  auto found = TableView<R>::get_many(keys);
  asked = before;
  return found;
}

template <class R>
std::vector<Row<R>> MemoryTable<R>::scan(const Range<R>& range, std::size_t limit, Order order) {
  throw_if_broken();
  std::vector<Row<R>> some;
  const auto add = [&](const auto& row) {
    ++scanned;
    if constexpr (std::is_same_v<Row<R>, Keyed<R>>) {
      some.push_back({row.first, row.second});
    } else {
      some.push_back(row.second);
    }
  };
  const auto first = rows.lower_bound(range.begin());
  const auto end = rows.lower_bound(range.end());
  if (range.end() < range.begin()) {
    return some;
  }
  if (order == Order::ascending) {
    for (auto at = first; at != end && some.size() < limit; ++at) {
      add(*at);
    }
  } else {
    for (auto at = end; at != first && some.size() < limit;) {
      add(*--at);
    }
  }
  return some;
}

namespace {

struct Apply {
  MemoryReader& to;

  template <class R>
  void operator()(const Put<R>& put) {
    auto& row = to.rows<R>()[KeyOf<R>(put.key())];
    if constexpr (std::is_same_v<R, Message>) {
      row = put.row;
    } else {
      row = put.record();
    }
  }
  template <class R>
  void operator()(const Erase<R>& row) {
    to.rows<R>().erase(row.key);
  }
  template <class R>
  void operator()(const EraseRange<R>& gone) {
    auto& rows = to.rows<R>();
    rows.erase(rows.lower_bound(gone.range.begin()), rows.lower_bound(gone.range.end()));
  }
};

}  // namespace

MemoryReader::MemoryReader() {
  for_each_record([this]<class R>() { read_from<R>(std::get<MemoryTable<R>>(tables_)); });
}
MemoryReader::~MemoryReader() = default;

void MemoryReader::apply(const Mutation& mutation) { std::visit(Apply{*this}, mutation); }

}  // namespace hk::core::testing
