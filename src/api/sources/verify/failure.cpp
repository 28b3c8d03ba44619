#include "api/sources/verify/failure.h"

#include <utility>

#include "base/json.h"

namespace hk::api::sources {

std::string_view name_of(Fault fault) {
  switch (fault) {
    case Fault::header_missing: return "header_missing";
    case Fault::header_malformed: return "header_malformed";
    case Fault::timestamp_missing: return "timestamp_missing";
    case Fault::timestamp_too_old: return "timestamp_too_old";
    case Fault::timestamp_too_new: return "timestamp_too_new";
    case Fault::scheme_unknown: return "scheme_unknown";
    case Fault::signature_mismatch: return "signature_mismatch";
    case Fault::credentials_mismatch: return "credentials_mismatch";
    case Fault::token_expired: return "token_expired";
    case Fault::token_body_mismatch: return "token_body_mismatch";
    case Fault::token_subject_mismatch: return "token_subject_mismatch";
    case Fault::body_not_json: return "body_not_json";
  }
  std::unreachable();
}

Failure failure(Fault fault, std::string message, const std::function<void(JsonWriter&)>& write) {
  Failure failed{.fault = fault, .message = std::move(message)};
  JsonWriter json(failed.details);
  json.begin_object();
  write(json);
  json.end_object();
  return failed;
}

namespace {

constexpr Problem signature_invalid{"signature_invalid", "Signature invalid"};
constexpr Problem outside_tolerance{"timestamp_outside_tolerance", "Timestamp outside tolerance"};
constexpr Problem credentials_invalid{"credentials_invalid", "Credentials invalid"};
constexpr Problem body_unreadable{"invalid", "Invalid request"};

}  // namespace

Rejection answer_to(Fault fault) {
  switch (fault) {
    case Fault::timestamp_too_old:
    case Fault::timestamp_too_new:
    case Fault::token_expired:
      return {outside_tolerance, 401, "the signature was made too long ago, or in the future"};
    case Fault::credentials_mismatch:
      return {credentials_invalid, 401, "the credentials are missing or wrong"};
    case Fault::body_not_json: return {body_unreadable, 400, "the body is not JSON"};
    case Fault::header_missing:
    case Fault::header_malformed:
    case Fault::timestamp_missing:
    case Fault::scheme_unknown:
    case Fault::signature_mismatch:
    case Fault::token_body_mismatch:
    case Fault::token_subject_mismatch:
      return {signature_invalid, 401, "the signature is missing or does not match"};
  }
  std::unreachable();
}

}  // namespace hk::api::sources
