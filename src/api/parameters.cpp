#include "api/parameters.h"

#include <algorithm>

#include "api/text.h"
#include "base/ascii.h"
#include "base/json_input.h"
#include "edge/http/message.h"

namespace hk::api {

namespace {

std::optional<std::string> scalar_text(const boost::json::value& value, bool text_only) {
  if (text_only && !value.is_string()) {
    return std::nullopt;
  }
  switch (value.kind()) {
    case boost::json::kind::string: return std::string(value.get_string());
    case boost::json::kind::int64: return std::to_string(value.get_int64());
    case boost::json::kind::uint64: return std::to_string(value.get_uint64());
    case boost::json::kind::bool_: return value.get_bool() ? "true" : "false";
    case boost::json::kind::null:
    case boost::json::kind::double_:
    case boost::json::kind::array:
    case boost::json::kind::object: return std::nullopt;
  }
  return std::nullopt;
}

std::unexpected<Error> not_a_value(std::string_view name, bool text_only) {
  return fail(ErrorKind::invalid_argument,
              std::string(name) + (text_only ? ": must be a string or an array of strings"
                                             : ": must be a string, a number or an array of them"));
}

}  // namespace

Result<Parameters> Parameters::from_query(std::string_view query) {
  Parameters parameters;
  if (query.empty()) {
    return parameters;
  }
  auto pairs = http::parse_query(query);
  if (!pairs) {
    return fail(ErrorKind::invalid_argument, "the percent-encoding of the query is invalid");
  }
  parameters.pairs_ = std::move(*pairs);
  std::erase_if(parameters.pairs_, [](const auto& pair) { return pair.first == "qstash_token"; });
  return parameters;
}

Result<void> Parameters::add_json(std::string_view body, std::span<const std::string_view> texts) {
  if (trim(body).empty()) {
    return {};
  }
  Result<boost::json::object> object = parse_json_object(body);
  if (!object) {
    return std::unexpected(object.error());
  }
  for (const auto& member : *object) {
    const std::string name(member.key());
    const bool text_only = std::ranges::find(texts, name) != texts.end();
    if (member.value().is_null()) {
      continue;
    }
    if (const boost::json::array* const many = member.value().if_array()) {
      if (many->empty() && !text_only) {
        return fail(ErrorKind::invalid_argument,
                    name + ": must not be empty; leave it out to select everything");
      }
      if (many->empty()) {
        pairs_.emplace_back(name,
                            std::string{});  // given, and nothing chosen: not the same as absent
      }
      for (const boost::json::value& one : *many) {
        std::optional<std::string> text = scalar_text(one, text_only);
        if (!text) {
          return not_a_value(name, text_only);
        }
        pairs_.emplace_back(name, std::move(*text));
      }
      continue;
    }
    std::optional<std::string> text = scalar_text(member.value(), text_only);
    if (!text) {
      return not_a_value(name, text_only);
    }
    pairs_.emplace_back(name, std::move(*text));
  }
  return {};
}

Result<void> Parameters::only(std::span<const std::string_view> names) const {
  for (const auto& [name, value] : pairs_) {
    if (std::ranges::find(names, name) == names.end()) {
      std::string known;
      for (const std::string_view one : names) {
        known += known.empty() ? "" : ", ";
        known += one;
      }
      return fail(ErrorKind::invalid_argument,
                  "unknown parameter \"" + name + "\"; known: " + known);
    }
  }
  return {};
}

std::vector<std::string> Parameters::all(std::string_view name) const {
  std::vector<std::string> values;
  for (const auto& [given, text] : pairs_) {
    if (given == name) {
      for (std::string& part : split_commas(text)) {
        values.push_back(std::move(part));
      }
    }
  }
  return values;
}

bool Parameters::given(std::string_view name) const {
  return std::ranges::any_of(pairs_, [name](const auto& pair) { return pair.first == name; });
}

std::vector<std::string> Parameters::whole(std::string_view name) const {
  std::vector<std::string> values;
  for (const auto& [given, text] : pairs_) {
    if (given == name && !text.empty()) {
      values.push_back(text);
    }
  }
  return values;
}

Result<std::optional<std::string>> Parameters::one(std::string_view name) const {
  std::vector<std::string> values = whole(name);
  if (values.size() > 1) {
    return fail(ErrorKind::invalid_argument, std::string(name) + " must be given only once");
  }
  if (values.empty()) {
    return std::nullopt;
  }
  return std::move(values.front());
}

Result<std::optional<std::uint64_t>> Parameters::number(std::string_view name) const {
  const Result<std::optional<std::string>> text = one(name);
  if (!text) {
    return std::unexpected(text.error());
  }
  if (!*text) {
    return std::nullopt;
  }
  const std::optional<std::uint64_t> value = parse_unsigned(**text);
  if (!value) {
    return fail(ErrorKind::invalid_argument,
                std::string(name) + ": \"" + **text + "\" is not a whole number");
  }
  return value;
}

}  // namespace hk::api
