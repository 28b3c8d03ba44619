// GET /v2/bulkActions and GET /v2/bulkActions/{actionId}.
#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "api/qstash/bulk_action.h"
#include "api/qstash/errors.h"
#include "api/qstash/filter.h"
#include "api/qstash/handlers.h"
#include "api/qstash/view.h"
#include "base/json.h"

namespace hk::api::qstash {

namespace {

constexpr std::string_view action_prefix = "bulk_";
constexpr std::array<std::string_view, 3> bulk_action_parameters = {"cursor", "count", "state"};
constexpr std::size_t actions_default = 100;
constexpr std::size_t actions_max = 1000;
constexpr auto cancel_kind = static_cast<std::uint32_t>(core::Task::Kind::cancel);

std::string_view state_of(const core::Task& task) {
  return task.status == core::Task::Status::running ? "IN_PROGRESS" : "FINISHED";
}

/// As the parameters that it came from: lists of texts by name, without those that were not given.
void write_filter(JsonWriter& json, const core::MessageFilter& filter) {
  using Values = std::vector<std::string>;
  const auto date = [](Moment at, Moment none) {
    return at == none ? Values{} : Values{std::to_string(to_ms(at))};
  };
  const std::pair<std::string_view, Values> fields[] = {
      {"url", filter.urls},
      {"topicName", filter.topics},
      {"queueName", filter.queues},
      {"scheduleId", filter.schedules},
      {"label", filter.labels},
      {"flowControlKey", filter.flow_keys},
      {"callerIp", filter.caller_ips},
      {"host", filter.hosts},
      {"path", filter.paths},
      {"fromDate", date(filter.from, Moment{})},
      {"toDate", date(filter.to, never)},
  };
  json.begin_object();
  for (const auto& [name, values] : fields) {
    if (values.empty()) {
      continue;
    }
    json.key(name);
    json.begin_array();
    for (const std::string& value : values) {
      json.string(value);
    }
    json.end_array();
  }
  json.end_object();
}

void write_action(JsonWriter& json, const core::Task& task) {
  json.begin_object();
  json.field("actionId", bulk_action_id(task.number));
  json.field("kind", "cancel");
  json.field("state", state_of(task));
  json.field("total", task.total);
  json.field("processed", task.processed);
  json.field("createdAt", to_ms(task.started_at));
  if (task.status != core::Task::Status::running) {
    json.field("completedAt", to_ms(task.ended_at));
  }
  json.key("filter");
  write_filter(json, std::get<core::CancelMessages>(task.work).filter);
  json.end_object();
}

struct ActionQuery {
  Paging paging{};
  std::uint64_t before = std::numeric_limits<std::uint64_t>::max();
  std::optional<std::string> state{};
};

Result<ActionQuery> read_action_query(const Call& call) {
  const Result<Parameters> parameters = Parameters::from_query(call.request.query());
  if (!parameters) {
    return std::unexpected(parameters.error());
  }
  if (const auto known = parameters->only(bulk_action_parameters); !known) {
    return std::unexpected(known.error());
  }
  const Result<Paging> paging = read_paging(*parameters, actions_default, actions_max, true);
  if (!paging) {
    return std::unexpected(paging.error());
  }
  ActionQuery query{.paging = *paging};
  if (query.paging.cursor) {
    const auto last = parse_bulk_action_id(*query.paging.cursor);
    if (!last) {
      return fail(ErrorKind::invalid_argument, "cursor: it is not one that this call gave");
    }
    query.before = *last;
  }
  Result<std::optional<std::string>> state = parameters->one("state");
  if (!state) {
    return std::unexpected(state.error());
  }
  if (*state && **state != "IN_PROGRESS" && **state != "FINISHED") {
    return fail(ErrorKind::invalid_argument, "state must be IN_PROGRESS or FINISHED");
  }
  query.state = std::move(*state);
  return query;
}

}  // namespace

std::string bulk_action_id(std::uint64_t number) {
  return std::string(action_prefix) + std::to_string(number);
}

std::optional<std::uint64_t> parse_bulk_action_id(std::string_view id) {
  std::uint64_t number = 0;
  if (!id.starts_with(action_prefix)) {
    return std::nullopt;
  }
  const std::string_view digits = id.substr(action_prefix.size());
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return bulk_action_id(number) == id ? std::optional(number) : std::nullopt;
}

/// Newest first. The state is a filter of each page, so that a page is bounded work.
void list_bulk_actions(const Services& services, Call& call) {
  const Result<ActionQuery> query = read_action_query(call);
  if (!query) {
    call.answer(error_response(query.error()));
    return;
  }
  const core::TenantId tenant = call.tenant->id;
  const auto tasks = services.submitter.durable_view(tenant)->scan(
      core::Range<core::Task>::of(tenant, cancel_kind).before(tenant, cancel_kind, query->before),
      query->paging.count, core::Order::descending);
  http::Response response;
  JsonWriter json(response.body);
  json.begin_object();
  write_cursor(json, tasks.size() == query->paging.count
                         ? std::optional(bulk_action_id(tasks.back().number))
                         : std::nullopt);
  json.key("bulkActions");
  json.begin_array();
  for (const core::Task& task : tasks) {
    if (!query->state || *query->state == state_of(task)) {
      write_action(json, task);
    }
  }
  json.end_array();
  json.end_object();
  call.answer(std::move(response));
}

void get_bulk_action(const Services& services, Call& call) {
  const auto number = parse_bulk_action_id(call.param);
  const core::TenantId tenant = call.tenant->id;
  const auto task = number ? services.submitter.durable_view(tenant)->get<core::Task>(
                                 {tenant, cancel_kind, *number, {}})
                           : std::nullopt;
  if (!task) {
    call.answer(error_response(404, "bulk action " + call.param + " not found"));
    return;
  }
  http::Response response;
  JsonWriter json(response.body);
  write_action(json, *task);
  call.answer(std::move(response));
}

}  // namespace hk::api::qstash
