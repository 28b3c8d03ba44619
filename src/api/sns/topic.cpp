#include "api/sns/topic.h"

#include "api/aws/names.h"
#include "base/json_input.h"
#include "core/topic/delivery_policy.h"
#include "core/topic/ranges.h"
#include "core/topic/read_topic.h"

namespace hk::api::sns {

namespace {

constexpr std::size_t topics_per_read = 4;
constexpr std::size_t remembered_bytes_max = std::size_t{16} * 1024 * 1024;  ///< on a thread

// What of a record is the adapter's, beside attributes; none has such a name.
constexpr std::string_view region_name = "Region";
constexpr std::string_view endpoint_name = "Endpoint";

std::vector<core::Header> to_headers(const aws::TextMap& texts) {
  std::vector<core::Header> all;
  for (const auto& [name, value] : texts) {
    all.push_back({name, value});
  }
  return all;
}

aws::TextMap to_texts(const std::vector<core::Header>& headers) {
  aws::TextMap all;
  for (const core::Header& one : headers) {
    all[one.name] = one.value;
  }
  return all;
}

/// The text of that name, which is there no more.
std::string taken(aws::TextMap& texts, std::string_view name) {
  const auto found = texts.find(name);
  if (found == texts.end()) {
    return {};
  }
  std::string text = std::move(found->second);
  texts.erase(found);
  return text;
}

Subscription from_record(const core::Subscription& record) {
  Subscription one{.id = record.id,
                   .protocol = record.protocol,
                   .endpoint = record.url,
                   .host = record.host,
                   .attributes = to_texts(record.extra),
                   .token = record.token,
                   .token_made = record.token_made,
                   .confirmed = record.confirmed,
                   .authenticated = record.confirmed_by_owner,
                   .dead_letters_to = record.dead_letters_to,
                   .retries = record.retries};
  if (std::string arn = taken(one.attributes, endpoint_name); !arn.empty()) {
    one.endpoint = std::move(arn);
  }
  if (record.raw) {
    one.attributes["RawMessageDelivery"] = "true";
  }
  if (!record.filter.empty()) {
    one.attributes["FilterPolicy"] = record.filter;
  }
  return one;
}

bool is_set_to(const aws::TextMap& attributes, std::string_view name, std::string_view value) {
  const auto found = attributes.find(name);
  return found != attributes.end() && found->second == value;
}

/// What this thread parsed lately, by tenant and name. Compared as a whole: a topic that was made
/// again may have the version of the one before.
struct Memory {
  std::map<std::pair<core::TenantId, std::string>, FoundTopic> topics{};
  std::size_t bytes = 0;  ///< of what was added since it was empty
};
Memory& remembered() {
  thread_local Memory memory;
  return memory;
}

}  // namespace

bool Subscription::has(std::string_view attribute, std::string_view value) const {
  return is_set_to(attributes, attribute, value);
}

bool Topic::has(std::string_view attribute, std::string_view value) const {
  return is_set_to(attributes, attribute, value);
}

core::FilterScope Subscription::scope() const {
  return has("FilterPolicyScope", "MessageBody") ? core::FilterScope::message_body
                                                 : core::FilterScope::message_attributes;
}

Result<void> read_attributes(Subscription& subscription) {
  if (const auto policy = subscription.attributes.find("FilterPolicy");
      policy != subscription.attributes.end()) {
    if (auto parsed = core::FilterPolicy::parse(policy->second, subscription.scope()); !parsed) {
      return std::unexpected(parsed.error());
    }
  }
  subscription.dead_letters_to.clear();
  if (const auto policy = subscription.attributes.find("RedrivePolicy");
      policy != subscription.attributes.end()) {
    const auto object = parse_json_object(policy->second);
    if (!object) {
      return std::unexpected(object.error());
    }
    const auto text = text_member(*object, "deadLetterTargetArn");
    const auto arn = text ? aws::parse_arn(*text) : std::nullopt;
    if (!arn || arn->service != "sqs") {
      return fail(ErrorKind::invalid_argument, "deadLetterTargetArn is not the ARN of a queue");
    }
    subscription.dead_letters_to = arn->resource;
  }
  subscription.retries.reset();
  if (const auto policy = subscription.attributes.find("DeliveryPolicy");
      policy != subscription.attributes.end()) {
    auto retries = core::read_delivery_policy(policy->second, false);
    if (!retries) {
      return std::unexpected(retries.error());
    }
    subscription.retries = std::move(*retries);
  }
  return {};
}

core::Subscription to_record(const Subscription& one) {
  core::Subscription record{.id = one.id,
                            .protocol = one.protocol,
                            .raw = one.raw(),
                            .confirmed = one.confirmed,
                            .filter_scope = one.scope(),
                            .dead_letters_to = one.dead_letters_to,
                            .retries = one.retries,
                            .token = one.token,
                            .token_made = one.token_made,
                            .confirmed_by_owner = one.authenticated};
  aws::TextMap extra = one.attributes;
  extra.erase("RawMessageDelivery");
  record.filter = taken(extra, "FilterPolicy");
  if (one.protocol == "sqs") {
    const auto arn = aws::parse_arn(one.endpoint);
    record.queue = arn ? arn->resource : std::string();
    extra.emplace(endpoint_name, one.endpoint);
  } else {
    record.url = one.endpoint;
    record.host = one.host;
  }
  record.extra = to_headers(extra);
  return record;
}

core::Topic to_record(const Topic& topic, core::TenantId tenant) {
  core::Topic record{.tenant = tenant,
                     .kind = core::TopicKind::sns,
                     .name = topic.name,
                     .options = to_headers(topic.attributes),
                     .tags = to_headers(topic.tags),
                     .incarnation = topic.incarnation,
                     .version = topic.version,
                     .fifo = topic.fifo(),
                     .dedup_by_group = topic.has("FifoThroughputScope", "MessageGroup"),
                     .retries = topic.retries};
  record.options.push_back({std::string(region_name), topic.region});
  for (const auto& [id, subscription] : topic.subscriptions) {
    record.subscriptions.push_back(to_record(subscription));
  }
  return record;
}

Topic from_record(const core::Topic& record) {
  Topic topic{.name = record.name,
              .incarnation = record.incarnation,
              .attributes = to_texts(record.options),
              .tags = to_texts(record.tags),
              .version = record.version,
              .retries = record.retries};
  topic.region = taken(topic.attributes, region_name);
  for (const core::Subscription& one : record.subscriptions) {
    topic.subscriptions.emplace(one.id, from_record(one));
  }
  return topic;
}

FoundTopic look_up(const Exchange& exchange, std::string_view name) {
  auto record = exchange.services.submitter.durable_view(exchange.tenant_id())
                    ->get<core::Topic>({exchange.tenant_id(),
                                        core::topic_key(core::TopicKind::sns, std::string(name))});
  if (!record) {
    return {};
  }
  Memory& memory = remembered();
  const std::pair key{exchange.tenant_id(), record->name};
  const auto known = memory.topics.find(key);
  if (known != memory.topics.end() && known->second.record->topic == *record) {
    return known->second;
  }
  memory.bytes += core::bytes_of(*record) + sizeof(Topic);
  if (memory.bytes > remembered_bytes_max) {
    memory = {};
  }
  auto words = std::make_shared<const Topic>(from_record(*record));
  return memory.topics[key] = {core::ReadTopic::read_stored(std::move(*record)), std::move(words)};
}

std::shared_ptr<const Topic> find_topic(const Exchange& exchange, std::string_view name) {
  return look_up(exchange, name).words;
}

TopicScan::TopicScan(const Exchange& exchange, std::string after)
    : exchange_(exchange),
      view_(exchange.services.submitter.durable_view(exchange.tenant_id())),
      after_(std::move(after)) {}

const core::Topic* TopicScan::next() {
  if (at_ == piece_.size()) {
    const Options& options = exchange_.services.options;
    if (ended_ || count_ >= options.scanned_per_listing_max ||
        bytes_ >= options.listing_bytes_max) {
      return nullptr;
    }
    const core::TenantId tenant = exchange_.tenant_id();
    piece_ = view_->scan(
        core::sns_topics_of(tenant).after(tenant, core::topic_key(core::TopicKind::sns, after_)),
        topics_per_read);
    at_ = 0;
    ended_ = piece_.size() < topics_per_read;
    if (piece_.empty()) {
      return nullptr;
    }
    after_ = piece_.back().name;
  }
  const core::Topic& one = piece_[at_++];
  ++count_;
  bytes_ += core::bytes_of(one);
  return &one;
}

std::string arn_of(const Exchange& exchange, const Topic& topic) {
  return aws::to_text({.service = "sns",
                       .region = topic.region,
                       .account = exchange.account,
                       .resource = topic.name});
}

std::string arn_of(const Exchange& exchange, const Topic& topic, const Subscription& subscription) {
  return arn_of(exchange, topic) + ':' + subscription.id;
}

aws::Checked<std::string> topic_name(const Exchange& exchange, std::string_view parameter,
                                     std::string_view arn) {
  const auto parsed = aws::parse_arn(arn);
  if (!parsed || parsed->service != "sns" || !aws::valid_topic_name(parsed->resource)) {
    return std::unexpected(
        invalid(parameter, "it must be arn:aws:sns:<region>:<account>:<name of the topic>"));
  }
  if (parsed->account != exchange.account) {
    return std::unexpected(no_topic());
  }
  return parsed->resource;
}

aws::Checked<SubscriptionName> subscription_name(const Exchange& exchange, std::string_view arn) {
  const auto parsed = aws::parse_arn(arn);
  const std::size_t colon = parsed ? parsed->resource.find(':') : std::string::npos;
  if (colon == std::string::npos || parsed->service != "sns" ||
      !aws::valid_topic_name(std::string_view(parsed->resource).substr(0, colon)) ||
      colon + 1 == parsed->resource.size()) {
    return std::unexpected(invalid(
        "SubscriptionArn", "it must be arn:aws:sns:<region>:<account>:<name of the topic>:<id>"));
  }
  if (parsed->account != exchange.account) {
    return std::unexpected(no_subscription());
  }
  return SubscriptionName{parsed->resource.substr(0, colon), parsed->resource.substr(colon + 1)};
}

aws::Refusal no_topic() { return {aws::ErrorCode::sns_not_found, "Topic does not exist"}; }

aws::Refusal no_subscription() {
  return {aws::ErrorCode::sns_not_found, "Subscription does not exist"};
}

aws::Refusal invalid(std::string_view parameter, std::string_view reason) {
  return {aws::ErrorCode::sns_invalid_parameter,
          "Invalid parameter: " + std::string(parameter) + " Reason: " + std::string(reason)};
}

}  // namespace hk::api::sns
