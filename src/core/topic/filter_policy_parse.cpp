// Reading a filter policy, with a reason for everything that is wrong with one.
#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>

#include "base/json_input.h"
#include "core/topic/filter_policy.h"
#include "core/topic/filter_policy_json.h"

namespace hk::core {

namespace filter {

namespace {

namespace json = boost::json;

constexpr std::size_t keys_max = 5;
constexpr std::uint64_t combinations_max = 150;

std::unexpected<Error> wrong(std::string reason) {
  return fail(ErrorKind::invalid_argument, std::move(reason));
}

std::optional<Scalar> scalar_of(const json::value& value) {
  if (value.is_null()) return nullptr;
  if (value.is_bool()) return value.get_bool();
  if (value.is_string()) return std::string(view(value.get_string()));
  if (const auto number = number_of(value)) return *number;
  return std::nullopt;
}

/// Decimal digits only.
std::optional<std::size_t> bits_of(std::string_view text) {
  std::size_t bits = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, failed] = std::from_chars(text.data(), end, bits);
  return failed == std::errc{} && stop == end ? std::optional(bits) : std::nullopt;
}

std::optional<Network> network_of(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string address(text.substr(0, slash));
  const auto bits = bits_of(text.substr(slash + 1));
  Network network;
  if (inet_pton(AF_INET, address.c_str(), network.address.data()) == 1) {
    network.bytes = 4;
  } else if (inet_pton(AF_INET6, address.c_str(), network.address.data()) == 1) {
    network.bytes = 16;
  }
  if (network.bytes == 0 || address.size() != std::string_view(address.c_str()).size() || !bits ||
      *bits > network.bytes * 8) {
    return std::nullopt;
  }
  network.bits = *bits;
  return network;
}

/// ["=", n] and the like, or [">", low, "<", high].
Result<Range> parse_range(const json::value& value) {
  const json::array* const parts = value.if_array();
  if (parts == nullptr || (parts->size() != 2 && parts->size() != 4)) {
    return wrong("the value of numeric must be a list of an operator and a number, or of two");
  }
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Range range{-infinity, infinity, true, true};
  for (std::size_t i = 0; i < parts->size(); i += 2) {
    const json::string* const op = (*parts)[i].if_string();
    const std::optional<double> number = number_of((*parts)[i + 1]);
    if (op == nullptr) {
      return wrong("an operator of numeric must be a string");
    }
    if (!number) {
      return wrong("the value of " + std::string(view(*op)) + " must be numeric");
    }
    const bool alone = parts->size() == 2;
    const bool lower = *op == ">" || *op == ">=";
    const bool upper = *op == "<" || *op == "<=";
    if (alone && *op == "=") {
      range = Range{*number, *number, true, true};
    } else if (lower && (alone || i == 0)) {
      range.low = *number;
      range.low_included = *op == ">=";
    } else if (upper && (alone || i == 2)) {
      range.high = *number;
      range.high_included = *op == "<=";
    } else {
      return wrong("unrecognized numeric range operator " + std::string(view(*op)) +
                   ": use =, <, <=, >, >=, or > or >= followed by < or <=");
    }
  }
  if (parts->size() == 4 && range.low >= range.high) {
    return wrong("the bottom of a numeric range must be less than its top");
  }
  return range;
}

Result<Condition> parse_text_condition(Operator op, std::string_view name,
                                       const json::value& value) {
  if (!value.is_string()) {
    return wrong("the value of " + std::string(name) + " must be a string");
  }
  return Condition{op, std::string(view(value.get_string())), {}, {}, {}};
}

std::optional<Operator> text_operator(std::string_view name) {
  if (name == "prefix") return Operator::prefix;
  if (name == "suffix") return Operator::suffix;
  if (name == "equals-ignore-case") return Operator::equal_ignoring_case;
  return std::nullopt;
}

/// A value, a list of values, or an object with one of the operators on text.
Result<Condition> parse_anything_but(const json::value& value) {
  Condition condition;
  condition.op = Operator::anything_but;
  if (const json::object* const object = value.if_object()) {
    const auto op = object->size() == 1 ? text_operator(view(object->begin()->key()))
                                        : std::optional<Operator>();
    if (!op) {
      return wrong("anything-but knows prefix, suffix and equals-ignore-case, one at a time");
    }
    auto but = parse_text_condition(*op, view(object->begin()->key()), object->begin()->value());
    if (!but) {
      return but;
    }
    condition.but.push_back(std::move(*but));
    return condition;
  }
  const json::array single(1, value);
  const json::array& values = value.is_array() ? value.get_array() : single;
  if (values.empty()) {
    return wrong("the list of anything-but must not be empty");
  }
  for (const json::value& one : values) {
    std::optional<Scalar> scalar = scalar_of(one);
    if (!scalar || one.is_null() || one.is_bool()) {
      return wrong("the value of anything-but must be a string, a number or a list of them");
    }
    condition.but.push_back({Operator::equal, std::move(*scalar), {}, {}, {}});
  }
  return condition;
}

Result<Condition> parse_operator(const json::object& object) {
  if (object.size() != 1) {
    return wrong("a condition must have exactly one operator");
  }
  const std::string_view name = view(object.begin()->key());
  const json::value& value = object.begin()->value();
  if (const auto op = text_operator(name)) {
    return parse_text_condition(*op, name, value);
  }
  if (name == "anything-but") {
    return parse_anything_but(value);
  }
  Condition condition;
  if (name == "exists") {
    if (!value.is_bool()) {
      return wrong("the value of exists must be true or false");
    }
    condition.op = Operator::exists;
    condition.value = value.get_bool();
    return condition;
  }
  if (name == "numeric") {
    const Result<Range> range = parse_range(value);
    if (!range) {
      return std::unexpected(range.error());
    }
    condition.op = Operator::numeric;
    condition.range = *range;
    return condition;
  }
  if (name == "cidr") {
    const auto network =
        value.is_string() ? network_of(view(value.get_string())) : std::optional<Network>();
    if (!network) {
      return wrong("the value of cidr must be an address and a length like 10.0.0.0/8");
    }
    condition.op = Operator::cidr;
    condition.network = *network;
    return condition;
  }
  return wrong("unrecognized match type " + std::string(name));
}

class Parser {
 public:
  Parser(FilterScope scope, PolicyFrom from) : scope_(scope), from_(from) {}

