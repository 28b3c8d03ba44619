#include "core/topic/topics.h"

#include "base/sometimes.h"
#include "core/message/callback.h"
#include "core/tenant/tenants.h"

HK_SOMETIMES_DECLARE(topic_read_again)

namespace hk::core {

namespace {

/// Can the delays between attempts of its copies be worked out?
Result<void> check_pushes(const Topic& topic) {
  Message probe;
  for (const Subscription& one : topic.subscriptions) {
    probe.retry = retries_of(topic.retries, one.retries);
    if (auto understood = check_retries(probe); !understood) {
      return understood;
    }
  }
  return {};
}

}  // namespace

Reply Topics::execute(TopicCommand&& command) {
  return std::visit([this](auto&& one) { return decide(std::forward<decltype(one)>(one)); },
                    std::move(command));
}

std::shared_ptr<const ReadTopic> Topics::find(TopicKind kind, TenantId tenant,
                                              const std::string& name) {
  const std::string key = topic_key(kind, name);
  if (const auto known = known_.find({tenant, key}); known != known_.end()) {
    return known->second;
  }
  std::optional<Topic> stored = batch_.get<Topic>({tenant, key});
  if (!stored) {
    return nullptr;
  }
  HK_SOMETIMES(topic_read_again);
  auto topic = ReadTopic::read_stored(std::move(*stored));
  remember(topic);
  return topic;
}

void Topics::remember(std::shared_ptr<const ReadTopic> topic) {
  known_bytes_ += bytes_of(topic->topic) + sizeof(ReadTopic) +
                  topic->topic.subscriptions.size() * sizeof(Subscription);
  if (known_bytes_ > limits_.topic_memory_bytes) {
    known_.clear();
    known_bytes_ = 0;
  }
  known_[own_key(topic->topic)] = std::move(topic);
}

Reply Topics::store(Topic topic) {
  topic.updated_at = batch_.now();
  auto read = ReadTopic::read(std::move(topic));
  if (!read) {
    return std::unexpected(std::move(read.error()));
  }
  batch_.put(Put<Topic>{(*read)->topic});
  remember(std::move(*read));
  return Done{};
}

void Topics::remove(TopicKind kind, TenantId tenant, const std::string& name) {
  if (find(kind, tenant, name) != nullptr) {
    const std::string key = topic_key(kind, name);
    known_.erase({tenant, key});
    batch_.erase<Topic>(tenant, key);
  }
}

Reply Topics::decide(PutTopic command) {
  Topic& topic = command.topic;
  if (!tenants_.contains(topic.tenant)) {
    return fail(ErrorKind::not_found, "no such tenant");
  }
  if (topic.subscriptions.size() > limits_.subscriptions_max ||
      bytes_of(topic) > limits_.topic_bytes_max) {
    return fail(ErrorKind::quota_reached,
                "a topic has at most " + std::to_string(limits_.subscriptions_max) +
                    " subscriptions, and with all attributes, policies and tags at most " +
                    std::to_string(limits_.topic_bytes_max) + " bytes");
  }
  if (auto understood = check_pushes(topic); !understood) {
    return std::unexpected(understood.error());
  }
  const auto known = find(TopicKind::sns, topic.tenant, topic.name);
  if (known ? topic.version != known->topic.version || topic.incarnation != known->topic.incarnation
            : topic.version != 0) {
    return fail(ErrorKind::conflict, "topic " + topic.name + " was changed meanwhile");
  }
  topic.kind = TopicKind::sns;
  ++topic.version;
  topic.created_at = known ? known->topic.created_at : batch_.now();
  return store(std::move(topic));
}

/// Messages that it has made are still delivered. Deleting what is not there is success.
Reply Topics::decide(const DeleteTopic& command) {
  remove(command.kind, command.tenant, command.name);
  return Done{};
}

}  // namespace hk::core
