#include <algorithm>
#include <utility>

#include "core/tenant/tenants.h"
#include "core/timer/timers.h"
#include "core/webhook/id.h"
#include "core/webhook/webhooks.h"

namespace hk::core::webhook {

// ---- sessions ----

/// Those of its sessions, also those that this batch has made.
std::vector<AppToken> Webhooks::tokens_of(const Application& application) {
  std::vector<AppToken> tokens;
  const auto add = [&](const KeyOf<AppToken>& key) {
    auto token = batch_.get<AppToken>(key);
    if (token && token->application == application.number && token->integration == 0) {
      tokens.push_back(std::move(*token));
    }
  };
  const auto kind = static_cast<std::uint32_t>(Name::Kind::token);
  for (const Name& one :
       batch_.reader().scan(Range<Name>::of(application.tenant, kind, application.number))) {
    add({application.tenant, one.name});
  }
  for (const KeyOf<AppToken>& key : fresh_tokens_) {
    if (std::get<0>(key) == application.tenant) {
      add(key);
    }
  }
  return tokens;
}

void Webhooks::drop(Application application, const std::vector<AppToken>& tokens) {
  for (const AppToken& token : tokens) {
    batch_.erase<AppToken>(own_key(token));
    unname(token.tenant, Name::Kind::token, token.application, token.digest);
  }
  if (!tokens.empty()) {
    application.tokens -= tokens.size();
    put(std::move(application));
  }
}

Reply Webhooks::decide(CreateToken command) {
  if (!tenants_.contains(command.tenant)) {
    return fail(ErrorKind::not_found, "no such tenant");
  }
  auto found = find(command.tenant, command.application_ref);
  if (found && (*found)->application.tokens >= limits_.webhook_tokens_max) {
    return Refused{Refused::Why::limit_reached, "tokens of an application"};
  }
  if (!found && command.application) {
    found = make_application(command.tenant, std::move(*command.application));
  }
  if (!found) {
    return std::move(found.error());
  }
  Application application = (*found)->application;
  AppToken& token = command.token;
  token.tenant = command.tenant;
  token.application = application.number;
  token.created_at = batch_.now();
  token.expires_at = batch_.now() + command.kept_for;
  token.integration = 0;
  ++application.tokens;
  put(application);
  timers_.set(token.expires_at, Timer::Kind::webhook_token, token.tenant, token.digest);
  name(token.tenant, Name::Kind::token, application.number, token.digest, 0);
  fresh_tokens_.push_back(own_key(token));
  batch_.put(Put<AppToken>{std::move(token)});
  return TokenStored{std::move(application)};
}

Reply Webhooks::decide(const ExpireTokens& command) {
  const auto found = find(command.tenant, command.application_ref);
  if (!found) {
    return found.error();
  }
  const Moment at = batch_.now() + command.in;
  std::vector<AppToken> over;
  for (AppToken& token : tokens_of((*found)->application)) {
    if (!command.sessions.empty() &&
        std::ranges::find(command.sessions, token.session) == command.sessions.end()) {
      continue;
    }
    if (command.in <= Millis{}) {
      over.push_back(std::move(token));
    } else if (at < token.expires_at) {
      token.expires_at = at;
      timers_.set(at, Timer::Kind::webhook_token, token.tenant, token.digest);
      batch_.put(Put<AppToken>{std::move(token)});
    }
  }
  drop((*found)->application, over);
  return Done{};
}

Reply Webhooks::decide(const DropToken& command) {
  auto token = batch_.get<AppToken>({command.tenant, command.digest});
  if (!token || token->expires_at <= batch_.now()) {
    return Refused{Refused::Why::token_not_found};
  }
  if (token->integration == 0) {
    drop(known(token->tenant, token->application)->application, {*token});
    return Done{};
  }
  if (auto integration =
          batch_.get<Integration>({token->tenant, token->application, token->integration})) {
    batch_.erase<AppToken>(own_key(*token));
    integration->digest.clear();
    integration->updated_at = batch_.now();
    batch_.put(Put<Integration>{std::move(*integration)});
  }
  return Done{};
}

void Webhooks::on_token_timer(TenantId tenant, const std::string& digest) {
  auto token = batch_.get<AppToken>({tenant, digest});
  if (!token) {
    return;
  }
  if (token->expires_at > batch_.now()) {
    return;  // the timer of that moment was set, too
  }
  drop(known(tenant, token->application)->application, {*token});
}

void Webhooks::drop_all_tokens(const Application& application) {
  drop(application, tokens_of(application));
  for (const Integration& one : integrations_of(application)) {
    if (!one.digest.empty()) {
      batch_.erase<AppToken>(application.tenant, one.digest);
    }
    batch_.erase<Integration>(own_key(one));
  }
}

// ---- integrations ----

std::vector<Integration> Webhooks::integrations_of(const Application& application) {
  std::vector<Integration> all;
  const auto add = [&](const KeyOf<Integration>& key) {
    if (auto one = batch_.get<Integration>(key)) {
      all.push_back(std::move(*one));
    }
  };
  for (const Integration& one :
       batch_.reader().scan(Range<Integration>::of(application.tenant, application.number))) {
    add(own_key(one));
  }
  for (const KeyOf<Integration>& key : fresh_integrations_) {
    if (std::get<0>(key) == application.tenant && std::get<1>(key) == application.number) {
      add(key);
    }
  }
  return all;
}

std::expected<Integration, Refused> Webhooks::find_integration(const Application& application,
                                                               std::string_view id) {
  const auto number = number_in(id, integration_prefix);
  auto found = number ? batch_.get<Integration>({application.tenant, application.number, *number})
                      : std::nullopt;
  if (!found || id_of(*found) != id) {
    return std::unexpected(Refused{Refused::Why::integration_not_found});
  }
  return std::move(*found);
}

void Webhooks::put_key(const Integration& integration) {
  if (!integration.digest.empty()) {
    batch_.put(Put<AppToken>{{.tenant = integration.tenant,
                              .digest = integration.digest,
                              .application = integration.application,
                              .feature_flags = integration.feature_flags,
                              .all_feature_flags = integration.feature_flags.empty(),
                              .created_at = batch_.now(),
                              .integration = integration.number}});
  }
}

Reply Webhooks::decide(CreateIntegration command) {
  const auto found = find(command.tenant, command.application_ref);
  if (!found) {
    return found.error();
  }
  const Application& application = (*found)->application;
  if (integrations_of(application).size() >= limits_.webhook_integrations_max) {
    return Refused{Refused::Why::limit_reached, "integrations of an application"};
  }
  Integration made{.tenant = command.tenant,
                   .application = application.number,
                   .number = context_.progress.next_number(),
                   .made = made_now(),
                   .name = std::move(command.name),
                   .feature_flags = std::move(command.feature_flags),
                   .updated_at = batch_.now()};
  fresh_integrations_.push_back(own_key(made));
  batch_.put(Put<Integration>{made});
  return IntegrationStored{std::move(made)};
}

Reply Webhooks::decide(ChangeIntegration command) {
  const auto found = find(command.tenant, command.application_ref);
  if (!found) {
    return found.error();
  }
  auto integration = find_integration((*found)->application, command.integration);
  if (!integration) {
    return std::move(integration.error());
  }
  integration->name = std::move(command.name);
  integration->feature_flags = std::move(command.feature_flags);
  integration->updated_at = batch_.now();
  put_key(*integration);
  batch_.put(Put<Integration>{*integration});
  return IntegrationStored{std::move(*integration)};
}

Reply Webhooks::decide(const DeleteIntegration& command) {
  const auto found = find(command.tenant, command.application_ref);
  if (!found) {
    return found.error();
  }
  const auto integration = find_integration((*found)->application, command.integration);
  if (!integration) {
    return integration.error();
  }
  if (!integration->digest.empty()) {
    batch_.erase<AppToken>(integration->tenant, integration->digest);
  }
  batch_.erase<Integration>(own_key(*integration));
  return Done{};
}

Reply Webhooks::decide(RotateIntegrationKey command) {
  const auto found = find(command.tenant, command.application_ref);
  if (!found) {
    return found.error();
  }
  auto integration = find_integration((*found)->application, command.integration);
  if (!integration) {
    return std::move(integration.error());
  }
  if (!integration->digest.empty()) {
    batch_.erase<AppToken>(integration->tenant, integration->digest);
  }
  integration->digest = std::move(command.digest);
  integration->updated_at = batch_.now();
  put_key(*integration);
  batch_.put(Put<Integration>{*integration});
  return IntegrationStored{std::move(*integration)};
}

}  // namespace hk::core::webhook
