// …/endpoint/{ep}/stats and …/rate-limit-status: counters that are kept by the hour.
#include "api/svix/endpoint_calls.h"
#include "api/svix/handlers.h"
#include "api/svix/query.h"
#include "api/svix/render.h"

namespace hk::api::svix {

namespace {

constexpr std::chrono::days stats_range_max{28};
constexpr std::chrono::minutes stats_grace{5};

std::uint64_t hour_of(Moment moment) {
  return static_cast<std::uint64_t>(
      std::chrono::floor<std::chrono::hours>(moment).time_since_epoch().count());
}

http::Response invalid_range(std::string_view why) {
  return error_response(400, "invalid_range", why);
}

}  // namespace

void get_stats(const Services& services, Call& call) {
  with_endpoint(services, call, [&](const Reading& reading, const webhook::Endpoint& endpoint) {
    FieldErrors errors;
    Query query(call.request.query(), errors);
    const auto given_until = query.time("until");
    const Moment until = given_until.value_or(reading.now);
    const Moment since = query.time("since").value_or(until - stats_range_max);
    if (errors.any()) {
      return errors.response();
    }
    if (until > reading.now + stats_grace) {
      return invalid_range("until must not be in the future");
    }
    if (until - since > stats_range_max + stats_grace) {
      return invalid_range("a range may be 28 days long at most");
    }
    if (since > until) {
      return invalid_range("since must be before until");
    }
    webhook::Stats sum;
    for (const webhook::Stats& one : webhook::list_stats(
             reading.reader(), reading.tenant, endpoint.number, hour_of(since), hour_of(until))) {
      sum.succeeded += one.succeeded;
      sum.failed += one.failed;
      sum.created += one.created;
      sum.begun += one.begun;
      sum.settled += one.settled;
      sum.canceled += one.canceled;
    }
    return object_response(200, [&](JsonWriter& json) {
      json.field("success", sum.succeeded);
      json.field("pending", sum.created - std::min(sum.created, sum.begun));
      json.field("sending", sum.begun - std::min(sum.begun, sum.settled));
      json.field("fail", sum.failed);
      json.field("canceled", sum.canceled);
    });
  });
}

void get_rate_limit_status(const Services& services, Call& call) {
  with_endpoint(services, call, [](const Reading& reading, const webhook::Endpoint& endpoint) {
    const auto health = webhook::health_of(reading.reader(), reading.tenant, endpoint.number);
    // Its receiver has asked for a rest, or its own rate is used up and something waits.
    const bool asked = !health.by_circuit && health.shut_until > reading.now;
    const bool used_up = endpoint.rate > 0 && health.waiting > endpoint.rate;
    return object_response(200, [&](JsonWriter& json) {
      json.field("status", asked || used_up ? "throttled" : "ok");
      json.key("throttledSince");
      json.null();
    });
  });
}

}  // namespace hk::api::svix
