// Applications and endpoints as they are at this point of the batch. What is stored of them changes
// here only, with everything that must fit it: names, counts, and what is in memory.
#include <algorithm>

#include "base/assert.h"
#include "core/webhook/id.h"
#include "core/webhook/webhooks.h"

namespace hk::core::webhook {

namespace {

std::size_t bytes_of_texts(const std::vector<std::string>& texts) {
  std::size_t bytes = 0;
  for (const std::string& one : texts) {
    bytes += sizeof one + one.size();
  }
  return bytes;
}

/// Roughly: what varies most.
std::size_t bytes_of(const Endpoint& endpoint) {
  constexpr std::size_t each = 128;  // of secrets, headers and metadata
  return sizeof endpoint + endpoint.url.size() + endpoint.description.size() +
         bytes_of_texts(endpoint.event_types) + bytes_of_texts(endpoint.channels) +
         each * (endpoint.secrets.size() + endpoint.headers.size() + endpoint.metadata.size());
}

template <class Endpoints>
auto place_of(Endpoints& endpoints, Number number) {
  return std::ranges::lower_bound(endpoints, number, {},
                                  [](const auto& one) { return one->number; });
}

void count(Application& application,
           const std::vector<std::shared_ptr<const Endpoint>>& endpoints) {
  application.endpoints = endpoints.size();
  application.disabled = static_cast<std::uint64_t>(std::ranges::count_if(
      endpoints, [](const auto& one) { return one->disabled != Endpoint::Disabled::no; }));
}

}  // namespace

std::shared_ptr<const Endpoint> Webhooks::Known::endpoint(Number number) const {
  const auto found = place_of(endpoints, number);
  return found == endpoints.end() || (*found)->number != number ? nullptr : *found;
}

std::shared_ptr<const Endpoint> Webhooks::Known::endpoint(std::string_view ref) const {
  if (const auto number = number_in(ref, endpoint_prefix)) {
    if (auto found = endpoint(*number); found && id_of(*found) == ref) {
      return found;
    }
  }
  const auto found = std::ranges::find_if(
      endpoints, [ref](const auto& one) { return !ref.empty() && one->uid == ref; });
  return found == endpoints.end() ? nullptr : *found;
}

std::shared_ptr<const Webhooks::Known> Webhooks::known(TenantId tenant, Number application) {
  if (const auto found = known_.find({tenant, application}); found != known_.end()) {
    return found->second.known;
  }
  auto made = std::make_shared<Known>();
  made->application.tenant = tenant;
  if (application != operational) {
    auto stored = batch_.get<Application>({tenant, application});
    if (!stored) {
      return nullptr;
    }
    made->application = std::move(*stored);
  }
  for (Endpoint& one : batch_.reader().scan(Range<Endpoint>::of(tenant, application))) {
    made->endpoints.push_back(std::make_shared<const Endpoint>(std::move(one)));
  }
  count(made->application, made->endpoints);
  remember(made);
  return made;
}

std::shared_ptr<const Webhooks::Known> Webhooks::known(TenantId tenant,
                                                       std::string_view application_ref) {
  if (application_ref.empty()) {
    return known(tenant, operational);
  }
  const std::pair key{tenant, std::string(application_ref)};
  if (const auto found = refs_.find(key); found != refs_.end()) {
    return known(tenant, found->second);
  }
  std::shared_ptr<const Known> found;
  if (const auto number = number_in(application_ref, application_prefix);
      number && *number != operational) {
    found = known(tenant, *number);
    if (found && id_of(found->application) != application_ref) {
      found = nullptr;
    }
  }
  if (!found) {
    if (const auto number = named(tenant, Name::Kind::application_uid, 0, application_ref)) {
      found = known(tenant, *number);
    }
  }
  if (found) {
    refs_[key] = found->application.number;
    known_bytes_ += sizeof key + key.second.size();
  }
  return found;
}

void Webhooks::remember(std::shared_ptr<const Known> known) {
  std::size_t bytes = sizeof(Kept) + sizeof(Known) + known->application.name.size();
  for (const auto& one : known->endpoints) {
    bytes += bytes_of(*one);
  }
  Kept& kept = known_[{known->application.tenant, known->application.number}];
  known_bytes_ += bytes - kept.bytes;
  kept = {std::move(known), bytes};
}

const Settings& Webhooks::settings(TenantId tenant) {
  const auto found = settings_.find(tenant);
  if (found != settings_.end()) {
    return found->second;
  }
  return settings_[tenant] = batch_.get<Settings>(tenant).value_or(Settings{.tenant = tenant});
}

void Webhooks::put(Application application) {
  HK_ASSERT(application.number != operational);
  const auto before = known(application.tenant, application.number);
  Known now = before ? *before : Known{};
  rename(application.tenant, Name::Kind::application_uid, 0, application.number,
         now.application.uid, application.uid);
  if (now.application.uid != application.uid) {
    refs_.erase({application.tenant, now.application.uid});
  }
  batch_.put(Put<Application>{application});
  now.application = std::move(application);
  remember(std::make_shared<const Known>(std::move(now)));
}

void Webhooks::put(Endpoint endpoint) {
  const auto before = known(endpoint.tenant, endpoint.application);
  HK_ASSERT(before);
  Known now = *before;
  const auto place = place_of(now.endpoints, endpoint.number);
  const bool is_new = place == now.endpoints.end() || (*place)->number != endpoint.number;
  rename(endpoint.tenant, Name::Kind::endpoint_uid, endpoint.application, endpoint.number,
         is_new ? std::string() : (*place)->uid, endpoint.uid);
  auto shared = std::make_shared<const Endpoint>(std::move(endpoint));
  batch_.put(Put<Endpoint>(shared));
  if (is_new) {
    now.endpoints.insert(place, std::move(shared));
  } else {
    *place = std::move(shared);
  }
  count(now.application, now.endpoints);
  if (now.application != before->application && now.application.number != operational) {
    batch_.put(Put<Application>{now.application});
  }
  remember(std::make_shared<const Known>(std::move(now)));
}

void Webhooks::erase(const Endpoint& endpoint) {
  const auto before = known(endpoint.tenant, endpoint.application);
  HK_ASSERT(before && before->endpoint(endpoint.number));
  rename(endpoint.tenant, Name::Kind::endpoint_uid, endpoint.application, endpoint.number,
         endpoint.uid, {});
  batch_.erase<Endpoint>(own_key(endpoint));
  Known now = *before;
  now.endpoints.erase(place_of(now.endpoints, endpoint.number));
  count(now.application, now.endpoints);
  if (now.application.number != operational) {
    batch_.put(Put<Application>{now.application});
  }
  remember(std::make_shared<const Known>(std::move(now)));
}

void Webhooks::erase(const Application& application) {
  const auto before = known(application.tenant, application.number);
  HK_ASSERT(before && before->endpoints.empty());
  rename(application.tenant, Name::Kind::application_uid, 0, application.number, application.uid,
         {});
  refs_.erase({application.tenant, application.uid});
  refs_.erase({application.tenant, id_of(application)});
  batch_.erase<Application>(own_key(application));
  Totals now = totals(application.tenant);
  --now.applications;
  batch_.put(Put<Totals>{now});
  known_bytes_ -= known_[{application.tenant, application.number}].bytes;
  known_.erase({application.tenant, application.number});
}

std::optional<Number> Webhooks::named(TenantId tenant, Name::Kind kind, Number scope,
                                      std::string_view text) {
  const auto found =
      batch_.get<Name>({tenant, static_cast<std::uint32_t>(kind), scope, std::string(text)});
  return found ? std::optional(found->number) : std::nullopt;
}

void Webhooks::name(TenantId tenant, Name::Kind kind, Number scope, const std::string& text,
                    Number number) {
  batch_.put(Put<Name>{{tenant, kind, scope, text, number}});
}

void Webhooks::unname(TenantId tenant, Name::Kind kind, Number scope, const std::string& text) {
  batch_.erase<Name>(tenant, static_cast<std::uint32_t>(kind), scope, text);
}

void Webhooks::rename(TenantId tenant, Name::Kind kind, Number scope, Number number,
                      const std::string& before, const std::string& after) {
  if (before != after && !before.empty()) {
    unname(tenant, kind, scope, before);
  }
  if (before != after && !after.empty()) {
    name(tenant, kind, scope, after, number);
  }
}

Totals Webhooks::totals(TenantId tenant) {
  return batch_.get<Totals>(tenant).value_or(Totals{.tenant = tenant});
}

Made Webhooks::made_now() {
  constexpr std::uint64_t random_bits = (std::uint64_t{1} << 56U) - 1;
  return {.at = batch_.now(), .random = context_.rng.next() & random_bits};
}

auto Webhooks::find(TenantId tenant, std::string_view application_ref)
    -> std::expected<std::shared_ptr<const Known>, Refused> {
  auto found = application_ref.empty() ? nullptr : known(tenant, application_ref);
  if (!found) {
    return std::unexpected(Refused{Refused::Why::application_not_found});
  }
  return found;
}

auto Webhooks::find(TenantId tenant, std::string_view application_ref,
                    std::string_view endpoint_ref) -> std::expected<Found, Refused> {
  Found found{.known = known(tenant, application_ref)};
  if (!found.known) {
    return std::unexpected(Refused{Refused::Why::application_not_found});
  }
  found.endpoint = found.known->endpoint(endpoint_ref);
  if (!found.endpoint) {
    return std::unexpected(Refused{Refused::Why::endpoint_not_found});
  }
  return found;
}

}  // namespace hk::core::webhook
