// Tags of topics.
#include "api/sns/actions.h"
#include "api/sns/attributes.h"
#include "api/sns/change_topic.h"

namespace hk::api::sns {

namespace {

using aws::Checked;

aws::Refusal no_resource() {
  return {aws::ErrorCode::sns_resource_not_found, "Resource does not exist"};
}

/// The name of the topic; nullopt: that has been refused.
std::optional<std::string> resource_of(Exchange& exchange, aws::Input& input) {
  const std::string arn(input.required_text("ResourceArn"));
  if (!sqs::well_formed(exchange, input)) {
    return std::nullopt;
  }
  auto name = topic_name(exchange, "ResourceArn", arn);
  if (!name) {
    exchange.refuse(name.error() == no_topic() ? no_resource() : name.error());
    return std::nullopt;
  }
  return std::move(*name);
}

/// `change`: true: there is something to write.
void change_tags(const ExchangePtr& exchange, const std::string& name,
                 std::function<Checked<bool>(Topic&)> change) {
  auto make = [exchange, change = std::move(change)](
                  const Topic& known) -> Checked<std::optional<core::Command>> {
    Topic changed = known;
    const Checked<bool> differs = change(changed);
    if (!differs) {
      return std::unexpected(differs.error());
    }
    if (!*differs) {
      return std::nullopt;
    }
    return core::SetTopic{to_record(changed, exchange->tenant_id())};
  };
  change_topic(exchange, name, {.make = std::move(make), .gone = no_resource()});
}

}  // namespace

void tag_resource(const ExchangePtr& exchange, aws::Input& input) {
  const aws::TextMap tags = input.map("Tags");
  const auto name = resource_of(*exchange, input);
  if (!name) {
    return;
  }
  if (tags.empty()) {
    exchange->refuse(aws::missing_parameter("Tags"));
    return;
  }
  change_tags(exchange, *name, [tags](Topic& topic) -> Checked<bool> {
    if (auto set = set_tags(topic, tags); !set) {
      return std::unexpected(set.error());
    }
    return true;
  });
}

void untag_resource(const ExchangePtr& exchange, aws::Input& input) {
  const std::vector<std::string> keys = input.texts("TagKeys");
  const auto name = resource_of(*exchange, input);
  if (!name) {
    return;
  }
  if (keys.empty()) {
    exchange->refuse(aws::missing_parameter("TagKeys"));
    return;
  }
  change_tags(exchange, *name, [keys](Topic& topic) -> Checked<bool> {
    std::size_t gone = 0;
    for (const std::string& key : keys) {
      gone += topic.tags.erase(key);
    }
    return gone > 0;
  });
}

void list_tags_for_resource(const ExchangePtr& exchange, aws::Input& input) {
  const auto name = resource_of(*exchange, input);
  if (!name) {
    return;
  }
  const auto topic = find_topic(*exchange, *name);
  if (!topic) {
    exchange->refuse(no_resource());
    return;
  }
  exchange->succeed([&](aws::Output& out) { out.map("Tags", topic->tags); });
}

}  // namespace hk::api::sns
