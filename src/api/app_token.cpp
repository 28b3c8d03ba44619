#include "api/app_token.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "core/webhook/read.h"
#include "security/credentials.h"

namespace hk::api {

namespace {

using core::webhook::AppToken;
using core::webhook::Capability;

constexpr std::string_view token_digits =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::size_t app_token_length = 32;
constexpr std::size_t tenant_digits = 6;  // 62^6 > 2^32

}  // namespace

std::string make_app_token(std::string_view prefix, core::TenantId tenant) {
  std::string token(prefix);
  std::string digits(tenant_digits, '0');
  std::uint64_t rest = tenant.value();
  for (std::size_t i = tenant_digits; i > 0; --i, rest /= token_digits.size()) {
    digits[i - 1] = token_digits[rest % token_digits.size()];
  }
  token += digits;
  thread_local security::SystemRng rng;
  for (std::size_t i = tenant_digits; i < app_token_length; ++i) {
    token += token_digits[rng.below(token_digits.size())];
  }
  return token;
}

std::optional<core::TenantId> tenant_of_app_token(std::string_view token) {
  for (const std::string_view prefix : {session_token_prefix, integration_token_prefix}) {
    if (!token.starts_with(prefix) || token.size() != prefix.size() + app_token_length) {
      continue;
    }
    std::uint64_t number = 0;
    for (const char c : token.substr(prefix.size(), tenant_digits)) {
      const std::size_t digit = token_digits.find(c);
      if (digit == std::string_view::npos) {
        return std::nullopt;
      }
      number = number * token_digits.size() + digit;
    }
    if (number > UINT32_MAX) {
      return std::nullopt;
    }
    return core::TenantId{static_cast<std::uint32_t>(number)};
  }
  return std::nullopt;
}

std::optional<AppCaller> find_app_token(const Services& services, std::string_view token) {
  const auto id = tenant_of_app_token(token);
  if (!id) {
    return std::nullopt;
  }
  AppCaller caller{.tenant = services.tenants.find(*id)};
  if (!caller.tenant) {
    return std::nullopt;
  }
  auto found = core::webhook::find_token(*services.submitter.durable_view(*id), *id,
                                         services.tenants.token_digest(token), services.now());
  if (!found) {
    return std::nullopt;
  }
  caller.token = std::make_shared<const AppToken>(std::move(*found));
  return caller;
}

bool has(const AppToken& token, Capability capability) {
  return (token.capabilities >> static_cast<std::uint32_t>(capability) & 1U) != 0;
}

bool may(const AppToken& token, Access access) {
  switch (access) {  // No default: a new access must be decided here before it compiles.
    case Access::open:
    case Access::metrics:
    case Access::tenant:
    case Access::tenant_or_admin:
    case Access::admin:
    case Access::admin_for_tenant: return false;
    case Access::app: return true;
    case Access::app_view: return has(token, Capability::view_base);
    case Access::app_secret:
      return has(token, Capability::view_endpoint_secret) ||
             has(token, Capability::manage_endpoint_secret) ||
             has(token, Capability::manage_endpoint);
    case Access::app_rotate:
      return has(token, Capability::manage_endpoint_secret) ||
             has(token, Capability::manage_endpoint);
    case Access::app_manage: return has(token, Capability::manage_endpoint);
    case Access::app_attempt: return has(token, Capability::create_attempts);
  }
  std::unreachable();
}

bool keep_to_own_application(const Services& services, const Route& route, Call& call) {
  if (!call.app || !route.pattern.contains("/app/{app}")) {
    return true;
  }
  const core::TenantId tenant = call.tenant->id;
  const auto application =
      core::webhook::find_application(*services.submitter.durable_view(tenant), tenant, call.param);
  if (!application || application->number != call.app->application) {
    return false;
  }
  call.param = core::webhook::id_of(*application);
  return true;
}

}  // namespace hk::api
