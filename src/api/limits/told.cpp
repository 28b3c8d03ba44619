#include "api/limits/told.h"

#include "api/error_fields.h"
#include "api/problem.h"
#include "base/json.h"

namespace hk::api::limits {

namespace {

constexpr Problem cost_over_burst{"cost_over_burst", "Costs more than can be taken at once"};

std::uint64_t seconds_up(Time time) {
  constexpr std::int64_t second = 1'000'000'000;
  return static_cast<std::uint64_t>(
      std::max<std::int64_t>(1, (time.count() + second - 1) / second));
}

std::uint64_t millis_up(Time time) {
  return static_cast<std::uint64_t>((time.count() + 999'999) / 1'000'000);
}

std::string whose(const Refused& refused) {
  switch (refused.level) {
    case Level::global: return "of all tenants together";
    case Level::tenant: return "of this tenant";
    case Level::endpoint: return "of class " + std::string(name_of(refused.of)) + " of this tenant";
  }
  std::unreachable();
}

std::string limit_text(const Refused& refused) {
  const std::string limit = std::to_string(refused.limit);
  switch (refused.why) {
    case Refused::Why::rate:
      return "too many requests: the server takes " + limit + " a second " + whose(refused) +
             "; nothing was done, try again in " + std::to_string(seconds_up(refused.retry_in)) +
             " s";
    case Refused::Why::in_flight:
      return "too many requests at the same time: the server takes " + limit + ' ' +
             whose(refused) + "; nothing was done, try again when some are answered";
    case Refused::Why::over_burst:
      return "the request costs more than the server takes at once " + whose(refused) +
             ", which is " + limit + ": nothing was done, send fewer messages in one request";
  }
  std::unreachable();
}

bool is_for_ever(const Refused& refused) { return refused.why == Refused::Why::over_burst; }

void add_policy(http::Response& response, const Standing& standing, std::uint64_t seconds) {
  const std::string name = '"' + std::string(name_of(standing.level)) + '"';
  response.fields.push_back(
      {"RateLimit-Policy", name + ";q=" + std::to_string(standing.rate) + ";w=1"});
  response.fields.push_back({"RateLimit", name + ";r=" + std::to_string(standing.left) +
                                              ";t=" + std::to_string(seconds)});
}

http::Response own_refusal(const Refused& refused, std::string_view request_id) {
  const bool for_ever = is_for_ever(refused);
  return problem(for_ever ? cost_over_burst : too_many_requests, for_ever ? 413 : 429,
                 limit_text(refused), request_id, [&](JsonWriter& json) {
                   json.field("level", name_of(refused.level));
                   if (refused.level == Level::endpoint) {
                     json.field("class", name_of(refused.of));
                   }
                   json.field("limit", refused.limit);
                   if (!for_ever) {
                     json.field("retry_after_ms", millis_up(refused.retry_in));
                   }
                 });
}

}  // namespace

void add_standing(http::Response& response, const Standing& standing) {
  add_policy(response, standing, seconds_up(standing.full_in));
}

http::Response refusal(Surface surface, const Turned& turned, std::string_view request_id) {
  const Refused& refused = turned.refused;
  http::Response response =
      surface == Surface::own
          ? own_refusal(refused, request_id)
          : error_for(surface, is_for_ever(refused) ? 413 : 429, limit_text(refused), request_id);
  if (is_for_ever(refused)) {
    if (turned.standing) {
      add_standing(response, *turned.standing);
    }
    return response;
  }
  const std::uint64_t seconds = seconds_up(refused.retry_in);
  if (surface == Surface::qstash) {
    const std::uint64_t left = turned.standing ? turned.standing->left : 0;
    add_burst_fields(response, {.limit = refused.limit,
                                .remaining = refused.why == Refused::Why::rate ? left : 0,
                                .retry_after = static_cast<std::int64_t>(seconds)});
  } else {
    response.fields.push_back({"Retry-After", std::to_string(seconds)});
  }
  if (turned.standing) {
    add_policy(response, *turned.standing, seconds);
  }
  return response;
}

aws::Refusal refusal_for_aws(const Turned& turned) {
  return {is_for_ever(turned.refused) ? aws::ErrorCode::request_entity_too_large
                                      : aws::ErrorCode::request_throttled,
          limit_text(turned.refused)};
}

void add_fields_for_aws(http::Response& response, const Turned& turned) {
  const std::uint64_t seconds = seconds_up(turned.refused.retry_in);
  if (!is_for_ever(turned.refused)) {
    response.fields.push_back({"Retry-After", std::to_string(seconds)});
  }
  if (turned.standing) {
    add_policy(response, *turned.standing, seconds);
  }
}

}  // namespace hk::api::limits
