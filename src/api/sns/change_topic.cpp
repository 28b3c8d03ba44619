#include "api/sns/change_topic.h"

#include <utility>

#include "base/ascii.h"

namespace hk::api::sns {

namespace {

/// As a sentence.
std::string capitalized(std::string text) {
  text.front() = to_upper(text.front());
  return text + '.';
}

}  // namespace

void put_topic(const ExchangePtr& exchange, const Topic& topic, std::function<void(bool)> then) {
  core::PutTopic command{.topic = to_record(topic, exchange->tenant_id())};
  exchange->batcher.submit(
      std::move(command), [exchange, then = std::move(then)](const core::Reply& reply) {
        if (reply || reply.error().kind == ErrorKind::conflict) {
          exchange->guarded([&] { then(reply.has_value()); });
          return;
        }
        const Error& error = reply.error();
        exchange->refuse(error.kind == ErrorKind::quota_reached
                             ? aws::Refusal{aws::ErrorCode::sns_subscription_limit_exceeded,
                                            capitalized(error.message)}
                             : aws::refusal_from(error));
      });
}

void change_topic(const ExchangePtr& exchange, const std::string& name, TopicChange change) {
  const auto known = find_topic(*exchange, name);
  if (!known) {
    if (change.gone) {
      change.gone();
    } else {
      exchange->refuse(no_topic());
    }
    return;
  }
  Topic topic = *known;
  std::erase_if(topic.subscriptions, [now = exchange->services.now()](const auto& one) {
    return one.second.lapsed(now);
  });
  const aws::Checked<bool> changed = change.change(topic);
  if (!changed) {
    exchange->refuse(changed.error());
    return;
  }
  if (!*changed) {
    change.done(topic);
    return;
  }
  auto then = [exchange, name, topic, change = std::move(change)](bool written) {
    if (written) {
      change.done(topic);
    } else {
      change_topic(exchange, name, change);
    }
  };
  put_topic(exchange, topic, std::move(then));
}

}  // namespace hk::api::sns
