#include <algorithm>
#include <span>

#include "base/assert.h"
#include "base/sometimes.h"
#include "core/machine.h"
#include "core/message/callback.h"
#include "core/message/mark.h"

HK_SOMETIMES_DECLARE(publish_deduplicated)
HK_SOMETIMES_DECLARE(dedup_window_over)
HK_SOMETIMES_DECLARE(deduplicated_in_the_scope_of_before)
HK_SOMETIMES_DECLARE(fanned_out)
HK_SOMETIMES_DECLARE(batch_marked)
HK_SOMETIMES_DECLARE(marked_batch_refused)
HK_SOMETIMES_DECLARE(marked_batch_repeated)
HK_SOMETIMES_DECLARE(mark_window_over)

namespace hk::core {

namespace {

/// What the fan-outs of one command may become: it is one atomic write, and everybody waits for it.
struct FanOutRoom {
  std::size_t messages = 20'000;
  std::size_t bytes = std::size_t{128} * 1024 * 1024;

  Result<void> take(const UrlGroup& group, const Message& prototype) {
    const std::size_t count = group.endpoints.size();
    if (count > messages || count * prototype.body.size() > bytes) {
      return fail(ErrorKind::invalid_argument,
                  "too much for one request: " + std::to_string(count) + " messages of " +
                      std::to_string(prototype.body.size()) +
                      " bytes; send less at a time, or a reference in place of the body");
    }
    messages -= count;
    bytes -= count * prototype.body.size();
    return {};
  }
};

/// What was accepted under the same mark before, in time.
std::optional<Dedup> find_mark(Batch& batch, const Message& mark) {
  const auto known = batch.dedup(mark.tenant, mark_dedup_id(mark.dedup_id));
  if (known && known->expires_at > batch.now()) {
    HK_SOMETIMES(marked_batch_repeated);
    return known;
  }
  if (known) {
    HK_SOMETIMES(mark_window_over);
  }
  return std::nullopt;
}

/// Nothing of the mark is stored but its dedup id, with the id that the adapter gave it.
Published mark_batch(Batch& batch, const Publish& mark) {
  const Message& message = *mark.message;
  const std::string dedup_id = mark_dedup_id(message.dedup_id);
  HK_SOMETIMES(batch_marked);
  const Moment expires_at = batch.now() + mark.dedup_window;
  batch.put_dedup(message.tenant, dedup_id, Dedup{message.id, expires_at});
  batch.expire_dedup(expires_at, message.tenant, dedup_id);
  return {message.id, false};
}

}  // namespace

/// What was accepted with the same id before, in time. The id becomes the one that is stored: it
/// counts once per destination, so that endpoints of a group are decided on their own.
std::optional<Dedup> Machine::find_duplicate(Publish& command) {
  Message& message = *command.message;
  const std::string given = message.dedup_id + ' ';
  const DedupScopes scopes = message.pull ? pull_dedup_scopes(message, command.dedup_window)
                                          : DedupScopes{.now = message.url};
  message.dedup_id = given + scopes.now;
  auto known = batch_.dedup(message.tenant, message.dedup_id);
  if (known && known->expires_at <= batch_.now()) {
    HK_SOMETIMES(dedup_window_over);
    known.reset();
  }
  if (!known && !scopes.before.empty()) {
    known = batch_.dedup(message.tenant, given + scopes.before);
    if (known && known->expires_at > batch_.now()) {
      HK_SOMETIMES(deduplicated_in_the_scope_of_before);
    }
  }
  return known && known->expires_at > batch_.now() ? known : std::nullopt;
}

/// Checks in this order: tenant, policy, duplicate. The message, its dedup entry and its event are
/// one batch: there is no moment at which one of them exists without the others.
Result<Published> Machine::publish(Publish command) {
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
  if (auto fits = check_pull(command); !fits) {
    return std::unexpected(fits.error());
  }
  // The run of a schedule takes its place in the queue at once; there the queue waits for it.
  if (!message.queue.empty() && !message.pull && message.schedule.empty() &&
      message.not_before > batch_.now()) {
    return fail(
        ErrorKind::invalid_argument,
        "a message of a queue cannot be delayed: publish it without a queue, or without delay");
  }

  if (!message.dedup_id.empty()) {
    if (const auto known = find_duplicate(command)) {
      HK_SOMETIMES(publish_deduplicated);
      ++counters(message.tenant).deduplicated;
      return Published{known->first, true};
    }
  }

  if (!message.flow_key.empty()) {
    FlowKey& flow = flow_key_for(message.tenant, message.flow_key);
    if (command.flow) {
      const FlowKey before = flow;
      if (!flow.pinned_parallelism) {
        flow.parallelism = command.flow->parallelism;
      }
      if (!flow.pinned_rate) {
        flow.rate = command.flow->rate;
        flow.period = command.flow->period;
      }
      if (flow != before) {
        store_flow_key(flow);
      }
    }
  }

  const TenantId tenant = message.tenant;
  const std::string dedup_id = message.dedup_id;
  const MessageId id = accept(std::shared_ptr<Message>(std::move(command.message)));
  if (!dedup_id.empty()) {
    const Moment expires_at = batch_.now() + command.dedup_window;
    batch_.put_dedup(tenant, dedup_id, Dedup{id, expires_at});
    batch_.expire_dedup(expires_at, tenant, dedup_id);
  }
  return Published{id, false};
}

Reply Machine::decide(Publish command) {
  HK_ASSERT(command.message != nullptr);
  if (command.message->url.empty() && !command.message->topic.empty()) {
    return fan_out(std::move(command));
  }
  auto published = publish(std::move(command));
  if (!published) {
    return std::unexpected(published.error());
  }
  return *published;
}

/// One independent message per endpoint that the group has now, each with its own dedup decision:
/// later changes of the group do not touch them.
Reply Machine::fan_out(Publish command) {
  const Message& prototype = *command.message;
  const auto group = url_groups_.find({prototype.tenant, prototype.topic});
  if (group == url_groups_.end()) {
    return fail(ErrorKind::not_found, "topic " + prototype.topic + " not found");
  }
  if (auto fits = FanOutRoom{}.take(group->second, prototype); !fits) {
    return std::unexpected(fits.error());
  }
  HK_SOMETIMES(fanned_out);
  FannedOut all;
  for (const Endpoint& endpoint : group->second.endpoints) {
    Publish one{.message = std::make_unique<Message>(prototype),
                .dedup_window = command.dedup_window,
                .flow = command.flow,
                .delay = command.delay};
    one.message->url = endpoint.url;
    one.message->host = endpoint.host;
    one.message->endpoint = endpoint.name;
    auto published = publish(std::move(one));
    if (!published) {
      // What can be wrong is the same for every endpoint: nothing was accepted.
      HK_ASSERT(all.messages.empty());
      return std::unexpected(published.error());
    }
    all.messages.push_back({*published, endpoint.url});
  }
  return all;
}

Reply Machine::decide(PublishBatch command) {
  BatchPublished all;
  all.items.reserve(command.items.size());
  FanOutRoom room;
  for (Publish& item : command.items) {
    const Message& message = *item.message;
    if (&item == &command.items.front() && is_mark(message)) {
      if (!tenants_.contains(message.tenant)) {
        return fail(ErrorKind::not_found, "no such tenant");
      }
      const auto known = find_mark(batch_, message);
      // Before anything of it is accepted: the mark would keep out what is sent again.
      for (Publish& other : std::span(command.items).subspan(known ? command.items.size() : 1)) {
        if (auto fits = check_pull(other); !fits) {
          HK_SOMETIMES(marked_batch_refused);
          return std::unexpected(fits.error());
        }
      }
      const Published marked = known ? Published{known->first, true} : mark_batch(batch_, item);
      all.items.emplace_back(marked);
      if (marked.deduplicated) {
        ++counters(message.tenant).deduplicated;
        return all;
      }
      continue;
    }
    const auto group =
        message.url.empty() ? url_groups_.find({message.tenant, message.topic}) : url_groups_.end();
    if (group != url_groups_.end()) {
      if (auto fits = room.take(group->second, message); !fits) {
        all.items.emplace_back(std::unexpected(fits.error()));
        continue;
      }
    }
    Reply reply = decide(std::move(item));
    if (!reply) {
      all.items.emplace_back(std::unexpected(reply.error()));
    } else if (auto* one = std::get_if<Published>(&*reply)) {
      all.items.emplace_back(*one);
    } else {
      all.items.emplace_back(std::get<FannedOut>(std::move(*reply)));
    }
  }
  return all;
}

}  // namespace hk::core
