#include "api/svix/query.h"

#include <algorithm>
#include <charconv>

#include "api/text.h"
#include "base/ascii.h"
#include "base/date.h"

namespace hk::api::svix {

Query::Query(std::string_view query, FieldErrors& errors) : errors_(errors) {
  if (query.empty()) {
    return;
  }
  auto pairs = http::parse_query(query);
  if (!pairs) {
    errors_.add({{"query"}, "the percent-encoding is invalid"});
    return;
  }
  pairs_ = std::move(*pairs);
}

const std::string* Query::find(std::string_view name) const {
  const auto found = std::find_if(pairs_.rbegin(), pairs_.rend(), [name](const auto& one) {
    return one.first == name && !one.second.empty();
  });
  return found == pairs_.rend() ? nullptr : &found->second;
}

void Query::refuse(std::string_view name, std::string msg) {
  errors_.add({{"query", std::string(name)}, std::move(msg)});
}

std::optional<std::string> Query::text(std::string_view name, Rule rule) {
  const std::string* const value = find(name);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (std::string wrong = rule == nullptr ? std::string() : rule(*value); !wrong.empty()) {
    refuse(name, std::move(wrong));
    return std::nullopt;
  }
  return *value;
}

bool Query::boolean(std::string_view name, bool otherwise) {
  const std::string* const value = find(name);
  if (value == nullptr) {
    return otherwise;
  }
  const auto parsed = parse_bool(*value);
  if (!parsed) {
    refuse(name, "must be true or false");
  }
  return parsed.value_or(otherwise);
}

std::optional<Moment> Query::time(std::string_view name) {
  const std::string* const value = find(name);
  if (value == nullptr) {
    return std::nullopt;
  }
  std::string text = *value;
  // A "+" that was not percent-encoded is a space by now.
  if (const std::size_t space = text.find(' '); space != std::string::npos && space > 10) {
    text[space] = '+';
  }
  const auto parsed = parse_rfc3339(text);
  if (!parsed) {
    refuse(name, "must be an RFC 3339 time, such as 2026-01-02T03:04:05.678Z");
    return std::nullopt;
  }
  return std::chrono::floor<Millis>(*parsed);
}

std::optional<std::int64_t> Query::integer(std::string_view name, std::int64_t least,
                                           std::int64_t most) {
  const std::string* const value = find(name);
  if (value == nullptr) {
    return std::nullopt;
  }
  std::int64_t number = 0;
  const char* const last = value->data() + value->size();
  const auto [end, error] = std::from_chars(value->data(), last, number);
  if (error != std::errc{} || end != last || number < least || number > most) {
    refuse(name,
           "must be an integer from " + std::to_string(least) + " to " + std::to_string(most));
    return std::nullopt;
  }
  return number;
}

std::optional<std::size_t> Query::one_of(std::string_view name,
                                         std::span<const std::string_view> names) {
  const std::string* const value = find(name);
  if (value == nullptr) {
    return std::nullopt;
  }
  const auto found = std::ranges::find(names, std::string_view(*value));
  if (found == names.end()) {
    std::string known;
    for (const std::string_view one : names) {
      known += known.empty() ? "" : ", ";
      known += one;
    }
    refuse(name, "must be one of " + known);
    return std::nullopt;
  }
  return static_cast<std::size_t>(found - names.begin());
}

std::vector<std::string> Query::list(std::string_view name) {
  std::vector<std::string> all;
  for (const auto& [given, text] : pairs_) {
    if (given == name) {
      for (std::string& one : split_commas(text)) {
        all.push_back(std::move(one));
      }
    }
  }
  return all;
}

}  // namespace hk::api::svix
