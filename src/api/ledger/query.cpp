#include "api/ledger/query.h"

#include <algorithm>

#include "api/text.h"
#include "base/date.h"
#include "edge/http/message.h"

namespace hk::api::ledger {

namespace {

constexpr std::string_view metadata_prefix = "metadata[";

bool is_metadata(std::string_view name) {
  return name.starts_with(metadata_prefix) && name.ends_with(']') &&
         name.size() > metadata_prefix.size() + 1;
}

}  // namespace

Query::Query(std::string_view query, std::initializer_list<std::string_view> names) {
  auto pairs = http::parse_query(query);
  if (!pairs) {
    wrong_ = Error{ErrorKind::invalid_argument, "the percent-encoding of the query is invalid"};
    return;
  }
  pairs_ = std::move(*pairs);
  std::erase_if(pairs_, [](const auto& pair) { return pair.first == "qstash_token"; });
  const auto known = [&names](std::string_view name) {
    return std::ranges::find(names, is_metadata(name) ? "metadata" : name) != names.end() &&
           name != "metadata";
  };
  for (auto pair = pairs_.begin(); pair != pairs_.end() && !wrong_; ++pair) {
    const std::string& name = pair->first;
    if (!known(name)) {
      std::string all;
      for (const std::string_view one : names) {
        all += (all.empty() ? "" : ", ") + std::string(one) + (one == "metadata" ? "[key]" : "");
      }
      wrong_ = Error{ErrorKind::invalid_argument,
                     "unknown parameter \"" + name + "\"" +
                         (all.empty() ? "; this call takes none" : "; known: " + all)};
    } else if (std::any_of(pairs_.begin(), pair,
                           [&name](const auto& one) { return one.first == name; })) {
      refuse(name, "must be given only once");
    }
  }
}

void Query::refuse(std::string_view name, std::string_view right) {
  if (!wrong_) {
    wrong_ = Error{ErrorKind::invalid_argument, std::string(name) + ": " + std::string(right)};
  }
}

std::optional<std::string> Query::text(std::string_view name) {
  const auto found = std::ranges::find(
      pairs_, name, [](const auto& pair) -> std::string_view { return pair.first; });
  if (found == pairs_.end()) {
    return std::nullopt;
  }
  if (found->second.empty()) {
    refuse(name, "must not be empty; leave it out instead");
    return std::nullopt;
  }
  return found->second;
}

std::optional<std::uint64_t> Query::number(std::string_view name, std::uint64_t least,
                                           std::uint64_t most) {
  const auto given = text(name);
  if (!given) {
    return std::nullopt;
  }
  const auto value = parse_unsigned(*given);
  if (!value || *value < least || *value > most) {
    refuse(name, most == UINT64_MAX ? "must be a whole number"
                                    : "must be a whole number from " + std::to_string(least) +
                                          " to " + std::to_string(most));
    return std::nullopt;
  }
  return value;
}

std::optional<core::ledger::Amount> Query::amount(std::string_view name) {
  const auto given = text(name);
  const auto value = given ? core::ledger::parse_amount(*given) : std::nullopt;
  if (given && !value) {
    refuse(name, "must be an amount: digits, in minor units");
  }
  return value;
}

std::optional<core::ledger::Signed> Query::signed_amount(std::string_view name) {
  const auto given = text(name);
  const auto value = given ? core::ledger::parse_signed(*given) : std::nullopt;
  if (given && !value) {
    refuse(name, "must be an amount: digits, in minor units, with \"-\" if it is negative");
  }
  return value;
}

std::optional<core::ledger::Instant> Query::time(std::string_view name) {
  const auto given = text(name);
  const auto value = given ? parse_rfc3339(*given) : std::nullopt;
  if (given && !value) {
    refuse(name, "must be an RFC 3339 time, such as 2026-01-02T03:04:05.678Z (write %2B for a +)");
  }
  return value;
}

std::optional<Millis> Query::duration(std::string_view name, Millis most) {
  const auto given = text(name);
  if (!given) {
    return std::nullopt;
  }
  const auto value = parse_duration(*given);
  if (!value || *value > most) {
    refuse(name, "must be a length of time, such as 5s, up to " +
                     std::to_string(most.count() / 1000) + "s");
    return std::nullopt;
  }
  return *value;
}

std::optional<std::size_t> Query::one_of(std::string_view name,
                                         std::span<const std::string_view> values) {
  const auto given = text(name);
  if (!given) {
    return std::nullopt;
  }
  const auto found = std::ranges::find(values, std::string_view(*given));
  if (found == values.end()) {
    std::string known;
    for (const std::string_view one : values) {
      known += (known.empty() ? "" : ", ") + std::string(one);
    }
    refuse(name, "must be one of " + known);
    return std::nullopt;
  }
  return static_cast<std::size_t>(found - values.begin());
}

bool Query::flag(std::string_view name) {
  constexpr std::string_view values[] = {"0", "1", "false", "true"};
  const auto place = one_of(name, values);
  return place && *place % 2 == 1;
}

std::size_t Query::limit() {
  constexpr std::uint64_t limit_default = 100;
  constexpr std::uint64_t limit_max = 1000;
  return number("limit", 1, limit_max).value_or(limit_default);
}

std::vector<std::pair<std::string, std::string>> Query::metadata() {
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& [name, value] : pairs_) {
    if (is_metadata(name)) {
      all.emplace_back(
          name.substr(metadata_prefix.size(), name.size() - metadata_prefix.size() - 1), value);
    }
  }
  return all;
}

}  // namespace hk::api::ledger
