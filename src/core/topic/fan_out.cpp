#include "base/assert.h"
#include "base/sometimes.h"
#include "core/message/messages.h"
#include "core/topic/topics.h"

HK_SOMETIMES_DECLARE(fanned_out)

namespace hk::core {

Result<void> FanOutRoom::take(const Topic& topic, const Message& prototype) {
  const std::size_t count = topic.subscriptions.size();
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

Result<FannedOut> Topics::fan_out(const Publish& command, FanOutRoom& room) {
  const Message& prototype = *command.message;
  const auto group = find(TopicKind::url_group, prototype.tenant, prototype.topic);
  if (!group) {
    return fail(ErrorKind::not_found, "topic " + prototype.topic + " not found");
  }
  if (auto fits = room.take(group->topic, prototype); !fits) {
    return std::unexpected(fits.error());
  }
  HK_SOMETIMES(fanned_out);
  FannedOut all;
  for (const Subscription& endpoint : group->topic.subscriptions) {
    Publish one{.message = std::make_unique<Message>(prototype),
                .dedup_window = command.dedup_window,
                .flow = command.flow,
                .delay = command.delay};
    one.message->url = endpoint.url;
    one.message->host = endpoint.host;
    one.message->endpoint = endpoint.id;
    auto published = messages_.publish(std::move(one));
    if (!published) {
      // What can be wrong is the same for every endpoint: nothing was accepted.
      HK_ASSERT(all.messages.empty());
      return std::unexpected(published.error());
    }
    all.messages.push_back({*published, endpoint.url});
  }
  return all;
}

}  // namespace hk::core
