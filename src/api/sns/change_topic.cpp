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

aws::Refusal change_refusal(const Error& error) {
  return error.kind == ErrorKind::quota_reached
             ? aws::Refusal{aws::ErrorCode::sns_subscription_limit_exceeded,
                            capitalized(error.message)}
             : aws::refusal_from(error);
}

void change_topic(const ExchangePtr& exchange, const std::string& name, TopicChange change) {
  const auto topic = find_topic(*exchange, name);
  if (!topic) {
    exchange->refuse(change.gone);
    return;
  }
  aws::Checked<std::optional<core::Command>> command = change.make(*topic);
  if (!command) {
    exchange->refuse(command.error());
    return;
  }
  if (!*command) {
    exchange->succeed();
    return;
  }
  exchange->batcher.submit(std::move(**command),
                           [exchange, name, change = std::move(change)](const core::Reply& reply) {
                             exchange->guarded([&] {
                               if (reply) {
                                 exchange->succeed();
                               } else if (reply.error().kind == ErrorKind::conflict) {
                                 change_topic(exchange, name, change);
                               } else {
                                 exchange->refuse(reply.error().kind == ErrorKind::not_found
                                                      ? change.gone
                                                      : change_refusal(reply.error()));
                               }
                             });
                           });
}

}  // namespace hk::api::sns
