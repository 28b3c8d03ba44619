#include "api/surface.h"

#include <algorithm>
#include <utility>

#include "api/problem.h"
#include "api/qstash/errors.h"
#include "api/text.h"
#include "base/ascii.h"

namespace hk::api {

Surface surface_of(std::string_view target) {
  return starts_with_ignoring_case(target, "/api/") ? Surface::own : Surface::qstash;
}

std::string_view nothing_at(std::string_view target) {
  for (const std::string_view prefix : {"/v2/workflows", "/v2/wait", "/v2/notify"}) {
    if (starts_with_ignoring_case(target, prefix)) {
      return "workflows are not supported";
    }
  }
  if (starts_with_ignoring_case(target, "/llm/") || starts_with_ignoring_case(target, "/v2/llm")) {
    return "the LLM API is not supported: publish to the URL of the provider instead";
  }
  if (starts_with_ignoring_case(target, "/v1/")) {
    return "version 1 of the API is not supported: use /v2";
  }
  return "no such path";
}

std::string request_id_of(Surface surface, const http::Request& request, Rng& rng) {
  constexpr std::size_t bytes_max = 128;
  if (surface != Surface::own) {
    return {};
  }
  if (const auto given = request.header("X-Request-Id");
      given && !given->empty() && given->size() <= bytes_max &&
      std::ranges::all_of(*given, [](char c) { return c > ' ' && c < 0x7f; })) {
    return std::string(*given);
  }
  std::string id;
  for (int i = 0; i < 2; ++i) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::uint64_t bits = rng.next();
    for (int digit = 0; digit < 16; ++digit, bits >>= 4U) {
      id.push_back(digits[bits & 15U]);
    }
  }
  return id;
}

http::Response error_for(Surface surface, const Error& error, std::string_view request_id) {
  switch (surface) {
    case Surface::qstash: return qstash::error_response(error);
    case Surface::own: return problem(error, request_id);
  }
  std::unreachable();
}

http::Response error_for(Surface surface, int status, std::string_view text,
                         std::string_view request_id) {
  switch (surface) {
    case Surface::qstash: return qstash::error_response(status, text);
    case Surface::own: return problem(status, text, request_id);
  }
  std::unreachable();
}

}  // namespace hk::api
