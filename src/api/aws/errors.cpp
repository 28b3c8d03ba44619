#include "api/aws/errors.h"

#include <array>

#include "api/aws/xml.h"
#include "base/assert.h"
#include "base/json.h"

namespace hk::api::aws {

namespace {

constexpr std::string_view sqs_prefix = "AWS.SimpleQueueService.";
constexpr std::size_t echoed_bytes_max = 256;

constexpr auto rows = std::to_array<ErrorRow>({
    {ErrorCode::queue_does_not_exist, "QueueDoesNotExist",
     "AWS.SimpleQueueService.NonExistentQueue", 400, true},
    {ErrorCode::queue_name_exists, "QueueNameExists", "QueueAlreadyExists", 400, true},
    {ErrorCode::queue_deleted_recently, "QueueDeletedRecently",
     "AWS.SimpleQueueService.QueueDeletedRecently", 400, true},
    {ErrorCode::invalid_attribute_name, "InvalidAttributeName", "InvalidAttributeName", 400, true},
    {ErrorCode::invalid_attribute_value, "InvalidAttributeValue", "InvalidAttributeValue", 400,
     true},
    {ErrorCode::invalid_message_contents, "InvalidMessageContents", "InvalidMessageContents", 400,
     true},
    {ErrorCode::receipt_handle_is_invalid, "ReceiptHandleIsInvalid", "ReceiptHandleIsInvalid", 404,
     true},
    {ErrorCode::message_not_inflight, "MessageNotInflight",
     "AWS.SimpleQueueService.MessageNotInflight", 400, true},
    {ErrorCode::empty_batch_request, "EmptyBatchRequest",
     "AWS.SimpleQueueService.EmptyBatchRequest", 400, true},
    {ErrorCode::too_many_entries_in_batch_request, "TooManyEntriesInBatchRequest",
     "AWS.SimpleQueueService.TooManyEntriesInBatchRequest", 400, true},
    {ErrorCode::batch_entry_ids_not_distinct, "BatchEntryIdsNotDistinct",
     "AWS.SimpleQueueService.BatchEntryIdsNotDistinct", 400, true},
    {ErrorCode::invalid_batch_entry_id, "InvalidBatchEntryId",
     "AWS.SimpleQueueService.InvalidBatchEntryId", 400, true},
    {ErrorCode::batch_request_too_long, "BatchRequestTooLong",
     "AWS.SimpleQueueService.BatchRequestTooLong", 400, true},
    {ErrorCode::purge_queue_in_progress, "PurgeQueueInProgress",
     "AWS.SimpleQueueService.PurgeQueueInProgress", 403, true},
    {ErrorCode::over_limit, "OverLimit", "OverLimit", 403, true},
    {ErrorCode::request_throttled, "RequestThrottled", "RequestThrottled", 403, true},
    {ErrorCode::resource_not_found, "ResourceNotFoundException", "ResourceNotFoundException", 404,
     true},
    {ErrorCode::unsupported_operation, "UnsupportedOperation",
     "AWS.SimpleQueueService.UnsupportedOperation", 400, true},
    {ErrorCode::invalid_security, "InvalidSecurity", "InvalidSecurity", 403, true},
    {ErrorCode::invalid_parameter_value, "InvalidParameterValueException", "InvalidParameterValue",
     400, false},
    {ErrorCode::missing_parameter, "MissingRequiredParameterException", "MissingParameter", 400,
     false},
    {ErrorCode::unknown_operation, "UnknownOperationException", "InvalidAction", 400, false},
    {ErrorCode::serialization, "SerializationException", "MalformedInput", 400, false},
    {ErrorCode::missing_authentication_token, "MissingAuthenticationTokenException",
     "MissingAuthenticationToken", 403, false},
    {ErrorCode::incomplete_signature, "IncompleteSignatureException", "IncompleteSignature", 400,
     false},
    {ErrorCode::invalid_client_token_id, "InvalidClientTokenIdException", "InvalidClientTokenId",
     403, false},
    {ErrorCode::signature_does_not_match, "InvalidSignatureException", "SignatureDoesNotMatch", 403,
     false},
    {ErrorCode::request_expired, "RequestExpired", "RequestExpired", 403, false},
    {ErrorCode::access_denied, "AccessDeniedException", "AccessDenied", 403, false},
    {ErrorCode::internal_error, "InternalError", "InternalError", 500, false},
    {ErrorCode::service_unavailable, "ServiceUnavailable", "ServiceUnavailable", 503, false},
    {ErrorCode::request_entity_too_large, "RequestEntityTooLargeException", "RequestEntityTooLarge",
     413, false},
    {ErrorCode::request_timeout, "RequestTimeoutException", "RequestTimeout", 408, false},
    {ErrorCode::no_operation, "UnknownOperationException", "UnknownOperationException", 404, false},
    {ErrorCode::sns_invalid_parameter, "", "InvalidParameter", 400, true},
    {ErrorCode::sns_parameter_value_invalid, "", "ParameterValueInvalid", 400, true},
    {ErrorCode::sns_validation_error, "", "ValidationError", 400, true},
    {ErrorCode::sns_not_found, "", "NotFound", 404, true},
    {ErrorCode::sns_resource_not_found, "", "ResourceNotFound", 404, true},
    {ErrorCode::sns_authorization_error, "", "AuthorizationError", 403, true},
    {ErrorCode::sns_topic_limit_exceeded, "", "TopicLimitExceeded", 403, true},
    {ErrorCode::sns_subscription_limit_exceeded, "", "SubscriptionLimitExceeded", 403, true},
    {ErrorCode::sns_filter_policy_limit_exceeded, "", "FilterPolicyLimitExceeded", 403, true},
    {ErrorCode::sns_throttled, "", "Throttled", 429, true},
});

constexpr bool rows_are_in_order() {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (static_cast<std::size_t>(rows[i].code) != i) return false;
  }
  return rows.size() == static_cast<std::size_t>(ErrorCode::sns_throttled) + 1;
}
static_assert(rows_are_in_order());

/// What code shared with SQS refuses, in the words of SNS.
ErrorCode in_sns(ErrorCode code) {
  switch (code) {
    case ErrorCode::missing_parameter: return ErrorCode::sns_validation_error;
    case ErrorCode::invalid_parameter_value:
    case ErrorCode::invalid_message_contents:
    case ErrorCode::invalid_attribute_name:
    case ErrorCode::invalid_attribute_value:
    case ErrorCode::unsupported_operation:
    case ErrorCode::serialization: return ErrorCode::sns_invalid_parameter;
    case ErrorCode::resource_not_found: return ErrorCode::sns_resource_not_found;
    case ErrorCode::access_denied: return ErrorCode::sns_authorization_error;
    case ErrorCode::over_limit:
    case ErrorCode::request_throttled: return ErrorCode::sns_throttled;
    default: return code;
  }
}

std::string_view fault_of(const ErrorRow& row) {
  return is_sender_fault(row) ? "Sender" : "Receiver";
}

std::string json_body(const ErrorRow& row, std::string_view message) {
  std::string type(row.modelled ? "com.amazonaws.sqs#" : "com.amazon.coral.service#");
  type += row.type;
  std::string body;
  JsonWriter json(body);
  json.begin_object();
  json.field("__type", type);
  json.field("message", message);
  json.end_object();
  return body;
}

std::string xml_body(Dialect dialect, const ErrorRow& row, const Refusal& refusal,
                     std::string_view request_id) {
  std::string body = R"(<?xml version="1.0"?>)";
  if (refusal.code == ErrorCode::no_operation) {
    return body + "<UnknownOperationException/>";
  }
  body += R"(<ErrorResponse xmlns=")";
  body += xml_namespace(dialect);
  body += R"("><Error>)";
  append_xml_element(body, "Type", fault_of(row));
  append_xml_element(body, "Code", query_code(dialect, refusal.code));
  append_xml_element(body, "Message", refusal.message);
  body += is_sns(dialect) ? "</Error>" : "<Detail/></Error>";
  append_xml_element(body, "RequestId", request_id);
  body += "</ErrorResponse>";
  return body;
}

}  // namespace

