// What clients know of and this server has not: said so that they understand it.
#include "api/svix/out_of_scope.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "api/svix/endpoint_calls.h"
#include "api/svix/handlers.h"
#include "api/svix/input.h"
#include "api/svix/plan.h"
#include "api/svix/render.h"
#include "base/ascii.h"

namespace hk::api::svix {

namespace {

/// First segments below /api/v1/ of which nothing is here.
constexpr std::array<std::string_view, 5> absent_parts = {"connector", "events", "management",
                                                          "msg", "stream"};
/// Segments behind an application or one of its endpoints.
constexpr std::array<std::string_view, 5> absent_of_applications = {
    "autoconfig", "auto-config", "destination", "oauth", "poller"};

bool is_listed_segment(std::span<const std::string_view> all, std::string_view segment) {
  return std::ranges::any_of(
      all, [segment](std::string_view one) { return equals_ignoring_case(one, segment); });
}

}  // namespace

bool is_out_of_scope(std::string_view target) {
  target = target.substr(0, target.find('?'));
  if (starts_with_ignoring_case(target, ingest_path)) {
    return true;
  }
  constexpr std::string_view prefix = "/api/v1/";
  if (!starts_with_ignoring_case(target, prefix)) {
    return false;
  }
  std::vector<std::string_view> segments;
  for (target.remove_prefix(prefix.size()); !target.empty() && segments.size() < 8;) {
    const std::size_t end = std::min(target.find('/'), target.size());
    segments.push_back(target.substr(0, end));
    target.remove_prefix(std::min(end + 1, target.size()));
  }
  if (segments.empty()) {
    return false;
  }
  if (is_listed_segment(absent_parts, segments.front())) {
    return true;
  }
  if (equals_ignoring_case(segments.front(), "auth")) {
    return segments.size() > 1 && segments[1].starts_with("stream-");
  }
  return equals_ignoring_case(segments.front(), "app") && segments.size() > 2 &&
         std::ranges::any_of(segments.begin() + 2, segments.end(), [](std::string_view one) {
           return is_listed_segment(absent_of_applications, one) ||
                  equals_ignoring_case(one, "simulate");
         });
}

void get_transformation(const Services& services, Call& call) {
  with_endpoint(services, call, [](const Reading&, const webhook::Endpoint&) {
    http::Response response;
    response.body = R"({"code":null,"enabled":false,"variables":null,"updatedAt":null})";
    return response;
  });
}

Write patch_transformation(const Services& services, Call& call) {
  const Reading reading(services, call);
  if (!reading.application || !reading.endpoint(call.more_params.front())) {
    return not_found();
  }
  FieldErrors errors;
  Input in(call.request.body, errors, Input::Empty::object);
  const bool enabled = in.boolean("enabled").value_or(false);
  const bool code = !in.text("code").value_or("").empty();
  if (errors.any()) {
    return errors.response();
  }
  if (enabled || code) {
    return error_response(501, "not_implemented", "Transformations are not available.");
  }
  return no_content();
}

void list_nothing(const Services& /*services*/, Call& call) { call.answer(empty_page()); }

}  // namespace hk::api::svix
