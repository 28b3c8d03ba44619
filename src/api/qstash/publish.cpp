// POST /v2/publish/{destination}, POST /v2/enqueue/{queue}/{destination} (or without destination,
// into a queue that is pulled from) and, as they share all of it, POST
// /v2/schedules/{destination}. The checks run in the order written here, and nothing is
// submitted before all of them have passed.
#include "api/qstash/publish.h"

#include <algorithm>
#include <utility>

#include "api/qstash/errors.h"
#include "api/qstash/handlers.h"
#include "api/qstash/publish_options.h"
#include "api/qstash/pulled.h"
#include "api/qstash/schedules.h"
#include "api/reply.h"
#include "api/text.h"
#include "base/json.h"
#include "core/fresh_trace.h"
#include "observe/metrics.h"
#include "observe/trace.h"

namespace hk::api::qstash {

namespace {

constexpr std::size_t tracestate_bytes_max = 512;  // what W3C asks everybody to pass on at least

http::Response answered(int status, const std::string& durability) {
  http::Response response;
  response.status = status;
  response.fields.push_back({"Hikyaku-Durability", durability});
  return response;
}

http::Response accepted(const core::Published& published, std::string_view url_json,
                        const std::string& durability) {
  http::Response response = answered(published.deduplicated ? 202 : 201, durability);
  append_published(response.body, published, url_json);
  return response;
}

http::Response accepted(const core::FannedOut& all, const std::string& durability) {
  const bool nothing_new = std::ranges::all_of(
      all.messages, [](const core::FannedOut::One& one) { return one.published.deduplicated; });
  http::Response response = answered(nothing_new ? 202 : 201, durability);
  append_fanned_out(response.body, all);
  return response;
}

/// A queue of the other kind is the request's mistake.
Error told(Error error, bool queued) {
  if (queued && error.kind == ErrorKind::conflict) {
    error.kind = ErrorKind::invalid_argument;
  }
  return error;
}

void submit_publish(const Services& services, Call& call, core::Publish command) {
  const bool queued = !command.message->queue.empty();
  std::string url_json;
  if (!command.message->pull) {
    append_json_string(url_json, command.message->url);
  }
  call.batcher.submit(std::move(command), [&services, queued, answer = std::move(call.answer),
                                           url = std::move(url_json)](core::Reply reply) mutable {
    if (!reply) {
      services.metrics.publish_refused(refused_as(reply.error()));
      answer(error_response(told(std::move(reply.error()), queued)));
      return;
    }
    if (const auto* all = reply->get_if<core::FannedOut>()) {
      count_published(services, *all);
      answer(accepted(*all, services.options.durability));
      return;
    }
    const auto& published = answer_of<core::Published>(reply);
    services.metrics.published(published.deduplicated);
    answer(accepted(published, url, services.options.durability));
  });
}

enum class Kind : std::uint8_t { publish, enqueue, schedule };

void accept(const Services& services, Call& call, Kind kind, std::string queue = {}) {
  if (refused_for_now(services, call)) {
    return;
  }
  if (call.request.body.size() > services.options.body_bytes_max) {
    services.metrics.publish_refused("too_large");
    call.answer(error_response(413, body_too_large(services).message));
    return;
  }
  const auto refuse = [&](const Error& error) {
    services.metrics.publish_refused("invalid");
    call.answer(error_response(error));
  };
  if (kind == Kind::enqueue) {
    if (auto options = options_without_destination(call.rest)) {
      Result<core::Publish> command = read_pulled(services, call,
                                                  {.queue = std::move(queue),
                                                   .fields = call.request.fields,
                                                   .query = std::move(*options),
                                                   .body = std::move(call.request.body)});
      if (!command) {
        refuse(command.error());
        return;
      }
      submit_publish(services, call, std::move(*command));
      return;
    }
  }
  Result<Destination> destination = parse_destination(call.rest);
  if (!destination) {
    refuse(destination.error());
    return;
  }
  CronOptions schedule;
  GroupDefaults defaults(services.submitter, call.tenant->id);
  Result<core::Publish> command =
      read_publish(services, call, defaults,
                   {.destination = std::move(*destination),
                    .queue = std::move(queue),
                    .fields = call.request.fields,
                    .body = std::move(call.request.body),
                    .cron = kind == Kind::enqueue ? nullptr : &schedule});
  if (command && kind == Kind::schedule && !schedule.cron) {
    command = fail(ErrorKind::invalid_argument,
                   "Upstash-Cron: required for a schedule, for example */5 * * * *");
  }
  if (!command) {
    refuse(command.error());
    return;
  }
  if (schedule.cron) {
    submit_schedule(services, call, std::move(*command), std::move(schedule));
    return;
  }
  submit_publish(services, call, std::move(*command));
}

}  // namespace

core::Trace read_trace(const http::Request& request, Rng& rng) {
  if (const auto text = request.header("traceparent")) {
    if (const auto parent = observe::parse_traceparent(*text)) {
      core::Trace trace;
      trace.trace_id = parent->trace_id;
      trace.parent_span = parent->span_id;
      trace.flags = parent->flags;
      const auto state = request.header("tracestate");
      if (state && state->size() <= tracestate_bytes_max) {
        trace.state = *state;
      }
      return trace;
    }
  }
  return core::fresh_trace(rng);
}

Result<core::Publish> read_publish(const Services& services, Call& call, GroupDefaults& defaults,
                                   PublishParts parts) {
  Destination& destination = parts.destination;
  core::Publish command;
  command.message = std::make_unique<core::Message>();
  core::Message& message = *command.message;
  message.tenant = call.tenant->id;
  message.trace = read_trace(call.request, call.batcher.rng());
  if (destination.topic.empty()) {
    Result<std::string> host = services.options.check_destination(destination.url);
    if (!host) {
      return std::unexpected(std::move(host.error()));
    }
    message.url = std::move(destination.url);
    message.host = std::move(*host);
  } else {
    defaults.add_to(parts.fields, destination.options, destination.topic);
    message.topic = std::move(destination.topic);
  }
  message.queue = std::move(parts.queue);
  message.body = std::move(parts.body);
  message.caller_ip = call.request.peer;
  Result<void> read = read_publish_options(services.options, services.now(), parts.fields,
                                           std::move(destination.options), command, parts.cron);
  if (!read) {
    return std::unexpected(std::move(read.error()));
  }
  command.dedup_window = services.options.dedup_window;
  return command;
}

Error invalid_queue_name() {
  return {ErrorKind::invalid_argument,
          "invalid queue name: letters, digits, '.', '_' and '-' only, from 1 to " +
              std::to_string(queue_name_bytes_max) + " of them"};
}

Error body_too_large(const Services& services) {
  return {ErrorKind::invalid_argument,
          "the body is larger than " + std::to_string(services.options.body_bytes_max) + " bytes"};
}

bool refused_for_now(const Services& services, Call& call) {
  if (!services.options.refuse_publishes) {
    return false;
  }
  const std::optional<std::string> why = services.options.refuse_publishes();
  if (why) {
    services.metrics.publish_refused("closed");
    call.answer(error_response(Error{ErrorKind::unavailable, *why}));
  }
  return why.has_value();
}

void append_published(std::string& out, const core::Published& published,
                      std::string_view url_json) {
  out.reserve(out.size() + 80 + url_json.size());
  out += "{\"messageId\":\"";
  out += core::to_text(published.id);
  out += '"';
  if (!url_json.empty()) {
    out += ",\"url\":";
    out += url_json;
  }
  out += published.deduplicated ? ",\"deduplicated\":true}" : "}";
}

void append_fanned_out(std::string& out, const core::FannedOut& all) {
  out += '[';
  std::string url_json;
  for (const core::FannedOut::One& one : all.messages) {
    if (&one != &all.messages.front()) {
      out += ',';
    }
    url_json.clear();
    append_json_string(url_json, one.url);
    append_published(out, one.published, url_json);
  }
  out += ']';
}

void count_published(const Services& services, const core::FannedOut& all) {
  for (const core::FannedOut::One& one : all.messages) {
    services.metrics.published(one.published.deduplicated);
  }
}

void publish(const Services& services, Call& call) { accept(services, call, Kind::publish); }

void create_schedule(const Services& services, Call& call) {
  accept(services, call, Kind::schedule);
}

void enqueue(const Services& services, Call& call) {
  if (!valid_new_queue_name(call.param)) {
    call.answer(error_response(invalid_queue_name()));
    return;
  }
  accept(services, call, Kind::enqueue, std::move(call.param));
}

}  // namespace hk::api::qstash
