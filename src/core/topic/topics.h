/// Topics: names for several destinations, with subscriptions that say who wants what. URL groups
/// and topics of SNS are the same here. Publishing to one makes a message for each subscription
/// that wants it, in one batch. A component (component.h).
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/command.h"
#include "core/component.h"
#include "core/topic/read_topic.h"

namespace hk::core {

class Messages;
class Queues;
class Tenants;

/// What the fan-outs of one command may become: it is one atomic write, and everybody waits for it.
struct FanOutRoom {
  std::size_t messages = 20'000;
  std::size_t bytes = std::size_t{128} * 1024 * 1024;

  /// invalid_argument: more than there is.
  Result<void> take(const Topic& topic, const Message& prototype);
};

class Topics : Component {
 public:
  Topics(Context& context, Tenants& tenants, const Queues& queues, Messages& messages)
      : Component(context), tenants_(tenants), queues_(queues), messages_(messages) {}

  Reply execute(TopicCommand&& command);

  /// A URL group.
  [[nodiscard]] bool contains(TenantId tenant, const std::string& name) {
    return find(TopicKind::url_group, tenant, name) != nullptr;
  }
  /// One independent message per endpoint that the URL group has now, each with its own dedup
  /// decision: later changes of the group do not touch them.
  Result<FannedOut> fan_out(const Publish& command, FanOutRoom& room);

 private:
  Reply decide(UpsertEndpoints command);
  Reply decide(const RemoveEndpoints& command);
  Reply decide(SetGroupOptions command);
  Reply decide(PutTopic command);
  Reply decide(const DeleteTopic& command);
  Reply decide(PublishToTopic command);

  /// Null: there is none.
  std::shared_ptr<const ReadTopic> find(TopicKind kind, TenantId tenant, const std::string& name);
  /// In memory and in the batch; nothing else changes either. invalid_argument: a filter is none.
  Reply store(Topic topic);
  void remove(TopicKind kind, TenantId tenant, const std::string& name);
  void remember(std::shared_ptr<const ReadTopic> topic);

  // publish_to_topic.cpp
  std::optional<Publish> copy_for(const Topic& topic, const Subscription& subscription,
                                  const PublishToTopic& command, MessageId id);
  [[nodiscard]] std::optional<Publish> copy_for_queue(const Topic& topic, const std::string& name,
                                                      const Subscription& subscription,
                                                      const PublishToTopic& command,
                                                      MessageId id) const;

  Tenants& tenants_;
  const Queues& queues_;
  Messages& messages_;

  /// Those used lately, by what they are stored under: all of them may be more than memory has.
  std::map<KeyOf<Topic>, std::shared_ptr<const ReadTopic>> known_;
  std::size_t known_bytes_ = 0;  ///< of what was added since it was empty
};

}  // namespace hk::core
