#include "api/aws/errors.h"

#include <gtest/gtest.h>

#include "api/aws/xml.h"

namespace hk::api::aws {
namespace HK_TEST_FILE {

using enum ErrorCode;

std::string field(const http::Response& response, std::string_view name) {
  for (const net::Field& one : response.fields) {
    if (one.name == name) return one.value;
  }
  return "(none)";
}

TEST(AwsErrors, EveryErrorOfSqsIsToldAsTheServiceTellsIt) {
  struct Row {
    ErrorCode code;
    std::string_view type;
    std::string_view query;
    int status;
  };
  const Row rows[] = {
      {queue_does_not_exist, "com.amazonaws.sqs#QueueDoesNotExist",
       "AWS.SimpleQueueService.NonExistentQueue;Sender", 400},
      {queue_name_exists, "com.amazonaws.sqs#QueueNameExists", "QueueAlreadyExists;Sender", 400},
      {queue_deleted_recently, "com.amazonaws.sqs#QueueDeletedRecently",
       "AWS.SimpleQueueService.QueueDeletedRecently;Sender", 400},
      {invalid_attribute_name, "com.amazonaws.sqs#InvalidAttributeName",
       "InvalidAttributeName;Sender", 400},
      {invalid_attribute_value, "com.amazonaws.sqs#InvalidAttributeValue",
       "InvalidAttributeValue;Sender", 400},
      {invalid_parameter_value, "com.amazon.coral.service#InvalidParameterValueException",
       "InvalidParameterValue;Sender", 400},
      {ErrorCode::missing_parameter, "com.amazon.coral.service#MissingRequiredParameterException",
       "MissingParameter;Sender", 400},
      {invalid_message_contents, "com.amazonaws.sqs#InvalidMessageContents",
       "InvalidMessageContents;Sender", 400},
      {receipt_handle_is_invalid, "com.amazonaws.sqs#ReceiptHandleIsInvalid",
       "ReceiptHandleIsInvalid;Sender", 404},
      {message_not_inflight, "com.amazonaws.sqs#MessageNotInflight",
       "AWS.SimpleQueueService.MessageNotInflight;Sender", 400},
      {empty_batch_request, "com.amazonaws.sqs#EmptyBatchRequest",
       "AWS.SimpleQueueService.EmptyBatchRequest;Sender", 400},
      {too_many_entries_in_batch_request, "com.amazonaws.sqs#TooManyEntriesInBatchRequest",
       "AWS.SimpleQueueService.TooManyEntriesInBatchRequest;Sender", 400},
      {batch_entry_ids_not_distinct, "com.amazonaws.sqs#BatchEntryIdsNotDistinct",
       "AWS.SimpleQueueService.BatchEntryIdsNotDistinct;Sender", 400},
      {invalid_batch_entry_id, "com.amazonaws.sqs#InvalidBatchEntryId",
       "AWS.SimpleQueueService.InvalidBatchEntryId;Sender", 400},
      {batch_request_too_long, "com.amazonaws.sqs#BatchRequestTooLong",
       "AWS.SimpleQueueService.BatchRequestTooLong;Sender", 400},
      {purge_queue_in_progress, "com.amazonaws.sqs#PurgeQueueInProgress",
       "AWS.SimpleQueueService.PurgeQueueInProgress;Sender", 403},
      {over_limit, "com.amazonaws.sqs#OverLimit", "OverLimit;Sender", 403},
      {request_throttled, "com.amazonaws.sqs#RequestThrottled", "RequestThrottled;Sender", 403},
      {resource_not_found, "com.amazonaws.sqs#ResourceNotFoundException",
       "ResourceNotFoundException;Sender", 404},
      {unsupported_operation, "com.amazonaws.sqs#UnsupportedOperation",
       "AWS.SimpleQueueService.UnsupportedOperation;Sender", 400},
      {invalid_security, "com.amazonaws.sqs#InvalidSecurity", "InvalidSecurity;Sender", 403},
      {unknown_operation, "com.amazon.coral.service#UnknownOperationException",
       "InvalidAction;Sender", 400},
      {serialization, "com.amazon.coral.service#SerializationException", "MalformedInput;Sender",
       400},
      {missing_authentication_token, "com.amazon.coral.service#MissingAuthenticationTokenException",
       "MissingAuthenticationToken;Sender", 403},
      {incomplete_signature, "com.amazon.coral.service#IncompleteSignatureException",
       "IncompleteSignature;Sender", 400},
      {invalid_client_token_id, "com.amazon.coral.service#InvalidClientTokenIdException",
       "InvalidClientTokenId;Sender", 403},
      {signature_does_not_match, "com.amazon.coral.service#InvalidSignatureException",
       "SignatureDoesNotMatch;Sender", 403},
      {request_expired, "com.amazon.coral.service#RequestExpired", "RequestExpired;Sender", 403},
      {access_denied, "com.amazon.coral.service#AccessDeniedException", "AccessDenied;Sender", 403},
      {internal_error, "com.amazon.coral.service#InternalError", "InternalError;Receiver", 500},
      {service_unavailable, "com.amazon.coral.service#ServiceUnavailable",
       "ServiceUnavailable;Receiver", 503},
      {request_entity_too_large, "com.amazon.coral.service#RequestEntityTooLargeException",
       "RequestEntityTooLarge;Sender", 413},
      {request_timeout, "com.amazon.coral.service#RequestTimeoutException", "RequestTimeout;Sender",
       408},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.type);
    const auto json = error_response(Dialect::sqs_json, {row.code, "Why \"so\""}, "the-id");
    EXPECT_EQ(json.status, row.status);
    EXPECT_EQ(json.content_type, "application/x-amz-json-1.0");
    EXPECT_EQ(json.body, R"({"__type":")" + std::string(row.type) + R"(","message":"Why \"so\""})");
    EXPECT_EQ(field(json, "x-amzn-query-error"), row.query);
    EXPECT_EQ(field(json, "x-amzn-RequestId"), "the-id");

