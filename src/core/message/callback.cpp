#include "core/message/callback.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/encoding.h"
#include "base/json.h"
#include "base/sometimes.h"
#include "core/header_map.h"
#include "core/lane/lanes.h"
#include "core/message/messages.h"
#include "core/queue/queues.h"
#include "core/retry/expression.h"

HK_SOMETIMES_DECLARE(called_back)
HK_SOMETIMES_DECLARE(called_back_on_failure)
HK_SOMETIMES_DECLARE(slot_held_for_callbacks)
HK_SOMETIMES_DECLARE(slot_freed_by_last_callback)
HK_SOMETIMES_DECLARE(callback_ended_before_its_source_was_read)
HK_SOMETIMES_DECLARE(source_outlived_its_retention)

namespace hk::core {

namespace {

/// As base64, cut so that the text stays within `bytes_max`.
void write_bytes(JsonWriter& json, const std::string& out, std::string_view name,
                 std::string_view bytes, std::size_t bytes_max) {
  constexpr std::size_t punctuation = 32;  // of it and of what follows
  const std::size_t used = out.size() + name.size() + punctuation;
  const std::size_t room = bytes_max > used ? (bytes_max - used) / 4 * 3 : 0;
  json.field(name, base64(bytes.substr(0, room)));
}

void write_if_any(JsonWriter& json, std::string_view name, const std::string& text) {
  if (!text.empty()) {
    json.field(name, text);
  }
}

/// What could not be pushed, to be pulled.
Message message_for_queue(const Message& source, const Queue& queue) {
  Message message;
  message.tenant = source.tenant;
  message.queue = queue.name;
  message.method.clear();
  message.body = source.body;
  message.caller_ip = source.caller_ip;
  message.trace = source.trace;
  message.redact = source.redact;
  message.pull.emplace().fifo = queue.pull->fifo;
  return message;
}

bool is_callback(const Message& message) { return message.callback_of.seq != Seq{}; }

}  // namespace

std::string to_text(const DeadLetterKey& key) {
  return std::to_string(to_ms(key.failed_at)) + "-" + std::to_string(key.seq.value());
}

Live::Callbacks callbacks_of(const Message& message) {
  const bool some = message.callback || message.failure_callback || is_callback(message);
  return some ? Live::Callbacks::some : Live::Callbacks::none;
}

Result<void> check_retries(const Message& message) {
  for (const RetryPolicy* policy :
       {&message.retry, message.callback ? &message.callback->retry : nullptr,
        message.failure_callback ? &message.failure_callback->retry : nullptr}) {
    const auto* expression =
        policy != nullptr ? std::get_if<ExpressionDelay>(&policy->delay) : nullptr;
    if (expression == nullptr) {
      continue;
    }
    if (auto parsed = parse_expression(expression->text); !parsed) {
      return std::unexpected(parsed.error());
    }
  }
  return {};
}

std::string callback_body(const Message& source, const MessageState& state, std::size_t bytes_max) {
  HK_ASSERT(state.last.has_value());
  const Attempt& attempt = *state.last;
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.field("status", attempt.response_status);
  write_header_map(json, "header", attempt.response_headers);
  json.field("retried", state.attempts - 1);
  json.field("maxRetries", source.retry.retries_max);
  if (state.in_dlq) {
    json.field("dlqId", to_text(DeadLetterKey{source.tenant, state.finished_at, source.id.seq}));
  }
  json.field("sourceMessageId", to_text(source.id));
  write_if_any(json, "topicName", source.topic);
  write_if_any(json, "endpointName", source.endpoint);
  json.field("url", source.url);
  json.field("method", source.method);
  write_header_map(json, "sourceHeader", source.headers);
  json.field("notBefore", to_ms(source.not_before));
  json.field("createdAt", to_ms(source.created_at));
  write_if_any(json, "scheduleId", source.schedule);
  json.field("callerIP", source.caller_ip);
  write_bytes(json, out, "body", attempt.response_body, bytes_max);
  write_bytes(json, out, "sourceBody", source.body, bytes_max);
  json.end_object();
  return out;
}

Message callback_message(const Message& source, const Callback& to, const MessageState& state,
                         Moment now, std::size_t bytes_max) {
  Message message;
  message.tenant = source.tenant;
  message.method = to.method;
  message.url = to.url;
  message.host = to.host;
  const bool typed = std::ranges::any_of(to.headers, [](const Header& header) {
    return canonical_header_name(header.name) == "Content-Type";
  });
  if (!typed) {
    message.headers.push_back({"Content-Type", "application/json"});
  }
  message.headers.insert(message.headers.end(), to.headers.begin(), to.headers.end());
  message.body = callback_body(source, state, bytes_max);
  message.retry = to.retry;
  message.timeout = to.timeout;
  message.not_before = now + to.delay;
  message.caller_ip = source.caller_ip;
  message.trace = source.trace;
  if (state.last->span_id != std::array<std::uint8_t, 8>{}) {
    message.trace.parent_span = state.last->span_id;
  }
  // What the source hides in views is in the clear in this body: then nobody is shown it.
  message.redact = source.redact;
  if (!message.redact.empty() &&
      std::ranges::find(message.redact, "body") == message.redact.end()) {
    message.redact.emplace_back("body");
  }
  message.callback_of = source.id;
  return message;
}

// ---- in the batch that records the attempt ----

void Messages::call_back(const Message& source, const Callback& to, MessageState& state) {
  if (to.url.starts_with(queue_scheme)) {
    // If that queue is gone, the message is a dead letter only.
    const std::string name = to.url.substr(queue_scheme.size());
    if (const Queue* const queue = queues_.find_pulled(source.tenant, name)) {
      accept(std::make_shared<Message>(message_for_queue(source, *queue)));
    }
    return;
  }
  if (!source.queue.empty()) {
    ++state.callbacks_open;
  }
  accept(std::make_shared<Message>(
      callback_message(source, to, state, batch_.now(), limits_.callback_bytes_max)));
}

/// After every attempt, whatever its outcome. A callback has none of its own.
void Messages::tell_of_attempt(const Live& live, MessageState& state) {
  if (live.callbacks == Live::Callbacks::none) {
    return;
  }
  const auto message = batch_.get<Message>(live.seq);
  HK_ASSERT(message != nullptr);
  if (message->callback && !is_callback(*message)) {
    HK_SOMETIMES(called_back);
    call_back(*message, *message->callback, state);
  }
}

/// Once, when the message has become a dead letter.
void Messages::tell_of_failure(const Live& live, MessageState& state) {
  HK_ASSERT(state.in_dlq);
  if (live.callbacks == Live::Callbacks::none) {
    return;
  }
  const auto message = batch_.get<Message>(live.seq);
  HK_ASSERT(message != nullptr);
  if (message->failure_callback && !is_callback(*message)) {
    HK_SOMETIMES(called_back_on_failure);
    call_back(*message, *message->failure_callback, state);
  }
}

/// A callback is told more of the answer than the attempt's record keeps.
void Messages::cut_answer(const Live& live, MessageState& state) const {
  if (live.callbacks != Live::Callbacks::none && state.last && !state.last->told &&
      state.last->response_body.size() > limits_.response_bytes_kept) {
    state.last->response_body.resize(limits_.response_bytes_kept);
  }
}

// ---- the slot of a queue ----

/// The entry stays, so that the slot is held after a restart, too.
void Messages::hold_for_callbacks(Live& live) {
  HK_SOMETIMES(slot_held_for_callbacks);
  scheduler_.hold_for_callbacks(live);
  lanes_.index_again(live);
}

/// For every message that becomes final: if it is a callback, its source may have waited for it. A
/// dead letter that is retried was final before; its source does not wait a second time.
void Messages::callback_ended(Seq callback) {
  const auto message = batch_.get<Message>(callback);
  HK_ASSERT(message != nullptr);
  if (!is_callback(*message) || message->replay_of.seq != Seq{}) {
    return;
  }
  const Seq source = message->callback_of.seq;
  auto state = batch_.get<MessageState>(source);
  if (!state || state->callbacks_open == 0) {
    return;  // not in a queue, or cancelled
  }
  --state->callbacks_open;
  const bool last = state->callbacks_open == 0 && is_final(state->status);
  if (last && state->expires_at <= batch_.now()) {
    HK_SOMETIMES(source_outlived_its_retention);
    batch_.expire_message(batch_.now(), source);
  }
  batch_.put(Put<MessageState>{source, std::move(*state)});
  if (!last) {
    return;
  }
  if (Live* held = lanes_.find(source)) {
    HK_SOMETIMES(slot_freed_by_last_callback);
    HK_ASSERT(held->finished);
    lanes_.unindex(*held);
    scheduler_.finish(*held, batch_.now());
    lanes_.forget(*held);
    return;
  }
  // After a restart: its lane has not been read as far as there.
  HK_SOMETIMES(callback_ended_before_its_source_was_read);
  const auto told_of = batch_.get<Message>(source);
  HK_ASSERT(told_of != nullptr);
  batch_.put(Erase<LaneRow>{lane_of(*told_of), LanePlace{Moment{}, source}});
}

bool Messages::awaits_callbacks(Seq source) {
  const auto state = batch_.get<MessageState>(source);
  HK_ASSERT(state.has_value());
  return state->callbacks_open > 0;
}

}  // namespace hk::core
