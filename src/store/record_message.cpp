#include "store/codec.h"
#include "store/record_parts.h"
#include "store/wire.h"

namespace hk::store {
namespace {

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

core::WebhookPart take_webhook(const records::WebhookPart& record) {
  return {.application = record.application(),
          .endpoint = record.endpoint(),
          .event = record.event(),
          .generation = record.generation(),
          .manual = record.manual(),
          .settles = {core::Seq{record.settles_seq()}, record.settles_nonce()},
          .replay = record.replay(),
          .bytes = record.bytes()};
}

/// Of the fields 6 to 8 of a Callback, 13 to 15 of a Message.
void write_delay(Wire& wire, std::uint32_t first_field, const core::RetryDelay& delay) {
  struct Writer {
    Wire& wire;
    std::uint32_t field;
    void operator()(const core::ExponentialDelay& exponential) const {
      const auto& [first, factor, cap, jitter_percent] = exponential;
      wire.record(field, [&] {
        wire.integer(1, first.count());
        wire.real(2, factor);
        wire.integer(3, cap.count());
        wire.number(4, jitter_percent);
      });
    }
    void operator()(const core::TableDelay& table) const {
      const auto& [delays] = table;
      wire.record(field + 1, [&] {
        if (!delays.empty()) {
          wire.record(1, [&] {
            for (const Millis one : delays) {
              wire.packed(one.count());
            }
          });
        }
      });
    }
    void operator()(const core::ExpressionDelay& expression) const {
      const auto& [text] = expression;
      wire.record(field + 2, [&] { wire.text(1, text); });
    }
  };
  std::visit(Writer{wire, first_field}, delay);
}

void write_callback(Wire& wire, std::uint32_t field, const std::optional<core::Callback>& given) {
  if (!given) {
    return;
  }
  const auto& [url, host, method, headers, retry, timeout, delay] = *given;
  wire.record(field, [&] {
    wire.text(1, url);
    wire.text(2, host);
    wire.text(3, method);
    wire.headers(4, headers);
    wire.number(5, retry.retries_max);
    write_delay(wire, 6, retry.delay);
    wire.integer(9, timeout.count());
    wire.integer(10, delay.count());
  });
}

void write_pull(Wire& wire, std::uint32_t field, const std::optional<core::PullPart>& given) {
  if (!given) {
    return;
  }
  const auto& [fifo, attributes, system, first_id, moved_from, receives_before, first_received_at,
               sent_at] = *given;
  wire.record(field, [&] {
    wire.number(1, fifo ? 1 : 0);
    for (const auto& [name, type, value] : attributes) {
      wire.record(2, [&] {
        wire.text(1, name);
        wire.text(2, type);
        wire.text(3, value);
      });
    }
    wire.headers(3, system);
    wire.number(4, first_id.seq.value());
    wire.fixed(5, first_id.nonce);
    wire.text(6, moved_from);
    wire.number(7, receives_before);
    wire.moment(8, first_received_at);
    wire.moment(9, sent_at);
  });
}

void write_webhook(Wire& wire, std::uint32_t field, const std::optional<core::WebhookPart>& given) {
  if (!given) {
    return;
  }
  const auto& [application, endpoint, event, generation, manual, settles, replay, bytes] = *given;
  wire.record(field, [&] {
    wire.number(1, application);
    wire.number(2, endpoint);
    wire.number(3, event);
    wire.number(4, generation);
    wire.number(5, manual ? 1 : 0);
    wire.number(6, settles.seq.value());
    wire.fixed(7, settles.nonce);
    wire.number(8, replay);
    wire.number(9, bytes);
  });
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

template <>
std::string Codec<core::Message>::encode(const core::Message& message) {
  const auto& [id, created_at, tenant, queue, group, flow_key, method, url, host, headers, body,
               retry, timeout, not_before, labels, caller_ip, dedup_id, trace, replay_of, redact,
               topic, endpoint, schedule, callback, failure_callback, callback_of, pull, webhook,
               edited, notification] = message;
  const auto& [retries_max, delay] = retry;
  std::string out;
  out.reserve(body.size() + 2 * url.size() + 512);
  Wire wire(out);
  wire.fixed(1, id.nonce);
  wire.moment(2, created_at);
  wire.number(3, tenant.value());
  wire.text(4, queue);
  wire.text(5, group);
  wire.text(6, flow_key);
  wire.text(7, method);
  wire.text(8, url);
  wire.text(9, host);
  wire.headers(10, headers);
  wire.text(11, body);
  wire.number(12, retries_max);
  write_delay(wire, 13, delay);
  wire.integer(16, timeout.count());
  wire.moment(17, not_before);
  wire.items(18, labels);
  wire.text(19, caller_ip);
  wire.text(20, dedup_id);
  wire.trace(21, trace);
  wire.items(22, redact);
  wire.number(23, replay_of.seq.value());
  wire.fixed(24, replay_of.nonce);
  wire.text(25, topic);
  wire.text(26, endpoint);
  wire.text(27, schedule);
  write_callback(wire, 28, callback);
  write_callback(wire, 29, failure_callback);
  wire.number(30, callback_of.seq.value());
  wire.fixed(31, callback_of.nonce);
  write_pull(wire, 32, pull);
  wire.number(33, edited ? 1 : 0);
  wire.number(34, notification ? 1 : 0);
  write_webhook(wire, 35, webhook);
  return out;
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
  if (record.has_webhook()) {
    message.webhook = take_webhook(record.webhook());
  }
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
