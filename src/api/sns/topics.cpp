// Topics: made, changed, listed, deleted.
#include <algorithm>

#include "api/aws/names.h"
#include "api/reply.h"
#include "api/sns/actions.h"
#include "api/sns/attributes.h"
#include "api/sns/change_topic.h"

namespace hk::api::sns {

namespace {

using aws::Checked;
using OptionalCommand = std::optional<core::Command>;

struct Wanted {
  Topic topic{};  ///< as it is to be
  aws::TextMap attributes{};
  aws::TextMap tags{};
};

bool plain_region(std::string_view region) {
  return region.size() <= 64 && std::ranges::all_of(region, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-';
         });
}

Checked<Wanted> read_wanted(Exchange& exchange, aws::Input& input) {
  Wanted wanted;
  Topic& topic = wanted.topic;
  topic.name = input.text("Name").value_or("");
  wanted.attributes = input.map("Attributes");
  wanted.tags = input.map("Tags");
  for (const aws::Refusal* const wrong : {input.malformed(), input.invalid()}) {
    if (wrong != nullptr) {
      return std::unexpected(*wrong);
    }
  }
  if (!aws::valid_topic_name(topic.name)) {
    return std::unexpected(invalid("Topic Name",
                                   "1 to 256 letters, digits, hyphens and underscores; that of a "
                                   "FIFO topic ends in .fifo"));
  }
  if (!plain_region(exchange.region)) {
    return std::unexpected(invalid("region", "it has letters, digits and hyphens only"));
  }
  if (topic.fifo() && !wanted.attributes.contains("FifoTopic")) {
    return std::unexpected(
        invalid("Topic Name", "only that of a FIFO topic ends in .fifo: set FifoTopic to true"));
  }
  for (const auto& [name, value] : wanted.attributes) {
    if (auto set = set_attribute(topic, name, value, true); !set) {
      return std::unexpected(set.error());
    }
  }
  if (auto set = set_tags(topic, wanted.tags); !set) {
    return std::unexpected(set.error());
  }
  topic.region = exchange.region;
  topic.incarnation = aws::make_uuid(exchange.batcher.rng());
  return wanted;
}

std::string_view value_of(const Topic& topic, std::string_view attribute) {
  const auto found = topic.attributes.find(attribute);
  return found == topic.attributes.end() ? default_of(attribute) : std::string_view(found->second);
}

/// What was asked for, compared with the topic that is there.
std::optional<std::string> different(const Topic& there, const Wanted& wanted) {
  for (const auto& [name, value] : wanted.attributes) {
    if (value_of(there, name) != value_of(wanted.topic, name)) {
      return "Attributes";
    }
  }
  return wanted.tags.empty() || wanted.tags == there.tags ? std::nullopt : std::optional("Tags");
}

}  // namespace

void create_topic(const ExchangePtr& exchange, aws::Input& input) {
  Checked<Wanted> wanted = read_wanted(*exchange, input);
  if (!wanted) {
    exchange->refuse(wanted.error());
    return;
  }
  core::CreateTopic command{.topic = to_record(wanted->topic, exchange->tenant_id())};
  exchange->batcher.submit(std::move(command), [exchange, wanted = std::move(*wanted)](
                                                   const core::Reply& reply) {
    if (!reply) {
      exchange->refuse(change_refusal(reply.error()));
      return;
    }
    const auto& made = answer_of<core::TopicMade>(reply);
    const Topic there = from_record(made.topic->topic);
    const auto other = made.existed ? different(there, wanted) : std::nullopt;
    if (other) {
      exchange->refuse(invalid(*other, "Topic already exists with different " + *other));
      return;
    }
    exchange->succeed([&](aws::Output& out) { out.text("TopicArn", arn_of(*exchange, there)); });
  });
}

void delete_topic(const ExchangePtr& exchange, aws::Input& input) {
  const std::string arn(input.required_text("TopicArn"));
  if (!sqs::well_formed(*exchange, input)) {
    return;
  }
  const auto name = topic_name(*exchange, "TopicArn", arn);
  if (!name && name.error() != no_topic()) {
    exchange->refuse(name.error());
    return;
  }
  if (!name || !find_topic(*exchange, *name)) {
    exchange->succeed();
    return;
  }
  exchange->batcher.submit(core::DeleteTopic{exchange->tenant_id(), core::TopicKind::sns, *name},
                           [exchange](const core::Reply& reply) {
                             if (!reply) {
                               exchange->refuse(aws::refusal_from(reply.error()));
                               return;
                             }
                             exchange->succeed();
                           });
}

void list_topics(const ExchangePtr& exchange, aws::Input& input) {
  const auto after = page_begin(*exchange, input);
  if (!after) {
    return;
  }
  std::vector<Topic> topics;
  TopicScan scan(*exchange, *after);
  const core::Topic* next = scan.next();
  for (; next != nullptr && topics.size() < page_size; next = scan.next()) {
    topics.push_back(from_record(*next));
  }
  const bool more = next != nullptr || !scan.ended();
  exchange->succeed([&](aws::Output& out) {
    out.list("Topics", topics, [&](aws::Output& item, const Topic& topic) {
      item.text("TopicArn", arn_of(*exchange, topic));
    });
    if (more) {
      out.text("NextToken", to_token(topics.back().name));
    }
  });
}

void get_topic_attributes(const ExchangePtr& exchange, aws::Input& input) {
  const std::string arn(input.required_text("TopicArn"));
  if (!sqs::well_formed(*exchange, input)) {
    return;
  }
  if (const auto topic = topic_of(*exchange, "TopicArn", arn)) {
    exchange->succeed(
        [&](aws::Output& out) { out.map("Attributes", attributes_of(*exchange, *topic)); });
  }
}

void set_topic_attributes(const ExchangePtr& exchange, aws::Input& input) {
  const std::string arn(input.required_text("TopicArn"));
  const std::string name(input.required_text("AttributeName"));
  const std::string value(input.text("AttributeValue").value_or(""));
  if (!sqs::well_formed(*exchange, input)) {
    return;
  }
  const auto topic = named_topic(*exchange, "TopicArn", arn);
  if (!topic) {
    return;
  }
  change_topic(exchange, *topic,
               {.make = [exchange, name, value](const Topic& known) -> Checked<OptionalCommand> {
                  Topic changed = known;
                  if (auto set = set_attribute(changed, name, value, false); !set) {
                    return std::unexpected(set.error());
                  }
                  return core::SetTopic{to_record(changed, exchange->tenant_id())};
                },
                .gone = no_topic()});
}

}  // namespace hk::api::sns
