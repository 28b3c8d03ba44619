#include <algorithm>

#include "core/tenant/tenants.h"
#include "core/topic/topics.h"

namespace hk::core {

namespace {

Error no_group(const std::string& name) {
  return {ErrorKind::not_found, "topic " + name + " not found"};
}

/// How many endpoints a command may name: the work is (named · there), on everybody's thread.
Result<void> check_count(const std::vector<Endpoint>& endpoints, std::size_t most) {
  if (endpoints.empty()) {
    return fail(ErrorKind::invalid_argument, "endpoints: name at least one");
  }
  if (endpoints.size() > most) {
    return fail(ErrorKind::quota_reached, "a URL group has at most " + std::to_string(most) +
                                              " endpoints; these are " +
                                              std::to_string(endpoints.size()));
  }
  return {};
}

/// An endpoint is known by its name and by its url.
bool is_meant(const Subscription& one, const Endpoint& given) {
  return (!given.name.empty() && one.id == given.name) || one.url == given.url;
}

Subscription subscription_of(Endpoint endpoint) {
  return {.id = std::move(endpoint.name),
          .url = std::move(endpoint.url),
          .host = std::move(endpoint.host)};
}

/// The same name replaces the url, the same url replaces the name.
void upsert(std::vector<Subscription>& endpoints, Subscription given) {
  const auto same_name = std::ranges::find_if(endpoints, [&given](const Subscription& one) {
    return !given.id.empty() && one.id == given.id;
  });
  if (same_name != endpoints.end()) {
    *same_name = given;
    // Another entry with this url would get every message twice.
    const auto kept = static_cast<std::size_t>(same_name - endpoints.begin());
    std::size_t at = 0;
    std::erase_if(endpoints,
                  [&](const Subscription& one) { return at++ != kept && one.url == given.url; });
    return;
  }
  const auto same_url = std::ranges::find(endpoints, given.url, &Subscription::url);
  if (same_url != endpoints.end()) {
    *same_url = std::move(given);
  } else {
    endpoints.push_back(std::move(given));
  }
}

}  // namespace

Reply Topics::decide(UpsertEndpoints command) {
  if (!tenants_.contains(command.tenant)) {
    return fail(ErrorKind::not_found, "no such tenant");
  }
  if (auto right = check_count(command.endpoints, limits_.subscriptions_max); !right) {
    return std::unexpected(right.error());
  }
  const auto known = find(TopicKind::url_group, command.tenant, command.group);
  Topic group =
      known ? known->topic
            : Topic{.tenant = command.tenant, .name = command.group, .created_at = batch_.now()};
  for (Endpoint& endpoint : command.endpoints) {
    upsert(group.subscriptions, subscription_of(std::move(endpoint)));
  }
  if (group.subscriptions.size() > limits_.subscriptions_max) {
    return fail(ErrorKind::quota_reached, "a URL group has at most " +
                                              std::to_string(limits_.subscriptions_max) +
                                              " endpoints; this one would have " +
                                              std::to_string(group.subscriptions.size()));
  }
  return check_and_store(std::move(group));
}

/// Endpoints that are not there are no error: a client that lost our answer can ask again.
Reply Topics::decide(const RemoveEndpoints& command) {
  if (auto right = check_count(command.endpoints, limits_.subscriptions_max); !right) {
    return std::unexpected(right.error());
  }
  const auto known = find(TopicKind::url_group, command.tenant, command.group);
  if (!known) {
    return std::unexpected(no_group(command.group));
  }
  Topic group = known->topic;
  const std::size_t removed =
      std::erase_if(group.subscriptions, [&command](const Subscription& one) {
        return std::ranges::any_of(command.endpoints,
                                   [&one](const Endpoint& given) { return is_meant(one, given); });
      });
  if (removed == 0) {
    return Done{};
  }
  if (group.subscriptions.empty()) {
    remove(TopicKind::url_group, command.tenant, command.group);
    return Done{};
  }
  return check_and_store(std::move(group));
}

Reply Topics::decide(SetGroupOptions command) {
  const auto known = find(TopicKind::url_group, command.tenant, command.group);
  if (!known) {
    return std::unexpected(no_group(command.group));
  }
  Topic group = known->topic;
  group.options = std::move(command.options);
  return check_and_store(std::move(group));
}

}  // namespace hk::core
