#include "api/qstash/filter.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "api/text.h"
#include "base/ascii.h"

namespace hk::api::qstash {

namespace {

/// A page is compared with each of them on an I/O thread: more would hold up what else waits there.
constexpr std::size_t values_max = 100;

/// A URL may contain commas: they separate only where another URL begins.
std::vector<std::string> split_urls(const std::vector<std::string>& texts) {
  std::vector<std::string> urls;
  for (const std::string& text : texts) {
    std::size_t begin = 0;
    std::size_t comma = 0;
    while ((comma = text.find(",http", comma)) != std::string::npos) {
      urls.push_back(text.substr(begin, comma - begin));
      begin = ++comma;
    }
    urls.push_back(text.substr(begin));
  }
  return urls;
}

Result<Moment> read_date(const Parameters& parameters, std::string_view name, Moment otherwise) {
  const Result<std::optional<std::uint64_t>> ms = parameters.number(name);
  if (!ms) {
    return std::unexpected(ms.error());
  }
  if (!*ms) {
    return otherwise;
  }
  const std::uint64_t latest = static_cast<std::uint64_t>(to_ms(never));
  return moment_from_ms(static_cast<std::int64_t>(std::min(**ms, latest)));
}

}  // namespace

Result<void> check_count(std::string_view parameter, std::size_t values) {
  if (values > values_max) {
    return fail(ErrorKind::invalid_argument,
                std::string(parameter) + ": at most " + std::to_string(values_max) +
                    " values in one call, got " + std::to_string(values));
  }
  return {};
}

Result<core::MessageFilter> read_filter(const Parameters& parameters) {
  core::MessageFilter filter;
  filter.urls = split_urls(parameters.whole("url"));
  filter.queues = parameters.all("queueName");
  filter.topics = parameters.all("topicName");
  filter.labels = parameters.all("label");
  filter.flow_keys = parameters.all("flowControlKey");
  filter.caller_ips = parameters.all("callerIp");
  for (std::string& ip : parameters.all("callerIP")) {
    filter.caller_ips.push_back(std::move(ip));
  }
  filter.hosts = parameters.all("host");
  filter.paths = parameters.all("path");
  filter.schedules = parameters.all("scheduleId");
  std::vector<std::string> whole_keys = parameters.whole("flowControlKey");
  for (const auto& [name, values] :
       std::initializer_list<std::pair<std::string_view, const std::vector<std::string>*>>{
           {"url", &filter.urls},
           {"queueName", &filter.queues},
           {"topicName", &filter.topics},
           {"label", &filter.labels},
           {"flowControlKey", &filter.flow_keys},
           {"flowControlKey", &whole_keys},
           {"callerIp", &filter.caller_ips},
           {"host", &filter.hosts},
           {"path", &filter.paths},
           {"scheduleId", &filter.schedules}}) {
    if (const Result<void> few = check_count(name, values->size()); !few) {
      return std::unexpected(few.error());
    }
  }
  // A key may have a comma in it.
  std::ranges::move(whole_keys, std::back_inserter(filter.flow_keys));
  for (std::string& host : filter.hosts) {
    host = lower_case(host);
  }
  for (std::vector<std::string>* const values :
       {&filter.urls, &filter.queues, &filter.topics, &filter.labels, &filter.flow_keys,
        &filter.caller_ips, &filter.hosts, &filter.paths, &filter.schedules}) {
    std::ranges::sort(*values);
  }
  const Result<Moment> from = read_date(parameters, "fromDate", Moment{});
  if (!from) {
    return std::unexpected(from.error());
  }
  const Result<Moment> to = read_date(parameters, "toDate", never);
  if (!to) {
    return std::unexpected(to.error());
  }
  filter.from = *from;
  filter.to = *to;
  return filter;
}

Result<void> check_filters_have_values(const Parameters& parameters,
                                       std::initializer_list<std::string_view> further) {
  static constexpr std::array<std::string_view, 12> filters = {
      "url",      "queueName", "topicName", "label",      "flowControlKey", "callerIp",
      "callerIP", "host",      "path",      "scheduleId", "fromDate",       "toDate"};
  const auto is_empty = [&](std::string_view name) {
    return parameters.given(name) && parameters.all(name).empty();
  };
  const auto* empty = std::ranges::find_if(filters, is_empty);
  if (empty == filters.end()) {
    empty = std::ranges::find_if(further, is_empty);
    if (empty == further.end()) {
      return {};
    }
  }
  return fail(ErrorKind::invalid_argument,
              std::string(*empty) + ": must not be empty; leave it out to select everything");
}

Result<Paging> read_paging(const Parameters& parameters, std::size_t count_default,
                           std::size_t count_max, bool latest_first_default) {
  Paging paging;
  const Result<std::optional<std::uint64_t>> count = parameters.number("count");
  if (!count) {
    return std::unexpected(count.error());
  }
  paging.count = count_default;
  if (*count) {
    if (**count == 0) {
      return fail(ErrorKind::invalid_argument, "count must be at least 1");
    }
    paging.count = static_cast<std::size_t>(std::min<std::uint64_t>(**count, count_max));
  }
  const Result<std::optional<std::string>> order = parameters.one("order");
  if (!order) {
    return std::unexpected(order.error());
  }
  paging.latest_first = latest_first_default;
  if (*order) {
    if (**order != "earliestFirst" && **order != "latestFirst") {
      return fail(ErrorKind::invalid_argument,
                  "order: \"" + **order + "\" must be earliestFirst or latestFirst");
    }
    paging.latest_first = **order == "latestFirst";
  }
  Result<std::optional<std::string>> cursor = parameters.one("cursor");
  if (!cursor) {
    return std::unexpected(cursor.error());
  }
  paging.cursor = std::move(*cursor);
  paging.with_bodies = parameters.whole("trimBody") != std::vector<std::string>{"0"};
  return paging;
}

}  // namespace hk::api::qstash
