/// What can be refused on the AWS surfaces, and how that is told in each dialect. A failure of an
/// action is a Refusal: a row of the table below and a text for the person who reads it (which
/// parameter, which value, which rule). Pure, any thread.
#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "api/aws/dialect.h"
#include "base/error.h"
#include "edge/http/message.h"

namespace hk::api::aws {

enum class ErrorCode : std::uint8_t {
  // modelled by SQS
  queue_does_not_exist,
  queue_name_exists,
  queue_deleted_recently,
  invalid_attribute_name,
  invalid_attribute_value,
  invalid_message_contents,
  receipt_handle_is_invalid,
  message_not_inflight,
  empty_batch_request,
  too_many_entries_in_batch_request,
  batch_entry_ids_not_distinct,
  invalid_batch_entry_id,
  batch_request_too_long,
  purge_queue_in_progress,
  over_limit,
  request_throttled,
  resource_not_found,
  unsupported_operation,
  invalid_security,
  // common to all services
  invalid_parameter_value,
  missing_parameter,
  unknown_operation,
  serialization,
  missing_authentication_token,
  incomplete_signature,
  invalid_client_token_id,
  signature_does_not_match,
  request_expired,
  access_denied,
  internal_error,
  service_unavailable,
  request_entity_too_large,
  request_timeout,
  no_operation,  ///< neither a target nor an action: not a request to us at all
  // SNS alone
  sns_invalid_parameter,
  sns_parameter_value_invalid,
  sns_validation_error,
  sns_not_found,
  sns_resource_not_found,
  sns_authorization_error,
  sns_topic_limit_exceeded,
  sns_subscription_limit_exceeded,
  sns_filter_policy_limit_exceeded,
  sns_throttled,
};

struct ErrorRow {
  ErrorCode code;
  std::string_view type;        ///< `__type` behind '#'; "" in rows of SNS, which has no JSON
  std::string_view query_code;  ///< `Code` in XML and in batch entries, and in x-amzn-query-error
  int status;
  bool modelled;  ///< decides the namespace of the type
};

/// Every row, in the order of ErrorCode.
std::span<const ErrorRow> error_rows();
/// The row that a dialect tells: SNS has its own names for some of the common errors.
const ErrorRow& error_row(Dialect dialect, ErrorCode code);
/// Without the prefix of SQS for SNS.
std::string_view query_code(Dialect dialect, ErrorCode code);
/// The caller's fault; ours otherwise.
constexpr bool is_sender_fault(const ErrorRow& row) { return row.status < 500; }

struct Refusal {
  ErrorCode code = ErrorCode::internal_error;
  std::string message{};

  friend bool operator==(const Refusal&, const Refusal&) = default;
};

template <class T>
using Checked = std::expected<T, Refusal>;

[[nodiscard]] inline std::unexpected<Refusal> refuse(ErrorCode code, std::string message) {
  return std::unexpected(Refusal{code, std::move(message)});
}

/// "Value 11 for parameter MaxNumberOfMessages is invalid. Reason: ..." A long value is cut.
Refusal invalid_value(std::string_view parameter, std::string_view value, std::string_view reason);
Refusal missing_parameter(std::string_view parameter);
/// What the engine said, where the action has no better word for it. Faults of ours are told
/// without their details: log them before.
Refusal refusal_from(const Error& error);

http::Response error_response(Dialect dialect, const Refusal& refusal, std::string_view request_id);

}  // namespace hk::api::aws
