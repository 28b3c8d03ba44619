#include "core/topic/publication.h"

#include <algorithm>

#include "base/assert.h"

namespace hk::core {

namespace {

constexpr std::string_view dedup_prefix = "batch ";

}  // namespace

const Wording& wording_for(const PublishToTopic& publication, const std::string& protocol) {
  const auto& all = publication.wordings;
  auto found = std::ranges::find(all, protocol, &Wording::protocol);
  if (found == all.end()) {
    found = std::ranges::find(all, std::string(), &Wording::protocol);
  }
  HK_ASSERT(found != all.end());
  return *found;
}

Result<std::vector<const Subscription*>> wanted_by(const ReadTopic& topic,
                                                   const PublishToTopic& publication) {
  std::vector<const Subscription*> all;
  for (std::size_t i = 0; i < topic.filters.size(); ++i) {
    const Subscription& one = topic.topic.subscriptions[i];
    if (!one.confirmed) {
      continue;
    }
    if (const auto& filter = topic.filters[i]) {
      const Result<bool> wanted = filter->matches(wording_for(publication, one.protocol).subject);
      if (!wanted) {
        return std::unexpected(wanted.error());
      }
      if (!*wanted) {
        continue;
      }
    }
    all.push_back(&one);
  }
  return all;
}

bool gets_text_alone(const Subscription& subscription, const PublishToTopic& publication) {
  // Over HTTP a text alone has no attributes.
  return subscription.raw &&
         (subscription.queue.empty() || publication.attributes.size() <= pulled_attributes_max);
}

std::string topic_dedup_id(const Topic& topic, const PublishToTopic& publication) {
  std::string id = std::string(dedup_prefix) + "topic " + topic.incarnation + ' ';
  if (topic.dedup_by_group) {
    id += publication.group + ' ';
  }
  return id + publication.dedup_id;
}

bool may_be_topic_dedup_id(std::string_view dedup_id) { return dedup_id.starts_with(dedup_prefix); }

}  // namespace hk::core