std::span<const ErrorRow> error_rows() { return rows; }

const ErrorRow& error_row(Dialect dialect, ErrorCode code) {
  const ErrorRow& row = rows[static_cast<std::size_t>(is_sns(dialect) ? in_sns(code) : code)];
  HK_ASSERT(!is_json(dialect) || !row.type.empty());  // no action of SQS refuses in SNS's words
  return row;
}

std::string_view query_code(Dialect dialect, ErrorCode code) {
  std::string_view text = error_row(dialect, code).query_code;
  if (is_sns(dialect) && text.starts_with(sqs_prefix)) {
    text.remove_prefix(sqs_prefix.size());
  }
  return text;
}

Refusal invalid_value(std::string_view parameter, std::string_view value, std::string_view reason) {
  std::string message = "Value ";
  message += value.substr(0, echoed_bytes_max);
  message += value.size() > echoed_bytes_max ? "... for parameter " : " for parameter ";
  message += parameter;
  message += " is invalid. Reason: ";
  message += reason;
  return {ErrorCode::invalid_parameter_value, std::move(message)};
}

Refusal missing_parameter(std::string_view parameter) {
  return {ErrorCode::missing_parameter,
          "The request must contain the parameter " + std::string(parameter) + "."};
}

Refusal refusal_from(const Error& error) {
  switch (error.kind) {
    case ErrorKind::invalid_argument:
    case ErrorKind::conflict: return {ErrorCode::invalid_parameter_value, error.message};
    case ErrorKind::unauthenticated:
    case ErrorKind::permission_denied: return {ErrorCode::access_denied, error.message};
    case ErrorKind::not_found: return {ErrorCode::resource_not_found, error.message};
    case ErrorKind::quota_reached: return {ErrorCode::over_limit, error.message};
    case ErrorKind::limit_exceeded: return {ErrorCode::request_throttled, error.message};
    case ErrorKind::unavailable: return {ErrorCode::service_unavailable, error.message};
    case ErrorKind::unknown_outcome:
    case ErrorKind::corruption:
    case ErrorKind::internal:
      return {ErrorCode::internal_error, "The request failed on our side; it may be sent again."};
  }
  std::unreachable();
}

http::Response error_response(Dialect dialect, const Refusal& refusal,
                              std::string_view request_id) {
  const ErrorRow& row = error_row(dialect, refusal.code);
  const bool as_json = is_json(dialect) && refusal.code != ErrorCode::no_operation;
  http::Response response;
  response.status = row.status;
  response.content_type = as_json ? content_type(Dialect::sqs_json) : "text/xml";
  response.body =
      as_json ? json_body(row, refusal.message) : xml_body(dialect, row, refusal, request_id);
  response.fields.push_back({"x-amzn-RequestId", std::string(request_id)});
  if (as_json) {
    std::string header(row.query_code);
    header += ';';
    header += fault_of(row);
    response.fields.push_back({"x-amzn-query-error", std::move(header)});
  }
  return response;
}

}  // namespace hk::api::aws
