#include "store/codec.h"
#include "store/record_parts.h"

namespace hk::store {
namespace {

/// Record is Message, Callback or Retries: all have the same choice of delays.
template <class Record>
void set_delay(Record& record, const core::RetryDelay& delay) {
  struct Setter {
    Record& record;
    void operator()(const core::ExponentialDelay& exponential) const {
      const auto& [first, factor, cap, jitter_percent] = exponential;
      records::ExponentialDelay& out = *record.mutable_exponential();
      out.set_first(first.count());
      out.set_factor(factor);
      out.set_cap(cap.count());
      out.set_jitter_percent(jitter_percent);
    }
    void operator()(const core::TableDelay& table) const {
      const auto& [delays] = table;
      records::TableDelay& out = *record.mutable_table();
      for (const Millis one : delays) {
        out.add_delays(one.count());
      }
    }
    void operator()(const core::ExpressionDelay& expression) const {
      const auto& [text] = expression;
      record.mutable_expression()->set_text(text);
    }
  };
  std::visit(Setter{record}, delay);
}

template <class Record>
bool take_delay(core::RetryDelay& delay, Record& record) {
  switch (record.delay_case()) {
    case Record::kExponential: {
      const records::ExponentialDelay& in = record.exponential();
      delay = core::ExponentialDelay{.first = Millis{in.first()},
                                     .factor = in.factor(),
                                     .cap = Millis{in.cap()},
                                     .jitter_percent = in.jitter_percent()};
      return true;
    }
    case Record::kTable: {
      core::TableDelay table;
      for (const std::int64_t ms : record.table().delays()) {
        table.delays.emplace_back(ms);
      }
      delay = std::move(table);
      return true;
    }
    case Record::kExpression:
      delay = core::ExpressionDelay{std::move(*record.mutable_expression()->mutable_text())};
      return true;
    case Record::DELAY_NOT_SET: return false;
  }
  return false;
}

void set_trace(records::Message& record, const core::Trace& trace) {
  const auto& [trace_id, parent_span, flags, state] = trace;
  records::Trace& out = *record.mutable_trace();
  set_array(*out.mutable_trace_id(), trace_id);
  set_array(*out.mutable_parent_span(), parent_span);
  out.set_flags(flags);
  out.set_state(state);
}

bool take_trace(core::Trace& trace, records::Message& record) {
  records::Trace& in = *record.mutable_trace();
  if (!get_array(trace.trace_id, in.trace_id()) ||
      !get_array(trace.parent_span, in.parent_span()) || in.flags() > 0xff) {
    return false;
  }
  trace.flags = static_cast<std::uint8_t>(in.flags());
  trace.state = std::move(*in.mutable_state());
  return true;
}

void set_callback(records::Callback& record, const core::Callback& callback) {
  const auto& [url, host, method, headers, retry, timeout, delay] = callback;
  record.set_url(url);
  record.set_host(host);
  record.set_method(method);
  set_headers(*record.mutable_headers(), headers);
  record.set_retries_max(retry.retries_max);
  set_delay(record, retry.delay);
  record.set_timeout(timeout.count());
  record.set_wait(delay.count());
}

bool take_callback(core::Callback& callback, records::Callback& record) {
  callback.url = std::move(*record.mutable_url());
  callback.host = std::move(*record.mutable_host());
  callback.method = std::move(*record.mutable_method());
  callback.headers = take_headers(*record.mutable_headers());
  callback.retry.retries_max = record.retries_max();
  callback.timeout = Millis{record.timeout()};
  callback.delay = Millis{record.wait()};
  return take_delay(callback.retry.delay, record);
}

void set_pull(records::PullPart& record, const core::PullPart& pull) {
  const auto& [fifo, attributes, system, first_id, moved_from, receives_before, first_received_at,
               sent_at] = pull;
  record.set_fifo(fifo);
  for (const auto& [name, type, value] : attributes) {
    records::Attribute& out = *record.add_attributes();
    out.set_name(name);
    out.set_type(type);
    out.set_value(value);
  }
  set_headers(*record.mutable_system(), system);
  record.set_first_seq(first_id.seq.value());
  record.set_first_nonce(first_id.nonce);
  record.set_moved_from(moved_from);
  record.set_receives_before(receives_before);
  record.set_first_received_at(to_ms(first_received_at));
  record.set_sent_at(to_ms(sent_at));
}

core::PullPart take_pull(records::PullPart& record) {
  core::PullPart pull;
  pull.fifo = record.fifo();
  pull.attributes.reserve(static_cast<std::size_t>(record.attributes_size()));
  for (records::Attribute& one : *record.mutable_attributes()) {
    pull.attributes.push_back({std::move(*one.mutable_name()), std::move(*one.mutable_type()),
                               std::move(*one.mutable_value())});
  }
  pull.system = take_headers(*record.mutable_system());
  pull.first_id = {core::Seq{record.first_seq()}, record.first_nonce()};
  pull.moved_from = std::move(*record.mutable_moved_from());
  pull.receives_before = record.receives_before();
  pull.first_received_at = moment_from_ms(record.first_received_at());
  pull.sent_at = moment_from_ms(record.sent_at());
  return pull;
}

/// One record per thread keeps its buffers from message to message: nothing is allocated but the
/// result. A large one is not kept.
records::Message& scratch() {
  constexpr std::size_t kept_bytes_max = std::size_t{256} << 10U;
  thread_local records::Message record;
  thread_local unsigned uses = 0;
  if (++uses % 64 == 0 && record.SpaceUsedLong() > kept_bytes_max) {
    records::Message fresh;
    record.Swap(&fresh);
  }
  record.Clear();
  return record;
}

}  // namespace

void set_retries(records::Retries& record, const core::RetryPolicy& retries) {
  const auto& [retries_max, delay] = retries;
  record.set_retries_max(retries_max);
  set_delay(record, delay);
}

bool take_retries(core::RetryPolicy& retries, records::Retries& record) {
  retries.retries_max = record.retries_max();
  return take_delay(retries.delay, record);
}

void set_message(records::Message& record, const core::Message& message) {
  const auto& [id, created_at, tenant, queue, group, flow_key, method, url, host, headers, body,
               retry, timeout, not_before, labels, caller_ip, dedup_id, trace, replay_of, redact,
               topic, endpoint, schedule, callback, failure_callback, callback_of, pull, edited,
               notification] = message;
  const auto& [retries_max, delay] = retry;
  record.set_nonce(id.nonce);
  record.set_created_at(to_ms(created_at));
  record.set_tenant(tenant.value());
  record.set_queue(queue);
  record.set_group(group);
  record.set_flow_key(flow_key);
  record.set_method(method);
  record.set_url(url);
  record.set_host(host);
  set_headers(*record.mutable_headers(), headers);
  record.set_body(body);
  record.set_retries_max(retries_max);
  set_delay(record, delay);
  record.set_timeout(timeout.count());
  record.set_not_before(to_ms(not_before));
  for (const std::string& label : labels) {
    record.add_labels(label);
  }
  record.set_caller_ip(caller_ip);
  record.set_dedup_id(dedup_id);
  set_trace(record, trace);
  record.set_replay_of_seq(replay_of.seq.value());
  record.set_replay_of_nonce(replay_of.nonce);
  for (const std::string& part : redact) {
    record.add_redact(part);
  }
  record.set_topic(topic);
  record.set_endpoint(endpoint);
  record.set_schedule(schedule);
  if (callback) {
    set_callback(*record.mutable_callback(), *callback);
  }
  if (failure_callback) {
    set_callback(*record.mutable_failure_callback(), *failure_callback);
  }
  record.set_callback_of_seq(callback_of.seq.value());
  record.set_callback_of_nonce(callback_of.nonce);
  if (pull) {
    set_pull(*record.mutable_pull(), *pull);
  }
  record.set_edited(edited);
  record.set_notification(notification);
}

template <>
std::string Codec<core::Message>::encode(const core::Message& message) {
  records::Message& record = scratch();
  set_message(record, message);
  return serialize(record);
}

template <>
Result<core::Message> Codec<core::Message>::decode(core::KeyOf<core::Message> seq,
                                                   std::string_view value) {
  records::Message record;
  if (!parse(record, value)) {
    return broken_record("message");
  }
  return take_message(seq, record);
}

Result<core::Message> take_message(core::Seq seq, records::Message& record) {
  core::Message message;
  message.id = {seq, record.nonce()};
  message.created_at = moment_from_ms(record.created_at());
  message.tenant = core::TenantId{record.tenant()};
  message.queue = std::move(*record.mutable_queue());
  message.group = std::move(*record.mutable_group());
  message.flow_key = std::move(*record.mutable_flow_key());
  message.method = std::move(*record.mutable_method());
  message.url = std::move(*record.mutable_url());
  message.host = std::move(*record.mutable_host());
  message.headers = take_headers(*record.mutable_headers());
  message.body = std::move(*record.mutable_body());
  message.retry.retries_max = record.retries_max();
  message.timeout = Millis{record.timeout()};
  message.not_before = moment_from_ms(record.not_before());
  message.labels = take_texts(*record.mutable_labels());
  message.caller_ip = std::move(*record.mutable_caller_ip());
  message.dedup_id = std::move(*record.mutable_dedup_id());
  message.replay_of = {core::Seq{record.replay_of_seq()}, record.replay_of_nonce()};
  message.redact = take_texts(*record.mutable_redact());
  message.topic = std::move(*record.mutable_topic());
  message.endpoint = std::move(*record.mutable_endpoint());
  message.schedule = std::move(*record.mutable_schedule());
  message.callback_of = {core::Seq{record.callback_of_seq()}, record.callback_of_nonce()};
  message.edited = record.edited();
  if (record.has_pull()) {
    message.pull = take_pull(*record.mutable_pull());
  }
  message.notification = record.notification();
  if ((record.has_callback() &&
       !take_callback(message.callback.emplace(), *record.mutable_callback())) ||
      (record.has_failure_callback() &&
       !take_callback(message.failure_callback.emplace(), *record.mutable_failure_callback()))) {
    return broken_record("message with a callback without a retry delay");
  }
  if (!take_delay(message.retry.delay, record)) {
    return broken_record("message without a retry delay");
  }
  if (!take_trace(message.trace, record)) {
    return broken_record("message with a trace that is none");
  }
  return message;
}

}  // namespace hk::store
