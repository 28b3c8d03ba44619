// POST /v2/publish/{destination} and POST /v2/enqueue/{queue}/{destination}. The checks run in the
// order written here, and nothing is submitted before all of them have passed.
#include <utility>

#include "api/json.h"
#include "api/qstash/destination.h"
#include "api/qstash/errors.h"
#include "api/qstash/handlers.h"
#include "api/qstash/publish_options.h"
#include "api/reply.h"
#include "api/text.h"
#include "observe/metrics.h"
#include "observe/trace.h"

namespace hk::api::qstash {

namespace {

constexpr std::size_t tracestate_bytes_max = 512;  // what W3C asks everybody to pass on at least

core::Trace read_trace(const http::Request& request, Rng& rng) {
  core::Trace trace;
  if (const auto text = request.header("traceparent")) {
    if (const auto parent = observe::parse_traceparent(*text)) {
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
  for (std::size_t half = 0; half < 2; ++half) {
    std::uint64_t bits = rng.next() | 1U;  // all zeros is not a trace id
    for (std::size_t i = 0; i < 8; ++i) {
      trace.trace_id[half * 8 + i] = static_cast<std::uint8_t>(bits);
      bits >>= 8U;
    }
  }
  return trace;
}

Result<core::Publish> read_publish(const Services& services, Call& call, std::string queue) {
  Result<Destination> destination = parse_destination(call.rest);
  if (!destination) {
    return std::unexpected(std::move(destination.error()));
  }
  Result<std::string> host = services.options.check_destination(destination->url);
  if (!host) {
    return std::unexpected(std::move(host.error()));
  }

  core::Publish command;
  command.message = std::make_unique<core::Message>();
  core::Message& message = *command.message;
  message.tenant = call.tenant->id;
  message.queue = std::move(queue);
  message.url = std::move(destination->url);
  message.host = std::move(*host);
  message.body = std::move(call.request.body);
  message.trace = read_trace(call.request, call.batcher.rng());
  message.caller_ip = std::move(call.request.peer);
  Result<void> read = read_publish_options(services.options, services.now(), call.request.fields,
                                           std::move(destination->options), command);
  if (!read) {
    return std::unexpected(std::move(read.error()));
  }
  command.dedup_window = services.options.dedup_window;
  return command;
}

http::Response accepted(const core::Published& published, std::string_view url_json,
                        const std::string& durability) {
  http::Response response;
  response.status = published.deduplicated ? 202 : 201;
  response.body.reserve(80 + url_json.size());
  response.body += "{\"messageId\":\"";
  response.body += core::to_text(published.id);
  response.body += "\",\"url\":";
  response.body += url_json;
  response.body += published.deduplicated ? ",\"deduplicated\":true}" : "}";
  response.fields.push_back({"Hikyaku-Durability", durability});
  return response;
}

void accept(const Services& services, Call& call, std::string queue) {
  if (services.options.refuse_publishes) {
    if (const std::optional<std::string> why = services.options.refuse_publishes()) {
      services.metrics.publish_refused("closed");
      call.answer(error_response(Error{ErrorKind::unavailable, *why}));
      return;
    }
  }
  if (call.request.body.size() > services.options.body_bytes_max) {
    services.metrics.publish_refused("too_large");
    call.answer(error_response(
        413,
        "the body is larger than " + std::to_string(services.options.body_bytes_max) + " bytes"));
    return;
  }
  Result<core::Publish> command = read_publish(services, call, std::move(queue));
  if (!command) {
    services.metrics.publish_refused("invalid");
    call.answer(error_response(command.error()));
    return;
  }

  std::string url_json;
  append_json_string(url_json, command->message->url);
  call.batcher.submit(std::move(*command), [&services, answer = std::move(call.answer),
                                            url = std::move(url_json)](core::Reply reply) mutable {
    if (!reply) {
      services.metrics.publish_refused(reply.error().kind == ErrorKind::unavailable ? "busy"
                                                                                    : "by_core");
      answer(error_response(reply.error()));
      return;
    }
    const auto& published = answer_of<core::Published>(reply);
    services.metrics.published(published.deduplicated);
    answer(accepted(published, url, services.options.durability));
  });
}

}  // namespace

void publish(const Services& services, Call& call) { accept(services, call, {}); }

void enqueue(const Services& services, Call& call) {
  if (!valid_name(call.param)) {
    call.answer(error_response(
        400, "invalid queue name: letters, digits, '.', '_' and '-' only, at least one of them"));
    return;
  }
  accept(services, call, std::move(call.param));
}

}  // namespace hk::api::qstash
