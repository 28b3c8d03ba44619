#include "store/codec.h"
#include "store/record_parts.h"

namespace hk::store {
namespace {

void set_attempt(records::Attempt& record, const core::Attempt& attempt) {
  const auto& [fence, started_at, ended_at, response_status, error, response_headers, response_body,
               span_id] = attempt;
  const auto& [epoch, number] = fence;
  record.set_epoch(epoch);
  record.set_number(number);
  record.set_started_at(to_ms(started_at));
  record.set_ended_at(to_ms(ended_at));
  record.set_response_status(response_status);
  record.set_error(error);
  set_headers(*record.mutable_response_headers(), response_headers);
  record.set_response_body(response_body);
  set_array(*record.mutable_span_id(), span_id);
}

bool take_attempt(core::Attempt& attempt, records::Attempt& record) {
  attempt.fence = {record.epoch(), record.number()};
  attempt.started_at = moment_from_ms(record.started_at());
  attempt.ended_at = moment_from_ms(record.ended_at());
  attempt.response_status = record.response_status();
  attempt.error = std::move(*record.mutable_error());
  attempt.response_headers = take_headers(*record.mutable_response_headers());
  attempt.response_body = std::move(*record.mutable_response_body());
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
  records::Attempt record;
  set_attempt(record, attempt);
  return serialize(record);
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
               expires_at, in_dlq, callbacks_open, last] = state;
  records::MessageState record;
  record.set_status(static_cast<std::uint32_t>(status));
  record.set_attempts(attempts);
  record.set_due(to_ms(due));
  record.set_cancel_requested(cancel_requested);
  record.set_cancel_requested_at(to_ms(cancel_requested_at));
  record.set_finished_at(to_ms(finished_at));
  record.set_expires_at(to_ms(expires_at));
  record.set_in_dlq(in_dlq);
  record.set_callbacks_open(callbacks_open);
  if (last) {
    set_attempt(*record.mutable_last(), *last);
  }
  return serialize(record);
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
  records::LaneEntry record;
  record.set_not_before(to_ms(not_before));
  record.set_attempts(attempts);
  record.set_flow_key(flow_key);
  record.set_host(host);
  record.set_started(started);
  record.set_cancel_requested(cancel_requested);
  record.set_finished(finished);
  record.set_first_received_at(to_ms(first_received_at));
  record.set_forgiven(forgiven);
  return serialize(record);
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
