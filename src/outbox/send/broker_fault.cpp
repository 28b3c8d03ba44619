#include "outbox/send/broker_fault.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <string>
#include <string_view>

#include "observe/metrics.h"

namespace hk::outbox {
namespace {

/// What AWS, and whoever speaks its protocol, answers to a sender rather than to a message.
constexpr std::array sender_codes = {
    std::string_view("AccessDenied"),
    std::string_view("AccessDeniedException"),
    std::string_view("ExpiredToken"),
    std::string_view("ExpiredTokenException"),
    std::string_view("IncompleteSignature"),
    std::string_view("IncompleteSignatureException"),
    std::string_view("InvalidClientTokenId"),
    std::string_view("InvalidClientTokenIdException"),
    std::string_view("InvalidSecurity"),
    std::string_view("InvalidSignatureException"),
    std::string_view("KmsAccessDenied"),
    std::string_view("KmsDisabled"),
    std::string_view("KmsInvalidState"),
    std::string_view("KmsThrottled"),
    std::string_view("MissingAuthenticationToken"),
    std::string_view("MissingAuthenticationTokenException"),
    std::string_view("NotAuthorized"),
    std::string_view("OptInRequired"),
    std::string_view("OverLimit"),
    std::string_view("QueueDoesNotExist"),
    std::string_view("RequestExpired"),
    std::string_view("RequestThrottled"),
    std::string_view("SignatureDoesNotMatch"),
    std::string_view("Throttling"),
    std::string_view("ThrottlingException"),
    std::string_view("UnrecognizedClientException"),
};

/// Of `{"__type": "com.amazonaws.sqs#QueueDoesNotExist", …}` the part behind the '#'; "" if there
/// is none.
std::string code_of(std::string_view body) {
  boost::json::error_code error;
  const boost::json::value parsed =
      boost::json::parse(boost::json::string_view(body.data(), body.size()), error);
  const boost::json::object* object = error ? nullptr : parsed.if_object();
  const boost::json::value* type = object == nullptr ? nullptr : object->if_contains("__type");
  if (type == nullptr || !type->is_string()) {
    return "";
  }
  const std::string text(type->get_string());
  return text.substr(text.find('#') + 1);  // all of it where there is no '#'
}

/// About who sends, how often and over which way, rather than about what is sent. A publish has no
/// redirect of its own: whatever stands in front of the broker says it to everybody.
bool is_about_us(int status) {
  constexpr std::array about_us = {401, 403, 407, 408, 429};
  return (status >= 300 && status <= 399) || status >= 500 ||
         std::ranges::find(about_us, status) != about_us.end();
}

}  // namespace

bool is_broker_fault(Faults faults, const delivery::Answer& answer) {
  const bool is_broker = faults == Faults::of_broker || faults == Faults::of_queue;
  switch (answer.result) {
    case observe::AttemptResult::delivered: return false;
    case observe::AttemptResult::network_error: return faults != Faults::of_rows;
    case observe::AttemptResult::timeout: return is_broker;
    case observe::AttemptResult::blocked:
      return is_broker && answer.error.starts_with("blocked_by_policy");
    case observe::AttemptResult::http_error: break;
  }
  if (!is_broker || answer.give_up) {
    return false;
  }
  if (is_about_us(answer.status)) {
    return true;
  }
  return faults == Faults::of_queue && answer.status >= 400 &&
         std::ranges::find(sender_codes, code_of(answer.body)) != sender_codes.end();
}

}  // namespace hk::outbox
