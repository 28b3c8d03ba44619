// One message for each subscription: the same for URL groups and for topics of SNS.
#include "base/assert.h"
#include "base/sometimes.h"
#include "core/message/messages.h"
#include "core/pull/size.h"
#include "core/topic/topics.h"

HK_SOMETIMES_DECLARE(fanned_out)

namespace hk::core {

namespace {

std::size_t bytes_of_copy(const Message& message) {
  std::size_t bytes = message.pull ? pulled_bytes(message) : message.body.size();
  for (const Header& one : message.headers) {
    bytes += one.name.size() + one.value.size();
  }
  return bytes;
}

}  // namespace

Result<void> FanOutRoom::take(const Message& copy) {
  const std::size_t needed = bytes_of_copy(copy);
  if (messages == 0 || needed > bytes) {
    return fail(ErrorKind::invalid_argument,
                "too much for one request: it becomes at most " +
                    std::to_string(FanOutRoom{}.messages) + " messages, of " +
                    std::to_string(FanOutRoom{}.bytes) +
                    " bytes in all; send less at a time, or a reference in place of the body");
  }
  --messages;
  bytes -= needed;
  return {};
}

Result<Topics::Copies> Topics::copies(const std::vector<const Subscription*>& all, FanOutRoom& room,
                                      const MakeCopy& make) {
  FanOutRoom left = room;
  Copies made;
  for (const Subscription* const one : all) {
    std::optional<Publish> copy = make(*one);
    if (!copy) {
      continue;
    }
    if (auto fits = left.take(*copy->message); !fits) {
      return std::unexpected(fits.error());
    }
    made.emplace_back(one, std::move(*copy));
  }
  room = left;
  return made;
}

Result<FannedOut> Topics::copy_to(const std::vector<const Subscription*>& all, FanOutRoom& room,
                                  const MakeCopy& make) {
  FanOutRoom left = room;
  auto made = copies(all, left, make);
  if (!made) {
    return std::unexpected(made.error());
  }
  FannedOut out;
  for (auto& [subscription, copy] : *made) {
    auto published = messages_.publish(std::move(copy));
    if (!published) {
      // What can be wrong is the same for all of them: nothing was accepted.
      HK_ASSERT(out.messages.empty());
      return std::unexpected(published.error());
    }
    out.messages.push_back({*published, subscription->url});
  }
  room = left;
  return out;
}

namespace {

std::vector<const Subscription*> endpoints_of(const Topic& group) {
  std::vector<const Subscription*> endpoints;
  for (const Subscription& one : group.subscriptions) {
    endpoints.push_back(&one);
  }
  return endpoints;
}

std::unexpected<Error> group_not_found(const std::string& name) {
  return fail(ErrorKind::not_found, "topic " + name + " not found");
}

}  // namespace

bool Topics::has_endpoints(TenantId tenant, const std::string& name) {
  const auto group = find(TopicKind::url_group, tenant, name);
  return group != nullptr && !group->topic.subscriptions.empty();
}

Publish Topics::copy_for_endpoint(const Publish& command, const Subscription& endpoint) {
  Publish one{.message = std::make_unique<Message>(*command.message),
              .dedup_window = command.dedup_window,
              .flow = command.flow,
              .delay = command.delay};
  one.message->url = endpoint.url;
  one.message->host = endpoint.host;
  one.message->endpoint = endpoint.id;
  return one;
}

Result<FannedOut> Topics::fan_out(const Publish& command, FanOutRoom& room) {
  const auto group = find(TopicKind::url_group, command.message->tenant, command.message->topic);
  if (!group) {
    return group_not_found(command.message->topic);
  }
  HK_SOMETIMES(fanned_out);
  return copy_to(endpoints_of(group->topic), room, [&](const Subscription& endpoint) {
    return std::optional(copy_for_endpoint(command, endpoint));
  });
}

Result<void> Topics::check(const Publish& command, FanOutRoom& room) {
  const auto group = find(TopicKind::url_group, command.message->tenant, command.message->topic);
  if (!group) {
    return group_not_found(command.message->topic);
  }
  auto made = copies(endpoints_of(group->topic), room, [&](const Subscription& endpoint) {
    return std::optional(copy_for_endpoint(command, endpoint));
  });
  if (!made) {
    return std::unexpected(made.error());
  }
  for (auto& [subscription, copy] : *made) {
    if (auto good = messages_.check(copy); !good) {
      return good;
    }
  }
  return {};
}

}  // namespace hk::core
