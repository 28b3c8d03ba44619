#include "api/qstash/destination.h"

#include <optional>
#include <utility>

#include "api/qstash/given_options.h"
#include "api/text.h"
#include "base/ascii.h"
#include "edge/http/message.h"

namespace hk::api::qstash {

namespace {

/// A query parameter's name or value as the sender meant it; malformed escapes stand for
/// themselves.
std::string decoded(std::string_view text) {
  std::string plus_is_space(text);
  for (char& c : plus_is_space) {
    if (c == '+') {
      c = ' ';
    }
  }
  return http::percent_decode(plus_is_space).value_or(plus_is_space);
}

/// Moves our parameters out of `query`; what stays is the destination's, byte for byte.
std::string without_our_parameters(std::string_view query,
                                   std::vector<std::pair<std::string, std::string>>& options) {
  std::string kept;
  bool any_kept = false;
  while (true) {
    const std::size_t end = query.find('&');
    const std::string_view pair = query.substr(0, end);
    const std::size_t equals = pair.find('=');
    const std::string name = decoded(pair.substr(0, equals));
    if (starts_with_ignoring_case(name, option_prefix)) {
      const std::string_view value =
          equals == std::string_view::npos ? std::string_view{} : pair.substr(equals + 1);
      options.emplace_back(lower_case(std::string_view(name).substr(option_prefix.size())),
                           decoded(value));
    } else if (name != "qstash_token") {
      if (any_kept) {
        kept += '&';
      }
      kept += pair;
      any_kept = true;
    }
    if (end == std::string_view::npos) {
      return kept;
    }
    query.remove_prefix(end + 1);
  }
}

bool is_url(std::string_view text) {
  return starts_with_ignoring_case(text, "http://") || starts_with_ignoring_case(text, "https://");
}

/// Proxies that merge slashes leave "https:/host": put the missing one back.
void repair_slashes(std::string& url) {
  for (const std::string_view scheme : {"https:/", "http:/"}) {
    if (starts_with_ignoring_case(url, scheme) && !is_url(url) && url.size() > scheme.size()) {
      url.insert(scheme.size(), 1, '/');
      return;
    }
  }
}

bool is_escaped_url(std::string_view text) {
  return starts_with_ignoring_case(text, "http%3a") || starts_with_ignoring_case(text, "https%3a");
}

std::unexpected<Error> nothing_given() {
  return fail(ErrorKind::invalid_argument, "a non-empty destination must be provided");
}
std::unexpected<Error> broken_escapes() {
  return fail(ErrorKind::invalid_argument, "invalid destination url: invalid percent-encoding");
}
std::unexpected<Error> neither_url_nor_name(std::string_view text) {
  if (starts_with_ignoring_case(text, "api/")) {
    return fail(ErrorKind::invalid_argument,
                "invalid destination url: api/llm and the other APIs of QStash are not supported; "
                "publish to the URL of the provider instead");
  }
  return fail(ErrorKind::invalid_argument,
              "invalid destination url: endpoint has invalid scheme, add http:// or https://");
}

}  // namespace

Result<Destination> parse_given_destination(std::string_view text) {
  Destination found;
  found.url = text;
  if (text.empty()) {
    return nothing_given();
  }
  if (is_escaped_url(text)) {
    std::optional<std::string> once = http::percent_decode(text);
    if (!once) {
      return broken_escapes();
    }
    found.url = std::move(*once);
  }
  repair_slashes(found.url);
  if (!is_url(found.url)) {
    const std::string_view name = text.substr(0, text.find('?'));
    if (!valid_name(name)) {
      return neither_url_nor_name(text);
    }
    found.url.clear();
    found.topic = name;
  }
  return found;
}

std::optional<std::vector<std::pair<std::string, std::string>>> options_without_destination(
    std::string_view rest) {
  const std::size_t mark = rest.find('?');
  if (mark != 0 && !rest.empty()) {
    return std::nullopt;
  }
  std::vector<std::pair<std::string, std::string>> options;
  if (mark == 0) {
    without_our_parameters(rest.substr(1), options);
  }
  return options;
}

Result<Destination> parse_destination(std::string_view rest) {
  Destination found;
  const std::size_t mark = rest.find('?');
  std::string_view target = rest.substr(0, mark);
  if (target.empty()) {
    return nothing_given();
  }

  std::string unescaped;
  std::string escaped_query;
  bool has_escaped_query = false;
  if (is_escaped_url(target)) {
    std::optional<std::string> once = http::percent_decode(target);
    if (!once) {
      return broken_escapes();
    }
    unescaped = std::move(*once);
    // The token must not reach the destination by this way either.
    const std::size_t inner = unescaped.find('?');
    if (inner != std::string::npos) {
      has_escaped_query = true;
      escaped_query =
          without_our_parameters(std::string_view(unescaped).substr(inner + 1), found.options);
      unescaped.resize(inner);
    }
    target = unescaped;
  }

  found.url = target;
  repair_slashes(found.url);
  if (!is_url(found.url)) {
    if (!valid_name(target)) {
      return neither_url_nor_name(target);
    }
    found.topic = target;
    found.url.clear();
    if (mark != std::string_view::npos) {
      without_our_parameters(rest.substr(mark + 1), found.options);
    }
    return found;
  }
  if (has_escaped_query && !escaped_query.empty()) {
    found.url += '?';
    found.url += escaped_query;
  }
  if (mark != std::string_view::npos) {
    const std::string kept = without_our_parameters(rest.substr(mark + 1), found.options);
    if (!kept.empty()) {
      found.url += has_escaped_query && !escaped_query.empty() ? '&' : '?';
      found.url += kept;
    }
  }
  return found;
}

}  // namespace hk::api::qstash
