/// How errors are told on the own API: RFC 9457 problem details. Programs branch on `code`, which
/// also ends `type`; texts are for people. Pure but for the log.
#pragma once

#include <functional>
#include <string_view>

#include "base/error.h"
#include "base/json.h"
#include "edge/http/message.h"

namespace hk::api {

inline constexpr std::string_view problem_type_prefix = "urn:hikyaku:problem:";

/// What is wrong: a name for programs and one for people. docs/reference/errors.md lists them.
struct Problem {
  std::string_view code;
  std::string_view title;
};

/// `more` adds members of its own.
using ProblemMembers = std::function<void(JsonWriter&)>;
http::Response problem(const Problem& what, int status, std::string_view detail,
                       std::string_view request_id, const ProblemMembers& more = {});
http::Response problem(int status, std::string_view detail, std::string_view request_id);
/// What is our own fault is logged with its details and told without them.
http::Response problem(const Error& error, std::string_view request_id);
/// The name that such an error has.
const Problem& problem_of(ErrorKind kind);

}  // namespace hk::api
