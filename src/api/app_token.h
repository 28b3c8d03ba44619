/// Tokens of one application: "appsk_" (a session of its portal) or "integsk_" (an integration) and
/// 32 letters and digits, of which the first six are the tenant. Found by their digest in what is
/// durable, on I/O threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/call.h"
#include "api/route.h"
#include "core/webhook/record.h"

namespace hk::api {

inline constexpr std::string_view session_token_prefix = "appsk_";
inline constexpr std::string_view integration_token_prefix = "integsk_";

std::string make_app_token(std::string_view prefix, core::TenantId tenant);
/// nullopt: it is no token of an application.
std::optional<core::TenantId> tenant_of_app_token(std::string_view token);

struct AppCaller {
  std::shared_ptr<const engine::TenantDirectory::Entry> tenant{};
  std::shared_ptr<const core::webhook::AppToken> token{};
};
/// nullopt: nobody has it, or its time is over. Throws what reads throw.
std::optional<AppCaller> find_app_token(const Services& services, std::string_view token);

bool has(const core::webhook::AppToken& token, core::webhook::Capability capability);
/// May the holder of the token use a route of that access? REQUIRES: takes_app_tokens(access).
bool may(const core::webhook::AppToken& token, Access access);

/// Of a route that names an application, where the caller has a token of one: it is named by its id
/// from now on. False: it is another application, which does not exist for the caller.
bool keep_to_own_application(const Services& services, const Route& route, Call& call);

}  // namespace hk::api
