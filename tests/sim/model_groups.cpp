// What URL groups and batches must mean.
#include <algorithm>

#include "sim/model.h"
#include "sim/model_update.h"

namespace hk::sim {

namespace {

using Endpoints = std::vector<core::Endpoint>;

/// Two entries with one url would get every message twice; two with one name could not be told
/// apart. The entry that is meant keeps its place: that of the name before that of the url.
void add(Endpoints& endpoints, const core::Endpoint& given) {
  auto place = endpoints.end();
  if (!given.name.empty()) {
    place = std::ranges::find(endpoints, given.name, &core::Endpoint::name);
  }
  if (place == endpoints.end()) {
    place = std::ranges::find(endpoints, given.url, &core::Endpoint::url);
  }
  if (place == endpoints.end()) {
    endpoints.push_back(given);
    return;
  }
  *place = given;
  Endpoints kept;
  for (auto one = endpoints.begin(); one != endpoints.end(); ++one) {
    if (one == place || one->url != given.url) {
      kept.push_back(*one);
    }
  }
  endpoints = std::move(kept);
}

void remove(Endpoints& endpoints, const core::Endpoint& given) {
  Endpoints kept;
  for (const core::Endpoint& one : endpoints) {
    const bool same_name = !given.name.empty() && one.name == given.name;
    if (!same_name && one.url != given.url) {
      kept.push_back(one);
    }
  }
  endpoints = std::move(kept);
}

}  // namespace

std::vector<core::Subscription> subscriptions_of(const Endpoints& endpoints) {
  std::vector<core::Subscription> all;
  for (const auto& [name, url, host] : endpoints) {
    all.push_back({.id = name, .url = url, .host = host});
  }
  return all;
}

/// To a URL group it is one publish for each endpoint that the group has at this point of the
/// order.
Expected Model::publish(const Op& op) {
  if (op.message->topic.empty()) {
    return publish(op, *op.message);
  }
  const auto group = groups_.find({op.message->tenant, op.message->topic});
  if (group == groups_.end()) {
    return {.kind = Expected::Kind::refused, .error = ErrorKind::not_found};
  }
  Expected all{.kind = Expected::Kind::fanned_out};
  for (const core::Endpoint& endpoint : group->second) {
    core::Message message = *op.message;
    message.url = endpoint.url;
    message.host = endpoint.host;
    message.endpoint = endpoint.name;
    Expected one = publish(op, std::move(message));
    if (one.kind == Expected::Kind::refused) {
      return one;
    }
    one.url = endpoint.url;
    all.parts.push_back(std::move(one));
  }
  return all;
}

Expected Model::publish_batch(const Op& op) {
  Expected all{.kind = Expected::Kind::batch};
  for (const Op& item : op.items) {
    all.parts.push_back(publish(item));
  }
  return all;
}

Expected Model::change_group(const Op& op) {
  const Named key{op.tenant, op.name};
  const auto found = groups_.find(key);
  const bool adding = op.kind == Op::Kind::add_endpoints;
  if (op.kind == Op::Kind::delete_group) {
    if (found != groups_.end()) {
      save(groups_, key);
      groups_.erase(found);
      changed_groups_.insert(key);
    }
    return {.kind = Expected::Kind::done};
  }
  if (adding && !tenants_.contains(op.tenant)) {
    return {.kind = Expected::Kind::refused, .error = ErrorKind::not_found};
  }
  if (op.endpoints.empty()) {
    return {.kind = Expected::Kind::refused, .error = ErrorKind::invalid_argument};
  }
  if (!adding && found == groups_.end()) {
    return {.kind = Expected::Kind::refused, .error = ErrorKind::not_found};
  }
  Endpoints endpoints = found == groups_.end() ? Endpoints{} : found->second;
  for (const core::Endpoint& one : op.endpoints) {
    if (adding) {
      add(endpoints, one);
    } else {
      remove(endpoints, one);
    }
  }
  if (!adding && endpoints == found->second) {
    return {.kind = Expected::Kind::done};
  }
  save(groups_, key);
  if (endpoints.empty()) {
    groups_.erase(key);
  } else {
    groups_[key] = std::move(endpoints);
  }
  changed_groups_.insert(key);
  return {.kind = Expected::Kind::done};
}

}  // namespace hk::sim
