/// The options of a publish as they were given: which of the known ones are there, and the headers
/// to forward. Nothing is understood here; publish_options.cpp does that. Called on I/O threads.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/options.h"
#include "api/qstash/publish_options.h"
#include "base/error.h"
#include "core/message.h"
#include "edge/http/message.h"

namespace hk::api::qstash {

/// What the names of options begin with; compared without regard to case.
inline constexpr std::string_view option_prefix = "upstash-";

enum class Option : std::uint8_t {
  method,
  delay,
  not_before,
  retries,
  retry_delay,
  timeout,
  callback,
  failure_callback,
  deduplication_id,
  content_based,
  label,
  flow_key,
  flow_value,
  redact,
  cron,
  header_forward,
  queue_name,
  schedule_id,
  message_group_id,
  none,
};
constexpr std::size_t option_count = std::to_underlying(Option::none);

/// The options of the message itself, or of one of its callbacks. The values stay in the request
/// until they are taken.
struct Section {
  std::string_view prefix{};  ///< of its names: "", "Callback-" or "Failure-Callback-"
  std::array<std::string*, option_count> values{};
  std::vector<core::Header> forwards{};

  [[nodiscard]] std::string* operator[](Option option) const {
    return values[std::to_underlying(option)];
  }
  /// "Upstash-<Option>: <why>".
  [[nodiscard]] std::unexpected<Error> refused(Option option, std::string_view why) const;
};

/// Everything found, before it is understood.
struct Given : Section {
  std::string* content_type = nullptr;
  Section callback{.prefix = "Callback-"};
  Section failure_callback{.prefix = "Failure-Callback-"};
};

/// One pass over the request's fields. invalid_argument: an option is there twice.
Result<void> collect_fields(std::vector<net::Field>& fields, Given& given);
/// Those of the query that no header has given.
void collect_query(QueryOptions& query, Given& given);

/// Upstash-Header-Forward: every other header that may be passed on. One named in Connection is of
/// the connection; what check_header refuses is left out, since the sender did not choose it one by
/// one.
void forward_all(const Options& options, const std::vector<net::Field>& fields, Given& given);

/// "Upstash-<Option>: <why>".
std::unexpected<Error> refused(Option option, std::string_view why);

/// What every message may have, pushed or pulled: how it is found and what of it is shown.
Result<void> read_labels_and_redaction(const Section& given, core::Message& message);

}  // namespace hk::api::qstash
