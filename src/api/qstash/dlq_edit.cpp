#include "api/qstash/dlq_edit.h"

#include <string_view>

#include "api/text.h"
#include "base/ascii.h"

namespace hk::api::qstash {

namespace {

constexpr std::string_view url_header = "Hikyaku-Replace-Url";
constexpr std::string_view body_header = "Hikyaku-Replace-Body";

std::unexpected<Error> refused(std::string_view header, const std::string& why) {
  return fail(ErrorKind::invalid_argument,
              std::string(header) + ": " + why + "; nothing was retried");
}

Result<std::optional<std::string_view>> read_once(const http::Request& request,
                                                  std::string_view name) {
  std::optional<std::string_view> found;
  for (const net::Field& field : request.fields) {
    if (equals_ignoring_case(field.name, name)) {
      if (found) {
        return refused(name, "the header is given twice; send it once");
      }
      found = field.value;
    }
  }
  return found;
}

Result<core::RetryDeadLetter::Target> read_target(const Options& options, std::string_view url) {
  if (!starts_with_ignoring_case(url, "http://") && !starts_with_ignoring_case(url, "https://")) {
    return refused(url_header,
                   "\"" + std::string(url) + "\" is not a URL with http:// or https://");
  }
  Result<std::string> host = options.check_destination(url);
  if (!host) {
    return refused(url_header, host.error().message);
  }
  return core::RetryDeadLetter::Target{std::string(url), std::move(*host)};
}

/// What clients send that always send a JSON body.
bool says_nothing(std::string_view body) {
  const std::string_view text = trim(body);
  return text.empty() || text == "{}";
}

}  // namespace

Result<DeadLetterEdit> read_edit(const Options& options, const http::Request& request) {
  DeadLetterEdit edit;
  const auto url = read_once(request, url_header);
  if (!url) {
    return std::unexpected(url.error());
  }
  if (*url) {
    Result<core::RetryDeadLetter::Target> target = read_target(options, **url);
    if (!target) {
      return std::unexpected(std::move(target.error()));
    }
    edit.to = std::move(*target);
  }
  const auto replace = read_once(request, body_header);
  if (!replace) {
    return std::unexpected(replace.error());
  }
  if (*replace) {
    const std::optional<bool> flag = parse_bool(**replace);
    if (!flag) {
      return refused(body_header, "\"" + std::string(**replace) + "\" must be true or false");
    }
    edit.body = *flag;
  }
  if (!edit.body && !says_nothing(request.body)) {
    return refused(body_header,
                   "the request has a body: set the header to true to replace the body of the "
                   "message, or send no body");
  }
  return edit;
}

Result<void> refuse_edit(const http::Request& request) {
  for (const std::string_view name : {url_header, body_header}) {
    if (request.header(name)) {
      return refused(
          name, "only one dead letter can be edited at a time: use POST /v2/dlq/retry/{dlqId}");
    }
  }
  return {};
}

}  // namespace hk::api::qstash
