/// The option headers of a publish (§3 of the wire specification), read in one pass over the
/// request's fields and put into a Message. Called on I/O threads; the hot path of the server.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/options.h"
#include "base/error.h"
#include "core/command.h"
#include "edge/http/message.h"

namespace hk::api::qstash {

/// Options by query parameter: lower-case names without "upstash-". A header of the same name wins.
using QueryOptions = std::vector<std::pair<std::string, std::string>>;

/// What makes a schedule of a publish.
struct CronOptions {
  std::optional<std::string> cron{};  ///< as given
  std::string id{};                   ///< "" = to be chosen
};

/// Fills in what headers and query say: method, headers, retry, timeout, times, labels, dedup,
/// flow, redaction, queue. REQUIRES: tenant, url and body of command.message are set; its queue if
/// it is an enqueue. Takes values out of `fields`. invalid_argument names the header at fault and
/// says what is right. With a cron it is read as a schedule: Upstash-Not-Before and deduplication
/// are ignored, and a queue may have a delay. Without `schedule` a cron is refused.
Result<void> read_publish_options(const Options& options, Moment now,
                                  std::vector<net::Field>& fields, QueryOptions&& query,
                                  core::Publish& command, CronOptions* schedule = nullptr);

/// Does this header or (without the prefix) query name set an option of a message?
bool is_option_header(std::string_view name);

/// "parallelism=3, rate=10, period=1m" for that key.
Result<core::FlowKey> parse_flow_value(core::TenantId tenant, std::string_view key,
                                       std::string_view value);

/// Unix seconds, not further away than anything may be.
Result<Moment> parse_not_before(std::string_view text, Moment now);

/// "body,header[Authorization]" as it is stored in Message::redact.
Result<std::vector<std::string>> parse_redact_fields(std::string_view text);

}  // namespace hk::api::qstash
