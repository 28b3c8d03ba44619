/// Tasks, and the counts of delayed messages.
#include <iterator>
#include <utility>
#include <variant>

#include "store/codec.h"
#include "store/key.h"
#include "store/record_parts.h"

namespace hk::store {
namespace {

using Texts = google::protobuf::RepeatedPtrField<std::string>;

void set_texts(Texts& record, const std::vector<std::string>& texts) {
  record.Assign(texts.begin(), texts.end());
}
std::vector<std::string> take_texts(Texts& record) {
  return {std::make_move_iterator(record.begin()), std::make_move_iterator(record.end())};
}

void set_filter(records::MessageFilter& record, const core::MessageFilter& filter) {
  const auto& [urls, queues, topics, labels, flow_keys, caller_ips, hosts, paths, schedules, from,
               to] = filter;
  set_texts(*record.mutable_urls(), urls);
  set_texts(*record.mutable_queues(), queues);
  set_texts(*record.mutable_topics(), topics);
  set_texts(*record.mutable_labels(), labels);
  set_texts(*record.mutable_flow_keys(), flow_keys);
  set_texts(*record.mutable_caller_ips(), caller_ips);
  set_texts(*record.mutable_hosts(), hosts);
  set_texts(*record.mutable_paths(), paths);
  set_texts(*record.mutable_schedules(), schedules);
  record.set_from(to_ms(from));
  record.set_to(to_ms(to));
}

core::MessageFilter take_filter(records::MessageFilter& record) {
  return {.urls = take_texts(*record.mutable_urls()),
          .queues = take_texts(*record.mutable_queues()),
          .topics = take_texts(*record.mutable_topics()),
          .labels = take_texts(*record.mutable_labels()),
          .flow_keys = take_texts(*record.mutable_flow_keys()),
          .caller_ips = take_texts(*record.mutable_caller_ips()),
          .hosts = take_texts(*record.mutable_hosts()),
          .paths = take_texts(*record.mutable_paths()),
          .schedules = take_texts(*record.mutable_schedules()),
          .from = moment_from_ms(record.from()),
          .to = moment_from_ms(record.to())};
}

void set_work(records::Task& record, const core::MoveMessages& move) {
  const auto& [source, destination] = move;
  record.mutable_move()->set_destination(destination);
}
void set_work(records::Task& record, const core::CancelMessages& cancel) {
  const auto& [filter, count_max] = cancel;
  set_filter(*record.mutable_cancel()->mutable_filter(), filter);
  record.mutable_cancel()->set_count_max(count_max);
}

void set_work(records::Task& record, const core::webhook::ReplayEvents& replay) {
  const auto& [application, purpose, endpoints, since, until, filter, missing_only, newest_first,
               retry, redirect_to, phase, after, after_endpoint, succeeded, failed, canceled,
               skipped, bytes] = replay;
  const auto& [event_types, channels, tags, statuses, status_classes, event_refs] = filter;
  auto& work = *record.mutable_webhook_replay();
  work.set_application(application);
  work.set_purpose(static_cast<std::uint32_t>(purpose));
  work.mutable_endpoints()->Assign(endpoints.begin(), endpoints.end());
  work.set_since(to_ms(since));
  work.set_until(to_ms(until));
  set_texts(*work.mutable_event_types(), event_types);
  set_texts(*work.mutable_channels(), channels);
  set_texts(*work.mutable_tags(), tags);
  work.set_statuses(statuses);
  work.mutable_status_classes()->Assign(status_classes.begin(), status_classes.end());
  set_texts(*work.mutable_event_refs(), event_refs);
  work.set_missing_only(missing_only);
  work.set_newest_first(newest_first);
  work.set_retry(retry);
  work.set_redirect_to(redirect_to);
  work.set_phase(static_cast<std::uint32_t>(phase));
  work.set_after(after);
  work.set_after_endpoint(after_endpoint);
  work.set_succeeded(succeeded);
  work.set_failed(failed);
  work.set_canceled(canceled);
  work.set_skipped(skipped);
  work.set_bytes(bytes);
}
void set_work(records::Task& record, const core::webhook::ExpungeContents& expunge) {
  const auto& [application, up_to, after] = expunge;
  record.mutable_webhook_expunge()->set_application(application);
  record.mutable_webhook_expunge()->set_up_to(up_to);
  record.mutable_webhook_expunge()->set_after(after);
}

core::webhook::ReplayEvents take_replay(records::Task::Replay& record) {
  using core::webhook::ReplayEvents;
  return {
      .application = record.application(),
      .purpose = static_cast<ReplayEvents::Purpose>(record.purpose()),
      .endpoints = {record.endpoints().begin(), record.endpoints().end()},
      .since = moment_from_ms(record.since()),
      .until = moment_from_ms(record.until()),
      .filter = {.event_types = take_texts(*record.mutable_event_types()),
                 .channels = take_texts(*record.mutable_channels()),
                 .tags = take_texts(*record.mutable_tags()),
                 .statuses = record.statuses(),
                 .status_classes = {record.status_classes().begin(), record.status_classes().end()},
                 .event_refs = take_texts(*record.mutable_event_refs())},
      .missing_only = record.missing_only(),
      .newest_first = record.newest_first(),
      .retry = record.retry(),
      .redirect_to = record.redirect_to(),
      .phase = static_cast<ReplayEvents::Phase>(record.phase()),
      .after = record.after(),
      .after_endpoint = record.after_endpoint(),
      .succeeded = record.succeeded(),
      .failed = record.failed(),
      .canceled = record.canceled(),
      .skipped = record.skipped(),
      .bytes = record.bytes()};
}

}  // namespace

template <>
std::string Codec<core::Task>::encode(const core::Task& task) {
  const auto& [tenant, number, work, rate, status, total, processed, started_at, ended_at, up_to,
               reason] = task;
  records::Task record;
  std::visit([&record](const auto& one) { set_work(record, one); }, work);
  record.set_rate(rate);
  record.set_status(static_cast<std::uint32_t>(status));
  record.set_total(total);
  record.set_processed(processed);
  record.set_started_at(to_ms(started_at));
  record.set_ended_at(to_ms(ended_at));
  record.set_up_to(up_to.value());
  record.set_reason(reason);
  return serialize(record);
}

template <>
Result<core::Task> Codec<core::Task>::decode(core::KeyOf<core::Task> key, std::string_view value) {
  using Status = core::Task::Status;
  records::Task record;
  auto& [tenant, kind, number, subject] = key;
  if (!parse(record, value) || record.status() < static_cast<std::uint32_t>(Status::running) ||
      record.status() > static_cast<std::uint32_t>(Status::paused)) {
    return broken_record("task");
  }
  core::Task task{.tenant = tenant,
                  .number = number,
                  .rate = record.rate(),
                  .status = static_cast<Status>(record.status()),
                  .total = record.total(),
                  .processed = record.processed(),
                  .started_at = moment_from_ms(record.started_at()),
                  .ended_at = moment_from_ms(record.ended_at()),
                  .up_to = core::Seq{record.up_to()},
                  .reason = std::move(*record.mutable_reason())};
  switch (record.work_case()) {
    case records::Task::kMove:
      task.work = core::MoveMessages{std::move(subject),
                                     std::move(*record.mutable_move()->mutable_destination())};
      break;
    case records::Task::kCancel:
      task.work = core::CancelMessages{take_filter(*record.mutable_cancel()->mutable_filter()),
                                       record.cancel().count_max()};
      break;
    case records::Task::kWebhookReplay: {
      using core::webhook::ReplayEvents;
      if (record.webhook_replay().purpose() >
              static_cast<std::uint32_t>(ReplayEvents::Purpose::bulk) ||
          record.webhook_replay().phase() >
              static_cast<std::uint32_t>(ReplayEvents::Phase::settling)) {
        return broken_record("replay of a task");
      }
      task.work = take_replay(*record.mutable_webhook_replay());
      break;
    }
    case records::Task::kWebhookExpunge:
      task.work =
          core::webhook::ExpungeContents{.application = record.webhook_expunge().application(),
                                         .up_to = record.webhook_expunge().up_to(),
                                         .after = record.webhook_expunge().after()};
      break;
    case records::Task::WORK_NOT_SET: return broken_record("work of a task");
  }
  if (static_cast<std::uint32_t>(task.kind()) != kind) {
    return broken_record("kind of a task");
  }
  return task;
}

template <>
std::string Codec<core::DelayedSecond>::encode(const core::DelayedSecond& delayed) {
  const auto& [tenant, second, queue, slots] = delayed;
  records::DelayedSecond record;
  for (const auto& [ms, count] : slots) {
    record.add_ms(ms);
    record.add_count(count);
  }
  return serialize(record);
}

template <>
Result<core::DelayedSecond> Codec<core::DelayedSecond>::decode(core::KeyOf<core::DelayedSecond> key,
                                                               std::string_view value) {
  constexpr std::uint32_t per_second = 1000;
  records::DelayedSecond record;
  auto& [tenant, second, queue] = key;
  if (!parse(record, value) || record.ms_size() != record.count_size() ||
      to_ms(second) % per_second != 0 || second > never) {
    return broken_record("counts of delayed messages");
  }
  core::DelayedSecond delayed{.tenant = tenant, .second = second, .queue = std::move(queue)};
  for (int i = 0; i < record.ms_size(); ++i) {
    if (record.ms(i) >= per_second || record.count(i) == 0) {
      return broken_record("counts of delayed messages");
    }
    delayed.slots.push_back({record.ms(i), record.count(i)});
  }
  return delayed;
}

}  // namespace hk::store
