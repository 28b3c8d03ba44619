// How a subscription begins, is set and ends.
#include <algorithm>

#include "base/assert.h"
#include "base/sometimes.h"
#include "core/fresh_trace.h"
#include "core/message/messages.h"
#include "core/topic/topics.h"

HK_SOMETIMES_DECLARE(subscribed)
HK_SOMETIMES_DECLARE(subscribed_before)
HK_SOMETIMES_DECLARE(invited_again)
HK_SOMETIMES_DECLARE(invitation_not_prepared)
HK_SOMETIMES_DECLARE(subscription_confirmed)
HK_SOMETIMES_DECLARE(subscription_confirmed_before)
HK_SOMETIMES_DECLARE(token_unknown)
HK_SOMETIMES_DECLARE(unsubscribed)
HK_SOMETIMES_DECLARE(only_the_owner_ends_it)
HK_SOMETIMES_DECLARE(subscription_set)

namespace hk::core {

namespace {

bool set_alike(const Subscription& one, const Subscription& other) {
  return one.raw == other.raw && one.filter == other.filter &&
         one.filter_scope == other.filter_scope && one.dead_letters_to == other.dead_letters_to &&
         one.retries == other.retries && one.extra == other.extra;
}

auto find_id(std::vector<Subscription>& all, const std::string& id) {
  return std::ranges::find(all, id, &Subscription::id);
}

/// Where the invitation goes and how often it is tried: as a copy would be.
Publish to_invite(std::unique_ptr<Message> invitation, const Topic& topic, const Subscription& one,
                  Rng& rng) {
  invitation->tenant = topic.tenant;
  invitation->url = one.url;
  invitation->host = one.host;
  invitation->retry = retries_of(topic.retries, one.retries);
  invitation->trace = fresh_trace(rng);
  invitation->notification = true;
  return {.message = std::move(invitation)};
}

}  // namespace

/// The subscription and what asks its URL for the token are one batch: neither waits for the other.
Reply Topics::decide(Subscribe command) {
  const auto known = find_sns(command.tenant, command.topic);
  if (!known) {
    return std::unexpected(known.error());
  }
  Topic topic = to_change((*known)->topic);
  Subscription& wanted = command.subscription;
  const auto same = std::ranges::find_if(topic.subscriptions, [&wanted](const Subscription& one) {
    return same_destination(one, wanted);
  });
  const bool existed = same != topic.subscriptions.end();
  const bool asks = existed ? !same->confirmed : !wanted.token.empty();
  if ((existed && (!set_alike(*same, wanted) || (asks && same->token != wanted.token))) ||
      (asks && command.invitation == nullptr)) {
    HK_SOMETIMES(invitation_not_prepared);
    return fail(ErrorKind::conflict, "topic " + command.topic + " was changed meanwhile");
  }

  std::shared_ptr<const ReadTopic> stored = *known;
  const std::string id = existed ? same->id : wanted.id;
  const Subscription invited = existed ? *same : wanted;
  if (!existed) {
    wanted.confirmed = !asks;
    wanted.confirmed_by_owner = !asks;
    wanted.owner_ends_it = false;
    wanted.token_made = asks ? batch_.now() : Moment{};
    const auto behind = std::ranges::upper_bound(topic.subscriptions, id, {}, &Subscription::id);
    topic.subscriptions.insert(behind, std::move(wanted));
    auto good = checked(std::move(topic));
    if (!good) {
      return std::unexpected(std::move(good.error()));
    }
    stored = std::move(*good);
  }
  if (asks) {
    const auto sent = messages_.publish(
        to_invite(std::move(command.invitation), stored->topic, invited, context_.rng));
    HK_ASSERT(sent.has_value());  // all that it checks is so
  }
  if (!existed) {
    HK_SOMETIMES(subscribed);
    store(stored);
  } else if (asks) {
    HK_SOMETIMES(invited_again);
  } else {
    HK_SOMETIMES(subscribed_before);
  }
  return Subscribed{.existed = existed, .topic = std::move(stored), .id = id};
}

Reply Topics::decide(const ConfirmSubscription& command) {
  const auto known = find_sns(command.tenant, command.topic);
  if (!known) {
    return std::unexpected(known.error());
  }
  Topic topic = to_change((*known)->topic);
  // A look-up by a key of 256 random bits: nobody finds it out by how long the comparison takes.
  const auto found = command.token.empty() ? topic.subscriptions.end()
                                           : std::ranges::find(topic.subscriptions, command.token,
                                                               &Subscription::token);
  if (found == topic.subscriptions.end()) {
    HK_SOMETIMES(token_unknown);
    return fail(ErrorKind::invalid_argument, "it is unknown, or its time is over");
  }
  const std::string id = found->id;
  if (found->confirmed) {
    HK_SOMETIMES(subscription_confirmed_before);
    return Subscribed{.existed = true, .topic = *known, .id = id};
  }
  HK_SOMETIMES(subscription_confirmed);
  found->confirmed = true;
  found->confirmed_by_owner = command.by_owner;
  found->owner_ends_it = command.by_owner && command.owner_ends_it;
  auto good = checked(std::move(topic));
  if (!good) {
    return std::unexpected(std::move(good.error()));
  }
  store(*good);
  return Subscribed{.existed = true, .topic = std::move(*good), .id = id};
}

/// What is not there is no error: a client that lost our answer can ask again.
Reply Topics::decide(const Unsubscribe& command) {
  const auto known = find(TopicKind::sns, command.tenant, command.topic);
  if (!known) {
    return Done{};
  }
  Topic topic = to_change(known->topic);
  const auto found = find_id(topic.subscriptions, command.id);
  if (found == topic.subscriptions.end()) {
    return Done{};
  }
  if (found->owner_ends_it && !command.by_owner) {
    HK_SOMETIMES(only_the_owner_ends_it);
    return fail(ErrorKind::permission_denied, "only the owner of the topic ends this subscription");
  }
  HK_SOMETIMES(unsubscribed);
  topic.subscriptions.erase(found);
  return check_and_store(std::move(topic));
}

Reply Topics::decide(SetSubscription command) {
  const auto known =
      find_version(command.tenant, command.topic, command.incarnation, command.version);
  if (!known) {
    return std::unexpected(known.error());
  }
  Topic topic = to_change((*known)->topic);
  Subscription& wanted = command.subscription;
  const auto found = find_id(topic.subscriptions, wanted.id);
  if (found == topic.subscriptions.end()) {
    return fail(ErrorKind::not_found, "subscription " + wanted.id + " not found");
  }
  HK_SOMETIMES(subscription_set);
  found->raw = wanted.raw;
  found->filter = std::move(wanted.filter);
  found->filter_scope = wanted.filter_scope;
  found->dead_letters_to = std::move(wanted.dead_letters_to);
  found->retries = std::move(wanted.retries);
  found->extra = std::move(wanted.extra);
  return check_and_store(std::move(topic));
}

}  // namespace hk::core