    const auto xml = error_response(Dialect::sqs_query, {row.code, "a<b"}, "the-id");
    const std::size_t semicolon = row.query.find(';');
    EXPECT_EQ(xml.status, row.status);
    EXPECT_EQ(xml.content_type, "text/xml");
    EXPECT_EQ(xml.body,
              "<?xml version=\"1.0\"?><ErrorResponse "
              "xmlns=\"http://queue.amazonaws.com/doc/2012-11-05/\"><Error><Type>" +
                  std::string(row.query.substr(semicolon + 1)) + "</Type><Code>" +
                  std::string(row.query.substr(0, semicolon)) +
                  "</Code><Message>a&lt;b</Message><Detail/></Error><RequestId>the-id</RequestId>"
                  "</ErrorResponse>");
    EXPECT_EQ(field(xml, "x-amzn-RequestId"), "the-id");
  }
  EXPECT_EQ(std::size(rows) + 1 + 10, error_rows().size());  // no_operation, and those of SNS
}

TEST(AwsErrors, EveryErrorOfSnsHasItsCodeAndStatus) {
  struct Row {
    ErrorCode code;
    std::string_view query;
    int status;
  };
  const Row rows[] = {
      {sns_invalid_parameter, "InvalidParameter", 400},
      {sns_parameter_value_invalid, "ParameterValueInvalid", 400},
      {sns_validation_error, "ValidationError", 400},
      {sns_not_found, "NotFound", 404},
      {sns_resource_not_found, "ResourceNotFound", 404},
      {sns_authorization_error, "AuthorizationError", 403},
      {sns_topic_limit_exceeded, "TopicLimitExceeded", 403},
      {sns_subscription_limit_exceeded, "SubscriptionLimitExceeded", 403},
      {sns_filter_policy_limit_exceeded, "FilterPolicyLimitExceeded", 403},
      {sns_throttled, "Throttled", 429},
      {batch_entry_ids_not_distinct, "BatchEntryIdsNotDistinct", 400},
      {too_many_entries_in_batch_request, "TooManyEntriesInBatchRequest", 400},
      {empty_batch_request, "EmptyBatchRequest", 400},
      {invalid_batch_entry_id, "InvalidBatchEntryId", 400},
      {batch_request_too_long, "BatchRequestTooLong", 400},
      {internal_error, "InternalError", 500},
      // what shared code refuses in the words of SQS
      {ErrorCode::missing_parameter, "ValidationError", 400},
      {invalid_parameter_value, "InvalidParameter", 400},
      {access_denied, "AuthorizationError", 403},
      {request_throttled, "Throttled", 429},
      {signature_does_not_match, "SignatureDoesNotMatch", 403},
      {unknown_operation, "InvalidAction", 400},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.query);
    const auto response = error_response(Dialect::sns_query, {row.code, "why"}, "the-id");
    EXPECT_EQ(response.status, row.status);
    EXPECT_EQ(response.body,
              "<?xml version=\"1.0\"?><ErrorResponse "
              "xmlns=\"http://sns.amazonaws.com/doc/2010-03-31/\"><Error><Type>" +
                  std::string(row.status < 500 ? "Sender" : "Receiver") + "</Type><Code>" +
                  std::string(row.query) +
                  "</Code><Message>why</Message></Error><RequestId>the-id</RequestId>"
                  "</ErrorResponse>");
  }
}

