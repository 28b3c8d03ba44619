/// Keys, byte by byte. The order of the bytes is the order of the keys (core/table.h), and what a
/// scan sees; what a key says is not repeated in its value. Pure functions, callable from any
/// thread. A key is written part by part:
///
///   TenantId, std::uint32_t   big-endian integer of 4 bytes
///   Seq, std::uint64_t        big-endian integer of 8 bytes
///   Moment                    its milliseconds, as an integer of 8 bytes; ordered from 1970 on
///   std::string               the last part: its bytes, up to the end of the key
///   LaneKey                   tenant, then queue, group, flow key and host, each with 00 written
///   as
///                             00 FF, then 00 01: injective, ordered like the texts, and none is a
///                             prefix of another
///   LanePlace                 due, seq
///   Folder                    its bytes, then "/"
///   no parts                  the name of the table
///
/// The parsers take arbitrary bytes: nullopt means that no key of ours looks like that.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "core/table.h"
#include "store/table_name.h"

namespace hk::store {

/// Of the table `meta`, beside the record of the core (codec.h).
inline constexpr std::string_view pepper_key = "pepper";

namespace key_detail {

void append(std::string& out, std::uint32_t number);
void append(std::string& out, std::uint64_t number);
void append(std::string& out, core::TenantId tenant);
void append(std::string& out, core::Seq seq);
void append(std::string& out, Moment moment);
void append(std::string& out, const core::LaneKey& lane);
void append(std::string& out, const core::LanePlace& place);
void append(std::string& out, const core::Folder& folder);
void append(std::string& out, const std::string& rest);

/// Takes a key apart from the left; after a mistake done() is false and the parts are empty.
class Parser {
 public:
  explicit Parser(std::string_view key) : rest_(key) {}

  void take(std::uint32_t& number);
  void take(std::uint64_t& number);
  void take(core::TenantId& tenant);
  void take(core::Seq& seq);
  void take(Moment& moment);
  void take(core::LaneKey& lane);
  void take(core::LanePlace& place);
  void take(core::Folder& folder);
  void take(std::string& rest);

  /// The whole key was understood.
  [[nodiscard]] bool done() const { return ok_ && rest_.empty(); }

 private:
  template <class UInt>
  UInt number();
  std::string text();

  std::string_view rest_;
  bool ok_ = true;
};

template <class Key>
inline constexpr bool text_is_last = true;
template <class... Parts>
inline constexpr bool text_is_last<std::tuple<Parts...>> =
    []<std::size_t... I>(std::index_sequence<I...>) {
      return ((!std::is_same_v<Parts, std::string> || I + 1 == sizeof...(Parts)) && ...);
    }(std::index_sequence_for<Parts...>{});

}  // namespace key_detail

/// `key` is a KeyOf<R>, or has the same parts.
template <class R, class Key = core::KeyOf<R>>
std::string encode_key(const Key& key) {
  static_assert(key_detail::text_is_last<core::KeyOf<R>>, "another part would not be found again");
  if constexpr (core::part_count<core::KeyOf<R>> == 0) {
    return std::string(table_name(table_of<R>));
  } else {
    std::string out;
    std::apply([&out](const auto&... parts) { (key_detail::append(out, parts), ...); },
               core::parts_of(key));
    return out;
  }
}

template <class R>
std::optional<core::KeyOf<R>> decode_key(std::string_view bytes) {
  core::KeyOf<R> key{};
  if constexpr (core::part_count<core::KeyOf<R>> == 0) {
    return bytes == table_name(table_of<R>) ? std::optional(key) : std::nullopt;
  } else {
    key_detail::Parser parser(bytes);
    if constexpr (core::part_count<core::KeyOf<R>> == 1) {
      parser.take(key);
    } else {
      std::apply([&parser](auto&... parts) { (parser.take(parts), ...); }, key);
    }
    return parser.done() ? std::optional(std::move(key)) : std::nullopt;
  }
}

/// The smallest key greater than every key that starts with the prefix; "" = there is none.
std::string prefix_end(std::string prefix);
/// The smallest key greater than this one.
std::string after_key(std::string key);

/// The keys of a range: from <= key < to; to = "": no upper bound.
struct KeyRange {
  std::string from{};
  std::string to{};
  bool empty = false;
};

template <class R>
KeyRange encode_range(const core::Range<R>& range) {
  constexpr std::size_t whole = core::part_count<core::KeyOf<R>>;
  const auto bytes = [](const core::Edge<R>& edge) {
    std::string out;
    bool before_1970 = false;  // no row is: the edge stands before the first one that can be
    const auto append = [&](const auto& part) {
      if constexpr (std::is_same_v<decltype(part), const Moment&>) {
        before_1970 = part < Moment{};
        key_detail::append(out, std::max(part, Moment{}));
      } else {
        key_detail::append(out, part);
      }
    };
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      const auto& parts = core::parts_of(edge.key);
      ((I < edge.parts && !before_1970 ? append(std::get<I>(parts)) : void()), ...);
    }(std::make_index_sequence<whole>{});
    if (!edge.past || before_1970) {
      return out;
    }
    return edge.parts == whole ? after_key(std::move(out)) : prefix_end(std::move(out));
  };
  KeyRange keys{.from = bytes(range.begin()), .to = bytes(range.end())};
  keys.empty = (range.begin().past && keys.from.empty()) ||
               (!keys.to.empty() && keys.to <= keys.from) || (keys.to.empty() && !range.end().past);
  if (keys.empty) {
    keys.to = keys.from;
  }
  return keys;
}

}  // namespace hk::store
