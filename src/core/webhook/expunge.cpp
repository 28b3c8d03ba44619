// What must not be there any more: payloads that somebody expunges, and everything when it was kept
// for long enough. The payload of an event is in its record alone.
#include <algorithm>

#include "base/assert.h"
#include "base/sometimes.h"
#include "core/message/messages.h"
#include "core/webhook/webhooks.h"

HK_SOMETIMES_DECLARE(event_expunged)
HK_SOMETIMES_DECLARE(event_expunged_with_waiting)
HK_SOMETIMES_DECLARE(attempt_expunged)
HK_SOMETIMES_DECLARE(payload_expired)
HK_SOMETIMES_DECLARE(event_purged)
HK_SOMETIMES_DECLARE(event_kept_for_its_deliveries)

namespace hk::core::webhook {

namespace {

constexpr std::size_t canceled_at_once = 4096;
constexpr std::size_t generations_at_once = 64;
constexpr const char* expunged_text = "EXPUNGED";

}  // namespace

bool Webhooks::expunge(Event event, std::size_t& left) {
  const TenantId tenant = event.tenant;
  const bool was_there = !event.expunged;
  const auto addressed = event.addressed;
  const Number number = event.number;
  if (was_there) {
    HK_SOMETIMES(event_expunged);
    event.payload.clear();
    event.shown.clear();
    event.headers.clear();
    event.other.clear();
    event.expunged = true;
    batch_.put(Put<Event>(std::move(event)));
  }
  for (const auto& [endpoint, delivery] : addressed) {
    if (left == 0) {
      break;  // those end when their turn comes
    }
    --left;
    messages_.cancel_delivery(delivery, CancelReason::payload_expunged);
    for (const DeliveryRow& row :
         batch_.reader().scan(Range<DeliveryRow>::of(tenant, endpoint, number), generations_at_once,
                              hk::core::Order::descending)) {
      if (row.delivery != delivery) {
        HK_SOMETIMES(event_expunged_with_waiting);
        messages_.cancel_delivery(row.delivery, CancelReason::payload_expunged);
      }
    }
    if (const auto newest = newest_delivery(tenant, endpoint, number)) {
      messages_.cancel_delivery(newest->delivery, CancelReason::payload_expunged);
    }
  }
  return was_there;
}

Reply Webhooks::decide(const ExpungeEvents& command) {
  const auto found = find(command.tenant, command.application_ref);
  if (!found) {
    return found.error();
  }
  EventsExpunged answer;
  std::size_t left = canceled_at_once;
  for (const std::string& ref : command.event_refs) {
    auto event = find_event(command.tenant, (*found)->application.number, ref);
    answer.found.push_back(event.has_value());
    if (event) {
      expunge(std::move(*event), left);
    }
  }
  return answer;
}

/// Of its answer nothing is left but that there was one.
Reply Webhooks::decide(const ExpungeAttempt& command) {
  const auto found = find(command.tenant, command.application_ref);
  if (!found) {
    return found.error();
  }
  const auto message = batch_.get<Message>(command.delivery);
  const bool is_its = message != nullptr && message->webhook && message->tenant == command.tenant &&
                      message->webhook->application == (*found)->application.number &&
                      message->webhook->event == command.event;
  auto state = is_its ? batch_.get<MessageState>(command.delivery) : std::nullopt;
  if (!state || command.attempt == 0 || command.attempt > state->attempts) {
    return Refused{Refused::Why::attempt_not_found};
  }
  const auto clear = [](Attempt& attempt) {
    HK_SOMETIMES(attempt_expunged);
    attempt.response_body = expunged_text;
    attempt.response_headers.clear();
  };
  if (state->last && state->last->fence.attempt == command.attempt) {
    clear(*state->last);
    batch_.put(Put<MessageState>{command.delivery, std::move(*state)});
    return Done{};
  }
  auto attempt = batch_.reader().get<Attempt>({command.delivery, command.attempt});
  if (!attempt) {
    // Another attempt has ended in this very batch: then no reader shows this one yet.
    return fail(ErrorKind::unavailable, "the attempt is being stored; ask again");
  }
  clear(*attempt);
  batch_.put(Put<Attempt>{{{command.delivery, command.attempt}, std::move(*attempt)}});
  return Done{};
}

// ---- kept for long enough ----

void Webhooks::purge_delivery(const Message& delivery, const MessageState& state) {
  const WebhookPart& part = *delivery.webhook;
  if (!is_companion(part)) {
    batch_.erase<DeliveryRow>(delivery.tenant, part.endpoint, part.event, part.generation);
  }
  const auto erase_row = [&](const Attempt& attempt) {
    batch_.erase<AttemptRow>(delivery.tenant, part.endpoint, attempt.ended_at, delivery.id.seq,
                             attempt.fence.attempt);
  };
  if (state.last) {
    erase_row(*state.last);
  }
  if (state.attempts > 1) {
    for (const auto& row : batch_.reader().scan(Range<Attempt>::of(delivery.id.seq))) {
      erase_row(row.record);
    }
  }
}

void Webhooks::expire_event(TenantId tenant, Number application, Number number) {
  constexpr Millis again = std::chrono::days{1};
  const Moment now = batch_.now();
  auto event = batch_.get<Event>({tenant, application, number});
  if (!event) {
    return;
  }
  if (now < event->made.at + limits_.retention_webhooks) {
    if (event->payload_expires_at <= now && !event->expunged) {
      HK_SOMETIMES(payload_expired);
      std::size_t left = canceled_at_once;
      expunge(std::move(*event), left);
    }
    return;
  }
  const bool has_deliveries = std::ranges::any_of(event->addressed, [&](const auto& one) {
    const auto newest = newest_delivery(tenant, one.endpoint, number);
    return newest && batch_.get<Message>(newest->delivery) != nullptr;
  });
  if (has_deliveries) {
    HK_SOMETIMES(event_kept_for_its_deliveries);
    batch_.expire_event(now + again, tenant, application, number);
    if (event->payload_expires_at <= now && !event->expunged) {
      std::size_t left = canceled_at_once;
      expunge(std::move(*event), left);
    }
    return;
  }
  HK_SOMETIMES(event_purged);
  if (!event->event_id.empty()) {
    rename(tenant, Name::Kind::event_id, application, number, event->event_id, {});
  }
  batch_.erase<Event>(tenant, application, number);
}

}  // namespace hk::core::webhook
