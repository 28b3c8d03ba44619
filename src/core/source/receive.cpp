// A verified request becomes a message once: the look whether its event was here before, the
// message and what is remembered of it are one batch.
#include "base/assert.h"
#include "base/sometimes.h"
#include "core/message/messages.h"
#include "core/source/sources.h"
#include "core/tenant/tenants.h"
#include "core/topic/topics.h"

HK_SOMETIMES_DECLARE(source_event_accepted)
HK_SOMETIMES_DECLARE(source_event_repeated)
HK_SOMETIMES_DECLARE(source_event_window_over)
HK_SOMETIMES_DECLARE(source_target_gone)

namespace hk::core {

namespace {

MessageId first_message(const Sent& sent) {
  if (const auto* const one = std::get_if<Published>(&sent)) {
    return one->id;
  }
  return std::get<FannedOut>(sent).messages.front().published.id;  // no group is without endpoints
}

}  // namespace

std::optional<MessageId> Sources::first_of(const Source& source, const std::string& event_id) {
  if (event_id.empty() || source.dedup_window == Millis{0}) {
    return std::nullopt;
  }
  const auto known = batch_.get<Dedup>({source.tenant, source_dedup_id(source.id, event_id)});
  if (!known) {
    return std::nullopt;
  }
  if (known->expires_at <= batch_.now()) {
    HK_SOMETIMES(source_event_window_over);
    return std::nullopt;
  }
  return known->first;
}

Result<void> Sources::check(const Source& source, InboundEvent& event, FanOutRoom& room) {
  HK_ASSERT(event.publish.message->tenant == source.tenant &&
            event.publish.message->dedup_id.empty());
  const Message& message = *event.publish.message;
  if (message.url.empty() && !message.topic.empty() &&
      !topics_.has_endpoints(source.tenant, message.topic)) {
    HK_SOMETIMES(source_target_gone);
    return fail(ErrorKind::unavailable, "the URL group " + message.topic +
                                            ", to which this source delivers, has no endpoints");
  }
  auto good = messages_.check(event.publish, room);
  if (!good &&
      (good.error().kind == ErrorKind::not_found || good.error().kind == ErrorKind::conflict)) {
    HK_SOMETIMES(source_target_gone);
    return fail(ErrorKind::unavailable,
                "the events of this source cannot be delivered: " + good.error().message);
  }
  return good;
}

InboundReceived Sources::repeated(Source& source, MessageId first) {
  HK_SOMETIMES(source_event_repeated);
  ++source.stats.duplicates;
  ++tenants_.counters(source.tenant).deduplicated;
  if (auto event = batch_.get<SourceEvent>({source.tenant, source.id, first.seq})) {
    ++event->duplicates;
    batch_.put(Put<SourceEvent>{std::move(*event)});
  }
  return {first, true};
}

InboundReceived Sources::accept(Source& source, InboundEvent event, bool unverified,
                                FanOutRoom& room) {
  auto sent = messages_.send(std::move(event.publish), room);
  HK_ASSERT(sent.has_value());  // check() has looked
  HK_SOMETIMES(source_event_accepted);
  const MessageId message = first_message(*sent);
  if (!event.id.empty() && source.dedup_window != Millis{0}) {
    const bool for_ever = source.dedup_window == dedup_for_ever;
    const Moment expires_at = for_ever ? never : batch_.now() + source.dedup_window;
    const std::string id = source_dedup_id(source.id, event.id);
    batch_.put(Put<Dedup>{{{source.tenant, id}, Dedup{message, expires_at}}});
    if (!for_ever) {
      batch_.expire_dedup(expires_at, source.tenant, id);
    }
  }
  batch_.put(Put<SourceEvent>{{.tenant = source.tenant,
                               .source = source.id,
                               .message = message,
                               .event_id = std::move(event.id),
                               .event_type = std::move(event.type),
                               .received_at = batch_.now(),
                               .bytes = event.bytes,
                               .unverified = unverified}});
  ++source.stats.accepted;
  source.stats.last_accepted_at = batch_.now();
  keep_up(source);
  return {message, false};
}

/// Who repeats an event is told that it is here, whatever has become of where it went.
Reply Sources::decide(ReceiveInbound command) {
  const auto found = find(command.tenant, command.source);
  if (found == sources_.end() || !found->second.source.enabled) {
    return fail(ErrorKind::not_found, "there is no source " + command.source);
  }
  if (const auto first = first_of(found->second.source, command.event.id)) {
    return repeated(change(found), *first);
  }
  FanOutRoom needed;
  if (auto good = check(found->second.source, command.event, needed); !good) {
    return std::unexpected(good.error());
  }
  FanOutRoom room;
  return accept(change(found), std::move(command.event), false, room);
}

}  // namespace hk::core
