#include "api/service.h"

#include <algorithm>
#include <utility>

#include "api/app_token.h"
#include "api/auth.h"
#include "api/auth_log.h"
#include "api/ledger/short_path.h"
#include "api/once.h"
#include "api/route_index.h"
#include "api/sqs/gateway.h"
#include "api/svix/out_of_scope.h"
#include "api/text.h"
#include "base/assert.h"
#include "observe/metrics.h"
#include "security/credentials.h"
#include "security/digest.h"

namespace hk::api {

namespace {

/// One that is not set is nobody's.
bool matches(std::string_view token, const Secret& expected) {
  return !expected.empty() && security::constant_time_equal(token, expected.reveal());
}

/// The admin's token is good; for whom is it used?
Result<void> act_for_tenant(const Services& services, Call& call) {
  const auto number = parse_unsigned(call.request.header("Hikyaku-Tenant").value_or(""));
  if (number && *number <= UINT32_MAX) {
    call.tenant = services.tenants.find(core::TenantId{static_cast<std::uint32_t>(*number)});
  }
  if (!call.tenant) {
    return fail(ErrorKind::invalid_argument,
                "Hikyaku-Tenant: must be the id of the tenant for which the admin's token is used");
  }
  return {};
}

/// Sets call.tenant on routes for one tenant.
Result<void> authenticate(const Services& services, const Route& route, Call& call) {
  const Options& options = services.options;
  const std::string token = token_of(call.request, options.allow_token_in_query);
  switch (route.access) {
    case Access::open: return {};
    case Access::metrics: {
      const AuthAttempt attempt{.way = "metrics_token", .asked_for = route.pattern};
      if (options.metrics_token.empty()) {
        return {};
      }
      if (!matches(token, options.metrics_token) && !matches(token, options.admin_token)) {
        log_refused(call.request, attempt, token.empty() ? "no token" : "not the metrics token");
        return fail(ErrorKind::unauthenticated, "unauthorized: send the metrics token");
      }
      log_accepted(call.request, attempt, "");
      return {};
    }
    case Access::tenant:
    case Access::tenant_or_admin:
    case Access::app:
    case Access::app_view:
    case Access::app_secret:
    case Access::app_rotate:
    case Access::app_manage:
    case Access::app_attempt: {
      if (call.tenant) {  // a part of this server asks
        return {};
      }
      if (route.access == Access::tenant_or_admin && matches(token, options.admin_token)) {
        log_accepted(call.request, {.way = "admin_token", .asked_for = route.pattern}, "");
        call.by_admin = true;
        return act_for_tenant(services, call);
      }
      const AuthAttempt attempt{.way = "token", .asked_for = route.pattern};
      if (!token.empty()) {
        call.tenant = services.tenants.authenticate(token);
      }
      if (auto app = call.tenant ? std::nullopt : find_app_token(services, token)) {
        if (!takes_app_tokens(route.access) || !may(*app->token, route.access)) {
          log_refused(call.request, attempt, "a token of an application that may not");
          return fail(ErrorKind::permission_denied,
                      "the token of an application does not allow this call");
        }
        call.tenant = std::move(app->tenant);
        call.app = std::move(app->token);
      }
      if (!call.tenant) {
        log_refused(call.request, attempt, token.empty() ? "no token" : "unknown token");
        return fail(ErrorKind::unauthenticated,
                    "unauthorized: send a valid token as \"Authorization: Bearer <token>\"");
      }
      log_accepted(call.request, attempt, call.tenant->name);
      return {};
    }
    case Access::admin:
    case Access::admin_for_tenant: {
      const AuthAttempt attempt{.way = "admin_token", .asked_for = route.pattern};
      if (options.admin_token.empty()) {
        log_refused(call.request, attempt, "the admin API is closed");
        return fail(ErrorKind::permission_denied,
                    "the admin API is disabled: the server has no admin token");
      }
      if (!matches(token, options.admin_token)) {
        log_refused(call.request, attempt, token.empty() ? "no token" : "not the admin token");
        return fail(ErrorKind::unauthenticated, "unauthorized: send the admin token");
      }
      log_accepted(call.request, attempt, "");
      call.by_admin = true;
      return route.access == Access::admin_for_tenant ? act_for_tenant(services, call)
                                                      : Result<void>{};
    }
  }
  std::unreachable();
}

/// Percent-decoded into the call. False: it has been refused.
bool take_params(Call& call, const Found& found) {
  for (std::size_t i = 0; i < found.params_count; ++i) {
    std::optional<std::string> param = http::percent_decode(found.params[i]);
    if (!param) {
      call.answer.refuse(400, "the percent-encoding of the path is invalid");
      return false;
    }
    if (i == 0) {
      call.param = std::move(*param);
    } else {
      call.more_params.push_back(std::move(*param));
    }
  }
  call.rest = found.rest;
  return true;
}

/// False: a limit has refused it.
bool let_in(const Services& services, const Route& route, Surface surface, Call& call) {
  const auto now = call.answer.begun_at();
  const std::optional<core::RateClass> of = rate_class(route);
  if (!of) {
    if (surface == Surface::own) {  // where every answer says how much is left
      call.answer.admitted(services.admissions.look(now, *call.tenant));
    }
    return true;
  }
  limits::Asked asked{.of = *of};
  if (route.body == Body::batch) {
    asked = limits::batch_of(*of, call.request.body.size(), services.options.batch_items_max);
  }
  auto ticket = services.admissions.admit(now, *call.tenant, asked);
  if (!ticket) {
    if (*of == core::RateClass::publish) {
      services.metrics.publish_refused("rate_limited");
    }
    call.answer.refuse(ticket.error());
    return false;
  }
  call.answer.admitted(std::move(*ticket));
  return true;
}

/// Who asks, and what the path names. It has answered if the request goes no further.
void admit(const Services& services, const Route& route, const Found& found, Call& call) {
  if (const Result<void> known = authenticate(services, route, call); !known) {
    call.answer.refuse(known.error());
    return;
  }
  if (take_params(call, found) && !keep_to_own_application(services, route, call)) {
    call.answer.refuse(404, "no such application");
  }
}

void dispatch(const Services& services, Call& call) {
  ledger::spell_out(call.request.target);
  const std::string_view target = call.request.target;
  const Found found = find_route(call.request.method, target);
  const Surface surface = found.route != nullptr ? found.surface : surface_of(target);
  call.answer.of_surface(surface, request_id_of(surface, call.request, call.batcher.rng()));
  if (found.route == nullptr) {
    if (surface == Surface::svix && svix::is_out_of_scope(target)) {
      call.answer.refuse(501, "This part of the API is not available here.");
    } else if (found.allowed.empty()) {
      call.answer.refuse(404, nothing_at(target));
    } else {
      call.answer.refuse_method(found.allowed);
    }
    return;
  }
  const Route& route = *found.route;
  answering(call.answer, [&] { admit(services, route, found, call); });
  if (!call.answer.pending()) {
    return;
  }
  if (call.tenant) {
    call.answer.of_tenant(call.tenant->id);
  }
  if (call.request.method == "GET") {
    call.answer.may_be_refused();
  }
  if (call.tenant && !call.by_admin && !let_in(services, route, found.surface, call)) {
    return;
  }
  if (route.handler.answers != nullptr && !is_own_write(route)) {
    answering(call.answer, [&] { route.handler.answers(services, call); });
    return;
  }
  auto key = read_once_key(services, route, found.surface, call);
  if (!key) {
    call.answer(to_response(std::move(key.error()), found.surface, call.answer.request_id()));
    return;
  }
  answering(call.answer, [&] {
    if (route.handler.writes != nullptr) {
      carry_out(services, route, found.surface, call, std::move(*key),
                route.handler.writes(services, call));
    } else {
      route.handler.answers(services, call);
    }
  });
}

}  // namespace

Service::Service(engine::Submitter& submitter, const engine::TenantDirectory& tenants,
                 observe::Metrics& metrics, Options options)
    : options_(std::move(options)),
      admissions_(options_.rates),
      services_{submitter, tenants, metrics, options_, admissions_, sources_},
      answer_room_(std::make_shared<engine::TenantRoom>(options_.answer_bytes_max)) {
  HK_ASSERT(options_.check_destination);
  HK_ASSERT(options_.check_header);
  HK_ASSERT(options_.check_zone);
  HK_ASSERT(options_.scanned_per_listing_max > 0);
  measure();
}

void Service::measure() {
  const observe::Metrics::Answered answered = services_.metrics.answered();
  admissions_.measure(std::chrono::steady_clock::now(), options_.load ? options_.load() : 0,
                      {answered.all, answered.failed}, services_.tenants.size());
}

Service::~Service() = default;

void Service::attach(const std::vector<http::IoThread*>& threads) {
  for (http::IoThread* const thread : threads) {
    batcher_of(*thread);
  }
}

void Service::handle(http::Request&& request, http::Responder respond, http::IoThread& io,
                     std::shared_ptr<const engine::TenantDirectory::Entry> caller) {
  Call call{.request = request,
            .answer = Answer(std::move(respond), services_.metrics, answer_room_),
            .batcher = batcher_of(io),
            .tenant = std::move(caller)};
  if (sqs::is_for_aws(request)) {
    sqs::handle(services_, call);
    return;
  }
  dispatch(services_, call);
}

http::Response Service::refusal(const http::Request& request, int status, std::string_view reason) {
  if (sqs::is_for_aws(request)) {
    return sqs::refusal(request, status, reason);
  }
  const Surface surface = surface_of(request.target);
  security::SystemRng rng;
  std::string request_id = request_id_of(surface, request, rng);
  http::Response response = error_for(surface, status, reason, request_id);
  if (!request_id.empty()) {
    response.fields.push_back({"X-Request-Id", std::move(request_id)});
  }
  return response;
}

std::size_t Service::body_bytes_max(std::string_view target) const {
  std::string spelled(target);
  ledger::spell_out(spelled);
  const Route* const route = find_route("POST", spelled).route;
  return route != nullptr && route->body == Body::batch
             ? std::max(options_.batch_bytes_max, options_.body_bytes_max)
             : options_.body_bytes_max;
}

Batcher& Service::batcher_of(http::IoThread& io) {
  HK_ASSERT(io.index() < io_threads_max);
  std::unique_ptr<Batcher>& slot = batchers_[io.index()];
  if (!slot) {
    slot = std::make_unique<Batcher>(
        services_.submitter, io, std::make_unique<security::SystemRng>(), options_.overload_delay);
  }
  return *slot;
}

}  // namespace hk::api
