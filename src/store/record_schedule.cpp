/// Records of what publishes on its own: schedules.
#include "base/assert.h"
#include "store/codec.h"
#include "store/record_parts.h"

namespace hk::store {

template <>
std::string Codec<core::Schedule>::encode(const core::Schedule& schedule) {
  const auto& [tenant, id, cron, prototype, delay, flow, created_at] = schedule;
  records::Schedule record;
  record.set_cron(cron);
  const bool same = parse(*record.mutable_prototype(), Codec<core::Message>::encode(prototype));
  HK_ASSERT(same);  // it is small: what a batch may write is bounded
  record.set_delay(delay.count());
  if (flow) {
    records::Schedule::Flow& out = *record.mutable_flow();
    out.set_parallelism(flow->parallelism);
    out.set_rate(flow->rate);
    out.set_period(flow->period.count());
  }
  record.set_created_at(to_ms(created_at));
  return serialize(record);
}

template <>
Result<core::Schedule> Codec<core::Schedule>::decode(core::KeyOf<core::Schedule> key,
                                                     std::string_view value) {
  records::Schedule record;
  if (!parse(record, value)) {
    return broken_record("schedule");
  }
  auto prototype = take_message(core::Seq{}, *record.mutable_prototype());
  if (!prototype) {
    return std::unexpected(prototype.error());
  }
  auto& [tenant, id] = key;
  core::Schedule schedule{.tenant = tenant,
                          .id = std::move(id),
                          .cron = std::move(*record.mutable_cron()),
                          .prototype = std::move(*prototype),
                          .delay = Millis{record.delay()},
                          .created_at = moment_from_ms(record.created_at())};
  if (record.has_flow()) {
    schedule.flow = core::FlowKey{.tenant = tenant,
                                  .key = schedule.prototype.flow_key,
                                  .parallelism = record.flow().parallelism(),
                                  .rate = record.flow().rate(),
                                  .period = Millis{record.flow().period()}};
  }
  return schedule;
}

template <>
std::string Codec<core::ScheduleState>::encode(const core::ScheduleState& state) {
  const auto& [paused, next_at, last_at, last_messages, error] = state;
  records::ScheduleState record;
  record.set_paused(paused);
  record.set_next_at(to_ms(next_at));
  record.set_last_at(to_ms(last_at));
  for (const auto& [seq, nonce] : last_messages) {
    record.add_last_seq(seq.value());
    record.add_last_nonce(nonce);
  }
  record.set_error(error);
  return serialize(record);
}

template <>
Result<core::ScheduleState> Codec<core::ScheduleState>::decode(
    core::KeyOf<core::ScheduleState> /*key*/, std::string_view value) {
  records::ScheduleState record;
  if (!parse(record, value) || record.last_seq_size() != record.last_nonce_size()) {
    return broken_record("state of a schedule");
  }
  core::ScheduleState state{.paused = record.paused(),
                            .next_at = moment_from_ms(record.next_at()),
                            .last_at = moment_from_ms(record.last_at()),
                            .error = std::move(*record.mutable_error())};
  for (int i = 0; i < record.last_seq_size(); ++i) {
    state.last_messages.push_back({core::Seq{record.last_seq(i)}, record.last_nonce(i)});
  }
  return state;
}

template <>
std::string Codec<core::ScheduleDue>::encode(const core::ScheduleDue& /*due*/) {
  return {};  // the key says everything
}

template <>
Result<core::ScheduleDue> Codec<core::ScheduleDue>::decode(core::KeyOf<core::ScheduleDue> key,
                                                           std::string_view /*value*/) {
  return std::make_from_tuple<core::ScheduleDue>(std::move(key));
}

}  // namespace hk::store
