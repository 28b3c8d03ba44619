#include "api/qstash/section_options.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "api/text.h"
#include "base/ascii.h"
#include "core/retry/expression.h"

namespace hk::api::qstash {

Result<void> read_forwards(const Options& options, Section& given,
                           std::vector<core::Header>& headers) {
  std::ranges::move(given.forwards, std::back_inserter(headers));
  if (headers.size() > options.forward_fields_max) {
    return fail(ErrorKind::invalid_argument, "Upstash-" + std::string(given.prefix) +
                                                 "Forward: too many headers, at most " +
                                                 std::to_string(options.forward_fields_max));
  }
  std::size_t bytes = 0;
  for (const core::Header& header : headers) {
    bytes += header.name.size() + header.value.size();
    if (Result<void> allowed = options.check_header(header.name, header.value); !allowed) {
      return allowed;
    }
  }
  if (bytes > options.forward_bytes_max) {
    return fail(ErrorKind::invalid_argument, "Upstash-" + std::string(given.prefix) +
                                                 "Forward: headers are too large, at most " +
                                                 std::to_string(options.forward_bytes_max) +
                                                 " bytes");
  }
  return {};
}

Result<void> read_method(const Section& given, std::string& method) {
  std::string* const value = given[Option::method];
  if (value == nullptr) {
    return {};
  }
  for (const std::string_view known : {"POST", "GET", "PUT", "PATCH", "DELETE"}) {
    if (equals_ignoring_case(*value, known)) {
      method = known;
      return {};
    }
  }
  return given.refused(Option::method,
                       "\"" + *value + "\" must be GET, POST, PUT, PATCH or DELETE");
}

Result<void> read_retry(const Options& options, const Section& given, std::uint32_t retries_default,
                        core::RetryPolicy& retry) {
  retry.retries_max = retries_default;
  if (std::string* const value = given[Option::retries]) {
    const std::optional<std::uint64_t> retries = parse_unsigned(*value);
    if (!retries || *retries > options.retries_max) {
      return given.refused(Option::retries, "\"" + *value + "\" must be a number from 0 to " +
                                                std::to_string(options.retries_max));
    }
    retry.retries_max = static_cast<std::uint32_t>(*retries);
  }
  if (std::string* const value = given[Option::retry_delay]) {
    const auto expression = core::parse_expression(*value);
    if (!expression) {
      return given.refused(Option::retry_delay, expression.error().message);
    }
    retry.delay = core::ExpressionDelay{std::move(*value)};
  }
  return {};
}

Result<void> read_timeout(const Options& options, const Section& given, Millis& timeout) {
  timeout = options.timeout_default;
  std::string* const value = given[Option::timeout];
  if (value == nullptr) {
    return {};
  }
  const Result<Millis> parsed = parse_duration(*value);
  if (!parsed) {
    return given.refused(Option::timeout, parsed.error().message);
  }
  if (*parsed <= Millis{0} || *parsed > options.timeout_max) {
    return given.refused(Option::timeout, "must be more than 0 and at most " +
                                              std::to_string(options.timeout_max.count() / 1000) +
                                              "s");
  }
  timeout = *parsed;
  return {};
}

namespace {

Result<void> read_delay(const Options& options, const Section& given, bool queued, Millis& delay) {
  std::string* const value = given[Option::delay];
  if (value == nullptr) {
    return {};
  }
  const Result<Millis> parsed = parse_duration(*value);
  if (!parsed) {
    return given.refused(Option::delay, parsed.error().message);
  }
  if (queued) {
    return given.refused(Option::delay,
                         "the callback of a message in a queue cannot be delayed: the next message "
                         "waits for it");
  }
  if (options.delay_max && *parsed > *options.delay_max) {
    return given.refused(Option::delay, "longer than this server allows (" +
                                            std::to_string(options.delay_max->count() / 1000) +
                                            " s)");
  }
  delay = *parsed;
  return {};
}

/// The same rules as for the destination of a message.
Result<void> read_url(const Options& options, const Given& given, Option which,
                      core::Callback& callback) {
  std::string& url = *given[which];
  if (!starts_with_ignoring_case(url, "http://") && !starts_with_ignoring_case(url, "https://")) {
    return given.refused(which, "\"" + url + "\" must be a URL with http:// or https://");
  }
  Result<std::string> host = options.check_destination(url);
  if (!host) {
    Error why = given.refused(which, host.error().message).error();
    why.kind = host.error().kind;
    return std::unexpected(std::move(why));
  }
  callback.host = std::move(*host);
  callback.url = std::move(url);
  return {};
}

Result<void> read_callback(const Options& options, const Given& given, Option which,
                           Section& section, const core::Message& source,
                           std::optional<core::Callback>& out) {
  if (given[which] == nullptr) {
    return {};
  }
  core::Callback callback;
  if (auto ok = read_url(options, given, which, callback); !ok) {
    return ok;
  }
  if (auto ok = read_forwards(options, section, callback.headers); !ok) {
    return ok;
  }
  if (auto ok = read_method(section, callback.method); !ok) {
    return ok;
  }
  if (auto ok = read_retry(options, section, source.retry.retries_max, callback.retry); !ok) {
    return ok;
  }
  if (auto ok = read_timeout(options, section, callback.timeout); !ok) {
    return ok;
  }
  if (auto ok = read_delay(options, section, !source.queue.empty(), callback.delay); !ok) {
    return ok;
  }
  out = std::move(callback);
  return {};
}

}  // namespace

Result<void> read_callbacks(const Options& options, Given& given, core::Message& message) {
  if (auto ok = read_callback(options, given, Option::callback, given.callback, message,
                              message.callback);
      !ok) {
    return ok;
  }
  return read_callback(options, given, Option::failure_callback, given.failure_callback, message,
                       message.failure_callback);
}

}  // namespace hk::api::qstash
