#include "api/ledger/input.h"

#include "api/ledger/errors.h"
#include "base/ascii.h"
#include "base/date.h"

namespace hk::api::ledger {

namespace {

using core::ledger::Amount;
using core::ledger::Code;
using core::ledger::Instant;
using core::ledger::Signed;

constexpr std::uint64_t exact_max = (std::uint64_t{1} << 53U) - 1;
constexpr std::size_t metadata_keys_max = 50;

/// Most amounts have few digits: those need no 128 bits to be read.
std::optional<Amount> amount_of(std::string_view text) {
  constexpr std::size_t digits_of_64_bits = 19;
  if (text.empty() || text.size() > digits_of_64_bits) {
    return core::ledger::parse_amount(text);
  }
  std::uint64_t value = 0;
  for (const char c : text) {
    if (!is_digit(c)) {
      return std::nullopt;
    }
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

constexpr std::string_view right_amount =
    "must be a string of digits in minor units, or an integer up to 9007199254740991";
constexpr std::string_view right_signed =
    "must be a string of digits in minor units, with \"-\" before it if it is negative, or an "
    "integer from -9007199254740991 to 9007199254740991";

}  // namespace

bool Input::text(std::string& out) {
  if (json_.kind() != Kind::string) {
    return refuse("must be a string");
  }
  out = json_.string();
  return !json_.failed();
}

bool Input::text(std::optional<std::string>& out) { return text(out.emplace()); }

bool Input::texts(std::vector<std::string>& out) {
  return array([&](std::uint32_t /*index*/) { return text(out.emplace_back()); });
}

bool Input::boolean(bool& out) {
  if (json_.kind() != Kind::boolean) {
    return refuse("must be true or false");
  }
  out = json_.boolean();
  return !json_.failed();
}

bool Input::boolean(std::optional<bool>& out) { return boolean(out.emplace()); }

bool Input::number(std::uint64_t& out, std::uint64_t most) {
  std::optional<Amount> value;
  if (json_.kind() == Kind::number) {
    value = amount_of(json_.number());
  }
  if (!value || *value > most) {
    return refuse("must be a whole number from 0 to " + std::to_string(most));
  }
  out = static_cast<std::uint64_t>(*value);
  return true;
}

bool Input::amount(Amount& out) {
  std::optional<Amount> value;
  switch (json_.kind()) {
    case Kind::string: value = amount_of(json_.string()); break;
    case Kind::number:
      value = amount_of(json_.number());
      value = value && *value <= exact_max ? value : std::nullopt;
      break;
    default: break;
  }
  if (!value) {
    return refuse(right_amount, Code::amount_invalid);
  }
  out = *value;
  return true;
}

bool Input::signed_amount(Signed& out) {
  std::optional<Signed> value;
  switch (json_.kind()) {
    case Kind::string: value = core::ledger::parse_signed(json_.string()); break;
    case Kind::number:
      value = core::ledger::parse_signed(json_.number());
      value = value && value->magnitude <= exact_max ? value : std::nullopt;
      break;
    default: break;
  }
  if (!value) {
    return refuse(right_signed, Code::amount_invalid);
  }
  out = *value;
  return true;
}

bool Input::amounts(std::optional<std::vector<Amount>>& out) {
  out.emplace();
  return array([&](std::uint32_t /*index*/) { return amount(out->emplace_back()); });
}

bool Input::time(Instant& out, Code code) {
  const auto value =
      json_.kind() == Kind::string ? parse_rfc3339(json_.string()) : std::optional<NanoMoment>{};
  if (!value) {
    return refuse("must be an RFC 3339 time, such as \"2026-01-02T03:04:05.678Z\"", code);
  }
  out = *value;
  return true;
}

bool Input::time(std::optional<Instant>& out, Code code) { return time(out.emplace(), code); }

bool Input::one_of(std::span<const std::string_view> names, std::size_t& out) {
  const std::string_view given = json_.kind() == Kind::string ? json_.string() : "";
  const auto found = std::ranges::find(names, given);
  if (found == names.end()) {
    std::string known;
    for (const std::string_view one : names) {
      known += known.empty() ? "" : ", ";
      known += one;
    }
    return refuse("must be one of " + known);
  }
  out = static_cast<std::size_t>(found - names.begin());
  return true;
}

bool Input::metadata(std::vector<core::ledger::MetadataIn>& out, bool removals) {
  if (!begin_object()) {
    return false;
  }
  std::string_view name;
  while (json_.next_member(name)) {
    if (out.size() == metadata_keys_max) {
      return refuse("must have at most " + std::to_string(metadata_keys_max) + " keys");
    }
    if (std::ranges::find(out, name, &core::ledger::MetadataIn::key) != out.end()) {
      return refuse("has the key \"" + std::string(name) + "\" twice");
    }
    core::ledger::MetadataIn& one = out.emplace_back();
    one.key = name;
    const Kind kind = json_.kind();
    if (kind == Kind::string) {
      one.value = json_.string();
    } else if (kind == Kind::null && removals) {
      json_.null();
    } else {
      return refuse(removals ? "values must be strings, or null to remove a key"
                             : "values must be strings");
    }
  }
  return !json_.failed();
}

bool Input::begin_object() {
  if (json_.kind() != Kind::object) {
    return refuse("must be an object");
  }
  json_.begin_object();
  return true;
}

bool Input::refuse_name(std::string_view name, std::span<const std::string_view> names) {
  std::string known;
  for (const std::string_view one : names) {
    known += known.empty() ? "" : ", ";
    known += one;
  }
  const std::string unknown(name);
  path_.push_back({unknown, no_index});
  return refuse("is not a member here; known: " + known);
}

bool Input::refuse(std::string_view right, Code code) {
  if (!refused_ && !json_.failed()) {
    refused_ = invalid(where(), right);
    refused_->code = code;
    if (refused_->member.empty()) {
      refused_->detail = "the body " + refused_->detail;
    }
  }
  return false;
}

core::ledger::Refusal Input::refusal() {
  if (refused_) {
    return std::move(*refused_);
  }
  return invalid("", "the body is not valid JSON: " + json_.error());
}

std::string Input::where() const {
  std::string text;
  for (std::size_t i = named_from_; i < path_.size(); ++i) {
    if (path_[i].index != no_index) {
      text += '[' + std::to_string(path_[i].index) + ']';
    } else {
      text += text.empty() ? "" : ".";
      text += path_[i].name;
    }
  }
  return text;
}

}  // namespace hk::api::ledger
