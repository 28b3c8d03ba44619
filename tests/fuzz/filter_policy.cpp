// The policies of topics and subscriptions. The first line is a policy, the rest a message: a
// policy that is accepted always decides, the same each time, and as an alternative to itself.
#include "api/aws/filter_policy.h"

#include <string>

#include "api/sns/delivery_policy.h"
#include "base/assert.h"
#include "fuzz/text.h"

using namespace hk;
using namespace hk::api::aws;

namespace {

MessageAttributes attributes_with(std::string_view text) {
  MessageAttributes attributes;
  attributes["event"] = {.data_type = "String", .string_value = "order_placed"};
  attributes["price"] = {.data_type = "Number", .string_value = "100.50"};
  attributes["tags"] = {.data_type = "String.Array", .string_value = std::string(text)};
  attributes["ip"] = {.data_type = "String", .string_value = "10.0.0.7"};
  attributes["free"] = {.data_type = "String", .string_value = std::string(text)};
  attributes["number"] = {.data_type = "Number", .string_value = std::string(text)};
  attributes["bytes"] = {.data_type = "Binary", .binary_value = std::string(text)};
  return attributes;
}

void check_filter(std::string_view policy, std::string_view body, FilterScope scope) {
  const auto filter = FilterPolicy::parse(policy, scope);
  if (!filter) {
    HK_ASSERT(!filter_policy_refusal(filter.error(), true).message.empty());
    return;
  }
  const MessageAttributes attributes = attributes_with(body);
  const auto wanted = filter->matches(attributes, body);
  HK_ASSERT(wanted && wanted == filter->matches(attributes, body));

  const std::string twice = std::string(policy) + "," + std::string(policy);
  if (const auto either = FilterPolicy::parse("{\"$or\":[" + twice + "]}", scope)) {
    HK_ASSERT(either->matches(attributes, body) == wanted);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view body = fuzz::as_text(data, size);
  const std::string_view policy = fuzz::take_line(body);
  check_filter(policy, body, FilterScope::message_attributes);
  check_filter(policy, body, FilterScope::message_body);
  for (const bool of_topic : {false, true}) {
    const auto retries = api::sns::read_delivery_policy(policy, of_topic);
    HK_ASSERT(retries || !retries.error().message.empty());
    if (retries && *retries) {
      HK_ASSERT((*retries)->retries_max <= 100);
    }
  }
  return 0;
}
