// Whether a message is wanted by a filter policy. Attributes are looked at as an object of their
// values, so that one set of rules serves both scopes.
#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <exception>
#include <optional>

#include "base/ascii.h"
#include "base/json_input.h"
#include "core/topic/filter_policy.h"
#include "core/topic/filter_policy_json.h"

namespace hk::core {

namespace filter {

bool Range::holds(double value) const {
  return (low_included ? value >= low : value > low) &&
         (high_included ? value <= high : value < high);
}

bool Network::holds(std::string_view address_text) const {
  const std::string terminated(address_text);
  std::array<std::uint8_t, 16> other{};
  if (terminated.find('\0') != std::string::npos ||
      inet_pton(bytes == 4 ? AF_INET : AF_INET6, terminated.c_str(), other.data()) != 1) {
    return false;
  }
  const std::size_t whole = bits / 8;
  if (std::memcmp(address.data(), other.data(), whole) != 0) {
    return false;
  }
  const std::size_t rest = bits % 8;
  return rest == 0 || (address[whole] ^ other[whole]) >> (8U - rest) == 0;
}

}  // namespace filter

namespace {

namespace json = boost::json;
using filter::Condition;
using filter::number_of;
using filter::Operator;

constexpr std::size_t matched_body_bytes_max = std::size_t{1024} * 1024;
constexpr std::size_t body_depth_max = 256;

bool equals(const filter::Scalar& wanted, const json::value& leaf) {
  if (const auto* const text = std::get_if<std::string>(&wanted)) {
    return leaf.is_string() && view(leaf.get_string()) == *text;
  }
  if (const auto* const number = std::get_if<double>(&wanted)) {
    return number_of(leaf) == *number;
  }
  if (const auto* const truth = std::get_if<bool>(&wanted)) {
    return leaf.is_bool() && leaf.get_bool() == *truth;
  }
  return leaf.is_null();
}

bool holds(const Condition& condition, const json::value& leaf);

bool text_holds(const Condition& condition, const json::value& leaf) {
  if (!leaf.is_string()) {
    return false;
  }
  const std::string_view text = view(leaf.get_string());
  const std::string& wanted = std::get<std::string>(condition.value);
  switch (condition.op) {
    case Operator::prefix: return text.starts_with(wanted);
    case Operator::suffix: return text.ends_with(wanted);
    default: return equals_ignoring_case(text, wanted);
  }
}

/// One value that is there; `exists` is not asked of values.
bool holds(const Condition& condition, const json::value& leaf) {
  switch (condition.op) {
    case Operator::equal: return equals(condition.value, leaf);
    case Operator::prefix:
    case Operator::suffix:
    case Operator::equal_ignoring_case: return text_holds(condition, leaf);
    case Operator::anything_but:
      return std::ranges::none_of(condition.but,
                                  [&leaf](const Condition& but) { return holds(but, leaf); });
    case Operator::numeric: {
      const std::optional<double> number = number_of(leaf);
      return number && condition.range.holds(*number);
    }
    case Operator::cidr:
      return leaf.is_string() && condition.network.holds(view(leaf.get_string()));
    case Operator::exists: return false;
  }
  std::unreachable();
}

/// A value, or any in an array; an object has no value of its own.
bool any_holds(const Condition& condition, const json::value& value) {
  if (const json::array* const list = value.if_array()) {
    return std::ranges::any_of(
        *list, [&condition](const json::value& one) { return any_holds(condition, one); });
  }
  return !value.is_object() && holds(condition, value);
}

bool holds_for(const Condition& condition, const json::value* value) {
  const bool present = value != nullptr && !value->is_object();
  if (condition.op == Operator::exists) {
    return present == std::get<bool>(condition.value);
  }
  return present && any_holds(condition, *value);
}

/// `object` null: what the rules speak of is not there, which can still be what they want.
bool wants(const filter::Rules& rules, const json::object* object);

/// Arrays on the way fan out: one element that satisfies all the rules is enough.
bool wants_inside(const filter::Rules& rules, const json::value* value) {
  if (value != nullptr && value->is_object()) {
    return wants(rules, &value->get_object());
  }
  if (value != nullptr && value->is_array() && !value->get_array().empty()) {
    return std::ranges::any_of(
        value->get_array(), [&rules](const json::value& one) { return wants_inside(rules, &one); });
  }
  return wants(rules, nullptr);
}

bool wants(const filter::Rules& rules, const json::object* object) {
  const auto rule_holds = [object](const filter::Rule& rule) {
    const json::value* const value =
        object == nullptr
            ? nullptr
            : object->if_contains(json::string_view(rule.key.data(), rule.key.size()));
    if (!rule.nested.empty()) {
      return wants_inside(rule.nested.front(), value);
    }
    return std::ranges::any_of(
        rule.any_of, [value](const Condition& condition) { return holds_for(condition, value); });
  };
  const auto one_holds = [object](const std::vector<filter::Rules>& alternatives) {
    return std::ranges::any_of(alternatives,
                               [object](const filter::Rules& one) { return wants(one, object); });
  };
  return std::ranges::all_of(rules.all_of, rule_holds) &&
         std::ranges::all_of(rules.alternatives, one_holds);
}

/// The type alone, or with a label behind a dot.
bool is_of_type(const Attribute& attribute, std::string_view type) {
  return attribute.type.starts_with(type) &&
         (attribute.type.size() == type.size() || attribute.type[type.size()] == '.');
}

/// An empty array is there and equals nothing: right for Binary, and for what cannot be read.
json::value value_of(const Attribute& attribute) {
  const std::string_view text = attribute.value;
  if (attribute.type == "String.Array") {
    json::error_code failed;
    json::value parsed = json::parse(json::string_view(text.data(), text.size()), failed);
    return !failed && parsed.is_array() ? parsed : json::value(json::array());
  }
  if (is_of_type(attribute, "Binary")) {
    return json::array();
  }
  if (is_of_type(attribute, "Number")) {
    double number = 0;
    const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
    const char* const end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, number);
    return error == std::errc{} && stop == end ? json::value(number) : json::value(json::array());
  }
  return json::string(text.data(), text.size());
}

}  // namespace