  Result<Rules> parse(const json::object& object) {
    auto rules = parse_object(object, "", 1);
    if (rules && paths_.size() > keys_max) {
      return wrong("a filter policy can not have more than 5 keys");
    }
    if (rules && rules->combinations > combinations_max && from_ == PolicyFrom::client) {
      return wrong("the filter policy is too complex: it has more than 150 combinations");
    }
    if (!rules) {
      return std::unexpected(std::move(rules.error()));
    }
    return std::move(rules->rules);
  }

 private:
  struct Counted {
    Rules rules{};
    std::uint64_t combinations = 1;  ///< as SNS counts; no more than just above the limit
  };

  Result<Counted> parse_object(const json::object& object, const std::string& path,
                               std::uint64_t depth) {
    Counted all;
    for (const auto& member : object) {
      const std::string_view key = view(member.key());
      const auto combinations = key == "$or"
                                    ? parse_or(member.value(), path, depth, all.rules)
                                    : parse_key(key, member.value(), path, depth, all.rules);
      if (!combinations) {
        return std::unexpected(combinations.error());
      }
      all.combinations = std::min(all.combinations * *combinations, combinations_max + 1);
    }
    return all;
  }

  Result<std::uint64_t> parse_or(const json::value& value, const std::string& path,
                                 std::uint64_t depth, Rules& rules) {
    const json::array* const list = value.if_array();
    if (list == nullptr || list->size() < 2) {
      return wrong("$or must be a list of two or more objects");
    }
    std::vector<Rules> alternatives;
    std::uint64_t combinations = 0;
    for (const json::value& one : *list) {
      if (!one.is_object() || one.get_object().empty()) {
        return wrong("$or must be a list of objects that are not empty");
      }
      Result<Counted> alternative = parse_object(one.get_object(), path, depth);
      if (!alternative) {
        return std::unexpected(std::move(alternative.error()));
      }
      alternatives.push_back(std::move(alternative->rules));
      combinations = std::min(combinations + alternative->combinations, combinations_max + 1);
    }
    rules.alternatives.push_back(std::move(alternatives));
    return combinations;
  }

