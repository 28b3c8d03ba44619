/// Strong integer ids: two kinds of id never mix, and the number is reached only by value().
#pragma once

#include <compare>
#include <cstddef>
#include <functional>

namespace hk {

template <class Tag, class Rep>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(Rep value) : value_(value) {}
  [[nodiscard]] constexpr Rep value() const { return value_; }
  friend constexpr auto operator<=>(Id, Id) = default;

 private:
  Rep value_{};
};

}  // namespace hk

template <class Tag, class Rep>
struct std::hash<hk::Id<Tag, Rep>> {
  std::size_t operator()(hk::Id<Tag, Rep> id) const noexcept {
    return std::hash<Rep>{}(id.value());
  }
};