struct FilterSubject::Read {
  /// Nothing: it was not read. invalid_argument: it is no object that a policy could look at.
  std::optional<Result<json::object>> body{};
  std::optional<json::object> attributes{};
};

FilterSubject::FilterSubject() : read_(std::make_unique<Read>()) {}
FilterSubject::FilterSubject(FilterSubject&&) noexcept = default;
FilterSubject& FilterSubject::operator=(FilterSubject&&) noexcept = default;
FilterSubject::~FilterSubject() = default;

Result<void> FilterSubject::read_attributes(const std::vector<Attribute>& attributes) {
  try {
    json::object object;
    for (const Attribute& attribute : attributes) {
      object.emplace(attribute.name, value_of(attribute));
    }
    read_->attributes = std::move(object);
    return {};
  } catch (const std::exception& thrown) {
    return fail(ErrorKind::internal, thrown.what());
  }
}

Result<void> FilterSubject::read_body(std::string_view body) {
  Result<json::object> object = parse_json_object(body, matched_body_bytes_max, body_depth_max);
  if (!object && object.error().kind == ErrorKind::internal) {
    return std::unexpected(object.error());
  }
  read_->body = std::move(object);
  return {};
}

Result<bool> FilterPolicy::matches(const FilterSubject& message) const {
  if (rules_.all_of.empty() && rules_.alternatives.empty()) {
    return true;
  }
  const FilterSubject::Read& read = *message.read_;
  if (scope_ == FilterScope::message_body) {
    if (!read.body) {
      return fail(ErrorKind::conflict, "the body was not read");
    }
    return *read.body && wants(rules_, &**read.body);
  }
  if (!read.attributes) {
    return fail(ErrorKind::conflict, "the attributes were not read");
  }
  // Not even {"exists": false} takes a message without any.
  return !read.attributes->empty() && wants(rules_, &*read.attributes);
}

}  // namespace hk::core
