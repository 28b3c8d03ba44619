// Topics of SNS: made, set, deleted.
#include "base/sometimes.h"
#include "core/tenant/tenants.h"
#include "core/topic/topics.h"

HK_SOMETIMES_DECLARE(topic_made)
HK_SOMETIMES_DECLARE(topic_was_there)
HK_SOMETIMES_DECLARE(topic_set)
HK_SOMETIMES_DECLARE(topic_changed_meanwhile)

namespace hk::core {

Reply Topics::decide(CreateTopic command) {
  Topic& topic = command.topic;
  if (!tenants_.contains(topic.tenant)) {
    return fail(ErrorKind::not_found, "no such tenant");
  }
  if (auto known = find(TopicKind::sns, topic.tenant, topic.name)) {
    HK_SOMETIMES(topic_was_there);
    return TopicMade{.existed = true, .topic = std::move(known)};
  }
  topic.kind = TopicKind::sns;
  topic.subscriptions.clear();
  topic.version = 0;
  topic.created_at = batch_.now();
  auto made = checked(std::move(topic));
  if (!made) {
    return std::unexpected(std::move(made.error()));
  }
  HK_SOMETIMES(topic_made);
  store(*made);
  return TopicMade{.existed = false, .topic = std::move(*made)};
}

Reply Topics::decide(SetTopic command) {
  Topic& wanted = command.topic;
  const auto known = find_version(wanted.tenant, wanted.name, wanted.incarnation, wanted.version);
  if (!known) {
    return std::unexpected(known.error());
  }
  HK_SOMETIMES(topic_set);
  Topic topic = to_change((*known)->topic);
  topic.options = std::move(wanted.options);
  topic.tags = std::move(wanted.tags);
  topic.dedup_by_group = wanted.dedup_by_group;
  topic.retries = std::move(wanted.retries);
  return check_and_store(std::move(topic));
}

/// Messages that it has made are still delivered. Deleting what is not there is success.
Reply Topics::decide(const DeleteTopic& command) {
  remove(command.kind, command.tenant, command.name);
  return Done{};
}

Result<std::shared_ptr<const ReadTopic>> Topics::find_sns(TenantId tenant,
                                                          const std::string& name) {
  auto known = find(TopicKind::sns, tenant, name);
  if (!known) {
    return fail(ErrorKind::not_found, "topic " + name + " not found");
  }
  return known;
}

Result<std::shared_ptr<const ReadTopic>> Topics::find_version(TenantId tenant,
                                                              const std::string& name,
                                                              const std::string& incarnation,
                                                              std::uint64_t version) {
  auto known = find_sns(tenant, name);
  if (known && ((*known)->topic.version != version || (*known)->topic.incarnation != incarnation)) {
    HK_SOMETIMES(topic_changed_meanwhile);
    return fail(ErrorKind::conflict, "topic " + name + " was changed meanwhile; read it again");
  }
  return known;
}

}  // namespace hk::core
