#include "core/message/filter.h"

#include <algorithm>
#include <functional>
#include <string_view>

#include "base/ascii.h"
#include "core/lane/record.h"

namespace hk::core {

namespace {

bool has_value(const std::vector<std::string>& values, std::string_view value) {
  return std::ranges::binary_search(values, value, std::less<>());
}
/// No values: no condition.
bool accepts(const std::vector<std::string>& values, std::string_view value) {
  return values.empty() || has_value(values, value);
}

/// "host:port" of an accepted URL, in lower case, as written.
std::string authority_of(std::string_view url) {
  const std::size_t scheme = url.find("://");
  const std::string_view behind = scheme == std::string_view::npos ? url : url.substr(scheme + 3);
  return lower_case(behind.substr(0, behind.find_first_of("/?#")));
}

std::string_view without_port(std::string_view authority) {
  const std::size_t colon = authority.rfind(':');
  const bool inside_brackets =
      colon != std::string_view::npos && authority.find(']', colon) != std::string_view::npos;
  return colon == std::string_view::npos || inside_brackets ? authority
                                                            : authority.substr(0, colon);
}

std::string_view path_of(std::string_view url) {
  const std::size_t scheme = url.find("://");
  const std::string_view behind = scheme == std::string_view::npos ? url : url.substr(scheme + 3);
  const std::size_t slash = behind.find_first_of("/?#");
  if (slash == std::string_view::npos || behind[slash] != '/') {
    return "/";
  }
  const std::string_view path = behind.substr(slash);
  return path.substr(0, path.find_first_of("?#"));
}

bool host_matches(const std::vector<std::string>& hosts, const Message& message) {
  if (hosts.empty()) {
    return true;
  }
  const std::string authority = authority_of(message.url);
  const std::size_t scheme = message.host.find("://");  // there the default port is spelled out
  return has_value(hosts, authority) || has_value(hosts, without_port(authority)) ||
         (scheme != std::string::npos &&
          has_value(hosts, std::string_view(message.host).substr(scheme + 3)));
}

}  // namespace

bool MessageFilter::matches(const Message& message) const {
  if (message.webhook) {
    return false;  // shown as what it is: by the API of webhooks
  }
  if (!accepts(urls, message.url) || !accepts(queues, message.queue) ||
      !accepts(topics, message.topic) || !accepts(schedules, message.schedule) ||
      !accepts(flow_keys, message.flow_key) || !accepts(caller_ips, message.caller_ip) ||
      !accepts(paths, path_of(message.url)) || !host_matches(hosts, message)) {
    return false;
  }
  return labels.empty() || std::ranges::any_of(message.labels, [&](const std::string& one) {
           return has_value(labels, one);
         });
}

bool MessageFilter::selects(const Message& message) const {
  return (!queues.empty() || made_by_qstash(message)) && message.created_at >= from &&
         message.created_at <= to && matches(message);
}

bool MessageFilter::may_be_in(const LaneKey& lane) const {
  if (queues.empty() && lane.is_pulled()) {
    return false;
  }
  return accepts(queues, lane.queue) && (lane.ordered() || accepts(flow_keys, lane.flow_key));
}

}  // namespace hk::core
