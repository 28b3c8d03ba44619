#include "api/sns/topic.h"

#include <algorithm>
#include <charconv>

#include "api/aws/names.h"
#include "base/json_input.h"
#include "core/topic/delivery_policy.h"

namespace hk::api::sns {

namespace {

constexpr const char* topic_kind = "sns_topic";
constexpr std::string_view attribute_prefix = "attribute/";
constexpr std::string_view tag_prefix = "tag/";
constexpr std::string_view subscription_prefix = "subscription/";
constexpr std::size_t topics_per_read = 4;
constexpr std::size_t remembered_bytes_max = std::size_t{16} * 1024 * 1024;  ///< on a thread

std::string text_of(bool value) { return value ? "true" : "false"; }

/// Behind the prefix, or nullopt.
std::optional<std::string_view> behind(std::string_view text, std::string_view prefix) {
  return text.starts_with(prefix) ? std::optional(text.substr(prefix.size())) : std::nullopt;
}

void put_member(Subscription& subscription, std::string_view member, const std::string& value) {
  if (const auto attribute = behind(member, attribute_prefix)) {
    subscription.attributes[std::string(*attribute)] = value;
  } else if (member == "Protocol") {
    subscription.protocol = value;
  } else if (member == "Endpoint") {
    subscription.endpoint = value;
  } else if (member == "Token") {
    subscription.token = value;
  } else if (member == "TokenMade") {
    std::int64_t ms = 0;
    std::from_chars(value.data(), value.data() + value.size(), ms);
    subscription.token_made = moment_from_ms(ms);
  } else if (member == "Confirmed") {
    subscription.confirmed = value == "true";
  } else if (member == "Authenticated") {
    subscription.authenticated = value == "true";
  } else if (member == "AuthenticateOnUnsubscribe") {
    subscription.authenticate_on_unsubscribe = value == "true";
  }
}

void write(std::vector<core::Header>& fields, const Subscription& one) {
  const std::string prefix = std::string(subscription_prefix) + one.id + '/';
  fields.push_back({prefix + "Protocol", one.protocol});
  fields.push_back({prefix + "Endpoint", one.endpoint});
  fields.push_back({prefix + "Confirmed", text_of(one.confirmed)});
  fields.push_back({prefix + "Authenticated", text_of(one.authenticated)});
  fields.push_back(
      {prefix + "AuthenticateOnUnsubscribe", text_of(one.authenticate_on_unsubscribe)});
  if (!one.token.empty()) {
    fields.push_back({prefix + "Token", one.token});
    fields.push_back({prefix + "TokenMade", std::to_string(to_ms(one.token_made))});
  }
  for (const auto& [name, value] : one.attributes) {
    fields.push_back({prefix + std::string(attribute_prefix) + name, value});
  }
}

bool is_set_to(const aws::TextMap& attributes, std::string_view name, std::string_view value) {
  const auto found = attributes.find(name);
  return found != attributes.end() && found->second == value;
}

/// What this thread parsed lately, by tenant and name. Compared as a whole: a topic that was made
/// again may have the version of the one before.
struct Remembered {
  core::Document document{};
  std::shared_ptr<const Topic> topic{};
};
struct Memory {
  std::map<std::pair<core::TenantId, std::string>, Remembered> topics{};
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

bool Subscription::lapsed(Moment now) const { return !confirmed && token_made + token_life <= now; }

Result<void> read_attributes(Subscription& subscription, core::PolicyFrom from) {
  subscription.filter.reset();
  if (const auto policy = subscription.attributes.find("FilterPolicy");
      policy != subscription.attributes.end()) {
    auto parsed = core::FilterPolicy::parse(policy->second, subscription.scope(), from);
    if (!parsed) {
      return std::unexpected(parsed.error());
    }
    subscription.filter = std::move(*parsed);
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

core::Document to_document(const Topic& topic, core::TenantId tenant) {
  core::Document document{.tenant = tenant, .kind = topic_kind, .name = topic.name};
  document.fields.push_back({"Region", topic.region});
  document.fields.push_back({"Incarnation", topic.incarnation});
  for (const auto& [name, value] : topic.attributes) {
    document.fields.push_back({std::string(attribute_prefix) + name, value});
  }
  for (const auto& [key, value] : topic.tags) {
    document.fields.push_back({std::string(tag_prefix) + key, value});
  }
  for (const auto& [id, subscription] : topic.subscriptions) {
    write(document.fields, subscription);
  }
  return document;
}

Topic from_document_for_listing(const core::Document& document) {
  Topic topic;
  topic.name = document.name;
  topic.version = document.version;
  for (const core::Header& field : document.fields) {
    if (const auto attribute = behind(field.name, attribute_prefix)) {
      topic.attributes[std::string(*attribute)] = field.value;
    } else if (const auto tag = behind(field.name, tag_prefix)) {
      topic.tags[std::string(*tag)] = field.value;
    } else if (const auto member = behind(field.name, subscription_prefix)) {
      const std::size_t slash = member->find('/');
      if (slash == std::string_view::npos) {
        throw core::CorruptRecord("topic " + document.name + ": " + field.name);
      }
      const std::string id(member->substr(0, slash));
      Subscription& subscription = topic.subscriptions[id];
      subscription.id = id;
      put_member(subscription, member->substr(slash + 1), field.value);
    } else if (field.name == "Region") {
      topic.region = field.value;
    } else if (field.name == "Incarnation") {
      topic.incarnation = field.value;
    }
  }
  return topic;
}

Topic head_from_document(const core::Document& document) {
  const auto region = std::ranges::find(document.fields, "Region", &core::Header::name);
  return {.name = document.name,
          .region = region == document.fields.end() ? std::string() : region->value};
}

Topic from_document(const core::Document& document) {
  Topic topic = from_document_for_listing(document);
  if (const auto policy = topic.attributes.find("DeliveryPolicy");
      policy != topic.attributes.end()) {
    auto retries = core::read_delivery_policy(policy->second, true);
    if (!retries) {
      throw core::CorruptRecord("topic " + document.name + ": " + retries.error().message);
    }
    topic.retries = std::move(*retries);
  }
  for (auto& [id, subscription] : topic.subscriptions) {
    if (const auto read = read_attributes(subscription, core::PolicyFrom::store); !read) {
      throw core::CorruptRecord("topic " + document.name + ", subscription " + id + ": " +
                                read.error().message);
    }
  }
  return topic;
}

std::size_t bytes_of(const core::Document& document) {
  std::size_t bytes = 0;
  for (const core::Header& field : document.fields) {
    bytes += field.name.size() + field.value.size();
  }
  return bytes;
}

std::shared_ptr<const Topic> find_topic(const Exchange& exchange, std::string_view name) {
  auto document = exchange.services.submitter.durable_view(exchange.tenant_id())
                      ->get<core::Document>({exchange.tenant_id(), topic_kind, std::string(name)});
  if (!document) {
    return nullptr;
  }
  Memory& memory = remembered();
  const auto known = memory.topics.find({exchange.tenant_id(), document->name});
  if (known != memory.topics.end() && known->second.document == *document) {
    return known->second.topic;
  }
  auto topic = std::make_shared<const Topic>(from_document(*document));
  memory.bytes += bytes_of(*document) + sizeof(Topic);
  if (memory.bytes > remembered_bytes_max) {
    memory = {};
  }
  memory.topics[{exchange.tenant_id(), document->name}] = {std::move(*document), topic};
  return topic;
}

TopicScan::TopicScan(const Exchange& exchange, std::string after)
    : exchange_(exchange),
      view_(exchange.services.submitter.durable_view(exchange.tenant_id())),
      after_(std::move(after)) {}

const core::Document* TopicScan::next() {
  if (at_ == piece_.size()) {
    const Options& options = exchange_.services.options;
    if (ended_ || count_ >= options.scanned_per_listing_max ||
        bytes_ >= options.listing_bytes_max) {
      return nullptr;
    }
    piece_ = view_->scan(core::Range<core::Document>::of(exchange_.tenant_id(), topic_kind)
                             .after(exchange_.tenant_id(), topic_kind, after_),
                         topics_per_read);
    at_ = 0;
    ended_ = piece_.size() < topics_per_read;
    if (piece_.empty()) {
      return nullptr;
    }
    after_ = piece_.back().name;
  }
  const core::Document& one = piece_[at_++];
  ++count_;
  bytes_ += bytes_of(one);
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
