/// Events of webhooks, and what is kept of their deliveries: written with every publish and every
/// attempt.
#include <tuple>
#include <utility>

#include "store/codec.h"
#include "store/record_parts.h"
#include "store/webhook_parts.h"

namespace hk::store {

namespace webhook = core::webhook;

namespace {

bool read_event_trace(const WireReader& trace_in, core::Trace& trace) {
  trace.flags = 0;
  return read_fields(trace_in.text(), [&trace](const WireReader& in) {
    switch (in.field()) {
      case 1: return get_array(trace.trace_id, in.text());
      case 2: return get_array(trace.parent_span, in.text());
      case 3: trace.flags = static_cast<std::uint8_t>(in.number()); return in.number() <= 0xff;
      case 4: trace.state = in.text(); return true;
      default: return true;
    }
  });
}

bool read_addressed(const WireReader& addressed_in,
                    std::vector<webhook::Event::Addressed>& addressed) {
  webhook::Event::Addressed& one = addressed.emplace_back();
  return read_fields(addressed_in.text(), [&one](const WireReader& in) {
    switch (in.field()) {
      case 1: one.endpoint = in.number(); break;
      case 2: one.delivery = core::Seq{in.number()}; break;
      default: break;
    }
    return true;
  });
}

bool read_event_field(const WireReader& in, webhook::Event& event) {
  switch (in.field()) {
    case 1: return read_made(in, event.made);
    case 2: event.event_type = in.text(); break;
    case 3: event.event_id = in.text(); break;
    case 4: event.channels.emplace_back(in.text()); break;
    case 5: event.tags.emplace_back(in.text()); break;
    case 6: event.deliver_at = read_moment(in); break;
    case 7: event.payload = in.text(); break;
    case 8: event.shown = in.text(); break;
    case 9: event.content_type = in.text(); break;
    case 10: return read_header(in, event.headers);
    case 11: event.payload_expires_at = read_moment(in); break;
    case 12: event.expunged = read_flag(in); break;
    case 13: event.other = in.text(); break;
    case 14: return read_event_trace(in, event.trace);
    case 15: return read_addressed(in, event.addressed);
    default: break;
  }
  return true;
}

}  // namespace

template <>
std::string Codec<webhook::Event>::encode(const webhook::Event& event) {
  const auto& [tenant, application, number, made, event_type, event_id, channels, tags, deliver_at,
               payload, shown, content_type, headers, payload_expires_at, expunged, other, trace,
               addressed] = event;
  constexpr std::size_t each_addressed = 24;
  std::string out;
  out.reserve(payload.size() + shown.size() + other.size() + addressed.size() * each_addressed +
              256);
  Wire wire(out);
  write_made(wire, 1, made);
  wire.text(2, event_type);
  wire.text(3, event_id);
  wire.items(4, channels);
  wire.items(5, tags);
  wire.moment(6, deliver_at);
  wire.text(7, payload);
  wire.text(8, shown);
  wire.text(9, content_type);
  wire.headers(10, headers);
  wire.moment(11, payload_expires_at);
  wire.number(12, expunged ? 1 : 0);
  wire.text(13, other);
  wire.trace(14, trace);
  for (const auto& [endpoint, delivery] : addressed) {
    wire.record(15, [&] {
      wire.number(1, endpoint);
      wire.number(2, delivery.value());
    });
  }
  return out;
}

template <>
Result<webhook::Event> Codec<webhook::Event>::decode(core::KeyOf<webhook::Event> key,
                                                     std::string_view value) {
  webhook::Event event;
  std::tie(event.tenant, event.application, event.number) = key;
  if (!read_fields(value, [&event](const WireReader& in) { return read_event_field(in, event); })) {
    return broken_record("event of a webhook");
  }
  return event;
}

template <>
std::string Codec<webhook::DeliveryRow>::encode(const webhook::DeliveryRow& row) {
  std::string out;
  Wire(out).number(1, row.delivery.value());
  return out;
}

template <>
Result<webhook::DeliveryRow> Codec<webhook::DeliveryRow>::decode(
    core::KeyOf<webhook::DeliveryRow> key, std::string_view value) {
  webhook::DeliveryRow row;
  std::tie(row.tenant, row.endpoint, row.event, row.generation) = key;
  const bool whole = read_fields(value, [&row](const WireReader& in) {
    if (in.field() == 1) {
      row.delivery = core::Seq{in.number()};
    }
    return true;
  });
  if (!whole) {
    return broken_record("delivery of a webhook");
  }
  return row;
}

template <>
std::string Codec<webhook::AttemptRow>::encode(const webhook::AttemptRow& row) {
  const auto& [tenant, endpoint, ended_at, delivery, attempt, event, status_code, succeeded,
               manual] = row;
  std::string out;
  Wire wire(out);
  wire.number(1, event);
  wire.number(2, status_code);
  wire.number(3, succeeded ? 1 : 0);
  wire.number(4, manual ? 1 : 0);
  return out;
}

template <>
Result<webhook::AttemptRow> Codec<webhook::AttemptRow>::decode(core::KeyOf<webhook::AttemptRow> key,
                                                               std::string_view value) {
  webhook::AttemptRow row;
  std::tie(row.tenant, row.endpoint, row.ended_at, row.delivery, row.attempt) = key;
  const bool whole = read_fields(value, [&row](const WireReader& in) {
    switch (in.field()) {
      case 1: row.event = in.number(); break;
      case 2: row.status_code = number32(in); break;
      case 3: row.succeeded = read_flag(in); break;
      case 4: row.manual = read_flag(in); break;
      default: break;
    }
    return true;
  });
  if (!whole) {
    return broken_record("attempt of a webhook");
  }
  return row;
}

template <>
std::string Codec<webhook::Stats>::encode(const webhook::Stats& stats) {
  const auto& [tenant, endpoint, hour, succeeded, failed, created, begun, settled, canceled] =
      stats;
  std::string out;
  Wire wire(out);
  wire.number(1, succeeded);
  wire.number(2, failed);
  wire.number(3, created);
  wire.number(4, begun);
  wire.number(5, settled);
  wire.number(6, canceled);
  return out;
}

template <>
Result<webhook::Stats> Codec<webhook::Stats>::decode(core::KeyOf<webhook::Stats> key,
                                                     std::string_view value) {
  webhook::Stats stats;
  std::tie(stats.tenant, stats.endpoint, stats.hour) = key;
  const bool whole = read_fields(value, [&stats](const WireReader& in) {
    switch (in.field()) {
      case 1: stats.succeeded = in.number(); break;
      case 2: stats.failed = in.number(); break;
      case 3: stats.created = in.number(); break;
      case 4: stats.begun = in.number(); break;
      case 5: stats.settled = in.number(); break;
      case 6: stats.canceled = in.number(); break;
      default: break;
    }
    return true;
  });
  if (!whole) {
    return broken_record("counts of an endpoint");
  }
  return stats;
}

template <>
std::string Codec<webhook::Health>::encode(const webhook::Health& health) {
  const auto& [tenant, endpoint, failing_since, failures, warned, circuit_for, shut_until,
               by_circuit, waiting, waiting_bytes, ramp, hold_announced, hold_canceled,
               window_start, window_count] = health;
  std::string out;
  Wire wire(out);
  wire.moment(1, failing_since);
  wire.number(2, failures);
  wire.number(3, warned);
  wire.integer(4, circuit_for.count());
  wire.moment(5, shut_until);
  wire.number(6, by_circuit ? 1 : 0);
  wire.number(7, waiting);
  wire.number(8, waiting_bytes);
  wire.number(9, ramp);
  wire.number(10, hold_announced ? 1 : 0);
  wire.moment(11, window_start);
  wire.number(12, window_count);
  wire.number(13, hold_canceled);
  return out;
}

template <>
Result<webhook::Health> Codec<webhook::Health>::decode(core::KeyOf<webhook::Health> key,
                                                       std::string_view value) {
  webhook::Health health;
  std::tie(health.tenant, health.endpoint) = key;
  const bool whole = read_fields(value, [&health](const WireReader& in) {
    switch (in.field()) {
      case 1: health.failing_since = read_moment(in); break;
      case 2: health.failures = number32(in); break;
      case 3: health.warned = number32(in); break;
      case 4: health.circuit_for = read_millis(in); break;
      case 5: health.shut_until = read_moment(in); break;
      case 6: health.by_circuit = read_flag(in); break;
      case 7: health.waiting = in.number(); break;
      case 8: health.waiting_bytes = in.number(); break;
      case 9: health.ramp = number32(in); break;
      case 10: health.hold_announced = read_flag(in); break;
      case 11: health.window_start = read_moment(in); break;
      case 12: health.window_count = number32(in); break;
      case 13: health.hold_canceled = in.number(); break;
      default: break;
    }
    return true;
  });
  if (!whole) {
    return broken_record("health of an endpoint");
  }
  return health;
}

template <>
std::string Codec<webhook::Sweep>::encode(const webhook::Sweep& sweep) {
  const auto& [tenant, endpoint, number, application, up_to, reason, event_type, channel, tag,
               replay, due_before] = sweep;
  std::string out;
  Wire wire(out);
  wire.number(1, application);
  wire.number(2, up_to.value());
  wire.number(3, static_cast<std::uint64_t>(reason));
  wire.text(4, event_type);
  wire.text(5, channel);
  wire.text(6, tag);
  wire.number(7, replay);
  wire.moment(8, due_before);
  return out;
}

template <>
Result<webhook::Sweep> Codec<webhook::Sweep>::decode(core::KeyOf<webhook::Sweep> key,
                                                     std::string_view value) {
  using core::CancelReason;
  webhook::Sweep sweep;
  std::tie(sweep.tenant, sweep.endpoint, sweep.number) = key;
  const bool whole = read_fields(value, [&sweep](const WireReader& in) {
    switch (in.field()) {
      case 1: sweep.application = in.number(); break;
      case 2: sweep.up_to = core::Seq{in.number()}; break;
      case 3: return read_enum(in, sweep.reason, CancelReason::none, CancelReason::skipped);
      case 4: sweep.event_type = in.text(); break;
      case 5: sweep.channel = in.text(); break;
      case 6: sweep.tag = in.text(); break;
      case 7: sweep.replay = in.number(); break;
      case 8: sweep.due_before = read_moment(in); break;
      default: break;
    }
    return true;
  });
  if (!whole) {
    return broken_record("sweep of an endpoint");
  }
  return sweep;
}

}  // namespace hk::store
