// One attempt by hand: past the circuit and past order, through the rate. It is a message beside
// the delivery, whose schedule goes on; when it succeeds, the delivery has succeeded.
#include "base/assert.h"
#include "base/sometimes.h"
#include "core/message/messages.h"
#include "core/webhook/webhooks.h"

HK_SOMETIMES_DECLARE(resent_beside_its_delivery)
HK_SOMETIMES_DECLARE(resent_to_whom_it_was_not_addressed)
HK_SOMETIMES_DECLARE(dead_letter_delivered_again)

namespace hk::core::webhook {

/// Checks in this order: application, endpoint, event, payload, endpoint disabled.
Reply Webhooks::decide(const Resend& command) {
  const auto found = find(command.tenant, command.application_ref, command.endpoint_ref);
  if (!found) {
    return found.error();
  }
  const Endpoint& endpoint = *found->endpoint;
  const auto event =
      find_event(command.tenant, found->known->application.number, command.event_ref);
  if (!event) {
    return Refused{Refused::Why::event_not_found};
  }
  if (event->expunged) {
    return Refused{Refused::Why::payload_gone};
  }
  if (endpoint.disabled != Endpoint::Disabled::no) {
    return Refused{Refused::Why::endpoint_disabled};
  }
  WebhookPart part{.manual = true};
  const auto newest = newest_delivery(command.tenant, endpoint.number, event->number);
  const auto delivery = newest ? batch_.get<Message>(newest->delivery) : nullptr;
  if (delivery != nullptr) {
    HK_SOMETIMES(resent_beside_its_delivery);
    part.settles = delivery->id;
    part.generation = newest->generation;
  } else {
    HK_SOMETIMES(resent_to_whom_it_was_not_addressed);
    part.generation = newest ? newest->generation + 1 : 1;
  }
  const MessageId id = deliver(*event, endpoint, part);
  if (!newest) {
    address(*event, endpoint.number, id.seq);
  }
  return DeliveriesChanged{.count = 1};
}

/// It was not when it was published.
void Webhooks::address(Event event, Number endpoint, Seq delivery) {
  event.addressed.push_back({endpoint, delivery});
  batch_.put(Put<Event>(std::move(event)));
}

std::optional<MessageId> Webhooks::deliver_again(const Event& event, const Endpoint& endpoint,
                                                 std::uint64_t replay, bool retry) {
  if (event.expunged) {
    return std::nullopt;
  }
  const auto newest = newest_delivery(event.tenant, endpoint.number, event.number);
  if (newest && replay != 0) {
    const auto state = batch_.get<MessageState>(newest->delivery);
    const auto message = batch_.get<Message>(newest->delivery);
    const bool over = message == nullptr || (state && is_final(state->status));
    if (!over && message->webhook->replay != 0) {
      return std::nullopt;  // a replay has queued it already
    }
  }
  const MessageId id = deliver(
      event, endpoint,
      {.generation = newest ? newest->generation + 1 : 1, .manual = !retry, .replay = replay});
  if (!newest) {
    address(event, endpoint.number, id.seq);
  }
  return id;
}

Result<MessageId> Webhooks::redeliver(const Message& delivery) {
  const WebhookPart& part = *delivery.webhook;
  const auto known = this->known(delivery.tenant, part.application);
  const auto endpoint = known == nullptr ? nullptr : known->endpoint(part.endpoint);
  if (endpoint == nullptr) {
    return fail(ErrorKind::not_found,
                "the endpoint of message " + to_text(delivery.id) + " is not there any more");
  }
  const auto event = batch_.get<Event>({delivery.tenant, part.application, part.event});
  if (!event || event->expunged) {
    return fail(ErrorKind::not_found,
                "the payload of message " + to_text(delivery.id) + " is gone");
  }
  HK_SOMETIMES(dead_letter_delivered_again);
  const auto id = deliver_again(*event, *endpoint, 0, true);
  HK_ASSERT(id.has_value());
  return *id;
}

/// Also one that this batch has made. Generation 0 is from the publish.
std::optional<DeliveryRow> Webhooks::newest_delivery(TenantId tenant, Number endpoint,
                                                     Number event) {
  constexpr std::uint32_t in_a_batch_max = 64;
  const auto stored = batch_.reader().scan(Range<DeliveryRow>::of(tenant, endpoint, event), 1,
                                           hk::core::Order::descending);
  std::optional<DeliveryRow> newest;
  if (!stored.empty()) {
    newest = stored.front();
  }
  std::uint32_t next = newest ? newest->generation + 1 : 0;
  for (std::uint32_t looks = 0; looks < in_a_batch_max; ++looks, ++next) {
    if (auto row = batch_.get<DeliveryRow>({tenant, endpoint, event, next})) {
      newest = std::move(row);
    } else if (next != 0) {
      break;
    }
  }
  return newest;
}

}  // namespace hk::core::webhook
