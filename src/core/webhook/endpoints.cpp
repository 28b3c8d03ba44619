#include <algorithm>
#include <tuple>
#include <utility>

#include "base/ascii.h"
#include "base/sometimes.h"
#include "core/tenant/tenants.h"
#include "core/webhook/id.h"
#include "core/webhook/json.h"
#include "core/webhook/operational.h"
#include "core/webhook/options.h"
#include "core/webhook/webhooks.h"

HK_SOMETIMES_DECLARE(webhook_endpoint_enabled_again)
HK_SOMETIMES_DECLARE(webhook_secret_rotated_with_grace)

namespace hk::core::webhook {

namespace {

bool same_name(std::string_view one, std::string_view other) {
  return std::ranges::equal(one, other, [](char a, char b) { return to_lower(a) == to_lower(b); });
}

void remove_header(std::vector<Header>& headers, std::string_view name) {
  std::erase_if(headers, [name](const Header& one) { return same_name(one.name, name); });
}

bool is_disabled(const Endpoint& endpoint) { return endpoint.disabled != Endpoint::Disabled::no; }

Endpoint::Disabled disabled_by_hand(Endpoint::Disabled before, bool disabled) {
  using Disabled = Endpoint::Disabled;
  if (!disabled) {
    return Disabled::no;
  }
  return before == Disabled::no ? Disabled::manual : before;  // the reason stays
}

}  // namespace

std::expected<void, Refused> Webhooks::check_event_types(const Application& application,
                                                         const std::vector<std::string>& names,
                                                         const std::vector<std::string>& before) {
  std::string unknown;
  for (const std::string& name : names) {
    if (std::ranges::find(before, name) != before.end()) {
      continue;
    }
    bool there = application.number == operational && is_operational_event(name);
    if (application.number != operational) {
      const auto type = batch_.get<EventType>({application.tenant, name});
      there = type && !type->archived;
    }
    if (!there) {
      unknown += (unknown.empty() ? "" : ", ") + name;
    }
  }
  if (!unknown.empty()) {
    return std::unexpected(Refused{Refused::Why::event_types_unknown, std::move(unknown)});
  }
  return {};
}

std::expected<void, Refused> Webhooks::check_secrets(const Endpoint& endpoint) {
  const bool symmetric =
      endpoint.secrets.empty() || endpoint.secrets.front().kind == SigningSecret::Kind::symmetric;
  if (!symmetric && effective(endpoint, settings(endpoint.tenant)).sign_stripe) {
    return std::unexpected(Refused{Refused::Why::needs_symmetric_secret});
  }
  return {};
}

void Webhooks::tell_of(const Application& application, const Endpoint& endpoint,
                       std::string_view type) {
  if (application.number != operational) {
    tell(application.tenant, type, endpoint_data(application, endpoint));
  }
}

void Webhooks::tell_of_disabled(const Application& application, const Endpoint& endpoint) {
  if (application.number != operational) {
    tell(application.tenant, operational_event::endpoint_disabled,
         disabled_data(application, endpoint,
                       look_at(endpoint.tenant, endpoint.number).failing_since));
  }
}

Reply Webhooks::create(const Known& known, EndpointFields fields, SigningSecret secret) {
  const Application application = known.application;
  const Settings& defaults = settings(application.tenant);
  if (auto good = check_event_types(application, fields.event_types, {}); !good) {
    return std::move(good.error());
  }
  if (defaults.https_only && !fields.host.starts_with("https://")) {
    return Refused{Refused::Why::https_only};
  }
  if (!fields.uid.empty() &&
      named(application.tenant, Name::Kind::endpoint_uid, application.number, fields.uid)) {
    return Refused{Refused::Why::uid_taken, fields.uid};
  }
  if (known.endpoints.size() >= defaults.endpoints_max) {
    return Refused{Refused::Why::limit_reached, "endpoints of an application"};
  }
  secret.created_at = batch_.now();
  secret.expires_at = never;
  Endpoint made{.tenant = application.tenant,
                .application = application.number,
                .uid = std::move(fields.uid),
                .url = std::move(fields.url),
                .host = std::move(fields.host),
                .description = std::move(fields.description),
                .event_types = std::move(fields.event_types),
                .channels = std::move(fields.channels),
                .rate = fields.rate,
                .secrets = {std::move(secret)},
                .headers = std::move(fields.headers),
                .metadata = std::move(fields.metadata),
                .disabled = disabled_by_hand(Endpoint::Disabled::no, fields.disabled),
                .updated_at = batch_.now()};
  if (auto good = check_secrets(made); !good) {
    return std::move(good.error());
  }
  made.number = context_.progress.next_number();
  made.made = made_now();
  put(made);
  tell_of(application, made, operational_event::endpoint_created);
  return EndpointStored{std::move(made), true};
}

/// Every change of one that is there ends here. REQUIRES: it was checked.
Reply Webhooks::store(const Known& known, const Endpoint& before, Endpoint after) {
  const Application application = known.application;
  Endpoint same = after;  // but for that it is disabled
  same.disabled = before.disabled;
  const bool more = same != before || after.disabled == before.disabled;
  after.updated_at = batch_.now();
  put(after);
  endpoint_changed(before, after);
  if (more) {
    tell_of(application, after, operational_event::endpoint_updated);
  }
  if (is_disabled(before) && !is_disabled(after)) {
    HK_SOMETIMES(webhook_endpoint_enabled_again);
    tell_of(application, after, operational_event::endpoint_enabled);
  } else if (!is_disabled(before) && is_disabled(after)) {
    tell_of_disabled(application, after);
  }
  return EndpointStored{std::move(after)};
}

Reply Webhooks::decide(CreateEndpoint command) {
  if (!tenants_.contains(command.tenant)) {
    return fail(ErrorKind::not_found, "no such tenant");
  }
  const auto found = known(command.tenant, command.application_ref);
  if (!found) {
    return Refused{Refused::Why::application_not_found};
  }
  return create(*found, std::move(command.fields), std::move(command.secret));
}

Reply Webhooks::decide(ChangeEndpoint command) {
  EndpointChanges& changes = command.changes;
  const auto found = find(command.tenant, command.application_ref, command.endpoint_ref);
  const bool missing = !found && found.error().why == Refused::Why::endpoint_not_found;
  if (!found && !(missing && command.create)) {
    return found.error();
  }
  if (missing) {
    std::string uid = std::move(changes.uid).value_or("");
    if (uid.empty()) {
      if (!may_be_uid(command.endpoint_ref, endpoint_prefix)) {
        return Refused{Refused::Why::ref_is_no_uid, command.endpoint_ref};
      }
      uid = command.endpoint_ref;
    }
    if (!changes.url) {
      return fail(ErrorKind::invalid_argument, "a new endpoint needs a url");
    }
    return create(
        *known(command.tenant, command.application_ref),
        {.uid = std::move(uid),
         .url = std::move(changes.url->first),
         .host = std::move(changes.url->second),
         .description = std::move(changes.description).value_or(""),
         .event_types = std::move(changes.event_types).value_or(std::vector<std::string>{}),
         .channels = std::move(changes.channels).value_or(std::vector<std::string>{}),
         .rate = changes.rate.value_or(0),
         .metadata = std::move(changes.metadata).value_or(Metadata{}),
         .disabled = changes.disabled.value_or(false)},
        std::move(command.secret));
  }
  const Endpoint& before = *found->endpoint;
  const Known& known = *found->known;
  if (changes.event_types) {
    if (auto good = check_event_types(known.application, *changes.event_types, before.event_types);
        !good) {
      return std::move(good.error());
    }
  }
  if (changes.url && changes.url->first != before.url && settings(command.tenant).https_only &&
      !changes.url->second.starts_with("https://")) {
    return Refused{Refused::Why::https_only};
  }
  if (changes.uid && !changes.uid->empty()) {
    const auto owner =
        named(command.tenant, Name::Kind::endpoint_uid, before.application, *changes.uid);
    if (owner && *owner != before.number) {
      return Refused{Refused::Why::uid_taken, *changes.uid};
    }
  }
  Endpoint after = before;
  after.uid = std::move(changes.uid).value_or(after.uid);
  if (changes.url) {
    std::tie(after.url, after.host) = std::move(*changes.url);
  }
  after.description = std::move(changes.description).value_or(after.description);
  after.event_types = std::move(changes.event_types).value_or(after.event_types);
  after.channels = std::move(changes.channels).value_or(after.channels);
  after.rate = changes.rate.value_or(after.rate);
  after.metadata = std::move(changes.metadata).value_or(after.metadata);
  if (changes.disabled) {
    after.disabled = disabled_by_hand(before.disabled, *changes.disabled);
  }
  return store(known, before, std::move(after));
}

Reply Webhooks::decide(const DeleteEndpoint& command) {
  const auto found = find(command.tenant, command.application_ref, command.endpoint_ref);
  if (!found) {
    return found.error();
  }
  erase(*found->endpoint);
  cancel_deliveries(*found->endpoint, CancelReason::endpoint_deleted);
  tell_of(found->known->application, *found->endpoint, operational_event::endpoint_deleted);
  return Done{};
}

Reply Webhooks::decide(RotateSecret command) {
  const auto found = find(command.tenant, command.application_ref, command.endpoint_ref);
  if (!found) {
    return found.error();
  }
  Endpoint after = *found->endpoint;
  std::vector<SigningSecret>& secrets = after.secrets;
  if (!secrets.empty() && command.grace > Millis{}) {
    HK_SOMETIMES(webhook_secret_rotated_with_grace);
    secrets.front().expires_at = batch_.now() + command.grace;
  } else if (!secrets.empty()) {
    secrets.erase(secrets.begin());
  }
  std::erase_if(secrets,
                [this](const SigningSecret& one) { return one.expires_at <= batch_.now(); });
  if (secrets.size() > limits_.webhook_old_secrets_max) {
    return Refused{Refused::Why::limit_reached, "old secrets of an endpoint"};
  }
  command.secret.created_at = batch_.now();
  command.secret.expires_at = never;
  secrets.insert(secrets.begin(), std::move(command.secret));
  if (auto good = check_secrets(after); !good) {
    return std::move(good.error());
  }
  return store(*found->known, *found->endpoint, std::move(after));
}

Reply Webhooks::decide(ChangeHeaders command) {
  const auto found = find(command.tenant, command.application_ref, command.endpoint_ref);
  if (!found) {
    return found.error();
  }
  Endpoint after = *found->endpoint;
  if (command.replace) {
    after.headers.clear();
  }
  for (const std::string& name : command.remove) {
    remove_header(after.headers, name);
  }
  for (Header& header : command.set) {
    remove_header(after.headers, header.name);
    after.headers.push_back(std::move(header));
  }
  if (after.headers.size() > limits_.webhook_headers_max) {
    return Refused{Refused::Why::limit_reached, "headers of an endpoint"};
  }
  return store(*found->known, *found->endpoint, std::move(after));
}

Reply Webhooks::decide(const ChangeDelivery& command) {
  const auto found = find(command.tenant, command.application_ref, command.endpoint_ref);
  if (!found) {
    return found.error();
  }
  Endpoint after = *found->endpoint;
  merge(after.delivery, command.change, command.inherit);
  if (auto good = check_secrets(after); !good) {
    return std::move(good.error());
  }
  return store(*found->known, *found->endpoint, std::move(after));
}

}  // namespace hk::core::webhook
