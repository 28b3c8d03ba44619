/// The filter policy of a subscription: which messages it wants, by their attributes or by their
/// body. Parsed once, then asked for every message that is published. Pure, any thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "core/topic/record.h"

namespace hk::core {

/// A policy of the store was accepted once: a limit that was drawn since is not held against it.
enum class PolicyFrom : std::uint8_t { client, store };

namespace filter {

/// A value that is no object and no array.
using Scalar = std::variant<std::nullptr_t, bool, double, std::string>;

struct Range {
  double low = 0;
  double high = 0;
  bool low_included = true;
  bool high_included = true;

  [[nodiscard]] bool holds(double value) const;
};

struct Network {
  std::array<std::uint8_t, 16> address{};
  std::size_t bytes = 0;  ///< 4 or 16
  std::size_t bits = 0;

  [[nodiscard]] bool holds(std::string_view address_text) const;
};

enum class Operator : std::uint8_t {
  equal,
  prefix,
  suffix,
  equal_ignoring_case,
  anything_but,
  numeric,
  exists,
  cidr,
};

struct Condition {
  Operator op = Operator::equal;
  Scalar value{};                ///< equal; the text of prefix, suffix, ...; the bool of exists
  Range range{};                 ///< numeric
  Network network{};             ///< cidr
  std::vector<Condition> but{};  ///< anything_but: none of these
};

struct Rules;
struct Rule {
  std::string key{};
  std::vector<Condition> any_of{};
  /// One, instead of any_of: the rules of the object under the key. Without an initializer, which
  /// clang would look at while Rules is incomplete.
  std::vector<Rules> nested;
};
struct Rules {
  std::vector<Rule> all_of{};
  std::vector<std::vector<Rules>> alternatives{};  ///< of each "$or" one must hold
};

/// invalid_argument: the reason, for the person who wrote the policy.
Result<Rules> parse_rules(std::string_view text, FilterScope scope, PolicyFrom from);

}  // namespace filter

/// A message as policies look at it: what of it was read before anybody asked. Whoever publishes
/// reads it, so that the core's thread does not.
class FilterSubject {
 public:
  FilterSubject();
  FilterSubject(FilterSubject&&) noexcept;
  FilterSubject& operator=(FilterSubject&&) noexcept;
  ~FilterSubject();

  // internal: no memory for it. To take that for a no would lose the message.
  Result<void> read_attributes(const std::vector<Attribute>& attributes);
  /// One that is no object, or too large, is wanted by no policy that says something of it.
  Result<void> read_body(std::string_view body);

 private:
  friend class FilterPolicy;
  struct Read;

  std::unique_ptr<Read> read_;
};

class FilterPolicy {
 public:
  /// invalid_argument: the reason. "{}" wants everything.
  static Result<FilterPolicy> parse(std::string_view text, FilterScope scope,
                                    PolicyFrom from = PolicyFrom::client);

  /// conflict: what it asks about was not read.
  [[nodiscard]] Result<bool> matches(const FilterSubject& message) const;
  [[nodiscard]] FilterScope scope() const { return scope_; }

 private:
  FilterPolicy(filter::Rules rules, FilterScope scope) : rules_(std::move(rules)), scope_(scope) {}

  filter::Rules rules_;
  FilterScope scope_;
};

}  // namespace hk::core
