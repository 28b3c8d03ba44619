#include <algorithm>

#include "base/assert.h"
#include "base/sometimes.h"
#include "core/flow/flow_keys.h"
#include "core/message/callback.h"
#include "core/message/messages.h"
#include "core/pull/pulls.h"
#include "core/tenant/tenants.h"
#include "core/topic/topics.h"

HK_SOMETIMES_DECLARE(publish_deduplicated)
HK_SOMETIMES_DECLARE(dedup_window_over)
HK_SOMETIMES_DECLARE(deduplicated_in_the_scope_of_before)

namespace hk::core {

namespace {

bool is_for_topic(const Message& message) { return message.url.empty() && !message.topic.empty(); }

}  // namespace

/// What was accepted with the same id before, in time. The id becomes the one that is stored: it
/// counts once per destination, so that endpoints of a group are decided on their own.
std::optional<Dedup> Messages::find_duplicate(Publish& command) {
  Message& message = *command.message;
  const std::string given = message.dedup_id + ' ';
  const Pulls::DedupScopes scopes = message.pull
                                        ? pulls_.dedup_scopes(message, command.dedup_window)
                                        : Pulls::DedupScopes{.now = message.url};
  message.dedup_id = given + scopes.now;
  auto known = batch_.get<Dedup>({message.tenant, message.dedup_id});
  if (known && known->expires_at <= batch_.now()) {
    HK_SOMETIMES(dedup_window_over);
    known.reset();
  }
  if (!known && !scopes.before.empty()) {
    known = batch_.get<Dedup>({message.tenant, given + scopes.before});
    if (known && known->expires_at > batch_.now()) {
      HK_SOMETIMES(deduplicated_in_the_scope_of_before);
    }
  }
  return known && known->expires_at > batch_.now() ? known : std::nullopt;
}

/// Checks in this order: tenant, policy, queue. Asked twice in a batch it says the same.
Result<void> Messages::check(Publish& command) {
  HK_ASSERT(command.message != nullptr);
  Message& message = *command.message;
  if (!tenants_.contains(message.tenant)) {
    return fail(ErrorKind::not_found, "no such tenant");
  }
  if (auto understood = check_retries(message); !understood) {
    return std::unexpected(understood.error());
  }
  if (command.delay > Millis{0}) {
    message.not_before = std::max(message.not_before, batch_.now() + command.delay);
  }
  if (auto fits = pulls_.check(command); !fits) {
    return std::unexpected(fits.error());
  }
  // The run of a schedule takes its place in the queue at once; there the queue waits for it.
  if (!message.queue.empty() && !message.pull && message.schedule.empty() &&
      message.not_before > batch_.now()) {
    return fail(
        ErrorKind::invalid_argument,
        "a message of a queue cannot be delayed: publish it without a queue, or without delay");
  }
  return {};
}

Result<void> Messages::check(Publish& command, FanOutRoom& room) {
  HK_ASSERT(command.message != nullptr);
  return is_for_topic(*command.message) ? topics_.check(command, room) : check(command);
}

/// What is a duplicate is decided last. The message, its dedup entry and its event are one batch:
/// there is no moment at which one of them exists without the others.
Result<Published> Messages::publish(Publish command) {
  if (auto good = check(command); !good) {
    return std::unexpected(good.error());
  }
  Message& message = *command.message;

  if (!message.dedup_id.empty()) {
    if (const auto known = find_duplicate(command)) {
      HK_SOMETIMES(publish_deduplicated);
      ++tenants_.counters(message.tenant).deduplicated;
      return Published{known->first, true};
    }
  }

  if (!message.flow_key.empty()) {
    if (command.flow) {
      flow_keys_.set(message.tenant, message.flow_key, *command.flow);
    } else {
      flow_keys_.use(message.tenant, message.flow_key);
    }
  }

  const TenantId tenant = message.tenant;
  const std::string dedup_id = message.dedup_id;
  const MessageId id = accept(std::shared_ptr<Message>(std::move(command.message)));
  if (!dedup_id.empty()) {
    const Moment expires_at = batch_.now() + command.dedup_window;
    batch_.put(Put<Dedup>{{{tenant, dedup_id}, Dedup{id, expires_at}}});
    batch_.expire_dedup(expires_at, tenant, dedup_id);
  }
  return Published{id, false};
}

Result<Sent> Messages::send(Publish&& command, FanOutRoom& room) {
  HK_ASSERT(command.message != nullptr);
  if (is_for_topic(*command.message)) {
    return topics_.fan_out(command, room);
  }
  return publish(std::move(command));
}

Result<Sent> Messages::send(Publish command) {
  FanOutRoom room;
  return send(std::move(command), room);
}

Reply Messages::decide(Publish command) {
  FanOutRoom room;
  Result<Sent> sent = send(std::move(command), room);
  if (!sent) {
    return std::unexpected(sent.error());
  }
  return std::visit([](auto&& one) { return Reply(std::forward<decltype(one)>(one)); },
                    std::move(*sent));
}

Reply Messages::decide(PublishBatch command) {
  BatchPublished all;
  all.items.reserve(command.items.size());
  FanOutRoom room;
  for (Publish& item : command.items) {
    all.items.push_back(send(std::move(item), room));
  }
  return all;
}

}  // namespace hk::core
