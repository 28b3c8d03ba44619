#include "api/qstash/event_query.h"

#include <array>

namespace hk::api::qstash {

namespace {

constexpr std::array<std::string_view, 20> event_parameters = {
    "messageId", "messageIds",     "state",    "url",      "topicName", "queueName", "scheduleId",
    "label",     "flowControlKey", "callerIp", "callerIP", "host",      "path",      "fromDate",
    "toDate",    "count",          "cursor",   "order",    "trimBody",  "groupBy",
};
constexpr std::size_t count_default = 100;
constexpr std::size_t count_max = 1000;

}  // namespace

Result<EventQuery> read_event_query(core::TenantId tenant, const Parameters& parameters) {
  if (const Result<void> known = parameters.only(event_parameters); !known) {
    return std::unexpected(known.error());
  }
  EventQuery query;
  query.tenant = tenant;
  query.message_ids = parameters.all("messageId");
  for (std::string& id : parameters.all("messageIds")) {
    query.message_ids.push_back(std::move(id));
  }
  if (query.message_ids.size() > event_message_ids_max) {
    return fail(ErrorKind::invalid_argument,
                "at most " + std::to_string(event_message_ids_max) + " messageIds in one call");
  }
  const Result<std::optional<std::string>> state = parameters.one("state");
  if (!state) {
    return std::unexpected(state.error());
  }
  if (*state) {
    query.state = StateFilter::parse(**state);
    if (!query.state) {
      return fail(ErrorKind::invalid_argument, "state: unknown state \"" + **state + "\"");
    }
  }
  Result<core::MessageFilter> filter = read_filter(parameters);
  if (!filter) {
    return std::unexpected(filter.error());
  }
  query.filter = std::move(*filter);
  Result<Paging> paging = read_paging(parameters, count_default, count_max, true);
  if (!paging) {
    return std::unexpected(paging.error());
  }
  query.paging = std::move(*paging);
  return query;
}

}  // namespace hk::api::qstash
