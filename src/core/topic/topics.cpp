#include "core/topic/topics.h"

#include "base/sometimes.h"
#include "core/message/callback.h"

HK_SOMETIMES_DECLARE(topic_read_again)
HK_SOMETIMES_DECLARE(subscription_lapsed)

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

Topic Topics::to_change(const Topic& topic) const {
  Topic copy = topic;
  const std::size_t gone = std::erase_if(copy.subscriptions, [this](const Subscription& one) {
    return lapsed(one, batch_.now(), limits_.confirmation_time);
  });
  if (gone > 0) {
    HK_SOMETIMES(subscription_lapsed);
  }
  return copy;
}

Result<std::shared_ptr<const ReadTopic>> Topics::checked(Topic topic) const {
  if (topic.kind == TopicKind::sns) {
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
    ++topic.version;
  }
  topic.updated_at = batch_.now();
  return ReadTopic::read(std::move(topic));
}

void Topics::store(std::shared_ptr<const ReadTopic> topic) {
  batch_.put(Put<Topic>{topic->topic});
  remember(std::move(topic));
}

Reply Topics::check_and_store(Topic topic) {
  auto good = checked(std::move(topic));
  if (!good) {
    return std::unexpected(std::move(good.error()));
  }
  store(std::move(*good));
  return Done{};
}

void Topics::remove(TopicKind kind, TenantId tenant, const std::string& name) {
  if (find(kind, tenant, name) != nullptr) {
    const std::string key = topic_key(kind, name);
    known_.erase({tenant, key});
    batch_.erase<Topic>(tenant, key);
  }
}

}  // namespace hk::core
