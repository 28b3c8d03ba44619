#include "api/aws/query_form.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "base/ascii.h"
#include "edge/http/message.h"

namespace hk::api::aws {

namespace {

constexpr std::size_t number_digits_max = 9;

bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= number_digits_max && std::ranges::all_of(text, is_digit);
}

std::uint32_t to_number(std::string_view digits) {
  std::uint32_t number = 0;
  for (const char digit : digits) {
    number = number * 10 + static_cast<std::uint32_t>(digit - '0');
  }
  return number;
}

}  // namespace

Checked<QueryForm> QueryForm::parse(std::string_view body, std::string_view query,
                                    FormBounds bounds) {
  if (body.size() + query.size() > bounds.bytes_max) {
    return refuse(ErrorCode::serialization,
                  "The request is larger than " + std::to_string(bounds.bytes_max) + " bytes.");
  }
  QueryForm form;
  for (const std::string_view text : {body, query}) {
    if (text.empty()) {
      continue;
    }
    const auto separators = static_cast<std::size_t>(std::ranges::count(text, '&'));
    if (form.fields_.size() + separators + 1 > bounds.fields_max) {
      return refuse(
          ErrorCode::serialization,
          "The request has more than " + std::to_string(bounds.fields_max) + " parameters.");
    }
    auto pairs = http::parse_query(text);
    if (!pairs) {
      return refuse(ErrorCode::serialization,
                    "The percent-encoding of the request's parameters is broken.");
    }
    form.fields_.insert(form.fields_.end(), std::move_iterator(pairs->begin()),
                        std::move_iterator(pairs->end()));
  }
  std::ranges::stable_sort(form.fields_, {}, &Fields::value_type::first);
  return form;
}

QueryForm::Fields::const_iterator QueryForm::at_or_after(std::string_view name) const {
  return std::ranges::lower_bound(fields_, name, std::less<>{},
                                  [](const auto& field) { return std::string_view(field.first); });
}

void QueryForm::add(std::string_view name, std::string_view value) {
  const auto place = at_or_after(name);
  if (place == fields_.end() || place->first != name) {
    fields_.emplace(place, name, value);
  }
}

std::optional<std::string_view> QueryForm::value(std::string_view name) const {
  const auto place = at_or_after(name);
  if (place == fields_.end() || place->first != name) {
    return std::nullopt;
  }
  return place->second;
}

std::vector<std::string> QueryForm::items(std::string_view list) const {
  std::string prefix(list);
  prefix += '.';
  bool unnumbered = !value(list).value_or("").empty();
  std::vector<std::string_view> numbers;
  for (auto field = at_or_after(prefix); field != fields_.end() && field->first.starts_with(prefix);
       ++field) {
    std::string_view rest = field->first;
    rest.remove_prefix(prefix.size());
    const std::string_view part = rest.substr(0, rest.find('.'));
    if (!is_number(part)) {
      unnumbered = true;
    } else if (numbers.empty() || numbers.back() != part) {
      numbers.push_back(part);
    }
  }
  std::ranges::sort(numbers, [](std::string_view a, std::string_view b) {
    return std::pair(to_number(a), a) < std::pair(to_number(b), b);
  });
  // "X.1", "X.1-", "X.1.a" lie in this order: the fields of one item need not be neighbours.
  const auto repeated = std::ranges::unique(numbers);
  numbers.erase(repeated.begin(), repeated.end());

  std::vector<std::string> items;
  items.reserve(numbers.size() + 1);
  if (unnumbered) {
    items.emplace_back(list);
  }
  for (const std::string_view number : numbers) {
    items.push_back(prefix + std::string(number));
  }
  return items;
}

bool QueryForm::given(std::string_view name) const {
  if (value(name)) {
    return true;
  }
  const std::string prefix = std::string(name) + ".";
  const auto place = at_or_after(prefix);
  return place != fields_.end() && place->first.starts_with(prefix);
}

}  // namespace hk::api::aws
