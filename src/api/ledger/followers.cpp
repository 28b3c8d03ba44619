// Who is told of the records of a book: subscriptions and monitors.
#include <algorithm>
#include <utility>

#include "api/ledger/errors.h"
#include "api/ledger/handlers.h"
#include "api/ledger/parse.h"
#include "api/ledger/reading.h"
#include "api/ledger/render.h"
#include "api/qstash/destination.h"
#include "api/reply.h"
#include "core/ledger/json.h"

namespace hk::api::ledger {

namespace {

/// A URL or the name of a URL group stands in `url` as it was given; both are known afterwards.
Result<void> resolve_destination(const Services& services, core::ledger::AddSubscription& add) {
  if (!add.queue.empty()) {
    return {};
  }
  auto destination = qstash::parse_given_destination(add.url);
  if (!destination) {
    return std::unexpected(destination.error());
  }
  add.url = std::move(destination->url);
  add.url_group = std::move(destination->topic);
  if (!add.url.empty()) {
    auto host = services.options.check_destination(add.url);
    if (!host) {
      return std::unexpected(host.error());
    }
    add.host = std::move(*host);
  }
  return {};
}

/// What is removed is told by its id alone.
Write plan_removal(Call& call, core::ledger::Operation operation, std::string_view object) {
  core::ledger::Apply apply{.tenant = call.tenant->id, .book = call.param};
  apply.items.push_back({.operation = std::move(operation)});
  return Planned{.command = std::move(apply),
                 .tell = [id = call.more_params.at(0), object,
                          request_id = std::string(call.answer.request_id())](
                             const core::Reply& reply) -> Said {
                   const auto& result =
                       answer_of<core::ledger::LedgerApplied>(reply).results.front();
                   if (!result) {
                     return problem_of(*result.error(), request_id);
                   }
                   http::Response response;
                   JsonWriter json(response.body);
                   json.begin_object();
                   json.field("object", object);
                   json.field("id", id);
                   json.field("deleted", true);
                   json.end_object();
                   return response;
                 }};
}

}  // namespace

Write add_subscription(const Services& services, Call& call) {
  auto read = read_subscription(call.request.body);
  if (!read) {
    return refuse(call, read.error());
  }
  if (auto right = resolve_destination(services, *read); !right) {
    return std::move(right.error());
  }
  return plan(services, call, {.operation = std::move(*read)});
}

void list_subscriptions(const Services& services, Call& call) {
  Query query(call.request.query(), {});
  show(services, call, query.wrong(), [](const BookReading& reading) {
    http::Response response;
    JsonWriter json(response.body);
    json.begin_object();
    json.key("subscriptions");
    json.begin_array();
    for (const core::ledger::Subscription& one : reading.book->subscriptions) {
      json.begin_object();
      core::ledger::write_subscription_members(json, one);
      json.end_object();
    }
    json.end_array();
    json.end_object();
    return response;
  });
}

Write remove_subscription(const Services& /*services*/, Call& call) {
  return plan_removal(call, core::ledger::RemoveSubscription{call.more_params.at(0)},
                      "ledger_subscription");
}

Write add_monitor(const Services& services, Call& call) {
  auto read = read_monitor(call.request.body);
  if (!read) {
    return refuse(call, read.error());
  }
  return plan(services, call, {.operation = std::move(*read)});
}

/// All of them: a book has a bounded number.
void list_monitors(const Services& services, Call& call) {
  Query query(call.request.query(), {});
  show(services, call, query.wrong(), [](const BookReading& reading) {
    http::Response response;
    JsonWriter json(response.body);
    json.begin_object();
    json.key("monitors");
    json.begin_array();
    for (const core::ledger::Monitor& one : reading.reader.scan<core::ledger::Monitor>(
             core::Range<core::ledger::Monitor>::of(reading.tenant, reading.number()))) {
      json.begin_object();
      core::ledger::write_monitor_members(json, {reading.book, one});
      json.end_object();
    }
    json.end_array();
    json.end_object();
    return response;
  });
}

Write remove_monitor(const Services& /*services*/, Call& call) {
  return plan_removal(call, core::ledger::RemoveMonitor{call.more_params.at(0)}, "ledger_monitor");
}

}  // namespace hk::api::ledger
