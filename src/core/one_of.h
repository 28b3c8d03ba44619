/// A value that is one of the alternatives of one of several variants: a command is one of some
/// component's commands. What moves, destroys and looks into all these types is compiled once, in
/// command.cpp: whoever passes such a value on need not.
#pragma once

#include <type_traits>
#include <utility>
#include <variant>

#include "base/assert.h"

namespace hk::core {

/// Is it an alternative of the variant, or of one in it?
template <class One, class Variant>
inline constexpr bool is_in = false;
template <class One, class... Ones>
inline constexpr bool is_in<One, std::variant<Ones...>> =
    (std::is_same_v<One, Ones> || ...) || (is_in<One, Ones> || ...);

/// `Of::Parts` is a variant of variants. It is not a parameter itself, for the sake of the names
/// of all functions that take one.
template <class Of>
class OneOf {
 public:
  using Parts = typename Of::Parts;

  OneOf();  ///< the first of the first
  template <class One>
    requires is_in<One, Parts>
  OneOf(One one);  // implicit: each of them is one
  OneOf(const OneOf&)
    requires std::is_copy_constructible_v<Parts>;
  OneOf(OneOf&&) noexcept;
  OneOf& operator=(const OneOf&)
    requires std::is_copy_constructible_v<Parts>;
  OneOf& operator=(OneOf&&) noexcept;
  ~OneOf();

  /// Null: it is another one.
  template <class One>
  [[nodiscard]] const One* get_if() const;
  template <class One>
  [[nodiscard]] One* get_if() {
    return const_cast<One*>(std::as_const(*this).template get_if<One>());
  }
  template <class One>
  [[nodiscard]] bool is() const {
    return get_if<One>() != nullptr;
  }
  /// REQUIRES: is<One>().
  template <class One>
  [[nodiscard]] const One& get() const {
    const One* const one = get_if<One>();
    HK_ASSERT(one != nullptr);
    return *one;
  }
  template <class One>
  [[nodiscard]] One& get() {
    return const_cast<One&>(std::as_const(*this).template get<One>());
  }

  [[nodiscard]] const Parts& parts() const& { return parts_; }
  [[nodiscard]] Parts&& parts() && { return std::move(parts_); }

 private:
  Parts parts_;
};

}  // namespace hk::core