  Result<std::uint64_t> parse_key(std::string_view key, const json::value& value,
                                  const std::string& path, std::uint64_t depth, Rules& rules) {
    std::string place = path;
    place += '\0';  // no name holds it by accident, so that a.b is not a key of a
    place += key;
    Rule rule;
    rule.key = key;
    std::uint64_t combinations = 0;
    if (const json::object* const object = value.if_object()) {
      if (scope_ == FilterScope::message_attributes) {
        return wrong("filter policy scope MessageAttributes does not support nested filter policy");
      }
      if (object->empty()) {
        return wrong("\"" + std::string(key) + "\" must not be an empty object");
      }
      Result<Counted> nested = parse_object(*object, place, depth + 1);
      if (!nested) {
        return std::unexpected(std::move(nested.error()));
      }
      rule.nested.push_back(std::move(nested->rules));
      combinations = nested->combinations;
    } else {
      Result<std::vector<Condition>> conditions = parse_conditions(key, value);
      if (!conditions) {
        return std::unexpected(std::move(conditions.error()));
      }
      rule.any_of = std::move(*conditions);
      combinations = alternatives(rule.any_of) * depth;
      paths_.insert(std::move(place));
    }
    rules.all_of.push_back(std::move(rule));
    return std::min(combinations, combinations_max + 1);
  }

  /// Each value of a list in anything-but is one more that a message is compared with.
  static std::uint64_t alternatives(const std::vector<Condition>& conditions) {
    std::uint64_t count = 0;
    for (const Condition& one : conditions) {
      count += std::max<std::uint64_t>(one.but.size(), 1);
    }
    return count;
  }

  static Result<std::vector<Condition>> parse_conditions(std::string_view key,
                                                         const json::value& value) {
    const json::array* const list = value.if_array();
    if (list == nullptr) {
      return wrong("\"" + std::string(key) + "\" must be an object or an array");
    }
    if (list->empty()) {
      return wrong("\"" + std::string(key) + "\": empty arrays are not allowed");
    }
    std::vector<Condition> conditions;
    for (const json::value& one : *list) {
      if (std::optional<Scalar> scalar = scalar_of(one)) {
        conditions.push_back({Operator::equal, std::move(*scalar), {}, {}, {}});
        continue;
      }
      if (!one.is_object()) {
        return wrong("\"" + std::string(key) +
                     "\": match value must be a string, a number, true, false, null or an object");
      }
      Result<Condition> condition = parse_operator(one.get_object());
      if (!condition) {
        return std::unexpected(std::move(condition.error()));
      }
      conditions.push_back(std::move(*condition));
    }
    return conditions;
  }

  FilterScope scope_;
  PolicyFrom from_;
  std::set<std::string> paths_;  ///< of the keys that have conditions
};

}  // namespace

Result<Rules> parse_rules(std::string_view text, FilterScope scope, PolicyFrom from) {
  const Result<json::object> object = parse_json_object(text);
  if (!object) {
    return wrong("failed to parse JSON: " + object.error().message);
  }
  return Parser(scope, from).parse(*object);
}

}  // namespace filter

Result<FilterPolicy> FilterPolicy::parse(std::string_view text, FilterScope scope,
                                         PolicyFrom from) {
  Result<filter::Rules> rules = filter::parse_rules(text, scope, from);
  if (!rules) {
    return std::unexpected(std::move(rules.error()));
  }
  return FilterPolicy(std::move(*rules), scope);
}

}  // namespace hk::core
