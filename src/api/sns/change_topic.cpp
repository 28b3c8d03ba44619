#include "api/sns/change_topic.h"

#include <utility>

namespace hk::api::sns {

void put_topic(const ExchangePtr& exchange, const Topic& topic, std::function<void(bool)> then) {
  core::Document document = to_document(topic, exchange->tenant_id());
  if (topic.subscriptions.size() > subscriptions_max || bytes_of(document) > topic_bytes_max) {
    exchange->refuse({aws::ErrorCode::sns_subscription_limit_exceeded,
                      "A topic has at most " + std::to_string(subscriptions_max) +
                          " subscriptions, and with all attributes, policies and tags at most " +
                          std::to_string(topic_bytes_max) + " bytes."});
    return;
  }
  core::PutDocumentCommand command{.document = std::move(document), .if_version = topic.version};
  exchange->batcher.submit(std::move(command),
                           [exchange, then = std::move(then)](const core::Reply& reply) {
                             if (!reply && reply.error().kind != ErrorKind::conflict) {
                               exchange->refuse(aws::refusal_from(reply.error()));
                               return;
                             }
                             exchange->guarded([&] { then(reply.has_value()); });
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
