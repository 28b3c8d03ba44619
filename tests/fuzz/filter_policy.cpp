// The policies of topics and subscriptions. The first line is a policy, the rest a message: a
// policy that is accepted always decides, the same each time, and as an alternative to itself.
#include "core/topic/filter_policy.h"

#include <string>

#include "base/assert.h"
#include "core/topic/delivery_policy.h"
#include "fuzz/text.h"

using namespace hk;
using namespace hk::core;

namespace {

std::vector<Attribute> attributes_with(std::string_view text) {
  return {{"event", "String", "order_placed"},         {"price", "Number", "100.50"},
          {"tags", "String.Array", std::string(text)}, {"ip", "String", "10.0.0.7"},
          {"free", "String", std::string(text)},       {"number", "Number", std::string(text)},
          {"bytes", "Binary", std::string(text)}};
}

void check_filter(std::string_view policy, std::string_view body, FilterScope scope) {
  const auto filter = FilterPolicy::parse(policy, scope);
  if (!filter) {
    HK_ASSERT(!filter.error().message.empty());
    return;
  }
  FilterSubject message;
  HK_ASSERT(message.read_attributes(attributes_with(body)) && message.read_body(body));
  const auto wanted = filter->matches(message);
  HK_ASSERT(wanted && wanted == filter->matches(message));

  const std::string twice = std::string(policy) + "," + std::string(policy);
  if (const auto either = FilterPolicy::parse("{\"$or\":[" + twice + "]}", scope)) {
    HK_ASSERT(either->matches(message) == wanted);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view body = fuzz::as_text(data, size);
  const std::string_view policy = fuzz::take_line(body);
  check_filter(policy, body, FilterScope::message_attributes);
  check_filter(policy, body, FilterScope::message_body);
  for (const bool of_topic : {false, true}) {
    const auto retries = read_delivery_policy(policy, of_topic);
    HK_ASSERT(retries || !retries.error().message.empty());
    if (retries && *retries) {
      HK_ASSERT((*retries)->retries_max <= 100);
    }
  }
  return 0;
}
