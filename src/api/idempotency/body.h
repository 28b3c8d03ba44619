/// What the bodies of these calls have in common. Pure, any thread.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/exact_json.h"
#include "base/time.h"
#include "core/idempotency/commands.h"

namespace hk::api::idempotency {

inline constexpr std::string_view default_space = "default";
inline constexpr std::size_t answer_bytes_max = std::size_t{256} * 1024;

struct KeyName {
  std::string space{};
  std::string key{};
};
/// A key has 1 to 255 visible ASCII characters. A namespace has 1 to 64 of [A-Za-z0-9._~-], is not
/// one of the server's own, and may be absent. invalid_argument.
Result<KeyName> check_name(const Result<std::optional<std::string>>& key,
                           const Result<std::optional<std::string>>& space);

/// The error of the first that has one; null: all are good.
template <class... Results>
const Error* first_error(const Results&... results) {
  const Error* first = nullptr;
  static_cast<void>(((results ? false : (first = &results.error(), true)) || ...));
  return first;
}

class Body {
 public:
  /// invalid_argument: no JSON object, or one with a member that is not one of these.
  static Result<Body> read(std::string_view text, std::initializer_list<std::string_view> names);
  /// The same of what was read before, as part of another perhaps.
  static Result<Body> of(ExactJson json, std::initializer_list<std::string_view> names);

  /// Null: it is absent. A member that is null counts as given.
  [[nodiscard]] const ExactJson* find(std::string_view name) const { return json_.member(name); }
  /// None: it is absent.
  [[nodiscard]] Result<std::optional<std::string>> text(std::string_view name) const;
  [[nodiscard]] Result<std::optional<bool>> boolean(std::string_view name) const;
  /// A text such as "10s" between the two.
  [[nodiscard]] Result<std::optional<Millis>> duration(std::string_view name, Millis least,
                                                       Millis most) const;
  /// "key", "namespace" and "token".
  [[nodiscard]] Result<core::HeldKey> held(core::TenantId tenant) const;
  /// "key" and "namespace".
  [[nodiscard]] Result<KeyName> name() const { return check_name(text("key"), text("namespace")); }

 private:
  explicit Body(ExactJson json) : json_(std::move(json)) {}

  ExactJson json_;
};

}  // namespace hk::api::idempotency
