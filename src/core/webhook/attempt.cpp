// An attempt begins, and ends. Where it goes and what it carries is looked up when it begins, so
// that a change of the endpoint holds from the next attempt on.
#include <algorithm>

#include "base/assert.h"
#include "base/sometimes.h"
#include "core/message/messages.h"
#include "core/task/tasks.h"
#include "core/webhook/gate_name.h"
#include "core/webhook/id.h"
#include "core/webhook/options.h"
#include "core/webhook/webhooks.h"

HK_SOMETIMES_DECLARE(delivery_ends_without_its_payload)
HK_SOMETIMES_DECLARE(delivery_ends_without_its_endpoint)
HK_SOMETIMES_DECLARE(delivery_exhausted)
HK_SOMETIMES_DECLARE(delivery_given_up)
HK_SOMETIMES_DECLARE(delivery_halts_its_order)
HK_SOMETIMES_DECLARE(delivery_waits_as_asked)
HK_SOMETIMES_DECLARE(delivery_waits_at_least_a_minute)
HK_SOMETIMES_DECLARE(delivery_by_hand_failed)
HK_SOMETIMES_DECLARE(delivery_by_hand_settles)

namespace hk::core::webhook {

namespace {

constexpr int too_many_requests = 429;
/// After this many failed attempts somebody is told.
constexpr std::uint32_t failing_after = 4;

}  // namespace

bool is_by_hand(const WebhookPart& part) { return part.manual && part.replay == 0; }
bool is_companion(const WebhookPart& part) { return part.settles.seq != Seq{}; }

std::expected<Webhooks::Sending, CancelReason> Webhooks::begin_attempt(const Live& live,
                                                                       const Message& delivery) {
  const WebhookPart& part = *delivery.webhook;
  const auto known = this->known(delivery.tenant, part.application);
  const auto endpoint = known == nullptr ? nullptr : known->endpoint(part.endpoint);
  if (endpoint == nullptr) {
    HK_SOMETIMES(delivery_ends_without_its_endpoint);
    return std::unexpected(known == nullptr ? CancelReason::application_deleted
                                            : CancelReason::endpoint_deleted);
  }
  auto event = batch_.get<Event>({delivery.tenant, part.application, part.event});
  if (!event || event->expunged) {
    HK_SOMETIMES(delivery_ends_without_its_payload);
    return std::unexpected(CancelReason::payload_expunged);
  }
  note_windows(*live.lane);
  const Delivery options = effective(*endpoint, settings(delivery.tenant));

  auto target = std::make_shared<WebhookTarget>();
  target->id = id_of(*event);
  std::ranges::copy_if(endpoint->secrets, std::back_inserter(target->secrets),
                       [&](const SigningSecret& one) { return one.expires_at > batch_.now(); });
  target->header_set = options.header_set;
  target->sign_standard = options.sign_standard;
  target->sign_stripe = options.sign_stripe;
  target->stripe_header = options.stripe_header;
  target->give_up_statuses = options.give_up_statuses;
  target->attempt = (is_by_hand(part) ? "m" : "") + std::to_string(live.attempts + 1);

  auto sent = std::make_shared<Message>(delivery);
  sent->url = endpoint->url;
  sent->host = endpoint->host;
  sent->timeout = options.timeout;
  sent->trace = event->trace;
  sent->headers.push_back(
      {"Content-Type", event->content_type.empty() ? "application/json" : event->content_type});
  std::ranges::copy(endpoint->headers, std::back_inserter(sent->headers));
  std::ranges::move(event->headers, std::back_inserter(sent->headers));
  sent->body = std::move(event->payload);
  return Sending{std::move(sent), std::move(target)};
}

void Webhooks::record_attempt(const Message& delivery, const Attempt& attempt, bool delivered) {
  const WebhookPart& part = *delivery.webhook;
  batch_.put(Put<AttemptRow>{{.tenant = delivery.tenant,
                              .endpoint = part.endpoint,
                              .ended_at = attempt.ended_at,
                              .delivery = delivery.id.seq,
                              .attempt = attempt.fence.attempt,
                              .event = part.event,
                              .status_code = static_cast<std::uint32_t>(attempt.response_status),
                              .succeeded = delivered,
                              .manual = part.manual || part.replay != 0}});
  Stats& stats = change_stats(delivery.tenant, part.endpoint, attempt.ended_at);
  ++(delivered ? stats.succeeded : stats.failed);
  if (attempt.fence.attempt == 1 && !is_companion(part)) {
    ++change_stats(delivery.tenant, part.endpoint, delivery.created_at).begun;
  }
}

Webhooks::Verdict Webhooks::attempt_ended(const Message& delivery, const Attempt& attempt,
                                          const Outcome& outcome) {
  using Next = Verdict::Next;
  const WebhookPart& part = *delivery.webhook;
  record_attempt(delivery, attempt, outcome.delivered);
  const auto known = this->known(delivery.tenant, part.application);
  const auto endpoint = known == nullptr ? nullptr : known->endpoint(part.endpoint);
  if (endpoint == nullptr) {
    return {.next = Next::cancel,
            .reason = known == nullptr ? CancelReason::application_deleted
                                       : CancelReason::endpoint_deleted};
  }
  const std::uint32_t number = attempt.fence.attempt;
  if (outcome.delivered) {
    became_healthy(*endpoint);
    if (number > failing_after && !part.manual) {
      tell_of_message(delivery, *known, *endpoint, attempt, "message.attempt.recovered");
    }
    return {};
  }
  const Delivery options = effective(*endpoint, settings(delivery.tenant));
  count_failure(*known, *endpoint, options, part, attempt, outcome);
  if (is_by_hand(part)) {
    HK_SOMETIMES(delivery_by_hand_failed);
    return {.next = Next::fail};
  }
  if (number == failing_after && !part.manual) {
    tell_of_message(delivery, *known, *endpoint, attempt, "message.attempt.failing");
  }
  const bool asked_to_give_up =
      outcome.give_up || std::ranges::find(options.give_up_statuses,
                                           static_cast<std::uint32_t>(attempt.response_status)) !=
                             options.give_up_statuses.end();
  const bool over = asked_to_give_up || part.manual || number >= options.delays.size();
  if (asked_to_give_up) {
    HK_SOMETIMES(delivery_given_up);
  } else if (over) {
    HK_SOMETIMES(delivery_exhausted);
  }
  if (over) {
    tell_of_message(delivery, *known, *endpoint, attempt, "message.attempt.exhausted");
    if (options.halt && !delivery.queue.empty() && !part.manual) {
      HK_SOMETIMES(delivery_halts_its_order);
      return {.next = Next::try_again, .delay = never - batch_.now()};
    }
    return {.next = Next::fail};
  }
  return {.next = Next::try_again, .delay = wait_before(number, options, attempt, outcome)};
}

/// Up to that part more or less.
Millis Webhooks::jittered(Millis delay, double part) {
  const auto span = static_cast<std::uint64_t>(static_cast<double>(delay.count()) * part);
  if (span == 0) {
    return delay;
  }
  return delay - Millis{span} + Millis{context_.rng.below(2 * span + 1)};
}

/// The attempt after `number`: as the schedule says, and not before the receiver wants it.
Millis Webhooks::wait_before(std::uint32_t number, const Delivery& options, const Attempt& attempt,
                             const Outcome& outcome) {
  constexpr Millis floor_of_presets{60'000};
  Millis delay = jittered(options.delays[number], options.jitter);
  const bool needs_rest = outcome.timed_out || attempt.response_status == too_many_requests;
  if (needs_rest && !options.preset.empty() && delay < floor_of_presets) {
    HK_SOMETIMES(delivery_waits_at_least_a_minute);
    delay = floor_of_presets;
  }
  if (outcome.retry_after) {
    const Millis asked = std::min(*outcome.retry_after, options.retry_after_max);
    if (asked > delay) {
      HK_SOMETIMES(delivery_waits_as_asked);
      delay = asked;
    }
  }
  return delay;
}

void Webhooks::delivery_ended(const Message& delivery, const MessageState& state) {
  const WebhookPart& part = *delivery.webhook;
  if (part.replay != 0) {
    tasks_.replayed(delivery.tenant, part.replay, state.status);
  }
  if (is_companion(part)) {
    if (state.status == Status::succeeded) {
      HK_SOMETIMES(delivery_by_hand_settles);
      settled_by_hand(delivery, state);
    }
    return;
  }
  const auto known = this->known(delivery.tenant, part.application);
  const bool is_there = known != nullptr && known->endpoint(part.endpoint) != nullptr;
  Health& health = change_health(delivery.tenant, part.endpoint);
  HK_ASSERT(health.waiting > 0 && health.waiting_bytes >= part.bytes);
  --health.waiting;
  health.waiting_bytes -= part.bytes;
  if (health.waiting == 0) {
    if (!is_there) {
      forget_health(delivery.tenant, part.endpoint);
    } else if (health.ramp != 0) {
      end_ramp(delivery.tenant, part.application, part.endpoint);
    }
  }
  Stats& stats = change_stats(delivery.tenant, part.endpoint, delivery.created_at);
  ++stats.settled;
  if (state.attempts == 0) {
    ++stats.begun;
  }
  if (state.status == Status::canceled) {
    ++stats.canceled;
  }
}

/// The delivery that it settles has succeeded with it, however it stood.
void Webhooks::settled_by_hand(const Message& companion, const MessageState& state) {
  const WebhookPart& part = *companion.webhook;
  const auto before = batch_.get<MessageState>(part.settles.seq);
  if (before && before->status == Status::canceled) {
    const auto settled = batch_.get<Message>(part.settles.seq);
    if (settled != nullptr) {
      --change_stats(companion.tenant, part.endpoint, settled->created_at).canceled;
    }
  }
  const bool was_failing = before && before->attempts >= failing_after &&
                           before->status != Status::succeeded &&
                           before->status != Status::canceled;
  const auto known = was_failing ? this->known(companion.tenant, part.application) : nullptr;
  if (const auto endpoint = known == nullptr ? nullptr : known->endpoint(part.endpoint)) {
    tell_of_message(companion, *known, *endpoint, *state.last, "message.attempt.recovered");
  }
  messages_.settle_delivery(part.settles.seq);
}

}  // namespace hk::core::webhook
