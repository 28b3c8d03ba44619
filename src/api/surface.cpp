#include "api/surface.h"

#include <algorithm>
#include <array>
#include <utility>

#include "api/problem.h"
#include "api/qstash/errors.h"
#include "api/svix/errors.h"
#include "api/svix/out_of_scope.h"
#include "api/text.h"
#include "base/ascii.h"

namespace hk::api {

namespace {

/// What of the own API is Svix's: the first segments of its paths.
bool is_for_svix(std::string_view target) {
  constexpr std::string_view prefix = "/api/v1/";
  if (starts_with_ignoring_case(target, svix::ingest_path)) {
    return true;
  }
  if (!starts_with_ignoring_case(target, prefix)) {
    return false;
  }
  target.remove_prefix(prefix.size());
  const std::string_view segment = target.substr(0, target.find_first_of("/?"));
  constexpr std::array<std::string_view, 13> reserved = {
      "app",    "auth",   "background-task", "connector", "environment",         "event-type",
      "events", "health", "management",      "msg",       "operational-webhook", "stats",
      "stream"};
  return std::ranges::any_of(
      reserved, [segment](std::string_view one) { return equals_ignoring_case(one, segment); });
}

}  // namespace

Surface surface_of(std::string_view target) {
  if (is_for_svix(target)) {
    return Surface::svix;
  }
  const bool own =
      starts_with_ignoring_case(target, "/api/") || starts_with_ignoring_case(target, "/in/");
  return own ? Surface::own : Surface::qstash;
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
  if (surface == Surface::qstash) {
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
    case Surface::svix: return svix::error_response(error, request_id);
  }
  std::unreachable();
}

http::Response error_for(Surface surface, int status, std::string_view text,
                         std::string_view request_id) {
  switch (surface) {
    case Surface::qstash: return qstash::error_response(status, text);
    case Surface::own: return problem(status, text, request_id);
    case Surface::svix: return svix::error_response(status, text);
  }
  std::unreachable();
}

}  // namespace hk::api
