#include "api/idempotency/body.h"

#include <algorithm>
#include <charconv>

#include "api/text.h"
#include "base/ascii.h"
#include "base/duration.h"
#include "base/json_input.h"

namespace hk::api::idempotency {

namespace {

constexpr std::size_t body_bytes_max = answer_bytes_max + std::size_t{16} * 1024;

std::unexpected<Error> wrong(std::string_view name, std::string_view right) {
  return fail(ErrorKind::invalid_argument, std::string(name) + ": " + std::string(right));
}

bool is_of_space(char c) {
  return is_letter(c) || is_digit(c) || c == '.' || c == '_' || c == '~' || c == '-';
}

}  // namespace

Result<KeyName> check_name(const Result<std::optional<std::string>>& key,
                           const Result<std::optional<std::string>>& space) {
  constexpr std::size_t space_bytes_max = 64;
  if (const Error* const error = first_error(key, space)) {
    return std::unexpected(*error);
  }
  KeyName name{space->value_or(std::string(default_space)), key->value_or("")};
  if (!is_key_text(name.key)) {
    return wrong("key", "must have 1 to 255 visible ASCII characters");
  }
  if (name.space.empty() || name.space.size() > space_bytes_max ||
      !std::ranges::all_of(name.space, is_of_space)) {
    return wrong("namespace", "must have 1 to 64 letters, digits, '.', '_', '~' and '-'");
  }
  if (name.space == core::api_space) {
    return wrong("namespace", "api is reserved for the server; choose another");
  }
  return name;
}

Result<Body> Body::read(std::string_view text, std::initializer_list<std::string_view> names) {
  if (text.size() > body_bytes_max) {
    return fail(ErrorKind::invalid_argument,
                "the body is larger than " + std::to_string(body_bytes_max / 1024) + " KiB");
  }
  auto json = ExactJson::parse(text, json_depth_max);
  if (!json) {
    return std::unexpected(json.error());
  }
  return of(std::move(*json), names);
}

Result<Body> Body::of(ExactJson json, std::initializer_list<std::string_view> names) {
  if (json.kind != ExactJson::Kind::object) {
    return fail(ErrorKind::invalid_argument, "the body must be a JSON object");
  }
  for (const auto& [name, value] : json.members) {
    if (std::ranges::find(names, std::string_view(name)) == names.end()) {
      std::string known;
      for (const std::string_view one : names) {
        known += (known.empty() ? "" : ", ") + std::string(one);
      }
      return wrong(name, "is not a member of this body; it may have " + known);
    }
  }
  return Body(std::move(json));
}

Result<std::optional<std::string>> Body::text(std::string_view name) const {
  const ExactJson* const value = find(name);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (value->kind != ExactJson::Kind::string) {
    return wrong(name, "must be a string");
  }
  return value->text;
}

Result<std::optional<bool>> Body::boolean(std::string_view name) const {
  const ExactJson* const value = find(name);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (value->kind != ExactJson::Kind::boolean) {
    return wrong(name, "must be true or false");
  }
  return value->truth;
}

Result<std::optional<Millis>> Body::duration(std::string_view name, Millis least,
                                             Millis most) const {
  const auto given = text(name);
  if (!given || !*given) {
    return given ? Result<std::optional<Millis>>{std::nullopt} : std::unexpected(given.error());
  }
  const auto length = parse_duration(**given, BareNumber::refused);
  if (!length) {
    return wrong(name, length.error().message);
  }
  if (*length < least || *length > most) {
    return wrong(name, "must be from " + std::to_string(least.count() / 1000) + "s to " +
                           std::to_string(most.count() / 1000) + "s");
  }
  return *length;
}

Result<core::HeldKey> Body::held(core::TenantId tenant) const {
  auto named = name();
  if (!named) {
    return std::unexpected(named.error());
  }
  core::HeldKey held{tenant, std::move(named->space), std::move(named->key), 0};
  const ExactJson* const token = find("token");
  const std::string digits = token != nullptr ? token->text : "";
  const auto [end, failed] =
      std::from_chars(digits.data(), digits.data() + digits.size(), held.token);
  if (token == nullptr || token->kind != ExactJson::Kind::number || failed != std::errc{} ||
      end != digits.data() + digits.size() || held.token == 0) {
    return wrong("token", "must be the number that the claim was answered with");
  }
  return held;
}

}  // namespace hk::api::idempotency
