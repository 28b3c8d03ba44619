#include "store/old_topic.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>

#include "base/ascii.h"
#include "base/json_input.h"
#include "core/reader.h"
#include "core/topic/delivery_policy.h"

namespace hk::store {

namespace {

/// Behind the prefix, or nullopt.
std::optional<std::string> behind(std::string_view text, std::string_view prefix) {
  return text.starts_with(prefix) ? std::optional(std::string(text.substr(prefix.size())))
                                  : std::nullopt;
}

/// The resource of "arn:aws:sqs:<region>:<account>:<resource>"; the adapter has checked it.
std::string queue_in(std::string_view arn) { return std::string(arn.substr(arn.rfind(':') + 1)); }

/// "scheme://host:port" of a URL that was accepted: it has neither user nor fragment.
std::string destination_of(std::string_view url) {
  const std::size_t begin = url.find("://") + 3;
  const std::size_t end = std::min(url.find_first_of("/?", begin), url.size());
  std::string authority = lower_case(url.substr(0, end));
  const std::size_t colon = authority.rfind(':');
  if (colon < begin || authority.back() == ']') {
    authority += authority.starts_with("https") ? ":443" : ":80";
  }
  return authority;
}

[[noreturn]] void not_a_topic(const core::Document& document, const std::string& why) {
  throw core::CorruptRecord("topic " + document.name + ": " + why);
}

std::optional<core::RetryPolicy> retries_in(const core::Document& document,
                                            const std::string& policy, bool of_topic) {
  auto retries = core::read_delivery_policy(policy, of_topic);
  if (!retries) {
    not_a_topic(document, retries.error().message);
  }
  return *retries;
}

void take_attribute(const core::Document& document, core::Subscription& into, std::string name,
                    const std::string& value) {
  if (name == "RawMessageDelivery") {
    into.raw = value == "true";
    return;
  }
  if (name == "FilterPolicy") {
    into.filter = value;
    return;
  }
  if (name == "FilterPolicyScope" && value == "MessageBody") {
    into.filter_scope = core::FilterScope::message_body;
  } else if (name == "RedrivePolicy") {
    const auto object = parse_json_object(value);
    const auto arn = object ? text_member(*object, "deadLetterTargetArn") : std::string();
    if (!arn || arn->empty()) {
      not_a_topic(document, value);
    }
    into.dead_letters_to = queue_in(*arn);
  } else if (name == "DeliveryPolicy") {
    into.retries = retries_in(document, value, false);
  }
  into.extra.push_back({std::move(name), value});
}

void take_member(const core::Document& document, core::Subscription& into, const std::string& name,
                 const std::string& value) {
  if (auto attribute = behind(name, "attribute/")) {
    take_attribute(document, into, std::move(*attribute), value);
  } else if (name == "Protocol") {
    into.protocol = value;
  } else if (name == "Endpoint") {
    into.url = value;
  } else if (name == "Token") {
    into.token = value;
  } else if (name == "TokenMade") {
    std::int64_t ms = 0;
    std::from_chars(value.data(), value.data() + value.size(), ms);
    into.token_made = moment_from_ms(ms);
  } else if (name == "Confirmed") {
    into.confirmed = value == "true";
  } else if (name == "Authenticated") {
    into.confirmed_by_owner = value == "true";
  } else if (name == "AuthenticateOnUnsubscribe") {
    into.owner_ends_it = value == "true";
  }
}

}  // namespace

core::Topic old_topic(const core::Document& document) {
  core::Topic topic{.tenant = document.tenant,
                    .kind = core::TopicKind::sns,
                    .name = document.name,
                    .created_at = document.created_at,
                    .updated_at = document.created_at,
                    .version = document.version,
                    .fifo = document.name.ends_with(".fifo")};
  std::map<std::string, core::Subscription> subscriptions;
  for (const core::Header& field : document.fields) {
    if (const auto member = behind(field.name, "subscription/")) {
      const std::size_t slash = member->find('/');
      if (slash == std::string::npos) {
        not_a_topic(document, field.name);
      }
      const std::string id = member->substr(0, slash);
      core::Subscription& one =
          subscriptions
              .try_emplace(id, core::Subscription{.id = id, .raw = false, .confirmed = false})
              .first->second;
      take_member(document, one, member->substr(slash + 1), field.value);
    } else if (auto attribute = behind(field.name, "attribute/")) {
      if (*attribute == "DeliveryPolicy") {
        topic.retries = retries_in(document, field.value, true);
      } else if (*attribute == "FifoThroughputScope") {
        topic.dedup_by_group = field.value == "MessageGroup";
      }
      topic.options.push_back({std::move(*attribute), field.value});
    } else if (auto tag = behind(field.name, "tag/")) {
      topic.tags.push_back({std::move(*tag), field.value});
    } else if (field.name == "Incarnation") {
      topic.incarnation = field.value;
    } else {
      topic.options.push_back(field);  // Region
    }
  }
  for (auto& [id, one] : subscriptions) {
    if (one.protocol == "sqs") {
      one.extra.push_back({"Endpoint", one.url});
      one.queue = queue_in(one.url);
      one.url.clear();
    } else {
      one.host = destination_of(one.url);
    }
    topic.subscriptions.push_back(std::move(one));
  }
  return topic;
}

}  // namespace hk::store
