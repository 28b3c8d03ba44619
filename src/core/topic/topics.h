/// Topics: names for several destinations, with subscriptions that say who wants what. URL groups
/// and topics of SNS are the same here. Publishing to one makes a message for each subscription
/// that wants it, in one batch. A component (component.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

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
  Result<void> take(const Message& copy);
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
  /// A URL group to which something can be sent.
  [[nodiscard]] bool has_endpoints(TenantId tenant, const std::string& name);
  /// One independent message per endpoint that the URL group has now, each with its own dedup
  /// decision: later changes of the group do not touch them.
  Result<FannedOut> fan_out(const Publish& command, FanOutRoom& room);
  /// Would that be accepted? Takes the room that it needs, and changes nothing else.
  Result<void> check(const Publish& command, FanOutRoom& room);

 private:
  Reply decide(UpsertEndpoints command);
  Reply decide(const RemoveEndpoints& command);
  Reply decide(SetGroupOptions command);
  Reply decide(CreateTopic command);
  Reply decide(SetTopic command);
  Reply decide(const DeleteTopic& command);
  Reply decide(Subscribe command);
  Reply decide(const ConfirmSubscription& command);
  Reply decide(const Unsubscribe& command);
  Reply decide(SetSubscription command);
  Reply decide(PublishToTopic command);

  /// Null: there is none.
  std::shared_ptr<const ReadTopic> find(TopicKind kind, TenantId tenant, const std::string& name);
  /// Of SNS. not_found.
  Result<std::shared_ptr<const ReadTopic>> find_sns(TenantId tenant, const std::string& name);
  /// conflict: it has changed since it was read.
  Result<std::shared_ptr<const ReadTopic>> find_version(TenantId tenant, const std::string& name,
                                                        const std::string& incarnation,
                                                        std::uint64_t version);
  /// A copy of it to be changed, without the subscriptions that have lapsed.
  [[nodiscard]] Topic to_change(const Topic& topic) const;
  /// As it is to be stored, with its next version. quota_reached: too many subscriptions, or too
  /// much text; invalid_argument: a filter is none, or the delays between attempts of its copies
  /// cannot be worked out.
  [[nodiscard]] Result<std::shared_ptr<const ReadTopic>> checked(Topic topic) const;
  /// In memory and in the batch; nothing else changes either. REQUIRES: it is checked().
  void store(std::shared_ptr<const ReadTopic> topic);
  /// Both, for those who have nothing else to do.
  Reply check_and_store(Topic topic);
  void remove(TopicKind kind, TenantId tenant, const std::string& name);
  void remember(std::shared_ptr<const ReadTopic> topic);

  /// The copy for a subscription; nothing: there is no place for it.
  using MakeCopy = std::function<std::optional<Publish>(const Subscription&)>;
  /// With the room that they need.
  using Copies = std::vector<std::pair<const Subscription*, Publish>>;
  static Result<Copies> copies(const std::vector<const Subscription*>& all, FanOutRoom& room,
                               const MakeCopy& make);
  /// The same for an endpoint of a URL group.
  static Publish copy_for_endpoint(const Publish& command, const Subscription& endpoint);
  /// One for each of them, in their order: all in this batch, or none at all.
  Result<FannedOut> copy_to(const std::vector<const Subscription*>& all, FanOutRoom& room,
                            const MakeCopy& make);

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
