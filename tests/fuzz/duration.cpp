// Durations, sizes, numbers and the values of options: each is within its bounds, and what is
// written from it is read as the same.
#include <string>

#include "api/qstash/publish_options.h"
#include "api/text.h"
#include "base/assert.h"
#include "config/values.h"
#include "delivery/retry_after.h"
#include "fuzz/text.h"

using namespace hk;

namespace {

constexpr Moment now = moment_from_ms(1'700'000'000'000);

void check_option_values(std::string_view text) {
  if (const auto wait = api::parse_duration(text)) {
    HK_ASSERT(*wait >= Millis{0} && *wait <= api::duration_max);
    const std::string millis = std::to_string(1000 + wait->count() % 1000).substr(1);
    const std::string written = std::to_string(wait->count() / 1000) + "." + millis + "s";
    HK_ASSERT(api::parse_duration(written) == wait);
  }
  if (const auto number = api::parse_unsigned(text)) {
    HK_ASSERT(api::parse_unsigned(std::to_string(*number)) == number);
  }
  if (const auto at = api::qstash::parse_not_before(text, now)) {
    HK_ASSERT(*at >= Moment{} && *at <= now + api::duration_max);
  }
  if (const auto flow = api::qstash::parse_flow_value(core::TenantId{1}, "key", text)) {
    HK_ASSERT(flow->period > Millis{0} && (flow->parallelism != 0 || flow->rate != 0));
  }
  if (const auto redacted = api::qstash::parse_redact_fields(text)) {
    for (const std::string& one : *redacted) {
      HK_ASSERT(one == "body" || one.starts_with("header"));
    }
  }
}

void check_settings(std::string_view text) {
  if (const auto wait = config::parse_duration(text)) {
    HK_ASSERT(*wait >= Millis{0});
    HK_ASSERT(config::parse_duration(std::to_string(wait->count()) + "ms") == wait);
  }
  if (const auto bytes = config::parse_bytes(text)) {
    HK_ASSERT(config::parse_bytes(std::to_string(*bytes)) == bytes);
  }
  if (const auto address = config::parse_address(text)) {
    const bool bracketed = address->host.find(':') != std::string::npos;
    const std::string host = bracketed ? "[" + address->host + "]" : address->host;
    HK_ASSERT(config::parse_address(host + ":" + std::to_string(address->port)) == address);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::as_text(data, size);
  check_option_values(text);
  check_settings(text);
  if (const auto wait = delivery::parse_retry_after(text, now)) {
    HK_ASSERT(*wait >= Millis{0} && *wait <= std::chrono::hours{24});
  }
  return 0;
}
