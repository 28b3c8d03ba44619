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
bool is_meant(const Endpoint& one, const Endpoint& given) {
  return (!given.name.empty() && one.name == given.name) || one.url == given.url;
}

/// The same name replaces the url, the same url replaces the name.
void upsert(std::vector<Endpoint>& endpoints, Endpoint given) {
  const auto same_name = std::ranges::find_if(endpoints, [&given](const Endpoint& one) {
    return !given.name.empty() && one.name == given.name;
  });
  if (same_name != endpoints.end()) {
    *same_name = given;
    // Another entry with this url would get every message twice.
    const auto kept = static_cast<std::size_t>(same_name - endpoints.begin());
    std::size_t at = 0;
    std::erase_if(endpoints,
                  [&](const Endpoint& one) { return at++ != kept && one.url == given.url; });
    return;
  }
  const auto same_url = std::ranges::find(endpoints, given.url, &Endpoint::url);
  if (same_url != endpoints.end()) {
    *same_url = std::move(given);
  } else {
    endpoints.push_back(std::move(given));
  }
}

}  // namespace

void Topics::recover(Reader& reader) {
  for (UrlGroup& group : reader.scan<UrlGroup>()) {
    const std::pair key{group.tenant, group.name};
    url_groups_[key] = std::move(group);
  }
}

Reply Topics::execute(TopicCommand&& command) {
  return std::visit([this](auto&& one) { return decide(std::forward<decltype(one)>(one)); },
                    std::move(command));
}

void Topics::store(UrlGroup group) {
  group.updated_at = batch_.now();
  batch_.put(Put<UrlGroup>{group});
  const std::pair key{group.tenant, group.name};
  url_groups_[key] = std::move(group);
}

void Topics::remove(TenantId tenant, const std::string& topic) {
  if (url_groups_.erase({tenant, topic}) > 0) {
    batch_.put(Erase<UrlGroup>{tenant, topic});
  }
}

Reply Topics::decide(UpsertEndpoints command) {
  if (!tenants_.contains(command.tenant)) {
    return fail(ErrorKind::not_found, "no such tenant");
  }
  if (auto right = check_count(command.endpoints, limits_.group_endpoints_max); !right) {
    return std::unexpected(right.error());
  }
  const auto known = url_groups_.find({command.tenant, command.group});
  UrlGroup group =
      known != url_groups_.end()
          ? known->second
          : UrlGroup{.tenant = command.tenant, .name = command.group, .created_at = batch_.now()};
  for (Endpoint& endpoint : command.endpoints) {
    upsert(group.endpoints, std::move(endpoint));
  }
  if (group.endpoints.size() > limits_.group_endpoints_max) {
    return fail(ErrorKind::quota_reached,
                "a URL group has at most " + std::to_string(limits_.group_endpoints_max) +
                    " endpoints; this one would have " + std::to_string(group.endpoints.size()));
  }
  store(std::move(group));
  return Done{};
}

/// Endpoints that are not there are no error: a client that lost our answer can ask again.
Reply Topics::decide(const RemoveEndpoints& command) {
  if (auto right = check_count(command.endpoints, limits_.group_endpoints_max); !right) {
    return std::unexpected(right.error());
  }
  const auto known = url_groups_.find({command.tenant, command.group});
  if (known == url_groups_.end()) {
    return std::unexpected(no_group(command.group));
  }
  UrlGroup group = known->second;
  const std::size_t removed = std::erase_if(group.endpoints, [&command](const Endpoint& one) {
    return std::ranges::any_of(command.endpoints,
                               [&one](const Endpoint& given) { return is_meant(one, given); });
  });
  if (removed == 0) {
    return Done{};
  }
  if (group.endpoints.empty()) {
    remove(command.tenant, command.group);
  } else {
    store(std::move(group));
  }
  return Done{};
}

Reply Topics::decide(SetGroupOptions command) {
  const auto known = url_groups_.find({command.tenant, command.group});
  if (known == url_groups_.end()) {
    return std::unexpected(no_group(command.group));
  }
  UrlGroup group = known->second;
  group.options = std::move(command.options);
  store(std::move(group));
  return Done{};
}

/// Messages that it has made are still delivered. Deleting what is not there is success.
Reply Topics::decide(const DeleteUrlGroupCommand& command) {
  remove(command.tenant, command.group);
  return Done{};
}

}  // namespace hk::core
