/// Records with every field set to something of its own, so that a forgotten one is seen.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/schedule/order.h"
#include "store/memory/sim_store.h"
#include "store/typed_reader.h"

namespace hk::store::samples {

inline core::Message message() {
  core::Message m;
  m.id = {core::Seq{77}, 0x1122334455667788ULL};
  m.created_at = moment_from_ms(1'700'000'000'001);
  m.tenant = core::TenantId{5};
  m.queue = "orders";
  m.group = "customer-9";
  m.flow_key = "flow";
  m.method = "PUT";
  m.url = "https://example.com/hook?x=1";
  m.host = "https://example.com:443";
  m.headers = {{"Content-Type", "application/json"}, {"X-Bytes", std::string("\xff\x00\x01", 3)}};
  m.body = std::string("{\"a\":\0 1}", 9);
  m.retry.retries_max = 7;
  m.retry.delay = core::ExponentialDelay{
      .first = Millis{100}, .factor = 1.5, .cap = Millis{9000}, .jitter_percent = 20};
  m.timeout = Millis{30'000};
  m.not_before = moment_from_ms(1'700'000'060'000);
  m.labels = {"red", "blue"};
  m.caller_ip = "192.0.2.7";
  m.dedup_id = "d-1";
  m.trace.trace_id = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  m.trace.parent_span = {8, 7, 6, 5, 4, 3, 2, 1};
  m.trace.flags = 3;
  m.trace.state = "vendor=1";
  m.replay_of = {core::Seq{12}, 99};
  m.redact = {"body", "header:authorization"};
  return m;
}

inline core::Attempt attempt(std::uint32_t number = 2) {
  core::Attempt a;
  a.fence = {.epoch = 4, .attempt = number};
  a.started_at = moment_from_ms(1'700'000'061'000);
  a.ended_at = moment_from_ms(1'700'000'061'500);
  a.response_status = 503;
  a.error = "status 503";
  a.response_headers = {{"Retry-After", "3"}};
  a.response_body = std::string("no\0w", 4);
  a.span_id = {9, 9, 9, 9, 9, 9, 9, 1};
  return a;
}

inline core::Put<core::Attempt> put_attempt(core::Seq seq, const core::Attempt& made) {
  return {{{seq, made.fence.attempt}, made}};
}

inline core::MessageState state() {
  core::MessageState s;
  s.status = core::Status::failed;
  s.attempts = 3;
  s.due = moment_from_ms(1'700'000'070'000);
  s.cancel_requested = true;
  s.cancel_requested_at = moment_from_ms(1'700'000'069'000);
  s.finished_at = moment_from_ms(1'700'000'071'000);
  s.expires_at = moment_from_ms(1'700'900'000'000);
  s.in_dlq = true;
  s.last = attempt(3);
  return s;
}

inline core::LaneKey lane() {
  return {core::TenantId{5}, "orders", std::string("a\0b", 3), "", "https://example.com:443"};
}

inline core::LaneEntry lane_entry() {
  return {.place = {moment_from_ms(1'700'000'000'500), core::Seq{77}},
          .not_before = moment_from_ms(1'700'000'000'400),
          .attempts = 2,
          .flow_key = "flow",
          .host = "https://example.com:443",
          .started = true,
          .cancel_requested = true};
}

inline core::Queue queue() {
  return {core::TenantId{5}, "orders", 4, true, moment_from_ms(1000), moment_from_ms(2000)};
}

/// Its messages are being told of a changed retention.
inline core::Queue retimed_queue() {
  core::Queue changed = queue();
  changed.retime_up_to = core::Seq{77};
  return changed;
}

inline core::DelayedSecond delayed_second() {
  return {.tenant = core::TenantId{5},
          .second = moment_from_ms(1'700'000'001'000),
          .queue = "orders",
          .slots = {{0, 2}, {999, 300}}};
}

inline core::Task move_task() {
  return {.tenant = core::TenantId{5},
          .number = 3,
          .work = core::MoveMessages{"dead", "orders"},
          .rate = 500,
          .status = core::Task::Status::failed,
          .total = 9,
          .processed = 4,
          .started_at = moment_from_ms(1000),
          .ended_at = moment_from_ms(2000),
          .up_to = core::Seq{77},
          .reason = core::Task::destination_gone};
}

inline core::IdempotencyKey idempotency_key() {
  return {.tenant = core::TenantId{5},
          .space = "space",
          .key = "key",
          .state = core::IdempotencyKey::State::completed,
          .hash = "hash",
          .token = 17,
          .attempt = 2,
          .owner = "me",
          .lease_until = moment_from_ms(1000),
          .kept_for = Millis{2000},
          .created_at = moment_from_ms(500),
          .ended_at = moment_from_ms(900),
          .expires_at = moment_from_ms(2900),
          .timer_at = moment_from_ms(2800),
          .answer = "{}"};
}

/// The answer to a write of the own API.
inline core::IdempotencyKey answered_key() {
  return {.tenant = core::TenantId{5},
          .space = "api",
          .key = "key",
          .state = core::IdempotencyKey::State::completed,
          .hash = "hash",
          .attempt = 1,
          .kept_for = Millis{2000},
          .created_at = moment_from_ms(500),
          .ended_at = moment_from_ms(500),
          .expires_at = moment_from_ms(2500),
          .answer = "{}",
          .head = {.status = 201,
                   .content_type = "application/json",
                   .location = "/there",
                   .etag = "\"1\"",
                   .by_reference = true}};
}

inline core::Task cancel_task() {
  return {.tenant = core::TenantId{5},
          .number = 1'700'000'000'000,
          .work = core::CancelMessages{.filter = {.urls = {"http://a", "http://b"},
                                                  .queues = {"orders"},
                                                  .topics = {"group"},
                                                  .labels = {"red"},
                                                  .flow_keys = {"flow"},
                                                  .caller_ips = {"192.0.2.7"},
                                                  .hosts = {"a"},
                                                  .paths = {"/"},
                                                  .schedules = {"daily"},
                                                  .from = moment_from_ms(5),
                                                  .to = moment_from_ms(6)},
                                       .count_max = 10},
          .total = 4,
          .processed = 4,
          .started_at = moment_from_ms(1'700'000'000'000),
          .up_to = core::Seq{77}};
}

inline core::FlowKey flow_key() {
  core::FlowKey f;
  f.tenant = core::TenantId{5};
  f.key = "flow";
  f.parallelism = 3;
  f.rate = 10;
  f.period = Millis{60'000};
  f.paused = true;
  f.pinned_parallelism = true;
  f.pinned_rate = true;
  f.window_start = moment_from_ms(123'456);
  f.window_count = 9;
  return f;
}

inline core::Topic url_group() {
  return {.tenant = core::TenantId{5},
          .name = "group",
          .subscriptions = {{"one", "https://b", "https://b:443"}, {"", "http://a", "http://a:80"}},
          .options = {{"Upstash-Retries", "3"}, {"Upstash-Forward-A", ""}},
          .created_at = moment_from_ms(1000),
          .updated_at = moment_from_ms(2000)};
}

inline core::Topic sns_topic() {
  return {.tenant = core::TenantId{5},
          .kind = core::TopicKind::sns,
          .name = "topic.fifo",
          .subscriptions = {{.id = "one",
                             .url = "https://b",
                             .host = "https://b:443",
                             .protocol = "https",
                             .raw = false,
                             .confirmed = false,
                             .retries = core::RetryPolicy{2, core::TableDelay{{Millis{7}}}},
                             .token = "secret",
                             .token_made = moment_from_ms(1500)},
                            {.id = "two",
                             .queue = "q",
                             .protocol = "sqs",
                             .filter = R"({"a":["x"]})",
                             .filter_scope = core::FilterScope::message_body,
                             .dead_letters_to = "dead",
                             .extra = {{"Endpoint", "arn"}}}},
          .options = {{"DisplayName", "d"}},
          .tags = {{"k", "v"}},
          .created_at = moment_from_ms(1000),
          .updated_at = moment_from_ms(2000),
          .incarnation = "i",
          .version = 3,
          .fifo = true,
          .dedup_by_group = true,
          .retries = core::RetryPolicy{1, core::ExpressionDelay{"1"}}};
}

inline core::Tenant tenant() {
  return {core::TenantId{5}, "default",  {"digest-1", "digest-2"},
          "sealed-a",        "sealed-b", moment_from_ms(1234)};
}

inline core::Tenant tenant_of_development() {
  core::Tenant made = tenant();
  made.access_keys = {{"HK1", "sealed-c", moment_from_ms(5678)}};
  made.development = true;
  return made;
}

inline core::Counters counters() { return {100, 1, 40, 30, 20, 10, 5, 200, 7}; }

inline core::Meta meta() {
  return {.format = 1,
          .epoch = 8,
          .indexed_up_to = core::Seq{70},
          .time = moment_from_ms(1'700'000'000'000)};
}
/// Of a partition that is not the only one.
inline core::Meta meta_of_origin() {
  core::Meta meta = samples::meta();
  meta.origin = core::Origin{5};
  meta.indexed_up_to = core::make_seq(meta.origin, 70);
  return meta;
}

inline core::Events events() {
  return {core::TenantId{5},
          moment_from_ms(1'700'000'000'000),
          42,
          {{core::Seq{77}, core::EventKind::created, 0},
           {core::Seq{3}, core::EventKind::retry, 2},
           {core::Seq{~0ULL}, core::EventKind::canceled, 4'000'000'000U}}};
}

inline core::Expiry expiry() {
  return {moment_from_ms(1'700'000'600'000),
          43,
          {core::Seq{77}, core::Seq{78}},
          {{core::TenantId{5}, "d-1"}, {core::TenantId{6}, std::string("\0", 1)}}};
}

/// The mutations of a batch that decides this on an empty store.
template <class Decide>
std::vector<core::Mutation> decided(Decide decide) {
  SimStore empty;
  TypedReader reader(empty.snapshot());
  core::Batch batch;
  batch.begin({}, 1, reader);
  decide(batch);
  return batch.take().mutations;
}

/// With its place in the order of runs.
inline std::vector<core::Mutation> put_schedule_state(core::TenantId tenant, const std::string& id,
                                                      const core::ScheduleState& state,
                                                      Moment previous_next_at = never) {
  return decided([&](core::Batch& batch) {
    core::put_schedule_state(batch, tenant, id, state, previous_next_at);
  });
}

}  // namespace hk::store::samples
