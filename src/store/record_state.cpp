#include "store/codec.h"
#include "store/record_parts.h"
#include "store/wire.h"

namespace hk::store {
namespace {

void write_attempt(Wire& wire, const core::Attempt& attempt) {
  const auto& [fence, started_at, ended_at, response_status, error, response_headers, response_body,
               span_id, told] = attempt;
  const auto& [epoch, number] = fence;
  wire.number(1, epoch);
  wire.number(2, number);
  wire.moment(3, started_at);
  wire.moment(4, ended_at);
  wire.integer(5, response_status);
  wire.text(6, error);
  wire.headers(7, response_headers);
  wire.text(8, response_body);
  wire.array(9, span_id);
  wire.number(10, told ? 1 : 0);
}

bool take_attempt(core::Attempt& attempt, records::Attempt& record) {
  attempt.fence = {record.epoch(), record.number()};
  attempt.started_at = moment_from_ms(record.started_at());
  attempt.ended_at = moment_from_ms(record.ended_at());
  attempt.response_status = record.response_status();
  attempt.error = std::move(*record.mutable_error());
  attempt.response_headers = take_headers(*record.mutable_response_headers());
  attempt.response_body = std::move(*record.mutable_response_body());
  attempt.told = record.told();
  return get_array(attempt.span_id, record.span_id());
}

std::optional<core::Status> to_status(std::uint32_t number) {
  const auto status = static_cast<core::Status>(number);
  switch (status) {
    case core::Status::pending:
    case core::Status::running:
    case core::Status::succeeded:
    case core::Status::failed:
    case core::Status::canceled: return number <= 0xff ? std::optional(status) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

template <>
std::string Codec<core::Attempt>::encode(const core::Attempt& attempt) {
  std::string out;
  Wire wire(out);
  write_attempt(wire, attempt);
  return out;
}

template <>
Result<core::Attempt> Codec<core::Attempt>::decode(core::KeyOf<core::Attempt> /*key*/,
                                                   std::string_view value) {
  records::Attempt record;
  core::Attempt attempt;
  if (!parse(record, value) || !take_attempt(attempt, record)) {
    return broken_record("attempt");
  }
  return attempt;
}

template <>
std::string Codec<core::MessageState>::encode(const core::MessageState& state) {
  const auto& [status, attempts, due, cancel_requested, cancel_requested_at, finished_at,
               expires_at, in_dlq, callbacks_open, last, cancel_reason] = state;
  std::string out;
  out.reserve(last ? 128 + last->response_body.size() : 48);
  Wire wire(out);
  wire.number(1, static_cast<std::uint32_t>(status));
  wire.number(2, attempts);
  wire.moment(3, due);
  wire.number(4, cancel_requested ? 1 : 0);
  wire.moment(5, cancel_requested_at);
  wire.moment(6, finished_at);
  wire.moment(7, expires_at);
  wire.number(8, in_dlq ? 1 : 0);
  if (last) {
    wire.record(9, [&] { write_attempt(wire, *last); });
  }
  wire.number(10, callbacks_open);
  wire.number(11, static_cast<std::uint32_t>(cancel_reason));
  return out;
}

template <>
Result<core::MessageState> Codec<core::MessageState>::decode(
    core::KeyOf<core::MessageState> /*key*/, std::string_view value) {
  records::MessageState record;
  if (!parse(record, value)) {
    return broken_record("state");
  }
  const auto status = to_status(record.status());
  if (!status) {
    return broken_record("state with unknown status " + std::to_string(record.status()));
  }
  core::MessageState state;
  state.status = *status;
  state.attempts = record.attempts();
  state.due = moment_from_ms(record.due());
  state.cancel_requested = record.cancel_requested();
  state.cancel_requested_at = moment_from_ms(record.cancel_requested_at());
  state.finished_at = moment_from_ms(record.finished_at());
  state.expires_at = moment_from_ms(record.expires_at());
  state.in_dlq = record.in_dlq();
  state.callbacks_open = record.callbacks_open();
  if (record.cancel_reason() > static_cast<std::uint32_t>(core::CancelReason::skipped)) {
    return broken_record("state with a reason that is none");
  }
  state.cancel_reason = static_cast<core::CancelReason>(record.cancel_reason());
  if (record.has_last() && !take_attempt(state.last.emplace(), *record.mutable_last())) {
    return broken_record("state with a broken attempt");
  }
  return state;
}

template <>
std::string Codec<core::LaneRow>::encode(const core::LaneRow& row) {
  const auto& [place, not_before, attempts, flow_key, host, started, cancel_requested, finished,
               first_received_at, forgiven] = row.entry;
  static_cast<void>(place);  // the key says it
  std::string out;
  out.reserve(48 + flow_key.size() + host.size());
  Wire wire(out);
  wire.moment(1, not_before);
  wire.number(2, attempts);
  wire.number(3, started ? 1 : 0);
  wire.number(4, cancel_requested ? 1 : 0);
  wire.text(5, flow_key);
  wire.text(6, host);
  wire.number(7, finished ? 1 : 0);
  wire.moment(8, first_received_at);
  wire.number(9, forgiven);
  return out;
}

template <>
Result<core::LaneRow> Codec<core::LaneRow>::decode(core::KeyOf<core::LaneRow> key,
                                                   std::string_view value) {
  records::LaneEntry record;
  if (!parse(record, value)) {
    return broken_record("lane entry");
  }
  auto& [lane, place] = key;
  return core::LaneRow{.lane = std::move(lane),
                       .entry = {.place = place,
                                 .not_before = moment_from_ms(record.not_before()),
                                 .attempts = record.attempts(),
                                 .flow_key = std::move(*record.mutable_flow_key()),
                                 .host = std::move(*record.mutable_host()),
                                 .started = record.started(),
                                 .cancel_requested = record.cancel_requested(),
                                 .finished = record.finished(),
                                 .first_received_at = moment_from_ms(record.first_received_at()),
                                 .forgiven = record.forgiven()}};
}

template <>
std::string Codec<core::DeadLetterKey>::encode(const core::DeadLetterKey& /*letter*/) {
  return {};  // the key says everything
}

template <>
Result<core::DeadLetterKey> Codec<core::DeadLetterKey>::decode(core::KeyOf<core::DeadLetterKey> key,
                                                               std::string_view /*value*/) {
  return std::make_from_tuple<core::DeadLetterKey>(std::move(key));
}

}  // namespace hk::store
