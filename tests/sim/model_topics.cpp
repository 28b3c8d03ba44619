// What topics of SNS must mean: who gets a copy, of what, and where.
#include <algorithm>

#include "sim/known_filters.h"
#include "sim/model.h"
#include "sim/model_update.h"
#include "sim/trace.h"

namespace hk::sim {

namespace {

const KnownFilter& filter_of(const core::Subscription& subscription) {
  return *std::ranges::find(known_filters, subscription.filter, &KnownFilter::text);
}

std::string body_of(const core::Subscription& subscription, const TopicText& text) {
  const std::string body = text.body(subscription.protocol);
  return subscription.raw ? body : "<" + body + " for " + subscription.id + ">";
}

}  // namespace

Expected Model::create_topic(const Op& op) {
  core::Topic topic = *op.topic;
  if (!tenants_.contains(topic.tenant)) {
    return refused(ErrorKind::not_found);
  }
  const Named key{topic.tenant, core::sns_mark + topic.name};
  const bool existed = topics_.contains(key);
  if (!existed) {
    topic.created_at = time_;
    put_topic(std::move(topic));
  }
  return {.kind = Expected::Kind::topic_made,
          .flag = existed,
          .topic = std::make_shared<core::Topic>(topics_.at(key))};
}

Expected Model::set_topic(const Op& op) {
  const core::Topic& wanted = *op.topic;
  const auto known = topics_.find({wanted.tenant, core::sns_mark + wanted.name});
  if (known == topics_.end()) {
    return refused(ErrorKind::not_found);
  }
  if (wanted.version != known->second.version || wanted.incarnation != known->second.incarnation) {
    return refused(ErrorKind::conflict);
  }
  core::Topic topic = without_lapsed(known->second);
  topic.options = wanted.options;
  topic.tags = wanted.tags;
  topic.dedup_by_group = wanted.dedup_by_group;
  topic.retries = wanted.retries;
  put_topic(std::move(topic));
  return {.kind = Expected::Kind::done};
}

void Model::put_topic(core::Topic topic) {
  ++topic.version;
  topic.updated_at = time_;
  const Named key{topic.tenant, core::sns_mark + topic.name};
  save(topics_, key);
  topics_[key] = std::move(topic);
  changed_topics_.insert(key);
}

core::Topic Model::without_lapsed(const core::Topic& topic) const {
  core::Topic living = topic;
  std::erase_if(living.subscriptions, [this](const core::Subscription& one) {
    return !one.confirmed && time_ - one.token_made >= limits_.confirmation_time;
  });
  return living;
}

/// A destination is subscribed once. Who must confirm is asked in the very batch that subscribes.
Expected Model::subscribe(const Op& op) {
  const Named key{op.tenant, core::sns_mark + op.name};
  const auto known = topics_.find(key);
  if (known == topics_.end()) {
    return refused(ErrorKind::not_found);
  }
  core::Topic topic = without_lapsed(known->second);
  core::Subscription wanted = *op.subscription;
  const auto there = std::ranges::find_if(topic.subscriptions, [&wanted](const auto& one) {
    return one.protocol == wanted.protocol && one.url == wanted.url && one.queue == wanted.queue;
  });
  const bool existed = there != topic.subscriptions.end();
  if (existed) {
    core::Subscription same = *there;  // but for what it is set to
    same.raw = wanted.raw;
    same.filter = wanted.filter;
    same.filter_scope = wanted.filter_scope;
    same.dead_letters_to = wanted.dead_letters_to;
    same.retries = wanted.retries;
    same.extra = wanted.extra;
    if (same != *there || (!there->confirmed && there->token != wanted.token)) {
      return refused(ErrorKind::conflict);
    }
  }
  const bool waits = existed ? !there->confirmed : !wanted.token.empty();
  if (waits && !op.invited) {
    return refused(ErrorKind::conflict);
  }
  Expected expected{
      .kind = Expected::Kind::subscribed, .flag = existed, .name = existed ? there->id : wanted.id};
  if (waits) {
    invite(topic, existed ? *there : wanted);
  }
  if (!existed) {
    wanted.confirmed = !waits;
    wanted.confirmed_by_owner = !waits;
    wanted.token_made = waits ? time_ : Moment{};
    topic.subscriptions.push_back(std::move(wanted));
    std::ranges::sort(topic.subscriptions, {}, &core::Subscription::id);
    put_topic(std::move(topic));
  }
  expected.topic = std::make_shared<core::Topic>(topics_.at(key));
  return expected;
}

void Model::invite(const core::Topic& topic, const core::Subscription& subscription) {
  require(next_message_ < written_->messages.size(), "topics",
          subscription.id + " is not asked to confirm");
  core::Message message;
  message.tenant = topic.tenant;
  message.trace = written_->messages[next_message_]->trace;  // drawn
  message.url = subscription.url;
  message.host = subscription.host;
  message.body = invitation_body(subscription);
  message.retry = subscription.retries ? *subscription.retries : *topic.retries;
  message.timeout = invitation_timeout;
  message.notification = true;
  publish({.kind = Op::Kind::publish, .tenant = topic.tenant}, std::move(message));
}

Expected Model::confirm_subscription(const Op& op) {
  const Named key{op.tenant, core::sns_mark + op.name};
  const auto known = topics_.find(key);
  if (known == topics_.end()) {
    return refused(ErrorKind::not_found);
  }
  core::Topic topic = without_lapsed(known->second);
  const auto found = std::ranges::find_if(topic.subscriptions, [&op](const auto& one) {
    return !one.token.empty() && one.token == op.subscription->token;
  });
  if (found == topic.subscriptions.end()) {
    return refused(ErrorKind::invalid_argument);
  }
  Expected expected{.kind = Expected::Kind::subscribed, .flag = true, .name = found->id};
  if (!found->confirmed) {
    found->confirmed = true;
    found->confirmed_by_owner = op.by_owner;
    found->owner_ends_it = op.by_owner && op.owner_ends_it;
    put_topic(std::move(topic));
  }
  expected.topic = std::make_shared<core::Topic>(topics_.at(key));
  return expected;
}

Expected Model::unsubscribe(const Op& op) {
  const auto known = topics_.find({op.tenant, core::sns_mark + op.name});
  if (known == topics_.end()) {
    return {.kind = Expected::Kind::done};
  }
  core::Topic topic = without_lapsed(known->second);
  const auto found =
      std::ranges::find(topic.subscriptions, op.subscription->id, &core::Subscription::id);
  if (found == topic.subscriptions.end()) {
    return {.kind = Expected::Kind::done};
  }
  if (found->owner_ends_it && !op.by_owner) {
    return refused(ErrorKind::permission_denied);
  }
  topic.subscriptions.erase(found);
  put_topic(std::move(topic));
  return {.kind = Expected::Kind::done};
}

/// What is set changes, and nothing of how it came to be.
Expected Model::set_subscription(const Op& op) {
  const auto known = topics_.find({op.tenant, core::sns_mark + op.name});
  if (known == topics_.end()) {
    return refused(ErrorKind::not_found);
  }
  if (op.topic->version != known->second.version ||
      op.topic->incarnation != known->second.incarnation) {
    return refused(ErrorKind::conflict);
  }
  core::Topic topic = without_lapsed(known->second);
  const auto found =
      std::ranges::find(topic.subscriptions, op.subscription->id, &core::Subscription::id);
  if (found == topic.subscriptions.end()) {
    return refused(ErrorKind::not_found);
  }
  core::Subscription changed = *op.subscription;
  changed.url = found->url;
  changed.host = found->host;
  changed.queue = found->queue;
  changed.protocol = found->protocol;
  changed.confirmed = found->confirmed;
  changed.token = found->token;
  changed.token_made = found->token_made;
  changed.confirmed_by_owner = found->confirmed_by_owner;
  changed.owner_ends_it = found->owner_ends_it;
  *found = std::move(changed);
  put_topic(std::move(topic));
  return {.kind = Expected::Kind::done};
}

Expected Model::delete_topic(const Op& op) {
  const Named key{op.tenant, core::sns_mark + op.name};
  if (topics_.contains(key)) {
    save(topics_, key);
    topics_.erase(key);
    changed_topics_.insert(key);
  }
  return {.kind = Expected::Kind::done};
}

/// All that want it get it in this very batch, whatever has become of the queues of others. What
/// was published to a FIFO topic before happens no more, whoever is subscribed by now.
Expected Model::publish_to_topic(const Op& op) {
  const TopicText& text = *op.text;
  const auto found = topics_.find({op.tenant, core::sns_mark + op.name});
  if (found == topics_.end()) {
    return refused(ErrorKind::not_found);
  }
  const core::Topic topic = found->second;
  if (topic.fifo && (text.group.empty() || text.dedup_id.empty())) {
    return refused(ErrorKind::invalid_argument);
  }
  const Named dedup{op.tenant, "batch topic " + topic.incarnation + ' ' +
                                   (topic.dedup_by_group ? text.group + ' ' : "") + text.dedup_id};
  const auto before = dedups_.find(dedup);
  if (topic.fifo && before != dedups_.end() && before->second.expires_at > time_) {
    ++counts(op.tenant).deduplicated;
    return {.kind = Expected::Kind::topic_published, .id = before->second.first, .flag = true};
  }
  std::vector<core::Subscription> wanted;
  for (const core::Subscription& one : topic.subscriptions) {
    const KnownFilter& filter = filter_of(one);
    if (one.confirmed && filter.scope == core::FilterScope::message_body && !text.body_read) {
      return refused(ErrorKind::conflict);
    }
    if (one.confirmed && filter.wants(text.looked_at)) {
      wanted.push_back(one);
    }
  }
  if (!text.enveloped && std::ranges::any_of(wanted, [](const auto& one) { return !one.raw; })) {
    return refused(ErrorKind::conflict);
  }
  for (const core::Subscription& one : wanted) {
    copy(op, topic, one);
  }
  Expected expected{.kind = Expected::Kind::topic_published};
  if (topic.fifo) {
    const auto put = written_->dedups.find(dedup);
    require(put != written_->dedups.end() && put->second, "I6 dedup",
            "what was published to a FIFO topic is not remembered");
    expected.id = put->second->first;
    const std::uint64_t number = expected.id.seq.value();
    require(number > last_topic_number_, "topics", "a sequence number does not rise");
    undo_.push_back({batch_, [this, last = last_topic_number_] { last_topic_number_ = last; }});
    last_topic_number_ = number;
    save(dedups_, dedup);
    dedups_[dedup] = {expected.id, time_ + topic_window};
    dedup_ends_.insert({time_ + topic_window, dedup});
    changed_dedups_.insert(dedup);
  }
  return expected;
}

void Model::copy(const Op& op, const core::Topic& topic, const core::Subscription& one) {
  const TopicText& text = *op.text;
  const Op plain{.kind = Op::Kind::publish, .tenant = op.tenant, .dedup_window = topic_window};
  core::Message message;
  message.tenant = op.tenant;
  message.body = body_of(one, text);
  if (one.queue.empty()) {
    require(next_message_ < written_->messages.size(), "topics", one.id + " has no copy");
    message.trace = written_->messages[next_message_]->trace;  // drawn
    message.url = one.url;
    message.host = one.host;
    message.headers = {{"X-Subscription", one.id}};
    if (one.raw) {
      message.headers.push_back({"X-Raw", "true"});
    }
    message.retry = one.retries ? *one.retries : *topic.retries;
    message.timeout = text.timeout;
    message.notification = true;
    if (!one.dead_letters_to.empty()) {
      message.failure_callback = core::Callback{.url = "queue:" + one.dead_letters_to};
    }
    publish(plain, std::move(message));
    return;
  }
  message.method = "";
  message.pull.emplace();
  for (const std::string& name : {one.queue, one.dead_letters_to}) {
    const ModelQueue* const queue = find_pull_queue({op.tenant, name});
    if (queue == nullptr || (queue->pull->fifo && !topic.fifo)) {
      continue;
    }
    message.queue = name;
    if (queue->pull->fifo) {
      message.dedup_id = text.dedup_id;
      message.pull->system.push_back({"MessageDeduplicationId", text.dedup_id});
    }
    message.group = queue->pull->fifo == topic.fifo ? text.group : "";
    message.pull->system.push_back({"SenderId", "sim"});
    if (one.raw) {
      message.pull->attributes = text.attributes();
    }
    publish(plain, std::move(message));
    return;
  }
}

}  // namespace hk::sim
