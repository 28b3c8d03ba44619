// /in/{source}: what services send. Nothing is stored, forwarded or answered with success before
// the request is verified, handshakes apart. The answer comes when the event is durable.
#include <array>
#include <utility>

#include "api/qstash/publish.h"
#include "api/reply.h"
#include "api/sources/event_message.h"
#include "api/sources/handlers.h"
#include "observe/log.h"
#include "observe/metrics.h"
#include "observe/trace.h"

namespace hk::api::sources {

namespace {

constexpr Problem source_not_found{"source_not_found", "Source not found"};
constexpr std::size_t header_bytes_max = std::size_t{32} * 1024;
/// Rejected requests of a source that wait for the core; more are counted, and not kept.
constexpr std::uint32_t rejecting_max = 4;

using Inbound = observe::InboundResult;

void refuse_unknown(const Services& services, Call& call) {
  services.metrics.inbound(Inbound::refused);
  call.answer.refuse(source_not_found, 404, "there is no such source");
}

std::size_t bytes_of_fields(const std::vector<net::Field>& fields) {
  std::size_t bytes = 0;
  for (const net::Field& one : fields) {
    bytes += one.name.size() + one.value.size() + 4;
  }
  return bytes;
}

void shake_hands(const Services& services, Call& call, HandshakeAnswer answer) {
  services.metrics.inbound(Inbound::handshake);
  if (answer.status != 200) {
    call.answer.refuse(answer.status, answer.refused);
    return;
  }
  http::Response response;
  response.content_type = std::move(answer.content_type);
  response.body = std::move(answer.body);
  call.answer(std::move(response));
}

/// Nobody waits for what becomes of it.
void tell_the_core(Call& call, const OpenSourcePtr& source, const Failure& failed, Moment now) {
  if (source->rejecting.fetch_add(1, std::memory_order_relaxed) >= rejecting_max) {
    source->rejecting.fetch_sub(1, std::memory_order_relaxed);
    source->rejected.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  core::QuarantineInbound command{
      .tenant = source->tenant,
      .source = source->id,
      .invalid = 1 + source->rejected.exchange(0, std::memory_order_relaxed)};
  if (source->settings.quarantine) {
    http::Request& request = call.request;
    core::Quarantined kept{.received_at = now,
                           .method = request.method,
                           .target = request.target,
                           .body = std::move(request.body),
                           .remote = request.peer,
                           .code = std::string(name_of(failed.fault)),
                           .message = failed.message,
                           .details = failed.details};
    for (net::Field& one : request.fields) {
      kept.headers.push_back({std::move(one.name), std::move(one.value)});
    }
    command.request = std::move(kept);
  }
  call.batcher.submit(std::move(command), [source](const core::Reply& /*reply*/) {
    source->rejecting.fetch_sub(1, std::memory_order_relaxed);
  });
}

void reject(const Services& services, Call& call, const OpenSourcePtr& source,
            const Failure& failed, Moment now) {
  services.metrics.inbound(Inbound::invalid);
  const Rejection told = answer_to(failed.fault);
  std::vector<net::Field> fields;
  if (source->settings.scheme.preset == Preset::basic && told.status == 401) {
    fields.push_back({"WWW-Authenticate", "Basic realm=\"hikyaku\""});
  }
  tell_the_core(call, source, failed, now);
  call.answer.refuse(told.what, told.status, told.detail, std::move(fields));
}

/// The trace of the message, for who has sent it. A trace that begins here has no span yet that
/// could be named: the answer names one of its own, since W3C knows none without.
std::string traceparent_of(const core::Trace& trace, Rng& rng) {
  observe::TraceParent parent;
  parent.trace_id = trace.trace_id;
  parent.span_id = trace.parent_span;
  parent.flags = trace.flags;
  if (parent.span_id == std::array<std::uint8_t, 8>{}) {
    const std::uint64_t bits = rng.next() | 1U;
    for (std::size_t i = 0; i < parent.span_id.size(); ++i) {
      parent.span_id[i] = static_cast<std::uint8_t>(bits >> (8 * i));
    }
  }
  return observe::format_traceparent(parent);
}

void accept_event(const Services& services, Call& call, const OpenSource& source, EventNames names,
                  Moment now) {
  http::Request& request = call.request;
  core::Trace of_sender = qstash::read_trace(request, call.batcher.rng());
  EventContent content{.names = std::move(names),
                       .fields = std::move(request.fields),
                       .body = std::move(request.body),
                       .remote = request.peer,
                       .trace = std::move(of_sender),
                       .received_at = now};
  std::string event_id = header_text(content.names.id);
  std::string trace = traceparent_of(content.trace, call.batcher.rng());
  core::ReceiveInbound command{.tenant = source.tenant, .source = source.id};
  command.event = make_event(services.options, source, std::move(content));
  call.batcher.submit(
      std::move(command),
      [&services, answer = std::move(call.answer), event_id = std::move(event_id),
       trace = std::move(trace)](const core::Reply& reply) mutable {
        if (!reply) {
          services.metrics.inbound(Inbound::refused);
          if (reply.error().kind == ErrorKind::not_found) {
            answer.refuse(source_not_found, 404, "there is no such source");
          } else {
            answer.refuse(reply.error());
          }
          return;
        }
        const auto& received = answer_of<core::InboundReceived>(reply);
        services.metrics.inbound(received.duplicate ? Inbound::duplicate : Inbound::accepted);
        http::Response response;
        response.status = 204;
        response.fields.push_back({"Hikyaku-Message-Id", core::to_text(received.message)});
        if (!event_id.empty()) {
          response.fields.push_back({"Hikyaku-Event-Id", std::move(event_id)});
        }
        response.fields.push_back({"traceparent", std::move(trace)});
        if (received.duplicate) {
          response.fields.push_back({"Hikyaku-Duplicate", "true"});
        }
        answer(std::move(response));
      });
}

/// Is it allowed in, whoever it is from? False: it was refused.
bool is_let_in(const Services& services, Call& call, const OpenSource& source) {
  const auto count = [&] { services.metrics.inbound(Inbound::refused); };
  if (!source.throttle.take(call.answer.begun_at().time_since_epoch())) {
    count();
    call.answer.refuse(too_many_requests, 429, "this source takes no more requests in this second",
                       {{"Retry-After", "1"}});
    return false;
  }
  if (const auto turned = call.admit_late(services, limits::cost_of(core::RateClass::source, 1))) {
    count();
    call.answer.refuse(*turned);
    return false;
  }
  if (call.request.body.size() > source.settings.body_bytes_max) {
    count();
    call.answer.refuse(413, "the body is larger than " +
                                std::to_string(source.settings.body_bytes_max) + " bytes");
    return false;
  }
  if (bytes_of_fields(call.request.fields) > header_bytes_max) {
    count();
    call.answer.refuse(431, "the headers are larger than 32 KiB");
    return false;
  }
  return true;
}

/// Null: there is none that may be used by that name; it was refused.
OpenSourcePtr find_open(const Services& services, Call& call, Moment now) {
  auto found = services.sources.find(services.submitter, services.options, now, call.param);
  if (!found) {
    observe::log(observe::Level::error, "source.unreadable", {{"error", found.error().message}});
    services.metrics.inbound(Inbound::refused);
    call.answer.refuse(Error{ErrorKind::unavailable, "this source cannot be used at the moment"});
    return nullptr;
  }
  const OpenSourcePtr& source = *found;
  const bool by_id_only = source && source->settings.scheme.preset == Preset::none;
  if (!source || !source->settings.enabled || (by_id_only && call.param != source->id)) {
    refuse_unknown(services, call);
    return nullptr;
  }
  call.tenant = services.tenants.find(source->tenant);
  if (!call.tenant) {
    refuse_unknown(services, call);
    return nullptr;
  }
  call.answer.of_tenant(source->tenant);
  return source;
}

}  // namespace

void receive_inbound(const Services& services, Call& call) {
  const Moment now = services.now();
  const OpenSourcePtr source = find_open(services, call, now);
  if (!source || !is_let_in(services, call, *source)) {
    return;
  }
  const Scheme& scheme = source->settings.scheme;
  http::Request& request = call.request;
  const Received received{.method = request.method,
                          .target = request.target,
                          .fields = request.fields,
                          .body = request.body,
                          .at = now};
  if (auto answer = handshake(scheme, source->keys, received)) {
    shake_hands(services, call, std::move(*answer));
    return;
  }
  if (request.method != "POST") {
    services.metrics.inbound(Inbound::refused);
    call.answer.refuse_method("POST");
    return;
  }
  if (services.options.refuse_publishes) {
    if (const auto why = services.options.refuse_publishes()) {
      services.metrics.inbound(Inbound::refused);
      call.answer.refuse(Error{ErrorKind::unavailable, *why});
      return;
    }
  }
  if (const Verified verified = verify(scheme, source->keys, received); !verified) {
    reject(services, call, source, verified.error(), now);
    return;
  }
  if (auto answer = verified_handshake(scheme, received)) {
    shake_hands(services, call, std::move(*answer));
    return;
  }
  auto names = name_event(scheme, received);
  if (!names) {
    reject(services, call, source, names.error(), now);
    return;
  }
  accept_event(services, call, *source, std::move(*names), now);
}

}  // namespace hk::api::sources
