/// What must hold of every answer of SQS and SNS, whatever was asked: it is well-formed in its
/// protocol, a refusal has a code of the table, and nothing that a client can send is our fault.
#pragma once

#include <algorithm>
#include <boost/json.hpp>
#include <string_view>

#include "api/aws/errors.h"
#include "base/assert.h"
#include "base/json_string.h"
#include "edge/http/message.h"
#include "fuzz/xml_text.h"

namespace hk::fuzz {

/// With or without the prefix of SQS, which SNS leaves out.
inline bool is_known_code(std::string_view code) {
  return std::ranges::any_of(api::aws::error_rows(), [code](const api::aws::ErrorRow& row) {
    const std::string_view known = row.query_code;
    return known == code || known.substr(known.rfind('.') + 1) == code;
  });
}

inline bool is_known_type(std::string_view type) {
  const std::string_view name = type.substr(type.find('#') + 1);
  return std::ranges::any_of(api::aws::error_rows(), [name](const api::aws::ErrorRow& row) {
    return !row.type.empty() && row.type == name;
  });
}

inline void check_json_answer(const http::Response& response) {
  if (response.body.empty()) {
    HK_ASSERT(response.status == 200);
    return;
  }
  HK_ASSERT(valid_utf8(response.body));
  boost::json::error_code failed;
  const boost::json::value value = boost::json::parse(response.body, failed);
  HK_ASSERT(!failed && value.is_object());
  const boost::json::object& object = value.get_object();
  if (response.status >= 400) {
    const auto* const type = object.if_contains("__type");
    HK_ASSERT(type != nullptr && type->is_string() && is_known_type(type->get_string()));
    HK_ASSERT(object.contains("message"));
  }
  if (const auto* const failures = object.if_contains("Failed")) {
    for (const boost::json::value& one : failures->get_array()) {
      const boost::json::object& entry = one.get_object();
      HK_ASSERT(entry.contains("Id") && is_known_code(entry.at("Code").get_string()));
    }
  }
}

inline void check_xml_answer(const http::Response& response) {
  const std::string_view body = response.body;
  HK_ASSERT(XmlText::is_well_formed(body));
  if (body.find("<UnknownOperationException/>") != std::string_view::npos) {
    HK_ASSERT(response.status == 404);
    return;
  }
  const bool refused = body.find("<ErrorResponse") != std::string_view::npos;
  HK_ASSERT(refused == (response.status >= 400));
  static constexpr std::string_view open = "<Code>";
  std::size_t codes = 0;
  for (std::size_t at = body.find(open); at != std::string_view::npos; at = body.find(open, at)) {
    at += open.size();
    HK_ASSERT(is_known_code(body.substr(at, body.find('<', at) - at)));
    ++codes;
  }
  HK_ASSERT(!refused || codes == 1);
}

inline void check_answer(bool asked_in_json, const http::Response& response) {
  HK_ASSERT(response.status == 200 || (response.status >= 400 && response.status < 500));
  if (asked_in_json) {
    HK_ASSERT(response.content_type == "application/x-amz-json-1.0");
    check_json_answer(response);
  } else {
    HK_ASSERT(response.content_type == "text/xml");
    check_xml_answer(response);
  }
}

}  // namespace hk::fuzz
