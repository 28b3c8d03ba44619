/// Topics as they are stored. Numbers of enums are on disk: never change or reuse one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/limits.h"
#include "core/message.h"

namespace hk::core {

enum class FilterScope : std::uint8_t { message_attributes = 0, message_body = 1 };

/// Who gets a copy of what is published to a topic, and where. An endpoint of a URL group is one
/// that is confirmed, raw and wants everything.
struct Subscription {
  std::string id{};        ///< unique in its topic; of an endpoint its name, "" = none
  std::string url{};       ///< where its copies are pushed to, or …
  std::string host{};      ///< of url, as in Message
  std::string queue{};     ///< … the queue of the same tenant that they wait in
  std::string protocol{};  ///< the adapter's word: each may have a text of its own
  bool raw = true;         ///< it gets the text alone; false: in an envelope
  bool confirmed = true;   ///< false: it gets nothing yet
  std::string filter{};    ///< which messages it wants (filter_policy.h); "" = all
  FilterScope filter_scope{};
  std::string dead_letters_to{};         ///< queue for what has no other place; "" = none
  std::optional<RetryPolicy> retries{};  ///< of pushes; none: as its topic says
  std::string token{};                   ///< whoever shows it confirms; "" = none was needed
  Moment token_made{};
  bool confirmed_by_owner = false;  ///< and not by somebody who had only the token
  bool owner_ends_it = false;       ///< nobody else does
  std::vector<Header> extra{};      ///< the adapter's: the core reads nothing of it
  friend bool operator==(const Subscription&, const Subscription&) = default;
};

/// A topic has one of them.
inline bool same_destination(const Subscription& one, const Subscription& other) {
  return one.protocol == other.protocol && one.url == other.url && one.queue == other.queue;
}

/// A subscription that was not confirmed in time: it is as if it were not there. Also of an
/// adapter's own form of it.
template <class Form>
bool lapsed(const Form& one, Moment now, Millis time = Limits{}.confirmation_time) {
  return !one.confirmed && one.token_made + time <= now;
}

/// Whose names they are: a topic of one kind is not one of the other.
enum class TopicKind : std::uint8_t { url_group = 0, sns = 1 };

/// A name for several destinations. Publishing to it makes one message for each that wants it.
struct Topic {
  TenantId tenant{};
  TopicKind kind{};
  std::string name{};
  /// URL groups: in the order in which they were added; SNS: in that of their ids.
  std::vector<Subscription> subscriptions{};
  /// The adapter's: the core reads nothing of it. URL groups: option headers that a publish has by
  /// default.
  std::vector<Header> options{};
  std::vector<Header> tags{};
  Moment created_at{};
  Moment updated_at{};
  // SNS
  std::string incarnation{};  ///< not the same when a topic of that name is made again
  std::uint64_t version = 0;  ///< one more at each change
  bool fifo = false;          ///< what is published has a group and a dedup id
  bool dedup_by_group = false;
  std::optional<RetryPolicy> retries{};  ///< of pushes; none: default_retries()
  friend bool operator==(const Topic&, const Topic&) = default;
};

/// What it is stored under. The mark is in no name of a URL group, and before all of them.
inline constexpr char sns_mark = '!';
inline std::string topic_key(TopicKind kind, const std::string& name) {
  return kind == TopicKind::sns ? sns_mark + name : name;
}
inline std::tuple<const TenantId&, std::string> key_of(const Topic& topic) {
  return {topic.tenant, topic_key(topic.kind, topic.name)};
}

}  // namespace hk::core
