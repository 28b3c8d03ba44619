// The options whose values have a grammar of their own.
#include <functional>
#include <set>

#include "api/qstash/publish_options.h"
#include "api/text.h"
#include "base/ascii.h"

namespace hk::api::qstash {

namespace {

constexpr Millis flow_period_max{7 * std::int64_t{86'400'000}};

std::optional<std::uint32_t> positive(std::string_view text) {
  const std::optional<std::uint64_t> number = parse_unsigned(text);
  if (!number || *number == 0 || *number > UINT32_MAX) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(*number);
}

}  // namespace

Result<core::FlowKey> parse_flow_value(core::TenantId tenant, std::string_view key,
                                       std::string_view value) {
  core::FlowKey flow;
  flow.tenant = tenant;
  flow.key = key;
  std::set<std::string, std::less<>> seen;
  for (const std::string& pair : split_commas(value)) {
    const std::size_t equals = pair.find('=');
    const std::string_view name = trim(std::string_view(pair).substr(0, equals));
    const std::string_view text = equals == std::string::npos
                                      ? std::string_view{}
                                      : trim(std::string_view(pair).substr(equals + 1));
    if (!seen.emplace(name).second) {
      return fail(ErrorKind::invalid_argument,
                  "\"" + std::string(name) + "\" is given twice; give each part once");
    }
    if (name == "parallelism" || name == "rate") {
      const std::optional<std::uint32_t> number = positive(text);
      if (!number) {
        return fail(ErrorKind::invalid_argument,
                    std::string(name) + " must be a whole number of at least 1");
      }
      (name == "rate" ? flow.rate : flow.parallelism) = *number;
    } else if (name == "period") {
      const Result<Millis> period = parse_duration(text);
      if (!period || *period <= Millis{0} || *period > flow_period_max) {
        return fail(ErrorKind::invalid_argument,
                    "period must be a duration of more than 0 and at most 7d");
      }
      flow.period = *period;
    } else {
      return fail(
          ErrorKind::invalid_argument,
          "\"" + pair + "\" is invalid; write for example parallelism=3, rate=10, period=1m");
    }
  }
  if (flow.parallelism == 0 && flow.rate == 0) {
    return fail(ErrorKind::invalid_argument, "at least one of parallelism and rate must be given");
  }
  return flow;
}

Result<Moment> parse_not_before(std::string_view text, Moment now) {
  const std::optional<std::uint64_t> seconds = parse_unsigned(text);
  if (!seconds ||
      *seconds > static_cast<std::uint64_t>((to_ms(now) + duration_max.count()) / 1000)) {
    return fail(ErrorKind::invalid_argument,
                "\"" + std::string(text) + "\" is not a time in Unix seconds");
  }
  return moment_from_ms(static_cast<std::int64_t>(*seconds) * 1000);
}

Result<std::vector<std::string>> parse_redact_fields(std::string_view text) {
  std::vector<std::string> fields;
  for (const std::string& part : split_commas(text)) {
    const std::string lowered = lower_case(part);
    if (lowered == "body") {
      fields.emplace_back("body");
      continue;
    }
    if (lowered == "header" || lowered == "headers") {
      fields.emplace_back("header");
      continue;
    }
    const std::size_t open = lowered.find('[');
    const std::string_view word = std::string_view(lowered).substr(0, open);
    const bool bracketed =
        open != std::string::npos && lowered.ends_with(']') && lowered.size() > open + 2;
    if (!bracketed || (word != "header" && word != "headers")) {
      return fail(ErrorKind::invalid_argument,
                  "\"" + part + "\" is invalid; allowed are body, header and header[Name]");
    }
    fields.push_back("header:" + lowered.substr(open + 1, lowered.size() - open - 2));
  }
  if (fields.empty()) {
    return fail(ErrorKind::invalid_argument,
                "must not be empty; allowed are body, header and header[Name]");
  }
  return fields;
}

}  // namespace hk::api::qstash
