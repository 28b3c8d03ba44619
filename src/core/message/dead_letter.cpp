#include <algorithm>

#include "base/ascii.h"
#include "base/assert.h"
#include "base/sometimes.h"
#include "core/message/callback.h"
#include "core/message/messages.h"
#include "core/tenant/tenants.h"
#include "core/webhook/webhooks.h"

HK_SOMETIMES_DECLARE(dead_letter_retried)
HK_SOMETIMES_DECLARE(dead_letter_changed)
HK_SOMETIMES_DECLARE(dead_letter_edited)
HK_SOMETIMES_DECLARE(dead_letter_deleted)

namespace hk::core {

namespace {

/// A header takes the place of all that have its name; the others stay.
void change_headers(std::vector<Header>& headers, const std::vector<Header>& changes) {
  std::erase_if(headers, [&](const Header& old) {
    return std::ranges::any_of(
        changes, [&](const Header& one) { return equals_ignoring_case(one.name, old.name); });
  });
  headers.insert(headers.end(), changes.begin(), changes.end());
}

/// All but the flow settings and the delay, which are decided where every message is accepted.
void change(Message& message, const RetryDeadLetter::Changes& changes) {
  if (changes.to) {
    message.url = changes.to->url;
    message.host = changes.to->host;
    message.topic.clear();  // that URL is none of the group's endpoints
    message.endpoint.clear();
  }
  if (changes.body) message.body = *changes.body;
  message.edited = changes.to || changes.body || changes.method || changes.headers;
  if (changes.method) message.method = *changes.method;
  if (changes.headers) change_headers(message.headers, *changes.headers);
  if (changes.retries_max) message.retry.retries_max = *changes.retries_max;
  if (changes.retry_delay) message.retry.delay = *changes.retry_delay;
  if (changes.timeout) message.timeout = *changes.timeout;
  if (changes.labels) message.labels = *changes.labels;
  if (changes.flow) message.flow_key = changes.flow->key;
  message.not_before = changes.not_before;
  const bool tells_of_another = message.callback_of.seq.value() != 0;
  if (changes.callback && !tells_of_another) message.callback = changes.callback;
  if (changes.failure_callback && !tells_of_another) {
    message.failure_callback = changes.failure_callback;
  }
}

}  // namespace

/// The dead letter leaves the queue and its content becomes a new message, in one batch: it is
/// never in both places and never in neither. The old record stays readable for the retention of
/// finished ones.
Reply Messages::decide(const RetryDeadLetter& command) {
  if (command.key.tenant != command.tenant || !batch_.get<DeadLetterKey>(key_of(command.key))) {
    return fail(ErrorKind::not_found, "no dead letter " + to_text(command.key));
  }
  const auto message = batch_.get<Message>(command.key.seq);
  HK_ASSERT(message != nullptr);

  if (message->webhook) {
    if (command.changes != nullptr) {
      return fail(ErrorKind::invalid_argument,
                  "dead letter " + to_text(command.key) +
                      " is the delivery of a webhook: where it goes is its endpoint's to say");
    }
    const auto delivered = webhooks_.redeliver(*message);
    if (!delivered) {
      return std::unexpected(delivered.error());
    }
    const Reply removed = decide(DeleteDeadLetterCommand{command.tenant, command.key});
    HK_ASSERT(removed.has_value());
    return Published{*delivered};
  }
  auto again = std::make_unique<Message>(*message);
  again->not_before = Moment{};
  again->dedup_id.clear();  // a retry by hand is never a duplicate
  again->replay_of = message->id;
  again->edited = false;
  Publish publishing;
  if (command.changes != nullptr) {
    HK_SOMETIMES(dead_letter_changed);
    change(*again, *command.changes);
    if (again->edited) {
      HK_SOMETIMES(dead_letter_edited);
    }
    publishing.flow = command.changes->flow;
    publishing.delay = command.changes->delay;
  }
  publishing.message = std::move(again);
  auto published = publish(std::move(publishing));
  if (!published) {  // nothing was accepted: the dead letter stays
    return std::unexpected(published.error());
  }
  HK_SOMETIMES(dead_letter_retried);
  const Reply removed = decide(DeleteDeadLetterCommand{command.tenant, command.key});
  HK_ASSERT(removed.has_value());
  return *published;
}

Reply Messages::decide(const DeleteDeadLetterCommand& command) {
  if (command.key.tenant != command.tenant || !batch_.get<DeadLetterKey>(key_of(command.key))) {
    return fail(ErrorKind::not_found, "no dead letter " + to_text(command.key));
  }
  auto state = batch_.get<MessageState>(command.key.seq);
  HK_ASSERT(state.has_value() && state->in_dlq && state->status == Status::failed);

  HK_SOMETIMES(dead_letter_deleted);
  state->in_dlq = false;
  const auto message = batch_.get<Message>(command.key.seq);
  const bool is_webhook = message != nullptr && message->webhook;
  state->expires_at =
      batch_.now() + (is_webhook ? limits_.retention_webhooks : limits_.retention_finished);
  batch_.erase<DeadLetterKey>(key_of(command.key));
  batch_.expire_message(state->expires_at, command.key.seq);
  batch_.put(Put<MessageState>{command.key.seq, std::move(*state)});
  Counters& counts = tenants_.counters(command.tenant);
  HK_ASSERT(counts.dead_letters > 0);
  --counts.dead_letters;
  return Done{};
}

}  // namespace hk::core
