// /api/v1/auth: tokens for the customers of an application.
#include <algorithm>
#include <array>
#include <utility>

#include "api/app_token.h"
#include "api/auth.h"
#include "api/svix/fields.h"
#include "api/svix/handlers.h"
#include "api/svix/plan.h"
#include "api/svix/reading.h"
#include "api/svix/render.h"
#include "api/svix/rules.h"
#include "base/date.h"

namespace hk::api::svix {

namespace {

constexpr std::array<std::string_view, 6> capability_names = {
    "ViewBase",       "ViewEndpointSecret", "ManageEndpointSecret", "ManageTransformations",
    "CreateAttempts", "ManageEndpoint"};
constexpr std::int64_t kept_min = 3600;
constexpr std::int64_t kept_max = 604'800;
constexpr std::size_t feature_flags_max = 25;
constexpr std::int64_t expire_in_max = 259'200;
constexpr std::size_t sessions_max = 1000;
constexpr std::uint32_t view_alone = 1U << static_cast<unsigned>(webhook::Capability::view_base);

std::uint32_t read_capabilities(Input& in) {
  const auto read_only = in.boolean("readOnly");
  const auto names = in.texts("capabilities", {.unique = false});
  if (read_only && in.raw("capabilities")) {
    in.refuse("readOnly", "must not be given beside capabilities");
  }
  if (!names) {
    return read_only.value_or(false) ? view_alone : webhook::all_capabilities;
  }
  std::uint32_t mask = view_alone;
  for (std::size_t i = 0; i < names->size(); ++i) {
    const auto found = std::ranges::find(capability_names, std::string_view((*names)[i]));
    if (found == capability_names.end()) {
      in.refuse_item("capabilities", item_step(i), "is no capability: see the reference");
      continue;
    }
    mask |= 1U << static_cast<unsigned>(found - capability_names.begin());
  }
  return mask;
}

/// Where a customer opens the portal with this token.
std::string portal_url(const Services& services, const http::Request& request,
                       std::string_view token) {
  std::string url = services.options.public_url;
  if (url.empty()) {
    url = request.secure ? "https://" : "http://";
    url += request.header("Host").value_or("localhost");
  }
  url += url.ends_with('/') ? "" : "/";
  return url.append("portal/#key=").append(token);
}

}  // namespace

Write create_portal_token(const Services& services, Call& call) {
  FieldErrors errors;
  Input in(call.request.body, errors, Input::Empty::object);
  webhook::CreateToken command{.tenant = call.tenant->id, .application_ref = call.param};
  if (in.raw("application") && !Reading(services, call).application) {
    command.application = read_inner_application(in, call.param);
  }
  command.token.capabilities = read_capabilities(in);
  command.token.feature_flags = in.texts("featureFlags", {check_name, 0, feature_flags_max})
                                    .value_or(std::vector<std::string>{});
  command.kept_for =
      std::chrono::seconds{in.integer("expiry", kept_min, kept_max).value_or(kept_max)};
  command.token.session = in.text("sessionId", check_session).value_or("");
  if (errors.any()) {
    return wrong_of_application(services, call, errors);
  }
  const std::string token = make_app_token(session_token_prefix, call.tenant->id);
  command.token.tenant = call.tenant->id;
  command.token.digest = services.tenants.token_digest(token);
  return plan_plainly(std::move(command), [token, url = portal_url(services, call.request, token)] {
    return object_response(200, [&](JsonWriter& json) {
      json.field("url", url);
      json.field("token", token);
    });
  });
}

Write expire_tokens(const Services& services, Call& call) {
  FieldErrors errors;
  Input in(call.request.body, errors, Input::Empty::object);
  webhook::ExpireTokens command{.tenant = call.tenant->id, .application_ref = call.param};
  command.in = std::chrono::seconds{in.integer("expiry", 0, expire_in_max).value_or(0)};
  command.sessions = in.texts("sessionIds", {check_session, 0, sessions_max, false})
                         .value_or(std::vector<std::string>{});
  if (errors.any()) {
    return wrong_of_application(services, call, errors);
  }
  return plan_plainly(std::move(command), no_content);
}

Write logout(const Services& services, Call& call) {
  if (!call.app) {
    return error_response(403, "");
  }
  const std::string token = token_of(call.request, services.options.allow_token_in_query);
  return plan_plainly(webhook::DropToken{call.tenant->id, services.tenants.token_digest(token)},
                      no_content);
}

void who_am_i(const Services& services, Call& call) {
  if (!call.app) {
    call.answer(object_response(200, [](JsonWriter& json) { json.field("type", "environment"); }));
    return;
  }
  const core::TenantId tenant = call.tenant->id;
  const auto application = services.submitter.durable_view(tenant)->get<webhook::Application>(
      {tenant, call.app->application});
  call.answer(object_response(200, [&](JsonWriter& json) {
    json.field("type", "app");
    text_or_null(json, "appId", application ? webhook::id_of(*application) : std::string());
    text_or_null(json, "appUid", application ? application->uid : std::string());
    std::vector<std::string> names;
    for (std::size_t i = 0; i < capability_names.size(); ++i) {
      if (has(*call.app, static_cast<webhook::Capability>(i))) {
        names.emplace_back(capability_names[i]);
      }
    }
    texts(json, "capabilities", names);
    time_or_null(
        json, "expiresAt",
        call.app->expires_at == never ? std::nullopt : std::optional(call.app->expires_at));
  }));
}

}  // namespace hk::api::svix
