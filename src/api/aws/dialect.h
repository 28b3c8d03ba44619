/// The three ways in which AWS clients speak to us: which service, and how its requests and answers
/// are written. Known as soon as a request is routed (route.h). Plain data, any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace hk::api::aws {

enum class Dialect : std::uint8_t {
  sqs_json,   ///< AWS JSON 1.0
  sqs_query,  ///< form fields in, XML out
  sns_query,  ///< the same for SNS, which flattens lists and maps in its own way
};

constexpr bool is_json(Dialect dialect) { return dialect == Dialect::sqs_json; }
constexpr bool is_sns(Dialect dialect) { return dialect == Dialect::sns_query; }

/// As it stands in the scope of a signature and in an ARN.
constexpr std::string_view service_of(Dialect dialect) { return is_sns(dialect) ? "sns" : "sqs"; }

constexpr std::string_view xml_namespace(Dialect dialect) {
  return is_sns(dialect) ? "http://sns.amazonaws.com/doc/2010-03-31/"
                         : "http://queue.amazonaws.com/doc/2012-11-05/";
}

constexpr std::string_view content_type(Dialect dialect) {
  return is_json(dialect) ? "application/x-amz-json-1.0" : "text/xml";
}

}  // namespace hk::api::aws
