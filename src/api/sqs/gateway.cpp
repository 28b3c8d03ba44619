#include "api/sqs/gateway.h"

#include "api/auth_log.h"
#include "api/aws/action.h"
#include "api/aws/names.h"
#include "api/aws/route.h"
#include "api/aws/sigv4.h"
#include "api/sns/actions.h"
#include "api/sqs/exchange.h"
#include "engine/clock.h"
#include "security/credentials.h"

namespace hk::api::sqs {

namespace {

/// Keys derived from secrets, of this I/O thread.
aws::SigningKeys& signing_keys() {
  thread_local aws::SigningKeys keys;
  return keys;
}

/// Whose request it is. REQUIRES: nothing of the request is trusted before.
aws::Checked<void> authenticate(Exchange& exchange, const http::Request& request,
                                aws::Checked<aws::Signature>& signature) {
  AuthAttempt attempt{.way = "signature", .asked_for = exchange.action};
  if (!signature) {
    log_refused(request, attempt, aws::query_code(exchange.dialect, signature.error().code));
    return std::unexpected(signature.error());
  }
  attempt.access_key = signature->scope.access_key;
  const Services& services = exchange.services;
  const auto signer = services.tenants.find_access_key(signature->scope.access_key);
  // It is compared with the client's clock: partition time may be far from that after the wall
  // clock was set.
  const Moment wall = engine::read_system_clocks().wall;
  const aws::Circumstances circumstances{
      .now = wall, .service = aws::service_of(exchange.dialect), .tls = request.secure};
  const aws::Checked<void> verified = aws::verify(
      request, *signature, signer ? &signer->secret : nullptr, signing_keys(), circumstances);
  if (!verified) {
    log_refused(request, attempt, aws::query_code(exchange.dialect, verified.error().code));
    return verified;
  }
  log_accepted(request, attempt, signer->tenant->name);
  exchange.of_tenant(signer->tenant);
  exchange.account = account_of(signer->tenant->id);
  exchange.region = std::move(signature->scope.region);
  exchange.access_key = std::move(signature->scope.access_key);
  return {};
}

/// The same for a link in a message that was delivered: nobody has signed it.
aws::Checked<void> identify(Exchange& exchange, const aws::Routed& routed,
                            const http::Request& request, aws::Checked<aws::Signature>& signature) {
  if (!aws::is_unsigned_link(routed, request, signature)) {
    return authenticate(exchange, request, signature);
  }
  const auto arn = routed.form.value(routed.row->traits.link);
  if (!sns::enter_by_link(exchange, arn.value_or(""))) {
    return aws::refuse(aws::ErrorCode::sns_invalid_parameter,
                       "The link is not one of this server, or not complete.");
  }
  return {};
}

/// False: a limit has refused it.
bool pass_limits(Exchange& exchange, const aws::ActionRow& row, const http::Request& request) {
  const std::optional<core::RateClass> of = aws::rate_class(row);
  if (!of) {
    return true;
  }
  limits::Asked asked{.of = *of};
  if (row.traits.messages_max > 1) {
    asked = limits::batch_of(*of, request.body.size(), row.traits.messages_max);
  }
  return exchange.let_in(asked);
}

/// What the edge refuses by itself.
aws::ErrorCode code_of(int status) {
  switch (status) {
    case 408: return aws::ErrorCode::request_timeout;
    case 413: return aws::ErrorCode::request_entity_too_large;
    case 503: return aws::ErrorCode::service_unavailable;
    default: return aws::ErrorCode::serialization;  // a body that is not what it says
  }
}

}  // namespace

bool is_for_aws(const http::Request& request) {
  const std::string_view path = request.path();
  if (path.starts_with("/v2/") || path.starts_with("/api/")) {
    return false;
  }
  if (request.header("X-Amz-Target")) {
    return true;
  }
  const auto authorization = request.header("Authorization");
  if (authorization && authorization->starts_with("AWS4-")) {
    return true;
  }
  if (request.query().find("Action=") != std::string_view::npos) {
    return true;
  }
  return request.method == "POST" && request.body.starts_with("Action=");
}

http::Response refusal(const http::Request& request, int status, std::string_view reason) {
  security::SystemRng rng;
  return aws::error_response(aws::dialect_of(request), {code_of(status), std::string(reason)},
                             aws::make_uuid(rng));
}

void handle(const Services& services, Call& call) {
  const auto exchange = std::make_shared<Exchange>(services, std::move(call.answer), call.batcher);
  aws::Checked<aws::Signature> signature = aws::parse_signature(call.request);
  exchange->dialect = aws::dialect_of(call.request, signature);
  exchange->request_id = aws::make_uuid(call.batcher.rng());
  aws::Checked<aws::Routed> routed = aws::route(call.request, signature);
  if (!routed) {
    exchange->refuse(routed.error());
    return;
  }
  exchange->dialect = routed->dialect;
  exchange->action = routed->action;
  if (const aws::Checked<void> known = identify(*exchange, *routed, call.request, signature);
      !known) {
    exchange->refuse(known.error());
    return;
  }
  if (routed->row == nullptr) {
    exchange->refuse({aws::ErrorCode::unknown_operation,
                      "The action " + routed->action + " is not valid for this endpoint."});
    return;
  }
  if (!pass_limits(*exchange, *routed->row, call.request)) {
    return;
  }
  aws::Checked<aws::Input> input = aws::input_of(*routed, call.request);
  if (!input) {
    exchange->refuse(input.error());
    return;
  }
  exchange->base_url = aws::base_url({}, call.request, call.request.secure);
  exchange->caller_ip = call.request.peer;
  if (const auto trace = call.request.header("X-Amzn-Trace-Id")) {
    exchange->trace_header = *trace;
  }
  exchange->guarded([&] { routed->row->handler(exchange, *input); });
}

}  // namespace hk::api::sqs
