/// Bytes from outside as PostgreSQL takes them: no byte of a receiver's answer may make a statement
/// fail that carries other rows too. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "outbox/row.h"

namespace hk::outbox {

/// UTF-8 without U+0000: what is not becomes U+FFFD.
std::string clean_text(std::string_view bytes);

/// ASCII alone, for a database whose encoding has no other characters in common: the rest is `?`.
std::string plain_text(std::string_view bytes);

/// A receiver's answer for the ledger's JSON column: as it is when it is JSON, else as a JSON
/// string;
/// "" when empty. Never anything that jsonb refuses, but for numbers beyond its range.
std::string response_json(std::string_view bytes);

/// The headers column: a JSON object of strings, or of arrays of strings. invalid_argument
/// otherwise.
Result<std::vector<Header>> parse_headers(std::string_view json);

/// Whether a Content-Type among them names JSON (`application/json`, `application/problem+json;
/// charset=utf-8` …); nothing when there is none.
std::optional<bool> says_json(const std::vector<Header>& headers);

}  // namespace hk::outbox