TEST(AwsErrors, ARequestWithoutAnOperationIsNotFound) {
  const auto response = error_response(Dialect::sqs_query, {no_operation, "why"}, "the-id");

  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.content_type, "text/xml");
  EXPECT_EQ(response.body, "<?xml version=\"1.0\"?><UnknownOperationException/>");
}

TEST(AwsErrors, WhatIsOurFaultIsToldWithoutDetails) {
  const Refusal refusal = refusal_from({ErrorKind::corruption, "record 17 of the store"});

  EXPECT_EQ(refusal.code, internal_error);
  EXPECT_EQ(refusal.message.find("17"), std::string::npos);
  EXPECT_EQ(refusal_from({ErrorKind::unavailable, "stopping"}),
            (Refusal{service_unavailable, "stopping"}));
}

TEST(AwsErrors, ALongValueIsCutInItsMessage) {
  EXPECT_EQ(invalid_value("P", "11", "Must be less.").message,
            "Value 11 for parameter P is invalid. Reason: Must be less.");
  EXPECT_LT(invalid_value("P", std::string(100'000, 'x'), "no").message.size(), 400U);
}

TEST(Xml, EscapesWhatMustBeAndReplacesWhatItCannotHold) {
  struct Row {
    std::string_view text;
    std::string_view xml;
  };
  const Row rows[] = {
      {"", ""},
      {"plain", "plain"},
      {"a&b<c>d\"e'f", "a&amp;b&lt;c&gt;d&quot;e'f"},
      {"line\r\nnext\tx", "line&#xD;\nnext\tx"},
      {"\r", "&#xD;"},
      {"caf\xc3\xa9 \xf0\x9f\x98\x80 & more", "caf\xc3\xa9 \xf0\x9f\x98\x80 &amp; more"},
      {std::string_view("a\0b", 3),
       "a\xef\xbf\xbd"
       "b"},
      {"\x1b[31m", "\xef\xbf\xbd[31m"},
      {"cut \xc3", "cut \xef\xbf\xbd"},
      {"a\xef\xbf\xbf\xef\xbf\xbe<", "a\xef\xbf\xbd\xef\xbf\xbd&lt;"},
      {"\xef\xbf\xbd \xef\xbc\x81\xef\xbb\xbf and on",
       "\xef\xbf\xbd \xef\xbc\x81\xef\xbb\xbf and on"},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.xml);
    std::string out = "<";
    append_xml_text(out, row.text);
    EXPECT_EQ(out, "<" + std::string(row.xml));
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::aws
